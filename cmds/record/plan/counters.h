/*
 * The counters that `read=` reads: by name, as a plan and events.txt have them, and those that
 * could not be read.
 */
#ifndef UTRAIL_CMDS_RECORD_PLAN_COUNTERS_H
#define UTRAIL_CMDS_RECORD_PLAN_COUNTERS_H

#include "cmds/terminal/msg.h"
#include "cmds/record/plan/plan.h"

/*
 * Those that the filters name; they are the same for all processes, and as long as the recording
 * goes on.
 */
void counters_bind(const struct record_settings *settings, struct plan_entries *plan);

/* Their lines of events.txt. */
void counters_put_events(const struct counters *counters, struct strbuf *lines);

/*
 * At the end: what was not read somewhere, and why. @failed: enum plan_read bits, as probes have
 * noted
 */
void counters_warn(const struct counters *counters, uint32_t failed, const struct msg *msg);

#endif
