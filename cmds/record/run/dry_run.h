/* --dry-run: what would be patched, and what cannot be. */
#ifndef UTRAIL_CMDS_RECORD_RUN_DRY_RUN_H
#define UTRAIL_CMDS_RECORD_RUN_DRY_RUN_H

#include "cmds/record/run/run.h"

/*
 * Print for the program, and for those of the libraries it is linked with that --patch is about,
 * how many functions would be patched and why others cannot be; with --verbose each of them.
 * Nothing of the program is executed. CMD_DONE, or negative with @err.
 */
int dry_run(struct run *run, struct uft_err *err);

#endif
