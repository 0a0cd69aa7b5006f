/*
 * Makes payloads of acts (utils/format/proc_dat.h): the effects of a system call on files and
 * names, from its arguments and results.
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

/* A name in the arguments of a call. @name: NULL when it could not be read, or there is none */
struct given_name {
	const char *name;
	struct view view;
};

/*
 * A call that has returned (close(2) is recorded before it runs).
 *
 * @result: negative: the error of a failed call
 * @out: its results in memory: the ends of a pipe(2); flags and mode of openat2(2); flags of
 *       clone(2)
 * @file: the opened file
 * @from, @to: the names that call_shapes tells; for mount(2) @to is the type
 * @text: the text that call_shapes tells, or the new name of a task; NULL: it could not be read
 * @place: the place of @from before the call, or NULL: it must be looked up
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
 * Returns the directory at which relative names of an argument begin: a descriptor or AT_FDCWD.
 * @arg: the argument's number in call_shapes; negative: none
 */
int call_directory(const uint64_t args[6], int arg);

/* True when the call may move or remove its file: call_source() must come before it. */
bool call_moves_source(enum syscall_id id);

/* Find the place of the call's file. @out is emptied first. */
void call_source(const struct call_facts *facts, struct strbuf *out);

/* True when the call's failure is recorded. @result: the kernel's return value */
bool call_fails_openly(enum syscall_id id, int64_t result);

/* Append the payload of the act. Returns 0 when there is nothing to record. */
enum proc_kind call_encode(const struct call_facts *facts, struct strbuf *out);

/*
 * Append the payload of a descriptor that a new program has found open. @access: O_RDONLY,
 * O_WRONLY, O_RDWR or O_PATH
 */
void call_encode_inherited(uint32_t fd, uint32_t access, const struct text *file,
			   struct strbuf *out);

#endif
