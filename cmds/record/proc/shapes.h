/*
 * The arguments of system calls that name files: for the tracer by ptrace(2), and for the eBPF
 * program. This header calls no functions.
 */
#ifndef UTRAIL_CMDS_RECORD_PROC_SHAPES_H
#define UTRAIL_CMDS_RECORD_PROC_SHAPES_H

#include <stdint.h>

#include "arch/syscalls.h"

/*
 * The numbers of each call's arguments. Negative: there is none; a directory is the working
 * directory then.
 *
 * @from_dir, @from: the file that the call acts on
 * @to_dir, @to: the name that is made
 * @text: a string other than a name
 * @flags: as it was given
 * @choice, @choices: the argument that decides whether the call is watched, and the values for
 *                    which it is; negative: it always is
 */
struct call_shape {
	int8_t from_dir;
	int8_t from;
	int8_t to_dir;
	int8_t to;
	int8_t text;
	int8_t flags;
	int8_t choice;
	uint32_t choices[2];
};

extern const struct call_shape call_shapes[SYSCALL_NOT_WATCHED];

#endif
