/* A source of one task (source.h): the kernel's calls, nested within the program's calls. */
#ifndef UTRAIL_PIPELINE_KERNEL_CALLS_H
#define UTRAIL_PIPELINE_KERNEL_CALLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "utils/pipeline/merger.h"
#include "utils/pipeline/sources/src_user.h"

/*
 * The largest difference between the clocks of the probe and of the kernel's tracing. The tracing
 * clock may lag while the time is adjusted.
 */
#define KERNEL_CALLS_SKEW_NS 20000

/* An open call of the kernel. @depth: the kernel's count, which omits untraced functions. */
struct kernel_frame {
	uint64_t addr;
	uint16_t depth;
};

/* The most open calls of the kernel, which has a limit itself: FTRACE_RETFUNC_DEPTH is 50. */
#define KERNEL_FRAMES_MAX 256

/*
 * The events of the lane's queue, in which each ENTRY of the kernel's calls has an EXIT. A task
 * within the kernel writes no records, so records and the kernel's calls make one stack.
 *
 * - Calls that were entered before the recording are left out.
 * - A call whose return was lost ends at the latest possible time.
 * - Times that contradict the stack by less than KERNEL_CALLS_SKEW_NS are due to the clocks.
 * - SCHED_IN is delivered before the first call that is entered after SCHED_OUT. The kernel reports
 *   it later, within that call (finish_task_switch), whose self time does not include the time off
 *   the CPU.
 *
 * @queued: the events from the merger; like @user, it belongs to the lane
 * @frames: the open calls are [0, @nr); on the heap, NULL before the first
 * @last_ns: time of the last delivered event
 * @is_out: the task is known to be off the CPU
 * @was_back: a SCHED_IN was delivered early, and is still in the queue
 * @drops: drop the kernel's calls: the task has no session to name them
 */
struct kernel_calls {
	struct source source;
	struct queue_source *queued;
	struct src_user *user;
	struct kernel_frame *frames;
	size_t nr;
	uint64_t last_ns;
	bool is_out;
	bool was_back;
	bool drops;
};

/* Starts as { 0 }; ends with kernel_calls_deinit(). */
void kernel_calls_init(struct kernel_calls *calls, struct queue_source *queued,
		       struct src_user *user, const struct task *task);
void kernel_calls_deinit(struct kernel_calls *calls);

/*
 * HOT: merge calls of records and of the queue by time, at most @max and none later than @limit_ns.
 * Stops before a call with payload, before an event that is no call, and where calls do not nest or
 * the clocks differ.
 *
 * Returns the number of events; 0: read the next event from this source or from @user.
 */
size_t kernel_calls_merge(struct kernel_calls *calls, struct event *events, size_t max,
			  uint64_t limit_ns);

/*
 * Write EXITs for the open calls to @events, at most @max, before a record of @record_ns is taken:
 * its task is not in the kernel. Returns their number.
 */
size_t kernel_calls_return(struct kernel_calls *calls, uint64_t record_ns, struct event *events,
			   size_t max);

#endif
