/* Stage: pairs entries with exits, names functions, measures total and self time. */
#include "utils/pipeline/stages/stage.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "utils/base/containers/vec.h"
#include "utils/format/record.h"
#include "utils/pipeline/stages/stg_calls_fast.h"

#define FIRST_FRAMES 16

void stage_config_init(struct stage_config *config)
{
	*config = (struct stage_config){
		.depth = UINT32_MAX,
		.actions = UINT32_MAX,
		.show_libcalls = true,
		.show_events = true,
		.sched = STAGE_SCHED_ALL,
	};
}

void stg_calls_deinit(struct stg_calls *calls)
{
	free(calls->frames);
	free(calls->open);
}

static bool grow_frames(struct stg_calls *calls, size_t nr)
{
	size_t cap = calls->cap ? calls->cap : FIRST_FRAMES;

	while (cap < nr)
		cap *= 2;

	struct pending_call *frames = reallocarray(calls->frames, cap, sizeof(*frames));

	if (!frames)
		return false;
	calls->frames = frames;
	calls->cap = cap;
	return true;
}

/* Make room to count the frames of @func. */
static bool grow_open(struct stg_calls *calls, const struct func *func)
{
	uint32_t *open = vec_reach(calls->open, &calls->nr_open, func->count_id, sizeof(*open));

	if (!open)
		return false;
	calls->open = open;
	return true;
}

/* Find the function that was at address frame->addr when the call began. */
static const struct func *func_of(const struct stg_calls *calls, const struct pending_call *frame,
				  struct uft_err *err)
{
	struct task_place place;
	int ret = task_place_at(calls->task, calls->reader, frame->start_ns, &place, err);

	return ret < 0 ? NULL : space_func(place.space, frame->addr, err);
}

int stg_calls_copy(struct stg_calls *to, const struct stg_calls *from, struct uft_err *err)
{
	*to = *from;
	to->frames = NULL;
	to->open = NULL;
	to->cap = 0;
	to->nr_open = 0;
	if (!grow_frames(to, from->nr))
		return err_set_errno(err, -ENOMEM, "cannot follow %zu calls", from->nr);
	for (size_t i = 0; i < from->nr; i++) {
		struct pending_call *frame = &to->frames[i];

		*frame = from->frames[i];
		if (!frame->func)
			frame->func = func_of(from, frame, err);
		if (!frame->func)
			return err->code;
		if (frame->func->count_id >= to->nr_open && !grow_open(to, frame->func))
			return err_set_errno(err, -ENOMEM, "cannot follow %zu calls", from->nr);
		to->open[frame->func->count_id]++;
	}
	return 0;
}

/* Drop the frames with index @depth or above, and subtract them from the counts in calls->open. */
static void cut_frames(struct stg_calls *calls, size_t depth)
{
	for (size_t i = depth; i < calls->nr; i++) {
		if (calls->frames[i].func)
			calls->open[calls->frames[i].func->count_id]--;
	}
	calls->nr = MIN(calls->nr, depth);
	calls->nr_seeded = MIN(calls->nr_seeded, depth);
}

/*
 * Set the number of frames to @depth. A new frame stands for a call without a recorded ENTRY. This
 * call begins at @start_ns.
 */
static bool set_frames(struct stg_calls *calls, size_t depth, uint64_t start_ns)
{
	cut_frames(calls, depth);
	if (depth > calls->cap && !grow_frames(calls, depth))
		return false;
	if (calls->nr == calls->nr_seeded)
		calls->nr_seeded = depth;
	while (calls->nr < depth)
		calls->frames[calls->nr++] = (struct pending_call){ .start_ns = start_ns };
	return true;
}

/* Change to the address space at the time of @event. exec and dlopen change the address space. */
static int change_space(struct stg_calls *calls, struct event *event, struct uft_err *err)
{
	struct task_place place;
	int ret = task_place_at(calls->task, calls->reader, event->time_ns, &place, err);

	if (ret < 0)
		return ret;
	/* At exec, the calls of the old program are gone. */
	if (calls->session && place.session != calls->session)
		cut_frames(calls, 0);
	calls->session = place.session;
	calls->space = place.space;
	calls->changes_ns = place.until_ns;
	return 0;
}

/*
 * @event is the task's first ENTRY or EXIT that is not the kernel's. Store the number of calls that
 * enclose the call of @event. This number may be above 0 in a forked child, in a time range, and in
 * a recording that begins late.
 */
static void note_first_record(struct stg_calls *calls, struct event *event)
{
	calls->has_record = true;
	calls->inherited_depth = event->depth;
	if (event->type == EVENT_EXIT)
		event->flags |= EVENT_INHERITED;
}

/*
 * Set the number of frames to the number of calls that were open before @event. This is done at two
 * events: the first ENTRY or EXIT after LOST, and the task's first ENTRY or EXIT. As in uftrace,
 * the task's first ENTRY or EXIT does not set the number if an event of the scheduler came earlier.
 * ENTRYs and EXITs of the kernel are ignored. Returns false when there is no memory.
 */
static bool resync_frames(struct stg_calls *calls, struct event *event)
{
	size_t depth = event->depth + (event->type == EVENT_EXIT);

	if (event_is_kernel_call(event))
		return true;
	if (event->type > EVENT_EXIT) {
		calls->has_first |= event->type == EVENT_SCHED_OUT || event->type == EVENT_SCHED_IN;
		return true;
	}

	bool is_first = !calls->has_first;

	if (!calls->has_record)
		note_first_record(calls, event);
	calls->has_first = true;
	if (calls->wants_depth) {
		calls->wants_depth = false;
		return set_frames(calls, depth, 0);
	}
	return !is_first || set_frames(calls, depth, event->time_ns);
}

static int enter_call(struct stg_calls *calls, struct event *event, struct uft_err *err)
{
	const struct func *func = space_func(calls->space, event->addr, err);

	if (unlikely(!func))
		return err->code;
	if (unlikely(calls->nr == calls->cap) && !grow_frames(calls, calls->nr + 1))
		return err_set_errno(err, -ENOMEM, "cannot follow %zu calls", calls->nr);
	if (unlikely(func->count_id >= calls->nr_open) && !grow_open(calls, func))
		return err_set_errno(err, -ENOMEM, "cannot follow %zu calls", calls->nr);
	event->depth = calls->nr - calls->nr_seeded;
	/* The depth in the record of a kernel call does not count the calls of the program. */
	if (event_is_kernel_call(event))
		event->indent = calls->nr;
	enter_func(calls, &calls->frames[calls->nr++], func, event);
	return 0;
}

/* Name the function of an EXIT that is not the EXIT of the innermost call. */
static int name_odd_exit(struct stg_calls *calls, struct event *event, struct uft_err *err)
{
	event->func = space_func(calls->space, event->addr, err);
	return event->func ? 0 : err->code;
}

static struct pending_call *innermost(const struct stg_calls *calls)
{
	return calls->nr ? &calls->frames[calls->nr - 1] : NULL;
}

static int leave_call(struct stg_calls *calls, struct event *event, struct uft_err *err)
{
	if (unlikely(calls->nr == 0)) {
		/* As in uftrace, this EXIT gets the times of the previous outermost call. */
		event->flags |= EVENT_UNPAIRED;
		event->total_ns = calls->outermost_total_ns;
		event->self_ns = calls->outermost_self_ns;
		event->depth = 0;
		return name_odd_exit(calls, event, err);
	}

	const struct pending_call *frame = &calls->frames[--calls->nr];
	const struct func *func = frame->func;

	calls->nr_seeded = MIN(calls->nr_seeded, calls->nr);
	event->depth = calls->nr - calls->nr_seeded;
	if (event_is_kernel_call(event))
		event->indent = calls->nr;
	event->total_ns = frame->start_ns ? event->time_ns - frame->start_ns : 0;
	event->self_ns = event->total_ns - frame->child_ns;
	if (likely(func != NULL)) {
		event->func = func;
		if (unlikely(--calls->open[func->count_id]))
			event->flags |= EVENT_RECURSIVE;
	} else if (calls->nr) {
		/*
		 * The call has no recorded ENTRY, and is inside another open call. EVENT_RECURSIVE
		 * keeps the time of this call out of its function's total time.
		 */
		event->flags |= EVENT_RECURSIVE;
	}
	/*
	 * A frame without a recorded entry has address 0 and no function. If an EXIT of a damaged
	 * file has address 0, the addresses are equal. For this case, func is checked.
	 */
	if (unlikely(frame->addr != event->addr || !func)) {
		if (!func && frame->child_ns > event->total_ns)
			event->self_ns = 0;
		event->flags |= EVENT_UNPAIRED;

		int ret = name_odd_exit(calls, event, err);

		if (ret < 0)
			return ret;
	}
	count_time(calls, innermost(calls), event, frame->child_ns);
	return 0;
}

/*
 * True when no function of the program is open. After exec, this is so until the program's first
 * call.
 */
static bool is_outside(const struct stg_calls *calls)
{
	const struct pending_call *top = innermost(calls);

	return !top || (top->func && top->func->is_exec);
}

/*
 * Returns the depth of an event that is neither ENTRY nor EXIT: the number of open calls, without
 * the first nr_seeded calls. As in uftrace, a hidden outermost library call does not count.
 */
static uint32_t event_depth(const struct stg_calls *calls)
{
	const struct stage_config *config = calls->config;
	size_t depth = calls->nr - calls->nr_seeded;

	if (calls->nr == 1 && depth == 1 && config->wants == STAGE_WANTS_DEPTHS &&
	    !config->show_libcalls && calls->frames[0].func && calls->frames[0].func->is_libcall)
		return 0;
	return depth;
}

static void on_sched(struct stg_calls *calls, struct event *event)
{
	event->func = NULL;
	event->depth = event_depth(calls);
	if (is_outside(calls))
		event->flags |= EVENT_OUTSIDE;
	if (event->type == EVENT_SCHED_OUT) {
		calls->is_out = true;
		calls->out_ns = event->time_ns;
		calls->out_flags = event->flags;
		event->total_ns = 0;
	} else if (!calls->is_out) {
		event->flags |= EVENT_UNPAIRED;
		event->total_ns = 0;
	} else {
		calls->is_out = false;
		event->flags |= calls->out_flags & EVENT_PREEMPTED;
		event->self_ns = event->total_ns = event->time_ns - calls->out_ns;
		count_time(calls, innermost(calls), event, 0);
	}
	event->self_ns = event->total_ns;
	event->func = event->flags & EVENT_PREEMPTED ? calls->pseudo->sched_preempt
						     : calls->pseudo->sched;
}

static void on_other(struct stg_calls *calls, struct event *event)
{
	event->func = NULL;
	if (event->type == EVENT_POINT && event_id_is_counter_diff(event->id) && calls->nr)
		event->func = calls->frames[calls->nr - 1].func;
	event->total_ns = 0;
	event->self_ns = 0;
	event->depth = event_depth(calls);
	if (event->type == EVENT_LOST) {
		calls->wants_depth |= !(event->flags & EVENT_KERNEL_LOST);
		/* As in uftrace, each LOST event counts as a call of one nanosecond. */
		if (calls->nr)
			calls->frames[calls->nr - 1].child_ns += 1;
		return;
	}
	if (is_outside(calls))
		event->flags |= EVENT_OUTSIDE;
}

/*
 * True when the task may be inside of calls that began before the time range. Such calls are
 * unknown until the task's first ENTRY or EXIT that is not the kernel's.
 */
static bool may_be_inside(const struct stg_calls *calls)
{
	return calls->config->starts_inside && !calls->has_record;
}

/* Handle the cases that stg_calls() does not handle inline. */
static int handle(struct stg_calls *calls, struct event *event, struct uft_err *err)
{
	/* A task without a probe has no session, and no meaningful addresses. */
	bool needs_space = event->type <= EVENT_EXIT || calls->task->nr_refs;

	if (needs_space && event->time_ns >= calls->changes_ns) {
		int ret = change_space(calls, event, err);

		if (ret < 0)
			return ret;
	}
	if ((!calls->has_record || calls->wants_depth) && !resync_frames(calls, event))
		return err_set_errno(err, -ENOMEM, "cannot follow %u calls", event->depth);

	switch (event->type) {
	case EVENT_ENTRY:
		if (event_is_kernel_call(event) && is_outside(calls) && !may_be_inside(calls)) {
			event->flags |= EVENT_OUTSIDE;
			calls->has_outside = true;
		}
		return enter_call(calls, event, err);
	case EVENT_EXIT:
		return leave_call(calls, event, err);
	case EVENT_SCHED_OUT:
	case EVENT_SCHED_IN:
		on_sched(calls, event);
		break;
	default:
		on_other(calls, event);
		break;
	}
	calls->has_events = true;
	return 0;
}

/*
 * HOT: find a function that was called before. Returns NULL when handle() must be called, because
 * the function is not known yet.
 */
static inline const struct func *known_func(const struct stg_calls *calls,
					    const struct addr_space *space, uint64_t addr)
{
	const struct addr_slot *slot = &space->slots[addr_slot(addr) & space->mask];
	const struct func *func = slot->func;

	return likely(slot->addr == addr && func && func->count_id < calls->nr_open) ? func : NULL;
}

/*
 * Returns a limit in time: pair_fast() may handle only events before this limit. The limit is 0 in
 * two cases:
 *
 * - handle() must find the depth of the stack.
 * - The task may have calls to kernel functions, and is outside of all functions of the program.
 */
static uint64_t fast_until(const struct stg_calls *calls)
{
	if (!calls->has_record || calls->wants_depth || (calls->has_kernel && is_outside(calls)))
		return 0;
	return calls->changes_ns;
}

/*
 * HOT: handle an ENTRY or EXIT inline. The compiler can keep the members of @at in registers.
 * Returns false if the caller must call handle().
 */
static inline bool pair_fast(struct open_calls *at, struct stg_calls *calls,
			     const struct addr_space *space, struct event *event)
{
	if (event->type == EVENT_ENTRY)
		return enter_fast(at, calls, known_func(calls, space, event->addr), event);
	return event->type == EVENT_EXIT && leave_fast(at, calls, event);
}

int stg_calls(struct stg_calls *calls, struct event *events, size_t nr, struct uft_err *err)
{
	struct open_calls at = open_calls_of(calls);
	const struct addr_space *space = calls->space;
	uint64_t slow_ns = fast_until(calls);

	calls->has_events = false;
	calls->has_outside = false;
	calls->is_plain = calls->nr_seeded == 0;
	if (nr)
		calls->last_ns = events[nr - 1].time_ns;
	for (size_t i = 0; i < nr; i++) {
		struct event *event = &events[i];

		if (likely(event->time_ns < slow_ns) && pair_fast(&at, calls, space, event))
			continue;
		calls->nr = at.nr;
		calls->is_plain = false;

		int ret = handle(calls, event, err);

		if (ret < 0)
			return ret;
		at = open_calls_of(calls);
		space = calls->space;
		slow_ns = fast_until(calls);
	}
	calls->nr = at.nr;
	return 0;
}

size_t stg_calls_close(struct stg_calls *calls, struct event *events)
{
	uint64_t child_ns = 0;
	size_t nr = 0;

	for (size_t i = calls->nr; i-- > 0;) {
		const struct pending_call *frame = &calls->frames[i];

		if (!frame->func)
			continue;

		uint64_t total_ns = calls->last_ns - frame->start_ns;

		events[nr] = (struct event){
			.time_ns = calls->last_ns,
			.total_ns = total_ns,
			.self_ns = total_ns - frame->child_ns - child_ns,
			.addr = frame->addr,
			.func = frame->func,
			.depth = i - calls->nr_seeded,
			.indent = i,
			.type = EVENT_EXIT,
			.flags = EVENT_UNFINISHED,
		};
		if (--calls->open[frame->func->count_id])
			events[nr].flags |= EVENT_RECURSIVE;
		child_ns = foreign_time(calls->config, frame->func, total_ns,
					frame->child_ns + child_ns);
		nr++;
	}
	calls->nr = 0;
	calls->nr_seeded = 0;
	return nr;
}
