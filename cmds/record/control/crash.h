/*
 * The calls that were open when a signal ended a traced process. The process's probe reports these
 * calls. At the end of the recording, the recorder prints the calls with names.
 */
#ifndef UTRAIL_CMDS_RECORD_CONTROL_CRASH_H
#define UTRAIL_CMDS_RECORD_CONTROL_CRASH_H

#include "cmds/terminal/msg.h"
#include "utils/format/probe/control.h"

/* A list of reports, which starts with the oldest. NULL is an empty list. */
struct crash;

/*
 * Add @report of process @pid (in the recorder's namespace) to the list. The report is dropped when
 * memory is short, when the list is too long, or when the list already has a report of this
 * process.
 */
void crash_keep(struct crash **list, const struct control_crash *report, int32_t pid);

/*
 * Print a warning for each report, with names for the addresses. The names come from the recording
 * in @data_dir, which must be complete.
 */
void crashes_print(const struct crash *list, const char *data_dir, const struct msg *msg);

void crashes_destroy(struct crash *list);

#endif
