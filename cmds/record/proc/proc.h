/* What the processes of the program do (--proc): the source that traces them and writes proc.dat. */
#ifndef UTRAIL_CMDS_RECORD_PROC_PROC_H
#define UTRAIL_CMDS_RECORD_PROC_PROC_H

#include <pthread.h>
#include <semaphore.h>
#include <stdbool.h>
#include <sys/resource.h>
#include <sys/types.h>

#include "cmds/record/base/alive.h"
#include "cmds/record/proc/tracees.h"
#include "cmds/record/sources/sources.h"
#include "utils/base/err.h"
#include "utils/base/strbuf.h"

/*
 * A thread of its own traces the tree (ptrace(2)), for tracing belongs to a thread. Who touches what:
 *
 * @thread_*, and @tracees: the tracing thread, once it runs
 * @lock: @has_end, @status, @usage: what the tracing thread knows of the program's end
 * @end_fd: an eventfd; can be read once there is the program's end to be had
 * @over_fd: an eventfd; can be read once nobody is traced any more
 * @is_open: control thread; it is from proc_open() to the end of the recording
 */
struct proc {
	struct source source;
	const struct record_settings *settings;
	struct store *store;
	struct loop *loop;
	struct alive *alive;
	bool is_open;
	bool is_followed;
	int stream;
	pid_t program;
	pthread_t thread;
	sem_t is_seized;
	struct uft_err thread_why;
	struct tracees tracees;
	struct near thread_near;
	uint64_t thread_last_ns;
	struct strbuf thread_payload;
	struct strbuf thread_record;
	pthread_mutex_t lock;
	bool has_end;
	int status;
	struct rusage usage;
	int end_fd;
	int over_fd;
	struct watcher over;
};

/*
 * Trace @pid, a child that is still to become the program, and all its descendants. @alive is told of them as of one that it waits for. 0, or negative
 * errno: then there is nothing of it.
 */
int proc_open(struct proc *proc, struct sources *sources, struct alive *alive, pid_t pid,
	      struct uft_err *err);

/* How the program ended; false when it has not, or nobody knows yet. Its wait(2) status is to be had here and nowhere else. */
bool proc_program_end(struct proc *proc, int *status, struct rusage *usage);

#endif
