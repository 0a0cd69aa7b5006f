/*
 * The calls that were running when a signal ended a traced process: kept as probes report them,
 * printed at the end with names.
 */
#ifndef UTRAIL_CMDS_RECORD_CONTROL_CRASH_H
#define UTRAIL_CMDS_RECORD_CONTROL_CRASH_H

#include "cmds/terminal/msg.h"
#include "utils/format/probe/control.h"

/* One report; a list, oldest first, NULL when empty. */
struct crash;

/*
 * Add @report of process @pid, as it knows itself, to the list. Dropped without memory, when there
 * is one of this process, and when there are a great many.
 */
void crash_keep(struct crash **list, const struct control_crash *report, int32_t pid);

/*
 * One warning for each, with the names that the recording in @data_dir, complete by now, has for
 * the addresses.
 */
void crashes_print(const struct crash *list, const char *data_dir, const struct msg *msg);

void crashes_destroy(struct crash *list);

#endif
