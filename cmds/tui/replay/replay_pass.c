/* Makes lines from events (see replay_pass.h). */
#include "cmds/tui/replay/replay_pass.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cmds/tui/reading.h"
#include "utils/base/containers/vec.h"
#include "utils/view/replay/replay_columns.h"

/*
 * When the pass has everything that it needs, the pass returns this error code to the pipeline. The
 * pipeline then stops early. This code is not reported as a failure.
 */
#define ENOUGH	    (-ECANCELED)
/*
 * If the sink has more bytes than this after an event, the bytes are passed to write_page(). So the
 * sink has room for all lines of the next event.
 */
#define FLUSH_BYTES (SINK_BYTES / 2)

/*
 * The open calls of a task.
 *
 * @kept: a copy of the open call. The marks own the copy (replay_marks.calls). NULL: no mark was
 *        made while the call was open
 */
struct open_stack {
	struct open_frame {
		const struct func *func;
		uint64_t entry_ns;
		struct open_call *kept;
	} * frames;
	size_t nr;
	size_t cap;
};

/* --- open calls --- */

static bool push_call(struct open_stack *stack, const struct event *event)
{
	while (stack->nr <= event->indent) {
		struct open_frame *frames = vec_room(stack->frames, stack->nr, &stack->cap,
						     sizeof(*frames));

		if (!frames)
			return false;
		stack->frames = frames;
		frames[stack->nr++] = (struct open_frame){ 0 };
	}
	stack->nr = event->indent + 1U;
	stack->frames[event->indent] = (struct open_frame){
		.func = event->func,
		.entry_ns = event->time_ns,
	};
	return true;
}

/*
 * Removes a call that has returned. If the call was entered before the place where this pass began,
 * @event has no duration yet (EVENT_UNPAIRED). If @stack has the call's entry time from a mark, the
 * duration is computed from this time.
 */
static void pop_call(struct open_stack *stack, struct event *event)
{
	if (event->indent >= stack->nr)
		return;

	const struct open_frame *frame = &stack->frames[event->indent];

	if (event->flags & EVENT_UNPAIRED && frame->entry_ns) {
		event->total_ns = event->time_ns - frame->entry_ns;
		event->flags &= ~EVENT_UNPAIRED;
	}
	stack->nr = event->indent;
}

/*
 * Makes copies of the open calls in @stack, for a new mark that will point to the copies. A call
 * that is open at several marks has one copy. @top: gets the copy of the innermost call, or NULL
 */
static int keep_stack(struct replay_marks *marks, struct open_stack *stack, struct open_call **top)
{
	struct open_call *parent = NULL;

	for (size_t i = 0; i < stack->nr; i++) {
		struct open_frame *frame = &stack->frames[i];

		if (!frame->kept) {
			frame->kept = malloc(sizeof(*frame->kept));
			if (!frame->kept)
				return -ENOMEM;
			*frame->kept = (struct open_call){ parent, marks->calls, frame->func,
							   frame->entry_ns, i };
			marks->calls = frame->kept;
		}
		parent = frame->kept;
	}
	*top = parent;
	return 0;
}

static bool restore_stack(struct open_stack *stack, struct open_call *top)
{
	size_t nr = top ? top->depth + 1U : 0;

	if (nr == 0)
		return true;
	stack->frames = calloc(nr, sizeof(*stack->frames));
	if (!stack->frames)
		return false;
	stack->nr = stack->cap = nr;
	for (struct open_call *call = top; call; call = call->parent)
		stack->frames[call->depth] = (struct open_frame){ call->func, call->entry_ns,
								  call };
	return true;
}

static int add_mark(struct replay_pass *pass, uint64_t time_ns)
{
	struct replay_marks *marks = pass->marks;
	struct replay_mark *all = vec_grow(marks->all, marks->nr, sizeof(*all));
	size_t nr = pass->nr_stacks;
	struct replay_mark mark = { .line = pass->line, .time_ns = time_ns, .nr_tops = nr };
	int ret = 0;

	if (all)
		marks->all = all;
	mark.tops = calloc(nr + 1, sizeof(struct open_call *));
	mark.line_ns = pass->source->wants_deltas ? malloc((nr + 1) * sizeof(uint64_t)) : NULL;
	if (!all || !mark.tops || (pass->source->wants_deltas && !mark.line_ns)) {
		free(mark.tops);
		free(mark.line_ns);
		return -ENOMEM;
	}
	for (size_t i = 0; ret == 0 && i < nr; i++)
		ret = keep_stack(marks, &pass->stacks[i], &mark.tops[i]);
	for (size_t i = 0; mark.line_ns && i < nr; i++)
		mark.line_ns[i] = pass->replay.tasks[i].line_ns;
	all[marks->nr++] = mark;
	return ret;
}

void replay_marks_deinit(struct replay_marks *marks)
{
	for (size_t i = 0; i < marks->nr; i++) {
		free(marks->all[i].tops);
		free(marks->all[i].line_ns);
	}
	for (struct open_call *next, *call = marks->calls; call; call = next) {
		next = call->made_before;
		free(call);
	}
	free(marks->all);
	*marks = (struct replay_marks){ 0 };
}

void replay_lines_deinit(struct replay_lines *lines)
{
	free(lines->lines);
	strbuf_deinit(&lines->text);
	*lines = (struct replay_lines){ 0 };
}

/* --- one event after the other --- */

static int write_page(void *self, const char *data, size_t len)
{
	struct replay_pass *pass = self;

	if (pass->lines)
		strbuf_add(&pass->lines->text, data, len);
	pass->counted = 0;
	return 0;
}

static int note_line(struct replay_pass *pass, const struct replay_line *line)
{
	struct replay_lines *to = pass->lines;

	if (to) {
		struct replay_line *lines = vec_grow(to->lines, to->nr, sizeof(*lines));

		if (!lines)
			return -ENOMEM;
		to->lines = lines;
		lines[to->nr++] = *line;
	}
	pass->line++;
	return 0;
}

/*
 * Notes the lines that replay has added to the sink for @event. Only the last of these lines shows
 * @event. So only the last line is noted with the function, duration, depth
 * and kind of @event.
 */
static int note_lines(struct replay_pass *pass, const struct task *task, const struct event *event,
		      enum replay_line_kind kind)
{
	struct replay_line line = { .task = task };
	int ret = 0;

	while (ret == 0 && pass->counted < pass->sink.len) {
		const char *from = pass->sink.buf + pass->counted;
		const char *end = memchr(from, '\n', pass->sink.len - pass->counted);

		if (!end)
			break;
		line.text = (pass->lines ? pass->lines->text.len : 0) + pass->counted;
		pass->counted = end + 1 - pass->sink.buf;
		if (pass->counted == pass->sink.len && event) {
			line.func = event->type <= EVENT_EXIT ? event->func : NULL;
			line.total_ns = kind == REPLAY_ENTRY ? 0 : time_abs(event->total_ns);
			line.depth = event->indent;
			line.kind = kind;
		}
		if (pass->line < pass->first)
			pass->line++;
		else
			ret = note_line(pass, &line);
	}
	if (pass->line < pass->first) {
		pass->sink.len = 0;
		pass->counted = 0;
	} else if (pass->sink.len > FLUSH_BYTES) {
		sink_flush(&pass->sink);
	}
	return ret;
}

static enum replay_line_kind kind_of(const struct event *event)
{
	return event->type == EVENT_ENTRY  ? REPLAY_ENTRY
	       : event->type == EVENT_EXIT ? REPLAY_EXIT
					   : REPLAY_OTHER;
}

/* Writes the line of the event pass->waits. Called while pass->replay holds back this event. */
static int show_waiting(struct replay_pass *pass)
{
	const struct task *task = pass->replay.pending_task;

	replay_show_pending(&pass->replay);
	return note_lines(pass, task, &pass->waits, kind_of(&pass->waits));
}

/*
 * Called before @event is shown, when the lines of all earlier events are complete. Adds a mark to
 * pass->marks if all of these conditions are true:
 *
 * - pass->look does not end the pass
 * - at least PAGE_LINES lines were made after the last mark
 * - @event has a later time than all earlier events
 *
 * Returns 0 to continue the pass, or ENOUGH or another negative errno to end the pass. The result
 * is ENOUGH in these cases:
 *
 * - pass->look returns PASS_IS_DONE
 * - the pass has reached line pass->end, and pass->marks is NULL
 * - the pass has reached line pass->end, and this function has added a mark
 */
static int look_around(struct replay_pass *pass, const struct event *event)
{
	struct replay_marks *marks = pass->marks;
	bool is_between = event->time_ns > pass->last_ns;
	int ret = pass->look ? pass->look(pass, pass->self) : 0;

	if (ret == 0 && marks && is_between &&
	    pass->line >= marks->all[marks->nr - 1].line + PAGE_LINES)
		ret = add_mark(pass, event->time_ns);
	else if (ret == 0 && marks)
		return 0;
	if (ret < 0)
		return ret;
	return ret == PASS_IS_DONE || pass->line >= pass->end ? ENOUGH : 0;
}

static int note_call(struct replay_pass *pass, const struct task *task, struct event *event)
{
	struct open_stack *stack = &pass->stacks[task->index];

	if (event->type == EVENT_ENTRY)
		return push_call(stack, event) ? 0 : -ENOMEM;
	if (event->type == EVENT_EXIT)
		pop_call(stack, event);
	return 0;
}

static int take_event(struct replay_pass *pass, const struct task *task, const struct event *from)
{
	struct event event = *from;
	const struct event_span span = { task, &event, 1 };
	bool joins = replay_joins(&pass->replay, task, &event);
	int ret = 0;

	if (pass->replay.has_pending && !joins)
		ret = show_waiting(pass);
	if (ret == 0 && !joins && task)
		ret = look_around(pass, &event);
	if (ret == 0 && task)
		ret = note_call(pass, task, &event);
	if (ret < 0)
		return ret;
	pass->last_ns = MAX(pass->last_ns, event.time_ns);
	ret = replay_events(&pass->replay, &span, NULL);
	if (pass->replay.has_pending)
		pass->waits = event;
	else if (ret == 0)
		ret = note_lines(pass, task, &event,
				 joins && event.type == EVENT_EXIT ? REPLAY_LEAF : kind_of(&event));
	return ret;
}

static int take_events(void *self, const struct event_span *span, struct uft_err *err)
{
	for (size_t i = 0; i < span->nr; i++) {
		int ret = take_event(self, span->task, &span->events[i]);

		if (ret < 0)
			return ret;
	}
	return 0;
}

static int take_mixed(void *self, const struct task_event *events, size_t nr, struct uft_err *err)
{
	for (size_t i = 0; i < nr; i++) {
		int ret = take_event(self, events[i].task, events[i].event);

		if (ret < 0)
			return ret;
	}
	return 0;
}

/* --- passes --- */

int replay_pass_grow(struct replay_pass *pass)
{
	size_t nr = pass->source->data->nr_tasks;
	struct open_stack *stacks = reallocarray(pass->stacks, nr + 1, sizeof(*stacks));

	if (!stacks)
		return -ENOMEM;
	pass->stacks = stacks;
	for (; pass->nr_stacks < nr; pass->nr_stacks++)
		stacks[pass->nr_stacks] = (struct open_stack){ 0 };
	return pass->replay.pipe ? replay_grow(&pass->replay, NULL) : 0;
}

/* Restores the calls that were open at @mark. */
static int go_to_mark(struct replay_pass *pass, const struct replay_mark *mark)
{
	pass->line = mark->line;
	for (size_t i = 0; i < mark->nr_tops; i++) {
		if (!restore_stack(&pass->stacks[i], mark->tops[i]))
			return -ENOMEM;
	}
	for (size_t i = 0; mark->line_ns && i < mark->nr_tops; i++)
		pass->replay.tasks[i].line_ns = mark->line_ns[i];
	return 0;
}

int replay_pass_begin(struct replay_pass *pass, const struct replay_mark *mark, struct uft_err *err)
{
	const struct replay_source *source = pass->source;
	struct pipeline_config config = source->config;
	bool seeks = mark && mark->tops;

	if (seeks)
		config.range.start = (struct range_edge){ .time_ns = mark->time_ns,
							  .is_set = true };

	int ret = replay_pass_grow(pass) < 0 ? err_set_errno(err, -ENOMEM, "cannot show calls") : 0;

	if (ret == 0)
		ret = reading_open_pipeline(&pass->pipe, source->data, &config, err);
	if (ret == 0)
		ret = sink_init(&pass->sink, write_page, pass);
	if (ret == 0)
		ret = replay_init(&pass->replay, &source->view, &pass->pipe, &pass->sink, err);
	pass->replay.has_header = true;
	pass->pipe.has_late_entries = source->has_late_entries;
	return ret == 0 && seeks ? go_to_mark(pass, mark) : ret;
}

void replay_pass_put_heading(struct replay_pass *pass)
{
	replay_put_header(&pass->replay);
	sink_flush(&pass->sink);
}

void replay_pass_end(struct replay_pass *pass)
{
	for (size_t i = 0; i < pass->nr_stacks; i++)
		free(pass->stacks[i].frames);
	free(pass->stacks);
	replay_deinit(&pass->replay);
	sink_deinit(&pass->sink);
	pipeline_close(&pass->pipe);
	*pass = (struct replay_pass){ 0 };
}

int replay_pass_run(struct replay_pass *pass, bool is_last, struct uft_err *err)
{
	const struct view view = { .events = take_events, .mixed = take_mixed, .self = pass };
	const struct replay_source *source = pass->source;
	int ret = source->data->growth ? pipeline_follow(&pass->pipe, source->until_ns, &view, err)
				       : pipeline_run(&pass->pipe, &view, err);
	bool is_end = ret == 0;

	if (ret == 0 && is_last && pass->replay.has_pending)
		ret = show_waiting(pass);
	sink_flush(&pass->sink);
	if (ret == ENOUGH) {
		err_clear(err);
		ret = 0;
	}
	if (ret == 0 && pass->lines && strbuf_oom(&pass->lines->text))
		ret = -ENOMEM;
	return ret < 0 ? err_set_errno(err, ret, "cannot show calls") : is_end;
}
