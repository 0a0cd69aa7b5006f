/*
 * The arguments with which system calls name files. The eBPF program also includes this header, so
 * the header contains no functions.
 */
#ifndef UTRAIL_CMDS_RECORD_PROC_SHAPES_H
#define UTRAIL_CMDS_RECORD_PROC_SHAPES_H

#include <stdint.h>

#include "arch/syscalls.h"

/*
 * The argument numbers of a system call. A negative number means that the system call has no such
 * argument. For a directory, a negative number means the working directory.
 *
 * @from_dir, @from: the file that the system call acts on
 * @to_dir, @to: the name that the system call makes. For mount(2) @to is the type of file system
 * @text: a string that is not a file name
 * @flags: the flags
 * @choice: the call is watched only if this argument is one of @choices; negative: always
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
