/*
 * Reads the state of a task that is stopped before or after a system call. The sources are /proc
 * and the memory of the task.
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
 * The current system call of a task.
 *
 * @id: SYSCALL_NONE when the call is not watched
 * @path: the path that a file has before the call, if the call may move or remove the file
 *         (call_moves_source()). For other calls, @path is empty
 */
struct traced_call {
	enum syscall_id id;
	uint64_t args[6];
	struct strbuf path;
};

/* Forget the system call, because the task has left this system call. */
void stopped_reset(struct traced_call *call);

/* Note the system call before it runs. Returns true when its record must be made after the call. */
bool stopped_begin(pid_t tid, struct traced_call *call);

/*
 * Append the payload of the system call. If stopped_begin() has returned false, this function is
 * called before the system call, otherwise after it. Returns the kind of the record, or 0 when
 * there is nothing to record.
 *
 * @result: the return value, which may be an error
 */
enum proc_kind stopped_encode(pid_t tid, const struct traced_call *call, int64_t result,
			      struct strbuf *out);

/*
 * Append the payload of a PROC_INHERIT record. The record describes the descriptor @fd, which was
 * open when process @pid began a new program. Returns false when @fd is not open.
 */
bool stopped_encode_inherited(pid_t pid, int fd, struct strbuf *out);

/* Append the environment of the new program of @pid. */
void stopped_encode_environment(pid_t pid, struct strbuf *out);

/*
 * Returns the flags (proc_fork.flags) of the task's current clone(2), even if stopped_begin() has
 * not noted this system call.
 */
uint64_t stopped_clone_flags(pid_t tid);

#endif
