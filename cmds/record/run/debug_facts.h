/* Facts about making a recording, for --debug and --debug-domain (see cmds/debug_facts.h). */
#ifndef UTRAIL_CMDS_RECORD_RUN_DEBUG_FACTS_H
#define UTRAIL_CMDS_RECORD_RUN_DEBUG_FACTS_H

#include "cmds/record/run/run.h"

/* Report the facts that are known before the program is started. */
void debug_facts_before_run(const struct run *run);

/* Report the facts that are known after all records have been taken from the rings. */
void debug_facts_after_run(struct run *run, const struct recorder *rec);

#endif
