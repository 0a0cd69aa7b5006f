/*
 * The calls that were running when a signal ended a traced process: kept as probes report them,
 * printed at the end with names.
 */
#ifndef UTRAIL_CMDS_RECORD_CONTROL_CRASH_H
#define UTRAIL_CMDS_RECORD_CONTROL_CRASH_H

#include "cmds/terminal/msg.h"
#include "utils/format/probe/control.h"

/* A list of reports, the oldest first; NULL when empty. */
struct crash;

/*
 * Add @report of process @pid (its own number) to the list. The report is dropped when memory is
 * short, or when the list is long or has a report of this process.
 */
void crash_keep(struct crash **list, const struct control_crash *report, int32_t pid);

/*
 * Print a warning for each report, with the names of the addresses. They come from the recording in
 * @data_dir, which must be complete.
 */
void crashes_print(const struct crash *list, const char *data_dir, const struct msg *msg);

void crashes_destroy(struct crash *list);

#endif
