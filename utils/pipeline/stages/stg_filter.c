/*
 * Stage: filters and triggers. Their meaning is the same as in the recorder (doc/facts/language.md,
 * "Which calls are kept").
 */
#include "utils/pipeline/stages/stg_filter.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "utils/base/containers/vec.h"
#include "utils/pipeline/stages/stage.h"

enum frame_flags {
	FRAME_SHOWN = 1U << 0,	  /* shown, unless a time filter drops the call */
	FRAME_KEEP = 1U << 1,	  /* the action `trace`: time filters do not drop the call */
	FRAME_HAS_KEPT = 1U << 2, /* shown, because a call within it is shown */
	FRAME_CALLER = 1U << 3,	  /* the function has the action `caller` */
	FRAME_PASSED = 1U << 6,	  /* the filters have let the call pass */
	FRAME_SMALL = 1U << 4,	  /* dropped for its size; the self time counts as the caller's */
	FRAME_MARK = 1U << 5,	  /* the call is too deep to be shown, but its callers are shown */
};

struct filter_frame {
	struct selection before;
	uint64_t threshold_ns;
	uint64_t extra_ns;	 /* the time of dropped callees, added to this call's self time */
	const struct func *func; /* NULL: the call's ENTRY was not seen */
	uint64_t addr;
	const struct call_path *path;
	const struct cond *cond; /* with TRIGGER_IF */
	uint64_t bits;		 /* the terms of @cond that were true at the call's ENTRY */
	/*
	 * The number of this call among the task's calls with a condition on the return value. The
	 * first of these calls has the number 1. 0: no such condition is checked for this call
	 */
	size_t nr_asked;
	uint32_t flags;
};

void stg_filter_init(struct stg_filter *stage, struct call_filter *filter, size_t task)
{
	*stage = (struct stg_filter){ .filter = filter, .now = filter->base, .task = task };
	stage->is_on = !filter->starts_off;
}

void stg_filter_deinit(struct stg_filter *stage)
{
	free(stage->frames);
	free(stage->levels);
}

static bool push_filter_frame(struct stg_filter *stage, const struct filter_frame *frame)
{
	struct filter_frame *frames = vec_room(stage->frames, stage->nr, &stage->cap,
					       sizeof(*frames));

	if (!frames)
		return false;
	stage->frames = frames;
	stage->frames[stage->nr++] = *frame;
	return true;
}

int stg_filter_copy(struct stg_filter *to, const struct stg_filter *from)
{
	struct filter_frame *frames = NULL;

	if (from->nr) {
		frames = reallocarray(to->frames, from->nr, sizeof(*frames));
		if (!frames)
			return -ENOMEM;
		memcpy(frames, from->frames, from->nr * sizeof(*frames));
		to->frames = frames;
		to->cap = from->nr;
	}
	to->nr = from->nr;
	to->now = from->now;
	/*
	 * A call's condition on the return value is checked only in the task that has begun the
	 * call. The copied frames belong to calls of another task. So @nr_asked of each copy
	 * becomes 0.
	 */
	for (size_t i = 0; i < to->nr; i++)
		to->frames[i].nr_asked = 0;
	return 0;
}

int stg_filter_inherit(struct stg_filter *stage, const struct stg_filter *parent,
		       const struct task *task)
{
	if (!parent->nr)
		return 0;
	stage->exec_ns = task_next_exec_ns(task, task->start_ns);
	stage->is_waiting = true;
	return stg_filter_copy(stage, parent);
}

/*
 * Set the number of frames to @depth. After lost records or an exec, there may be too many or too
 * few frames. Returns false when memory is short.
 */
static bool set_depth(struct stg_filter *stage, size_t depth)
{
	if (stage->nr > depth) {
		stage->now = stage->frames[depth].before;
		stage->nr = depth;
	}
	while (stage->nr < depth) {
		const struct filter_frame unseen = { .before = stage->now, .flags = FRAME_SHOWN };

		if (!push_filter_frame(stage, &unseen))
			return false;
	}
	return true;
}

/* True when the call of @frame counts in the depth of shown calls. */
static bool is_level(const struct stg_filter *stage, const struct filter_frame *frame)
{
	if (stage->filter->hides_libcalls && frame->func && frame->func->is_libcall)
		return false;
	return frame->flags & (FRAME_SHOWN | FRAME_MARK);
}

static int count_levels(struct stg_filter *stage)
{
	uint16_t levels = 0;

	stage->levels = reallocarray(NULL, stage->nr + 1, sizeof(*stage->levels));
	if (!stage->levels)
		return -ENOMEM;
	for (size_t i = 0; i < stage->nr; i++) {
		stage->levels[i] = levels;
		levels += is_level(stage, &stage->frames[i]);
	}
	stage->levels[stage->nr] = levels;
	stage->nr_levels = stage->nr + 1;
	return 0;
}

/*
 * Let -D count from the task's own first call. The calls that were open when the task began do not
 * count.
 */
static void give_levels_back(const struct stg_filter *stage, struct selection *selection)
{
	if (!selection->counts_from_call)
		selection->depth = stage->filter->base.depth;
}

static void give_all_levels_back(struct stg_filter *stage)
{
	for (size_t i = 0; i < stage->nr; i++)
		give_levels_back(stage, &stage->frames[i].before);
	give_levels_back(stage, &stage->now);
}

void stg_filter_begin_within(struct stg_filter *stage, size_t nr)
{
	stage->nr_within = nr;
}

/*
 * Begin a forked child with the state that its parent had at the fork. This state has
 * stage->nr open calls. If another number of calls was open in the child before @event, the
 * state is dropped.
 *
 * @event: the first ENTRY or EXIT of the child
 */
static int begin_child(struct stg_filter *stage, const struct event *event)
{
	size_t depth = event->indent + (size_t)(event->type == EVENT_EXIT);

	stage->is_waiting = false;
	if (depth == stage->nr) {
		stage->nr_inherited = depth;
		give_all_levels_back(stage);
		return count_levels(stage);
	}
	stage->nr = 0;
	stage->now = stage->filter->base;
	return 0;
}

/*
 * Inherited calls were open at the fork that made this task. End each inherited call whose index is
 * @depth or more.
 */
static void leave_inherited(struct stg_filter *stage, size_t depth)
{
	if (depth < stage->nr) {
		stage->now = stage->frames[depth].before;
		stage->nr = depth;
	}
	stage->nr_inherited = depth;
}

/*
 * Before an event of this task, apply each trace_on and trace_off that another task has reached
 * earlier. @now_ns is the time of the event. If events of two tasks have the same time, the event
 * of the task with the lower index comes first. reach_switch() applies each trace_on and trace_off
 * of this task.
 */
static inline void look_at_switches(struct stg_filter *stage, uint64_t now_ns)
{
	const struct call_filter *filter = stage->filter;

	while (stage->switch_at < filter->nr_switches && !filter->collects) {
		const struct filter_switch *next = &filter->switches[stage->switch_at];

		if (next->time_ns + (next->task >= stage->task) > now_ns)
			break;
		stage->is_on = next->is_on;
		stage->switch_at++;
	}
}

static void reach_switch(struct stg_filter *stage, uint64_t time_ns)
{
	const struct filter_switch *next = stage->filter->switches + stage->switch_at;

	if (stage->switch_at >= stage->filter->nr_switches || next->task != stage->task ||
	    next->time_ns != time_ns)
		return;
	stage->is_on = next->is_on;
	stage->switch_at++;
}

static int note_switch(struct stg_filter *stage, const struct trigger *trigger, uint64_t time_ns)
{
	struct call_filter *filter = stage->filter;

	if (!(trigger->flags & (TRIGGER_TRACE_ON | TRIGGER_TRACE_OFF)))
		return 0;
	if (!filter->collects) {
		reach_switch(stage, time_ns);
		return 0;
	}

	struct filter_switch *switches = vec_grow(filter->switches, filter->nr_switches,
						  sizeof(*switches));

	if (!switches)
		return -ENOMEM;
	filter->switches = switches;
	switches[filter->nr_switches] = (struct filter_switch){
		.time_ns = time_ns,
		.task = stage->task,
		.nth = filter->nr_switches,
		.is_on = (trigger->flags & TRIGGER_TRACE_ON) != 0,
	};
	filter->nr_switches++;
	return 0;
}

static void set_limit(struct stg_filter *stage, uint32_t depth)
{
	stage->now.depth = depth;
	stage->now.counts_from_call = true;
}

/* Apply the actions that count only for calls that have passed the filters. */
static uint32_t obey_trigger(struct stg_filter *stage, const struct trigger *trigger)
{
	uint32_t flags = 0;

	if (trigger->flags & TRIGGER_DEPTH)
		set_limit(stage, trigger->depth);
	if (trigger->flags & TRIGGER_TIME)
		stage->now.threshold_ns = trigger->time_ns;
	if (trigger->flags & TRIGGER_SIZE)
		stage->now.size = trigger->size;
	if (trigger->flags & TRIGGER_TRACE)
		flags |= FRAME_KEEP;
	if (trigger->flags & TRIGGER_CALLER)
		flags |= FRAME_CALLER;
	return flags;
}

/*
 * Find out if the condition in a call's trigger holds. If the condition is about the return value,
 * the answer is known only at the call's EXIT. So a first pass over the calls stores the answers,
 * and a second pass uses the stored answers.
 */
static int ask_condition(struct stg_filter *stage, const struct trigger *trigger,
			 const struct event *event, struct filter_frame *frame, bool *holds)
{
	struct call_filter *filter = stage->filter;

	frame->cond = trigger->cond;
	frame->bits = argcond_look(filter->data, trigger->cond, event);
	*holds = argcond_holds(trigger->cond, frame->bits);
	if (!argcond_needs_retval(trigger->cond))
		return 0;

	struct cond_outcomes *out = &filter->outcomes[stage->task];

	frame->nr_asked = ++stage->nr_asked;
	if (!filter->collects) {
		*holds = stage->nr_asked <= out->nr && out->holds[stage->nr_asked - 1];
		return 0;
	}

	uint8_t *grown = vec_grow(out->holds, out->nr, sizeof(*grown));

	if (!grown)
		return -ENOMEM;
	out->holds = grown;
	grown[out->nr++] = *holds;
	return 0;
}

static void answer_condition(struct stg_filter *stage, const struct filter_frame *frame,
			     const struct event *event)
{
	struct call_filter *filter = stage->filter;

	if (!frame->nr_asked || !filter->collects)
		return;

	uint64_t bits = frame->bits | argcond_look(filter->data, frame->cond, event);

	filter->outcomes[stage->task].holds[frame->nr_asked - 1] = argcond_holds(frame->cond, bits);
}

static bool is_inside(const struct stg_filter *stage)
{
	return !(stage->filter->uses & TRIGGER_FILTER) || stage->now.in;
}

/*
 * At the entry of a call: decide if the call is shown, and update stage->now, the state that
 * decides about the next call.
 */
static int decide_shown(struct stg_filter *stage, const struct trigger *trigger,
			const struct event *event, bool holds, uint32_t *flags)
{
	uint32_t says = trigger->flags;

	if (!holds)
		says &= ~(uint32_t)(TRIGGER_FILTER | TRIGGER_NOTRACE);
	if (says & TRIGGER_FILTER) {
		stage->now.in++;
		set_limit(stage, stage->filter->base.depth);
	}
	if (says & TRIGGER_NOTRACE) {
		stage->now.out++;
		return note_switch(stage, trigger, event->time_ns);
	}
	if (!is_inside(stage))
		return 0;
	if ((says & TRIGGER_LOCATION_OUT) ||
	    ((stage->filter->uses & TRIGGER_LOCATION) && !(says & TRIGGER_LOCATION)))
		return 0;
	*flags |= FRAME_PASSED | obey_trigger(stage, trigger);

	int ret = note_switch(stage, trigger, event->time_ns);

	if (says & TRIGGER_HIDE)
		return ret;
	if (event->func->sym && event->func->sym->size < stage->now.size) {
		*flags |= FRAME_SMALL;
		return ret;
	}
	if (stage->now.depth) {
		stage->now.depth--;
		*flags |= FRAME_SHOWN;
	} else if (*flags & FRAME_CALLER) {
		*flags |= FRAME_MARK;
	}
	return ret;
}

/*
 * Returns the least duration with which a call is shown. UINT64_MAX: the call is shown only if
 * another call, or an event, is shown within this call.
 */
static uint64_t threshold_of(const struct stg_filter *stage, uint32_t flags)
{
	if (flags & FRAME_KEEP)
		return 0;
	if ((stage->filter->uses & TRIGGER_CALLER) && !(flags & FRAME_CALLER))
		return UINT64_MAX;
	return stage->now.threshold_ns;
}

static const struct call_path *path_of(struct stg_filter *stage, size_t depth)
{
	const struct call_path *path = NULL;
	size_t known = depth;

	while (known > 0 && !stage->frames[known - 1].path)
		known--;
	if (known)
		path = stage->frames[known - 1].path;
	for (size_t i = known; i < depth; i++) {
		struct filter_frame *frame = &stage->frames[i];

		if (!frame->func)
			continue;
		path = call_paths_get(&stage->filter->paths, path, frame->func, frame->addr);
		frame->path = path;
	}
	return path;
}

/* Process an ENTRY. Returns 1 to keep the event, 0 to drop it, or -ENOMEM. */
static int on_entry(struct stg_filter *stage, struct event *event)
{
	if (!set_depth(stage, stage->nr_inherited + event->depth))
		return -ENOMEM;

	struct filter_frame frame = {
		.before = stage->now,
		.func = event->func,
		.addr = event->addr,
	};
	const struct trigger *trigger = func_rule(&stage->filter->rules, stage->reader,
						  event->func);
	bool holds = true;
	int ret = 0;

	if (unlikely(trigger->flags & TRIGGER_IF))
		ret = ask_condition(stage, trigger, event, &frame, &holds);
	if (ret == 0 && !stage->now.out)
		ret = decide_shown(stage, trigger, event, holds, &frame.flags);

	frame.threshold_ns = frame.flags & FRAME_PASSED ? threshold_of(stage, frame.flags)
							: stage->now.threshold_ns;
	event->total_ns = frame.threshold_ns;
	event->self_ns = 0;
	if ((frame.flags & FRAME_SHOWN) && stage->filter->wants_paths &&
	    (trigger->flags & TRIGGER_BACKTRACE))
		event->self_ns = (uintptr_t)path_of(stage, stage->nr);
	if (ret < 0 || !push_filter_frame(stage, &frame))
		return -ENOMEM;
	if (frame.flags & FRAME_MARK)
		event->flags |= EVENT_OFF;
	return (frame.flags & (FRAME_SHOWN | FRAME_MARK)) != 0;
}

/*
 * The task's first recorded call may be within calls whose entries were not recorded. Each call
 * without a recorded entry uses up a level of -D.
 */
static void take_unknown_levels(struct stg_filter *stage, const struct event *event)
{
	uint32_t unknown = event->indent > event->depth ? event->indent - event->depth : 0;

	if (stage->nr == 0)
		stage->now.depth -= MIN(stage->now.depth, unknown);
}

/*
 * Process an ENTRY of a call that was open when the task began. Returns 1 to keep the event, 0 to
 * drop it, or -ENOMEM.
 */
static int on_entry_within(struct stg_filter *stage, struct event *event)
{
	int ret;

	take_unknown_levels(stage, event);
	ret = on_entry(stage, event);
	if (--stage->nr_within == 0)
		give_all_levels_back(stage);
	return ret;
}

/*
 * True when an EXIT without an ENTRY is shown. The callers of the call are unknown, so only the
 * rules of the called function decide.
 */
static bool is_shown_unseen(struct stg_filter *stage, const struct event *event)
{
	struct call_filter *filter = stage->filter;
	const struct trigger *trigger = func_rule(&filter->rules, stage->reader, event->func);
	const uint32_t opts_in = filter->uses &
				 (TRIGGER_FILTER | TRIGGER_CALLER | TRIGGER_LOCATION);

	if (trigger->flags & (TRIGGER_NOTRACE | TRIGGER_HIDE | TRIGGER_LOCATION_OUT))
		return false;
	if ((trigger->flags & opts_in) != opts_in)
		return false;
	if (!(opts_in & TRIGGER_FILTER) && event->indent >= filter->base.depth)
		return false;
	return !event->func->sym || event->func->sym->size >= filter->base.size;
}

/*
 * Called only if the view gets no ENTRYs (call_filter.ends_only). Returns false when the call is
 * too short to be shown.
 */
static bool is_long_enough(const struct filter_frame *frame, const struct event *event)
{
	return (frame->flags & FRAME_HAS_KEPT) ||
	       time_abs(event->total_ns) >= frame->threshold_ns ||
	       (frame->threshold_ns != UINT64_MAX && (event->flags & EVENT_UNFINISHED));
}

/*
 * End a call. Called only if the view gets no ENTRYs. Returns 1 if the call is shown, or 0 if the
 * call is not shown. @parent may be NULL.
 */
static int end_call(const struct filter_frame *frame, struct filter_frame *parent,
		    const struct event *event)
{
	bool is_seen = frame->flags & (FRAME_SHOWN | FRAME_MARK);
	bool is_long = is_long_enough(frame, event);

	if (parent && ((frame->flags & FRAME_HAS_KEPT) || (is_seen && is_long)))
		parent->flags |= FRAME_HAS_KEPT;
	/* A call that is too short is ignored, so its time counts as the caller's. */
	if (parent && !is_long)
		parent->extra_ns += time_abs(event->total_ns);
	else if (parent && (frame->flags & FRAME_SMALL))
		parent->extra_ns += event->self_ns;
	return (frame->flags & FRAME_SHOWN) && is_long;
}

/*
 * Process an EXIT in a forked child. The EXIT ends a call that began in the parent before the fork.
 * The EXIT is shown if the filters let the parent's call pass. As in uftrace, -t and -C do not drop
 * the EXIT, because the child has not recorded the call's beginning.
 */
static int on_inherited_exit(struct stg_filter *stage, struct event *event)
{
	leave_inherited(stage, event->indent + 1);

	const struct filter_frame frame = stage->frames[event->indent];

	leave_inherited(stage, event->indent);
	if (frame.addr != event->addr)
		return is_shown_unseen(stage, event);
	if (frame.flags & FRAME_MARK)
		event->flags |= EVENT_OFF;
	return (frame.flags & (FRAME_SHOWN | FRAME_MARK)) != 0;
}

static int on_exit_event(struct stg_filter *stage, struct event *event)
{
	size_t depth = stage->nr_inherited + event->depth;

	if (stage->nr <= depth && event->indent < stage->nr_inherited)
		return on_inherited_exit(stage, event);
	if (stage->nr <= depth)
		return is_shown_unseen(stage, event);
	if (!set_depth(stage, depth + 1))
		return -ENOMEM;

	const struct filter_frame frame = stage->frames[--stage->nr];
	struct filter_frame *parent = stage->nr ? &stage->frames[stage->nr - 1] : NULL;

	stage->now = frame.before;
	event->self_ns += frame.extra_ns;
	answer_condition(stage, &frame, event);
	if (!stage->filter->ends_only) {
		if (frame.flags & FRAME_MARK)
			event->flags |= EVENT_OFF;
		return (frame.flags & (FRAME_SHOWN | FRAME_MARK)) != 0;
	}
	return end_call(&frame, parent, event);
}

static int on_other(struct stg_filter *stage, struct event *event)
{
	if (event->type == EVENT_LOST)
		return 1;
	if (event->type == EVENT_SCHED_OUT)
		event->total_ns = stage->now.threshold_ns;
	return !stage->now.out && is_inside(stage) && stage->now.depth > 0;
}

/* Process one event. Returns 1 to keep it, 0 to drop it, or -ENOMEM. */
static int pass_event(struct stg_filter *stage, struct event *event)
{
	int ret = 0;

	look_at_switches(stage, event->time_ns);
	if (unlikely(stage->is_waiting) && event->type <= EVENT_EXIT)
		ret = begin_child(stage, event);
	if (ret < 0)
		return ret;
	if (unlikely(stage->nr_inherited) && event->time_ns >= stage->exec_ns)
		leave_inherited(stage, 0);
	if (event->type == EVENT_ENTRY)
		ret = unlikely(stage->nr_within) ? on_entry_within(stage, event)
						 : on_entry(stage, event);
	else if (event->type == EVENT_EXIT)
		ret = on_exit_event(stage, event);
	else
		ret = on_other(stage, event);
	if (ret <= 0 || stage->is_on)
		return ret;
	/*
	 * Tracing is switched off, so the event is not shown. If @counts_off is set, events of
	 * calls are passed on with EVENT_OFF, because these calls count in the depth.
	 */
	event->flags |= EVENT_OFF;
	return event->type <= EVENT_EXIT && stage->filter->counts_off;
}

ssize_t stg_filter(struct stg_filter *stage, struct event *events, size_t nr)
{
	size_t kept = 0;

	for (size_t i = 0; i < nr; i++) {
		int ret = pass_event(stage, &events[i]);

		if (ret < 0)
			return ret;
		if (!ret && !stage_keeps_cpu(stage->filter->wants_cpus, &events[i]))
			continue;
		if (kept != i)
			events[kept] = events[i];
		kept++;
	}
	return kept;
}

/* --- shared by all tasks --- */

static int compare_switches(const void *a, const void *b)
{
	const struct filter_switch *x = a;
	const struct filter_switch *y = b;

	if (x->time_ns != y->time_ns)
		return x->time_ns > y->time_ns ? 1 : -1;
	if (x->task != y->task)
		return x->task > y->task ? 1 : -1;
	return (x->nth > y->nth) - (x->nth < y->nth);
}

void call_filter_sort_switches(struct call_filter *filter)
{
	if (filter->nr_switches)
		qsort(filter->switches, filter->nr_switches, sizeof(*filter->switches),
		      compare_switches);
	filter->collects = false;
}

void call_filter_deinit(struct call_filter *filter)
{
	func_rules_deinit(&filter->rules);
	for (size_t i = 0; i < filter->nr_outcomes; i++)
		free(filter->outcomes[i].holds);
	free(filter->outcomes);
	call_paths_deinit(&filter->paths);
	free(filter->switches);
	*filter = (struct call_filter){ 0 };
}
