/*
 * Reads the state of a task that is stopped before a system call, or after it: from /proc and from
 * its memory.
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
 * @id: SYSCALL_NONE when it is not watched
 * @path: the place of its file before the call, which may move or remove the file
 */
struct traced_call {
	enum syscall_id id;
	uint64_t args[6];
	struct strbuf path;
};

/* Forget the call: the task is in no call any more. */
void stopped_reset(struct traced_call *call);

/* Note the system call before it runs. Returns true when the record is made after the call. */
bool stopped_begin(pid_t tid, struct traced_call *call);

/*
 * Append the payload of the call; @result may be an error. Called before the call when
 * stopped_begin() has returned false, otherwise after it. Returns 0 when there is nothing to
 * record.
 */
enum proc_kind stopped_encode(pid_t tid, const struct traced_call *call, int64_t result,
			      struct strbuf *out);

/*
 * Append the payload of a descriptor that a new program of @pid has found open. Returns false when
 * @fd is not open.
 */
bool stopped_encode_inherited(pid_t pid, int fd, struct strbuf *out);

/* Append the environment that @pid's new program was given. */
void stopped_encode_environment(pid_t pid, struct strbuf *out);

/* Returns the flags (proc_fork.flags) of the task's present clone(2), which was not noted. */
uint64_t stopped_clone_flags(pid_t tid);

#endif
