/*
 * Facts of a task that stands still before a system call, or after one: from /proc and from its
 * memory.
 */
#ifndef UTRAIL_CMDS_RECORD_PROC_STOPPED_H
#define UTRAIL_CMDS_RECORD_PROC_STOPPED_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "arch/syscalls.h"
#include "utils/base/containers/strbuf.h"
#include "utils/format/proc_dat.h"

/*
 * A call that a task is in.
 *
 * @id: SYSCALL_NONE: it is in none that is watched
 * @path: the place of a file before the call, which may move or remove it
 */
struct traced_call {
	enum syscall_id id;
	uint64_t args[6];
	struct strbuf path;
};

/* It is in none any more. */
void stopped_reset(struct traced_call *call);

/* Call it before the system call. True when there is more to be told after it. */
bool stopped_begin(pid_t tid, struct traced_call *call);

/*
 * Append the payload of the call. It is told before the call when stopped_begin() has answered
 * false; else after it, with its @result, which may be an error. 0: there is nothing to tell.
 */
enum proc_kind stopped_encode(pid_t tid, const struct traced_call *call, int64_t result,
			      struct strbuf *out);

/* A descriptor that a new program of @pid has found open. False: it is none. */
bool stopped_encode_inherited(pid_t pid, int fd, struct strbuf *out);

/* The environment that @pid's new program was given. */
void stopped_encode_environment(pid_t pid, struct strbuf *out);

/*
 * The flags of the clone(2) that the task is in (proc_fork.flags): for whom the call is not known.
 */
uint64_t stopped_clone_flags(pid_t tid);

#endif
