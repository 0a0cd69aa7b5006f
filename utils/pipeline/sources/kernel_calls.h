/*
 * A source (source.h) for one task: the calls of kernel functions, nested within the program's
 * calls.
 */
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

/*
 * An open call of a kernel function: the call has not returned yet.
 *
 * @depth: the number of open calls of traced kernel functions around this call, as counted by the
 *         kernel; or KERNEL_DEPTH_UNKNOWN
 */
struct kernel_frame {
	uint64_t addr;
	uint16_t depth;
};

/*
 * The maximum number of open calls of kernel functions. The kernel's own limit is 50
 * (FTRACE_RETFUNC_DEPTH).
 */
#define KERNEL_FRAMES_MAX 256

/*
 * Delivers the events of a task's queue, with an EXIT for each ENTRY of the kernel's calls. While a
 * task runs in the kernel, the probe writes no records for the task. So no call of the program lies
 * within a call of the kernel, and all calls of the task form one stack.
 *
 * - Calls that were entered before the recording are left out.
 * - A call whose return was lost ends at the latest possible time.
 * - The clocks of the probe and of the kernel differ. So a call of the kernel may seem to contain a
 *   record of the task. This source then corrects the time of the kernel's event, but only by less
 *   than KERNEL_CALLS_SKEW_NS.
 * - The kernel reports SCHED_IN within the first call that is entered after SCHED_OUT
 *   (finish_task_switch). This source delivers SCHED_IN before that call, so the self time of
 *   that call does not include the time off the CPU.
 *
 * @queued: the events from the merger. The struct lane of the task owns @queued
 *          and @user
 * @frames: the open calls are [0, @nr); on the heap; NULL before the first call
 * @last_ns: the time of the last delivered event
 * @is_out: the task is known to be off the CPU
 * @was_back: a SCHED_IN was delivered early, and is still in the queue
 * @drops: drop the kernel's calls, because the task has no session, and so the calls have no names
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

/*
 * Before kernel_calls_init(), @calls must be { 0 }. After the last use of @calls, call
 * kernel_calls_deinit().
 */
void kernel_calls_init(struct kernel_calls *calls, struct queue_source *queued,
		       struct src_user *user, const struct task *task);
void kernel_calls_deinit(struct kernel_calls *calls);

/*
 * HOT: merge two lists of calls by time, and write the result to @events. One list has the calls in
 * the task's records (@calls->user). The other list has the kernel's calls in the task's queue
 * (@calls->queued). At most @max events are written, and no event is later than @limit_ns. The
 * merge stops before a record with a payload, and before an event that is not a call. The merge
 * also stops where calls do not nest, and before an event whose time must be corrected
 * (KERNEL_CALLS_SKEW_NS).
 *
 * Returns the number of written events. If the number is 0, the caller must read the next event
 * from @calls->source, which delivers the events of the queue, or from @calls->user.
 */
size_t kernel_calls_merge(struct kernel_calls *calls, struct event *events, size_t max,
			  uint64_t limit_ns);

/*
 * Write to @events an EXIT for each open call, but at most @max EXITs. To be called before a record
 * is taken, because a task that writes a record is not in the kernel. @record_ns: the time of the
 * record. Returns the number of EXITs.
 */
size_t kernel_calls_return(struct kernel_calls *calls, uint64_t record_ns, struct event *events,
			   size_t max);

#endif
