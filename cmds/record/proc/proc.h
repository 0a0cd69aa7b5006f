/* Traces the processes of the program with one of the tracers, and writes proc.dat (--proc). */
#ifndef UTRAIL_CMDS_RECORD_PROC_PROC_H
#define UTRAIL_CMDS_RECORD_PROC_PROC_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/types.h>

#include "cmds/record/base/alive.h"
#include "cmds/record/proc/log.h"
#include "cmds/record/sources/sources.h"
#include "utils/base/err.h"

struct proc_way;

/*
 * The source (struct source) that writes proc.dat. Between start() and stop() of the tracer, the
 * tracer's thread writes @log. Only the control thread uses the other members.
 *
 * @way: the tracer, or NULL when none was chosen
 * @own: the data of the tracer
 * @lost: the number of events that the tracer could not report. Valid after stop() of the tracer
 * @end_fd: an eventfd. It is readable when the tracer has seen the program's end
 *          (proc_program_end()). -1: wait(2) reports the program's end
 * @over_fd: an eventfd. It is readable when no task is traced any more
 */
struct proc {
	struct source source;
	struct proc_log log;
	const struct proc_way *way;
	void *own;
	uint64_t lost;
	struct loop *loop;
	struct alive *alive;
	bool is_followed;
	int end_fd;
	int over_fd;
	struct served over;
};

/*
 * A tracer (ptrace.c, bpf_way.c). The control thread calls all functions. Functions with a
 * parameter @err set an error text when they fail.
 *
 * @uses_filter: to record what processes do with files, the tracer needs a filter of system calls
 *               (filter.h). With this filter, traced processes cannot run without the tracer
 * @tells_end: the tracer reports the program's end
 * @prepare: make @own. Called before the program's process is made. Returns 0, or a negative errno
 *           when tracing is not possible here
 * @start: trace @pid, which will become the program, and its descendants. Returns 0, or a negative
 *         errno when nothing is traced
 * @end: get the program's status. Returns false when it is not known yet
 * @stop: release all traced tasks. Called after @start
 * @release: free @own. Called after @prepare
 */
struct proc_way {
	bool uses_filter;
	bool tells_end;
	int (*prepare)(struct proc *proc, const struct record_settings *settings,
		       struct uft_err *err);
	int (*start)(struct proc *proc, pid_t pid, struct uft_err *err);
	bool (*end)(struct proc *proc, int *status, struct rusage *usage);
	void (*stop)(struct proc *proc);
	void (*release)(struct proc *proc);
};

extern const struct proc_way proc_by_ptrace;
extern const struct proc_way proc_by_bpf;

/*
 * Choose the tracer. Call this function before the program's process is made. "auto" chooses eBPF
 * if more than a few processes are expected. Returns 0 or a negative errno.
 *
 * @note: gets the reason why "auto" cannot choose eBPF
 */
int proc_choose(struct proc *proc, const struct record_settings *settings, struct uft_err *note,
		struct uft_err *err);

/* True when the program must be started with a filter of system calls. */
bool proc_uses_filter(const struct proc *proc, const struct record_settings *settings);

/*
 * Trace @pid and its descendants. @pid is a child that has not executed the program yet. In @alive,
 * @pid and its descendants together count as one process. Returns 0, or a negative errno when
 * nothing is traced.
 */
int proc_open(struct proc *proc, struct sources *sources, struct alive *alive, pid_t pid,
	      struct uft_err *err);

/*
 * True when the program's status comes from proc_program_end(), and not from wait(2). The status is
 * known when @end_fd is readable.
 */
bool proc_tells_end(const struct proc *proc);

/* Get the status and usage of the ended program. Returns false when they are not known yet. */
bool proc_program_end(struct proc *proc, int *status, struct rusage *usage);

/* Release the chosen tracer. Does nothing when no tracer is chosen. */
void proc_forget(struct proc *proc);

/* --- for the tracers, on any thread --- */

/* Make an eventfd readable: @end_fd, @over_fd, or an eventfd of the tracer. */
void proc_tell(int eventfd);

#endif
