/*
 * The state of a task that is stopped before a system call, or after one: from /proc and from its
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
 * The present call of a task.
 *
 * @id: SYSCALL_NONE: no watched call
 * @path: the place of a file before the call, which may move or remove it
 */
struct traced_call {
	enum syscall_id id;
	uint64_t args[6];
	struct strbuf path;
};

/* The task is in no call any more. */
void stopped_reset(struct traced_call *call);

/* To be called before the system call. True when the record is made after it. */
bool stopped_begin(pid_t tid, struct traced_call *call);

/*
 * Append the payload of the call: before it when stopped_begin() has returned false; else after it,
 * with its @result, which may be an error. 0: there is nothing to record.
 */
enum proc_kind stopped_encode(pid_t tid, const struct traced_call *call, int64_t result,
			      struct strbuf *out);

/*
 * Append the payload of a descriptor that a new program of @pid has found open. False: there is
 * none.
 */
bool stopped_encode_inherited(pid_t pid, int fd, struct strbuf *out);

/* The environment that @pid's new program was given. */
void stopped_encode_environment(pid_t pid, struct strbuf *out);

/*
 * Returns the flags of the task's present clone(2) (proc_fork.flags), for a task whose call is not
 * known.
 */
uint64_t stopped_clone_flags(pid_t tid);

#endif
