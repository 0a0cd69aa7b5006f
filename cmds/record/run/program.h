/* Finds the program to record, and tells whether its calls can be recorded. */
#ifndef UTRAIL_CMDS_RECORD_RUN_PROGRAM_H
#define UTRAIL_CMDS_RECORD_RUN_PROGRAM_H

#include <limits.h>

#include "cmds/opts.h"
#include "utils/object/program.h"

/*
 * @path: the file to execute: a program or a script
 * @argv: heap array of borrowed strings, NULL-terminated
 */
struct record_program {
	char path[PATH_MAX];
	char **argv;
	struct object_program facts;
};

/*
 * Find opts->args[0] and do the checks of doc/facts/programs.md, "Checks of a program". Returns 0,
 * or negative errno with a text that gives the reason and a remedy.
 */
int record_program_find(struct record_program *program, const struct opts *opts,
			struct uft_err *err);

void record_program_deinit(struct record_program **program);

#endif
