/* View: every call on lines of its own (see replay.h). */
#include "utils/view/replay/replay.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "utils/view/replay/replay_columns.h"
#include "utils/view/replay/replay_lines.h"
#include "utils/view/texts.h"

int replay_init(struct replay *replay, const struct replay_config *config, struct pipeline *pipe,
		struct sink *sink, struct uft_err *err)
{
	*replay = (struct replay){
		.config = *config,
		.pipe = pipe,
		.sink = sink,
		.args = { pipe->data, config->color },
	};

	int ret = replay_columns_init(replay, err);

	if (ret == 0)
		ret = event_texts_load(&replay->texts, pipe->data, err);
	if (ret < 0) {
		replay_deinit(replay);
		return ret;
	}
	if (pipe->filter.rules.uses & (TRIGGER_COLOR | TRIGGER_BACKTRACE))
		replay->rules = &pipe->filter.rules;
	replay->shows_plain_calls = !config->shows_libname && !replay->rules &&
				    !config->shows_source && !config->shows_inlined &&
				    config->color != COLOR_MODE_HTML;
	sink_page_begin(sink, config->color);
	return 0;
}

void replay_deinit(struct replay *replay)
{
	event_texts_deinit(&replay->texts);
	strbuf_deinit(&replay->pending_data);
	strbuf_deinit(&replay->ext_data);
	strbuf_deinit(&replay->text);
	free(replay->tasks);
	*replay = (struct replay){ 0 };
}

/* True when @first and @second, two successive events of one task, share a line. */
static bool makes_one_line(const struct replay *replay, const struct event *first,
			   const struct event *second)
{
	if (!replay->config.merges_leaves)
		return false;
	if (first->type == EVENT_SCHED_OUT)
		return second->type == EVENT_SCHED_IN;
	return first->type == EVENT_ENTRY && second->type == EVENT_EXIT;
}

static bool may_wait(const struct event *event)
{
	return event->type == EVENT_ENTRY || event->type == EVENT_SCHED_OUT;
}

static void set_pending(struct replay *replay, const struct task *task, const struct event *event)
{
	replay->pending = *event;
	replay->pending_task = task;
	replay->has_pending = true;
	/* Copy the payload of the event, because it is gone after this batch. */
	strbuf_reset(&replay->pending_data);
	if (event->data) {
		strbuf_add(&replay->pending_data, event->data, event->data_len);
		replay->pending.data = (const uint8_t *)strbuf_str(&replay->pending_data);
	}
}

bool replay_joins(const struct replay *replay, const struct task *task, const struct event *event)
{
	return replay->has_pending && replay->pending_task == task &&
	       makes_one_line(replay, &replay->pending, event);
}

void replay_show_pending(struct replay *replay)
{
	if (!replay->has_pending)
		return;
	replay->has_pending = false;
	replay_show_single(replay, replay->pending_task, &replay->pending);
}

static void show_all(struct replay *replay, const struct task *task, const struct event *events,
		     size_t nr)
{
	for (size_t i = 0; i < nr; i++) {
		const struct event *event = &events[i];

		if (!may_wait(event)) {
			replay_show_single(replay, task, event);
		} else if (unlikely(i + 1 == nr)) {
			set_pending(replay, task, event);
		} else if (makes_one_line(replay, event, &events[i + 1])) {
			replay_show_pair(replay, task, event, &events[i + 1]);
			i++;
		} else {
			replay_show_single(replay, task, event);
		}
	}
}

static void show_flat(struct replay *replay, const struct task *task, const struct event *event)
{
	struct sink *sink = replay->sink;
	unsigned long long nr = replay->nr_flat++;
	unsigned long long time_ns = event->time_ns;

	if (event->flags & EVENT_BACKWARDS)
		replay_show_backwards(replay, 0);
	if (event->type == EVENT_ENTRY) {
		sink_putf(sink, "[%llu] ==> %d/%u: ip (", nr, task->tid, event->indent);
		sink_func(sink, event->func);
		sink_putf(sink, "), time (%llu)\n", time_ns);
	} else if (event->type == EVENT_EXIT) {
		sink_putf(sink, "[%llu] <== %d/%u: ip (", nr, task->tid, event->indent);
		sink_func(sink, event->func);
		sink_putf(sink, "), time (%llu:%llu)\n", time_ns,
			  (unsigned long long)event->total_ns);
	} else if (event->type == EVENT_LOST) {
		sink_putf(sink, "[%llu] XXX %d: lost %llu records\n", nr, task->tid,
			  (unsigned long long)event->addr);
	} else {
		struct strbuf text cleanup_strbuf = { 0 };
		struct strbuf data cleanup_strbuf = { 0 };

		event_put_name(&replay->texts, event, &text);
		event_put_data(&replay->texts, task, event, &data);
		if (data.len) {
			strbuf_addstr(&text, " (");
			strbuf_add(&text, data.data, data.len);
			strbuf_addch(&text, ')');
		}
		sink_putf(sink, "[%llu] !!! %d: ", nr, task ? task->tid : 0);
		sink_text(sink, strbuf_str(&text), text.len);
		sink_putf(sink, " time (%llu)\n", time_ns);
	}
}

static void show_all_flat(struct replay *replay, const struct event_span *span)
{
	if (!replay->has_header)
		replay_show_header(replay);
	for (size_t i = 0; i < span->nr; i++)
		show_flat(replay, span->task, &span->events[i]);
}

static void show_waiting_extern(struct replay *replay)
{
	if (unlikely(replay->has_ext))
		replay_show_extern(replay, replay->last_task);
}

static void set_extern(struct replay *replay, const struct event *event)
{
	replay->ext = *event;
	replay->has_ext = true;
	/* Copy the text of the extern.dat line. The text is gone when the next line is read. */
	strbuf_reset(&replay->ext_data);
	strbuf_add(&replay->ext_data, event->data, event->data_len);
	replay->ext.data = (const uint8_t *)strbuf_str(&replay->ext_data);
}

int replay_events(void *self, const struct event_span *span, struct uft_err *err)
{
	struct replay *replay = self;
	const struct event *events = span->events;
	size_t nr = span->nr;

	if (unlikely(replay->config.is_flat)) {
		show_all_flat(replay, span);
		return replay->sink->failed;
	}
	if (unlikely(!span->task)) {
		replay_show_pending(replay);
		show_waiting_extern(replay);
		set_extern(replay, events);
		return replay->sink->failed;
	}
	if (replay_joins(replay, span->task, events)) {
		replay->has_pending = false;
		replay_show_pair(replay, span->task, &replay->pending, events);
		events++;
		nr--;
	} else {
		replay_show_pending(replay);
	}
	if (unlikely(replay->has_ext))
		replay_show_extern(replay, span->task);
	show_all(replay, span->task, events, nr);
	return replay->sink->failed;
}

int replay_mixed(void *self, const struct task_event *events, size_t nr, struct uft_err *err)
{
	struct replay *replay = self;
	struct event_span first = { events[0].task, events[0].event, 1 };
	const struct task *task = NULL;
	const struct event *waits = NULL;
	size_t i = 0;

	if (unlikely(replay->config.is_flat || replay->has_ext)) {
		int ret = replay_events(self, &first, err);

		if (ret < 0)
			return ret;
		i++;
	}
	if (unlikely(replay->config.is_flat)) {
		for (; i < nr; i++)
			show_flat(replay, events[i].task, events[i].event);
		return replay->sink->failed;
	}
	if (replay->has_pending) {
		waits = &replay->pending;
		task = replay->pending_task;
	}
	for (; i < nr; i++) {
		const struct event *event = events[i].event;

		if (waits && events[i].task == task && makes_one_line(replay, waits, event)) {
			replay_show_pair(replay, task, waits, event);
			waits = NULL;
			continue;
		}
		if (waits)
			replay_show_single(replay, task, waits);
		waits = may_wait(event) ? event : NULL;
		task = events[i].task;
		if (!waits)
			replay_show_single(replay, task, event);
	}
	replay->has_pending = false;
	if (waits)
		set_pending(replay, task, waits);
	return replay->sink->failed;
}

int replay_pause(struct replay *replay, uint64_t since_ns)
{
	if (replay->has_pending && replay->pending.type == EVENT_ENTRY &&
	    replay->pending.time_ns < since_ns)
		replay_show_pending(replay);
	return sink_flush(replay->sink);
}

/*
 * True when the call is in the list of calls that never returned. As in uftrace, filters by depth
 * have no effect on this list.
 */
static bool is_remaining(const struct replay *replay, const struct pending_call *frame)
{
	uint64_t size = replay->pipe->config.stages.size_filter;

	if (!frame->func)
		return false;
	return !size || !frame->func->sym || frame->func->sym->size >= size;
}

static void show_remaining_of(struct replay *replay, const struct stg_calls *calls)
{
	size_t unseen = 0;

	/* Calls that began before the range have no names, and are neither shown nor counted. */
	while (unseen < calls->nr && !calls->frames[unseen].func)
		unseen++;
	sink_putf(replay->sink, "task: %d\n", calls->task->tid);
	for (size_t k = calls->nr; k-- > 0;) {
		if (!is_remaining(replay, &calls->frames[k]))
			continue;
		sink_putf(replay->sink, "[%zu] ", k - unseen);
		sink_func(replay->sink, calls->frames[k].func);
		sink_lit(replay->sink, "\n");
	}
	sink_lit(replay->sink, "\n");
}

/* True for a task whose innermost call ends the task and never returns, as exit() does. */
static bool has_ended(const struct stg_calls *calls)
{
	const struct func *last = calls->nr ? calls->frames[calls->nr - 1].func : NULL;

	return last && last->is_end;
}

/*
 * Show a block for each task with calls that never returned. Skip tasks for which has_ended() is
 * true.
 */
static void show_remaining(struct replay *replay)
{
	bool has_title = false;

	for (size_t i = 0; i < replay->pipe->nr_lanes; i++) {
		const struct stg_calls *calls = &replay->pipe->lanes[i].calls;
		size_t nr = 0;

		for (size_t k = 0; k < calls->nr; k++)
			nr += is_remaining(replay, &calls->frames[k]);
		if (nr == 0 || has_ended(calls))
			continue;
		if (!has_title) {
			has_title = true;
			sink_lit(replay->sink,
				 "\nutrail stopped tracing with remaining functions\n");
			sink_fill(replay->sink, '=', 48);
			sink_lit(replay->sink, "\n");
		}
		show_remaining_of(replay, calls);
	}
}

/*
 * True when a task has a call or an event in the time range, even if replay does not show the call
 * or event. If the task's lane holds back calls (lane.holds_back), the task counts only if
 * lane.has_passed is set.
 */
static bool has_records(const struct pipeline *pipe)
{
	for (size_t i = 0; i < pipe->nr_lanes; i++) {
		const struct lane *lane = &pipe->lanes[i];

		if ((lane->calls.has_first || lane->has_events) &&
		    (!lane->holds_back || lane->has_passed))
			return true;
	}
	return false;
}

void replay_finish(struct replay *replay)
{
	replay_show_pending(replay);
	show_waiting_extern(replay);
	if (!replay->has_header && !has_records(replay->pipe))
		sink_lit(replay->sink, "\n");
	else if (!replay->has_header)
		replay_show_header(replay);
	show_remaining(replay);
	sink_page_end(replay->sink, replay->config.color);
}
