/* Finds the program to record, and checks if its calls can be recorded. */
#ifndef UTRAIL_CMDS_RECORD_RUN_PROGRAM_H
#define UTRAIL_CMDS_RECORD_RUN_PROGRAM_H

#include <limits.h>

#include "cmds/opts.h"
#include "utils/object/program.h"

/*
 * @path: the file to execute, a program or a script
 * @argv: a NULL-terminated array on the heap. The strings are not copies
 */
struct record_program {
	char path[PATH_MAX];
	char **argv;
	struct object_program facts;
};

/*
 * Find opts->args[0], and make the checks in doc/facts/programs.md, "Checks of a program". Returns
 * 0, or a negative errno with a text that has the reason and a remedy.
 */
int record_program_find(struct record_program *program, const struct opts *opts,
			struct uft_err *err);

void record_program_deinit(struct record_program **program);

#endif
