/* The calls of kernel functions in one task (see kernel_calls.h). */
#include "utils/pipeline/sources/kernel_calls.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static bool is_call(const struct queued *queued)
{
	return queued->type <= EVENT_EXIT;
}

static const struct queued *next_queued(const struct kernel_calls *calls)
{
	const struct queue_source *queued = calls->queued;

	return queued->at == queued->end ? NULL : &queued->queue->events[queued->at];
}

/*
 * @next is the ENTRY of an outermost call of a kernel function. @record_ns is the time of the
 * task's next record. True when @record_ns is within the call, and nearer to the beginning of the
 * call than to the end. A task within the kernel writes no records. So if the result is true, the
 * task wrote the record first, and then made the call. The times are in the wrong order, because
 * the clocks of the probe and of the kernel differ.
 */
static bool is_entered_late(const struct kernel_calls *calls, const struct queued *next,
			    uint64_t record_ns)
{
	const struct queue_source *queued = calls->queued;
	uint64_t until_ns = record_ns + (record_ns - next->time_ns);

	for (size_t i = queued->at + 1; i < queued->end; i++) {
		const struct queued *event = &queued->queue->events[i];

		if (event->time_ns > until_ns)
			break;
		if (event->type == EVENT_EXIT && event->depth <= next->depth)
			return false;
	}
	return true;
}

/*
 * Returns the time at which @next is due. This is normally next->time_ns. But inexact clocks may
 * put an ENTRY or EXIT on the wrong side of the task's next record. If @next is wrongly after this
 * record, the result is a nanosecond before the record. If @next is wrongly before this record, the
 * result is the time of the record.
 */
static uint64_t due_ns(const struct kernel_calls *calls, const struct queued *next)
{
	uint64_t record_ns = source_next_ns(&calls->user->source);
	uint64_t time_ns = next->time_ns;

	if (!is_call(next) || record_ns == UINT64_MAX)
		return time_ns;
	if (calls->nr && time_ns >= record_ns && time_ns - record_ns < KERNEL_CALLS_SKEW_NS)
		return record_ns - (record_ns > 0);
	if (!calls->nr && next->type == EVENT_ENTRY && time_ns < record_ns &&
	    record_ns - time_ns < KERNEL_CALLS_SKEW_NS && is_entered_late(calls, next, record_ns))
		return record_ns;
	return time_ns;
}

static uint64_t calls_next_ns(struct source *source)
{
	const struct kernel_calls *calls = (const struct kernel_calls *)source;
	const struct queued *next = next_queued(calls);

	return next ? due_ns(calls, next) : UINT64_MAX;
}

/* Make an EXIT for the innermost open call, whose return was not recorded. */
static struct event return_unseen(struct kernel_calls *calls, uint64_t time_ns)
{
	const struct kernel_frame *frame = &calls->frames[--calls->nr];

	return (struct event){
		.time_ns = MAX(time_ns, calls->last_ns),
		.addr = frame->addr,
		.depth = frame->depth,
		.type = EVENT_EXIT,
	};
}

/* The action for the next event of the queue. */
enum step {
	STEP_DROP, /* leave the event out */
	STEP_TAKE,
	STEP_RETURN, /* first make the EXIT of the innermost open call */
};

static bool has_room(struct kernel_calls *calls)
{
	if (!calls->frames)
		calls->frames = calloc(KERNEL_FRAMES_MAX, sizeof(*calls->frames));
	return calls->frames && calls->nr < KERNEL_FRAMES_MAX;
}

static inline enum step step_frames(struct kernel_calls *calls, const struct queued *next)
{
	const struct kernel_frame *top = calls->nr ? &calls->frames[calls->nr - 1] : NULL;
	bool has_depth = next->depth != KERNEL_DEPTH_UNKNOWN;

	if (calls->drops)
		return STEP_DROP;
	if (next->type == EVENT_ENTRY) {
		if (top && has_depth && top->depth >= next->depth)
			return STEP_RETURN;
		if (!has_room(calls))
			return STEP_DROP;
		calls->frames[calls->nr++] = (struct kernel_frame){ next->addr, next->depth };
		return STEP_TAKE;
	}
	if (!top)
		return STEP_DROP;
	if (has_depth && top->depth < next->depth)
		return STEP_DROP;
	if (has_depth && (top->depth > next->depth || top->addr != next->addr))
		return STEP_RETURN;
	if (!has_depth && top->addr != next->addr)
		return calls->nr > 1 && calls->frames[calls->nr - 2].addr == next->addr
			       ? STEP_RETURN
			       : STEP_DROP;
	calls->nr--;
	return STEP_TAKE;
}

static struct event event_of(const struct queued *queued)
{
	struct event event = {
		.time_ns = queued->time_ns,
		.addr = queued->addr,
		.type = queued->type,
		.flags = queued->flags,
	};

	if (is_call(queued)) {
		event.depth = event.indent = queued->depth;
	} else {
		event.data = queued->data;
		event.data_len = queued->data_len;
	}
	return event;
}

static bool is_loss(const struct queued *next)
{
	return next->type == EVENT_LOST;
}

static bool is_sched(const struct queued *next)
{
	return next->type == EVENT_SCHED_OUT || next->type == EVENT_SCHED_IN;
}

/*
 * Returns the CPU of the task's next SCHED_IN. If this SCHED_IN is not in the queue yet, returns
 * EVENT_CPU_UNKNOWN. The search stops at lost events, because the SCHED_IN may be among the lost
 * events.
 */
static uint16_t cpu_of_return(const struct kernel_calls *calls)
{
	const struct queue_source *queued = calls->queued;

	for (size_t i = queued->at; i < queued->end; i++) {
		const struct queued *event = &queued->queue->events[i];

		if (is_loss(event))
			break;
		if (is_sched(event))
			return event->type == EVENT_SCHED_IN ? event->data_len : EVENT_CPU_UNKNOWN;
	}
	return EVENT_CPU_UNKNOWN;
}

/*
 * Make the SCHED_IN of a task that enters a call at @entry_ns. The SCHED_IN is a nanosecond before
 * the call, as in uftrace.
 */
static struct event come_back(struct kernel_calls *calls, uint64_t entry_ns)
{
	struct event event = {
		.time_ns = MAX(entry_ns - (entry_ns > 0),
			       MAX(calls->last_ns, src_user_last_ns(calls->user))),
		.id = EVENT_ID_SCHED_IN,
		.cpu = cpu_of_return(calls),
		.type = EVENT_SCHED_IN,
	};

	calls->is_out = false;
	calls->was_back = true;
	calls->last_ns = event.time_ns;
	return event;
}

/*
 * If @next is an event of the scheduler, or a loss, note whether the task is off the CPU. Returns
 * false if @next is a SCHED_IN that was delivered already.
 */
static bool note_sched(struct kernel_calls *calls, const struct queued *next)
{
	bool is_known = next->type == EVENT_SCHED_IN && calls->was_back;

	if (!is_sched(next) && !is_loss(next))
		return true;
	/* After a loss, calls->is_out is false, because a SCHED_IN may be among the lost events. */
	calls->is_out = next->type == EVENT_SCHED_OUT;
	calls->was_back = false;
	return !is_known;
}

static ssize_t calls_read(struct source *source, struct event *events, size_t max,
			  uint64_t until_ns, struct uft_err *err)
{
	struct kernel_calls *calls = (struct kernel_calls *)source;
	const struct queued *next;
	size_t nr = 0;

	while (nr < max && (next = next_queued(calls))) {
		enum step what = STEP_TAKE;
		uint64_t due = due_ns(calls, next);

		if (due > until_ns)
			break;
		/* The returns of open calls may be among the lost events, so the calls end here. */
		if (is_loss(next) && calls->nr) {
			events[nr++] = return_unseen(calls, next->time_ns);
			continue;
		}
		if (next->type == EVENT_ENTRY && calls->is_out && !calls->drops) {
			events[nr++] = come_back(calls, MIN(next->time_ns, due));
			continue;
		}
		if (is_call(next))
			what = step_frames(calls, next);
		else if (!note_sched(calls, next))
			what = STEP_DROP;
		if (what == STEP_RETURN) {
			events[nr++] = return_unseen(calls, MIN(next->time_ns, due));
			continue;
		}
		calls->queued->at++;
		if (what == STEP_DROP)
			continue;
		events[nr] = event_of(next);
		/*
		 * The clocks of the probe and of the kernel differ. If an ENTRY or EXIT seems to be
		 * earlier than the program's record that was read last, the event gets the time of
		 * this record.
		 */
		if (is_call(next))
			events[nr].time_ns = MAX(due, src_user_last_ns(calls->user));
		calls->last_ns = events[nr++].time_ns;
	}
	return nr;
}

static void calls_close(struct source *source)
{
	kernel_calls_deinit((struct kernel_calls *)source);
}

void kernel_calls_init(struct kernel_calls *calls, struct queue_source *queued,
		       struct src_user *user, const struct task *task)
{
	static const struct source_ops ops = {
		.next_ns = calls_next_ns,
		.read = calls_read,
		.close = calls_close,
	};

	calls->source = (struct source){ .ops = &ops, .task = task };
	calls->queued = queued;
	calls->user = user;
	calls->drops = !task->nr_refs;
}

void kernel_calls_deinit(struct kernel_calls *calls)
{
	free(calls->frames);
	*calls = (struct kernel_calls){ 0 };
}

size_t kernel_calls_return(struct kernel_calls *calls, uint64_t record_ns, struct event *events,
			   size_t max)
{
	size_t nr = 0;

	while (calls->nr && nr < max)
		events[nr++] = return_unseen(calls, record_ns);
	return nr;
}

/*
 * True when due_ns() does not move the call @next to the time of the program's next record.
 *
 * @record_ns: the time of the program's next record; later than next->time_ns
 */
static inline bool is_due_before(const struct kernel_calls *calls, const struct queued *next,
				 uint64_t record_ns)
{
	return calls->nr || next->type == EVENT_EXIT ||
	       record_ns - next->time_ns >= KERNEL_CALLS_SKEW_NS ||
	       !is_entered_late(calls, next, record_ns);
}

size_t kernel_calls_merge(struct kernel_calls *calls, struct event *events, size_t max,
			  uint64_t limit_ns)
{
	struct queue_source *queued = calls->queued;
	struct plain_records records;
	struct record rec;
	size_t nr = 0;

	if (!queued->queue || calls->drops || !src_user_plain(calls->user, UINT64_MAX, &records))
		return 0;
	while (nr < max && queued->at < queued->end && plain_record_next(&records, &rec)) {
		const struct queued *next = &queued->queue->events[queued->at];
		struct event *event = &events[nr];

		if (MIN(rec.time_ns, next->time_ns) > limit_ns || !is_call(next))
			break;
		if (rec.time_ns <= next->time_ns) {
			/* First, kernel_calls_return() must end open calls of kernel functions. */
			if (calls->nr)
				break;
			event_of_record(&rec, records.last_ns, event);
			plain_record_took(&records, &rec);
		} else {
			if ((next->type == EVENT_ENTRY && calls->is_out) ||
			    !is_due_before(calls, next, rec.time_ns) ||
			    step_frames(calls, next) != STEP_TAKE)
				break;
			event->time_ns = calls->last_ns = MAX(next->time_ns, records.last_ns);
			event->addr = next->addr;
			event->data = NULL;
			event->data_len = 0;
			event->depth = event->indent = next->depth;
			event->type = next->type;
			event->flags = next->flags;
			queued->at++;
		}
		nr++;
	}
	src_user_plain_put(&records, calls->user);
	return nr;
}
