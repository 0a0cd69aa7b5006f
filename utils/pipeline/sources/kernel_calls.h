/*
 * The kernel's calls of one task, adapted to the stack of its functions: a source of one task
 * (source.h).
 */
#ifndef UTRAIL_PIPELINE_KERNEL_CALLS_H
#define UTRAIL_PIPELINE_KERNEL_CALLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "utils/pipeline/merger.h"
#include "utils/pipeline/sources/src_user.h"

/*
 * The largest difference between the program's clock and that of the kernel's tracing. Both tell
 * the same time, but the program may compute it itself, and the kernel's tracing clock may lag
 * while the time is adjusted.
 */
#define KERNEL_CALLS_SKEW_NS 20000

/* An open call of the kernel. @depth: as the kernel counts, without untraced functions. */
struct kernel_frame {
	uint64_t addr;
	uint16_t depth;
};

/* The most open calls of the kernel, which has a limit itself: FTRACE_RETFUNC_DEPTH is 50. */
#define KERNEL_FRAMES_MAX 256

/*
 * The events in the lane's queue, with the kernel's calls nested: each ENTRY has an EXIT. Calls
 * entered before the recording are left out. Calls whose return was lost end at the latest possible
 * time. A task within the kernel writes no records, so records and the kernel's calls make one
 * stack. Times that contradict this by less than KERNEL_CALLS_SKEW_NS are due to the clocks.
 *
 * The kernel reports SCHED_IN in the first function that the task runs when it is back
 * (finish_task_switch). The self time of that call does not include the time off the CPU. So
 * SCHED_IN is delivered before the first call that is entered after SCHED_OUT.
 *
 * @queued: the events from the merger; it belongs to the lane, and so does @user
 * @frames: the open calls are [0, @nr); on the heap, NULL before the first
 * @last_ns: time of the last delivered event
 * @is_out: the last known event of the scheduler is a SCHED_OUT
 * @was_back: the SCHED_IN after it was delivered early
 * @drops: the task has no program for its addresses
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
 * HOT: merge the next records and events of the queue by time, at most @max and none later than
 * @limit_ns. This goes on as long as records are calls without payload, and the kernel's calls are
 * nested and on the right side of records. Returns the number of events; 0: call the source and
 * @user.
 */
size_t kernel_calls_merge(struct kernel_calls *calls, struct event *events, size_t max,
			  uint64_t limit_ns);

/*
 * Call this before a record of @record_ns is taken. The task that wrote the record was not in the
 * kernel, so this writes the missing EXITs to @events, at most @max. Returns their number.
 */
size_t kernel_calls_return(struct kernel_calls *calls, uint64_t record_ns, struct event *events,
			   size_t max);

#endif
