/* --dry-run: shows the functions that would be patched, and those that cannot be patched. */
#ifndef UTRAIL_CMDS_RECORD_RUN_DRY_RUN_H
#define UTRAIL_CMDS_RECORD_RUN_DRY_RUN_H

#include "cmds/record/run/run.h"

/*
 * Print the number of functions that would be patched, and the reasons why others cannot be
 * patched. With --verbose, print each function. The program is not executed. Returns CMD_DONE, or a
 * negative error with @err.
 */
int dry_run(struct run *run, struct uft_err *err);

#endif
