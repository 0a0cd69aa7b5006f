/*
 * What there is to be known of a task that stands still in front of a system call, or behind one:
 * from /proc and from its memory.
 */
#ifndef UTRAIL_CMDS_RECORD_PROC_STOPPED_H
#define UTRAIL_CMDS_RECORD_PROC_STOPPED_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "arch/syscalls.h"
#include "utils/base/strbuf.h"
#include "utils/format/proc_dat.h"

/*
 * A call that a task is in.
 *
 * @id: SYSCALL_NONE: it is in none that is watched
 * @path: where something was that may be elsewhere behind the call, or nowhere
 */
struct traced_call {
	enum syscall_id id;
	uint64_t args[6];
	struct strbuf path;
};

/* It is in none any more. */
void stopped_reset(struct traced_call *call);

/* In front of it. True when there is more to be told behind it. */
bool stopped_begin(pid_t tid, struct traced_call *call);

/*
 * What there is to be told: in front of those that stopped_begin() answers false for, behind the
 * others, with their @result, which may be an error. Append the payload. 0: nothing.
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
