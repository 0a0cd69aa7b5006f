/*
 * Makes payloads of acts (utils/format/proc_dat.h) from the arguments and results of system calls.
 * An act is the effect of a call on files and names.
 */
#ifndef UTRAIL_CMDS_RECORD_PROC_CALLS_H
#define UTRAIL_CMDS_RECORD_PROC_CALLS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "cmds/record/proc/named_files.h"
#include "cmds/record/proc/shapes.h"
#include "utils/base/containers/strbuf.h"
#include "utils/format/proc_dat.h"

/*
 * A name in the arguments of a system call.
 *
 * @name: NULL when the name could not be read, or the system call has no such argument
 */
struct given_name {
	const char *name;
	struct view view;
};

/*
 * A system call to record. A call of close(2) has not run yet. Every other call has returned.
 *
 * @result: the return value. A negative value is the error of a failed call
 * @out: data that only some calls have: the ends of a pipe(2), the flags and mode of openat2(2), or
 *       the flags of clone(2)
 * @file: the opened file
 * @from, @to: names from the arguments with the numbers call_shape.from and call_shape.to. For
 *             mount(2), @to is the type of the file system
 * @text: a text in an argument (call_shapes says in which argument), or the new name of a task.
 *        NULL: the text could not be read
 * @place: the path of @from before the call. NULL: the path must be looked up
 */
struct call_facts {
	enum syscall_id id;
	uint64_t args[6];
	int64_t result;
	uint64_t out[2];
	const char *file;
	struct given_name from;
	struct given_name to;
	const char *text;
	const char *place;
};

/*
 * Returns the descriptor of the directory from which a system call looks up a relative name, or
 * AT_FDCWD.
 *
 * @arg: the number of the argument that has the directory (call_shapes); negative: there is none
 */
int call_directory(const uint64_t args[6], int arg);

/*
 * True when the system call may move or remove the file on which it acts. In this case, call
 * call_source() before the system call runs.
 */
bool call_moves_source(enum syscall_id id);

/*
 * Find the path of the file that the system call acts on, and write it to @out. Earlier content of
 * @out is dropped.
 */
void call_source(const struct call_facts *facts, struct strbuf *out);

/*
 * True when system call @id has failed, and the failure must be recorded. @result: the return value
 * that the kernel reports to tracers
 */
bool call_fails_openly(enum syscall_id id, int64_t result);

/*
 * Append the payload of the system call's record to @out. Returns the kind of the record, or 0 when
 * there is nothing to record.
 */
enum proc_kind call_encode(const struct call_facts *facts, struct strbuf *out);

/*
 * Append the payload of a PROC_INHERIT record to @out. The record describes a descriptor that is
 * open when a new program begins.
 *
 * @access: O_RDONLY, O_WRONLY, O_RDWR or O_PATH
 */
void call_encode_inherited(uint32_t fd, uint32_t access, const struct text *file,
			   struct strbuf *out);

#endif
