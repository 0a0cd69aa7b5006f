/* The lines of replay, a page at a time (see replay_pages.h). */
#include "cmds/tui/replay_pages.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "utils/base/containers/vec.h"
#include "utils/view/replay/replay_columns.h"

/* A sink is flushed below this size, so that all lines of one event are in it. */
#define FLUSH_BYTES  (SINK_BYTES / 2)
/* The pass has all that it wants; no error. */
#define PASS_IS_DONE (-ECANCELED)

/* The open calls of a task; @kept: the nodes that marks have for them */
struct open_stack {
	struct open_frame {
		const struct func *func;
		uint64_t entry_ns;
		struct open_call *kept;
	} * frames;
	size_t nr;
	size_t cap;
};

/*
 * One pass over a part of the recording.
 *
 * @page: takes the lines; NULL: they are only numbered
 * @line: the number of the next one; @first: earlier lines are dropped; @end: the pass ends there
 * @stacks: by task->index
 * @waits: the event that replay holds back
 * @counted: bytes of the sink whose lines have been counted
 */
struct replay_pass {
	struct replay_pages *pages;
	struct replay_page *page;
	uint64_t line;
	uint64_t first;
	uint64_t end;
	struct pipeline pipe;
	struct sink sink;
	struct replay replay;
	struct open_stack *stacks;
	size_t nr_stacks;
	struct event waits;
	uint64_t last_ns;
	size_t counted;
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

/* The call has returned. If it was entered before the page, it gets its time now. */
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

/* A mark keeps a stack: it shares calls with earlier marks. */
static int keep_stack(struct replay_pages *pages, struct open_stack *stack, struct open_call **top)
{
	struct open_call *parent = NULL;

	for (size_t i = 0; i < stack->nr; i++) {
		struct open_frame *frame = &stack->frames[i];

		if (!frame->kept) {
			frame->kept = malloc(sizeof(*frame->kept));
			if (!frame->kept)
				return -ENOMEM;
			*frame->kept = (struct open_call){ parent, pages->calls, frame->func,
							   frame->entry_ns, i };
			pages->calls = frame->kept;
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
	struct replay_pages *pages = pass->pages;
	struct replay_mark *marks = vec_grow(pages->marks, pages->nr_marks, sizeof(*marks));
	struct open_call **tops = calloc(pass->nr_stacks + 1, sizeof(struct open_call *));
	int ret = 0;

	if (marks)
		pages->marks = marks;
	if (!marks || !tops) {
		free(tops);
		return -ENOMEM;
	}
	for (size_t i = 0; ret == 0 && i < pass->nr_stacks; i++)
		ret = keep_stack(pages, &pass->stacks[i], &tops[i]);
	marks[pages->nr_marks++] = (struct replay_mark){ pass->line, time_ns, tops };
	return ret;
}

/* --- one event after the other --- */

static int write_page(void *self, const char *data, size_t len)
{
	struct replay_pass *pass = self;

	if (pass->page)
		strbuf_add(&pass->page->text, data, len);
	pass->counted = 0;
	return 0;
}

static int note_line(struct replay_pass *pass, const struct replay_line *line)
{
	struct replay_page *page = pass->page;

	if (page) {
		struct replay_line *lines = vec_grow(page->lines, page->nr, sizeof(*lines));

		if (!lines)
			return -ENOMEM;
		page->lines = lines;
		lines[page->nr++] = *line;
	}
	pass->line++;
	return 0;
}

/* Notes the new lines: the last one is about @event, others only belong to it. */
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
		line.text = (pass->page ? pass->page->text.len : 0) + pass->counted;
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

/* The event that replay has held back gets its own line now. */
static int show_waiting(struct replay_pass *pass)
{
	const struct task *task = pass->replay.pending_task;

	replay_show_pending(&pass->replay);
	return note_lines(pass, task, &pass->waits, kind_of(&pass->waits));
}

/* All events before @event have their lines: the pass may end here, or set a mark. */
static int look_around(struct replay_pass *pass, const struct event *event)
{
	struct replay_pages *pages = pass->pages;
	bool is_between = event->time_ns > pass->last_ns;

	if (pass->page)
		return pass->line >= pass->end ? PASS_IS_DONE : 0;
	if (!is_between || pass->line < pages->marks[pages->nr_marks - 1].line + PAGE_LINES)
		return 0;

	int ret = add_mark(pass, event->time_ns);

	return ret == 0 && pass->line >= pass->end ? PASS_IS_DONE : ret;
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

static int begin_pass(struct replay_pass *pass, const struct replay_mark *mark, struct uft_err *err)
{
	struct replay_pages *pages = pass->pages;
	struct pipeline_config config = pages->config;
	bool seeks = pages->can_seek && mark->tops;

	if (seeks)
		config.range.start = (struct range_edge){ .time_ns = mark->time_ns,
							  .is_set = true };
	pass->line = seeks ? mark->line : 0;
	pass->nr_stacks = pages->data->nr_tasks;
	pass->stacks = calloc(pass->nr_stacks + 1, sizeof(*pass->stacks));

	int ret = pass->stacks ? 0 : err_set_errno(err, -ENOMEM, "cannot show calls");

	if (ret == 0)
		ret = pipeline_open(&pass->pipe, pages->data, &config, err);
	if (ret == 0)
		ret = sink_init(&pass->sink, write_page, pass);
	if (ret == 0)
		ret = replay_init(&pass->replay, &pages->view, &pass->pipe, &pass->sink, err);
	pass->replay.has_header = true;
	for (size_t i = 0; ret == 0 && seeks && i < pass->nr_stacks; i++)
		ret = restore_stack(&pass->stacks[i], mark->tops[i]) ? 0 : -ENOMEM;
	return ret;
}

static void end_pass(struct replay_pass *pass)
{
	for (size_t i = 0; i < pass->nr_stacks; i++)
		free(pass->stacks[i].frames);
	free(pass->stacks);
	replay_deinit(&pass->replay);
	sink_deinit(&pass->sink);
	if (pass->pipe.data)
		pipeline_close(&pass->pipe);
}

/* Returns 1 at the end of the recording, 0 when it stopped before that. */
static int run_pass(struct replay_pass *pass, struct uft_err *err)
{
	const struct view view = { .events = take_events, .mixed = take_mixed, .self = pass };
	int ret = pipeline_run(&pass->pipe, &view, err);
	bool is_end = ret == 0;

	if (ret == 0 && pass->replay.has_pending)
		ret = show_waiting(pass);
	sink_flush(&pass->sink);
	if (ret == PASS_IS_DONE) {
		err_clear(err);
		ret = 0;
	}
	if (ret == 0 && pass->page && strbuf_oom(&pass->page->text))
		ret = -ENOMEM;
	return ret < 0 ? err_set_errno(err, ret, "cannot show calls") : is_end;
}

int replay_pages_extend(struct replay_pages *pages, uint64_t more, struct uft_err *err)
{
	const struct replay_mark *last = &pages->marks[pages->nr_marks - 1];
	struct replay_pass pass = { .pages = pages, .end = last->line + MAX(more, 1ULL) };

	if (pages->is_complete)
		return 0;
	if (!pages->can_seek)
		pass.end = UINT64_MAX;

	int ret = begin_pass(&pass, last, err);

	if (ret == 0)
		ret = run_pass(&pass, err);
	if (ret >= 0) {
		pages->nr_lines = pass.line;
		pages->is_complete = ret;
	}
	end_pass(&pass);
	return MIN(ret, 0);
}

/* The one that was used longest ago makes room. */
static struct replay_page *take_page(struct replay_pages *pages)
{
	struct replay_page *page = &pages->pages[0];

	for (size_t i = 1; i < REPLAY_PAGES; i++) {
		if (pages->pages[i].used < page->used)
			page = &pages->pages[i];
	}
	free(page->lines);
	strbuf_deinit(&page->text);
	*page = (struct replay_page){ 0 };
	return page;
}

static uint64_t end_of_mark(const struct replay_pages *pages, size_t mark)
{
	return mark + 1 < pages->nr_marks ? pages->marks[mark + 1].line : pages->nr_lines;
}

static struct replay_page *make_page(struct replay_pages *pages, size_t mark)
{
	struct replay_page *page = take_page(pages);
	struct replay_pass pass = {
		.pages = pages,
		.page = page,
		.first = pages->marks[mark].line,
		.end = end_of_mark(pages, mark),
	};
	int ret = begin_pass(&pass, &pages->marks[mark], NULL);

	if (ret == 0)
		ret = run_pass(&pass, &(struct uft_err){ 0 });
	end_pass(&pass);
	page->mark = mark;
	page->used = ret < 0 ? 0 : ++pages->nr_used;
	return ret < 0 ? NULL : page;
}

static size_t mark_of(const struct replay_pages *pages, uint64_t number)
{
	size_t low = 0;
	size_t high = pages->nr_marks;

	while (high - low > 1) {
		size_t middle = low + (high - low) / 2;

		if (pages->marks[middle].line <= number)
			low = middle;
		else
			high = middle;
	}
	return low;
}

const struct replay_line *replay_pages_line(struct replay_pages *pages, uint64_t number,
					    const struct replay_page **page)
{
	size_t mark = mark_of(pages, number);
	size_t at = number - pages->marks[mark].line;
	struct replay_page *found = NULL;

	for (size_t i = 0; !found && i < REPLAY_PAGES; i++) {
		/* The last page may have been made when fewer lines were known. */
		if (pages->pages[i].used && pages->pages[i].mark == mark && at < pages->pages[i].nr)
			found = &pages->pages[i];
	}
	if (!found)
		found = make_page(pages, mark);
	if (!found || at >= found->nr)
		return NULL;
	found->used = ++pages->nr_used;
	*page = found;
	return &found->lines[at];
}

/* Returns the call of the task that is open at the mark with @depth calls around it, or NULL. */
static const struct open_call *call_at(const struct replay_mark *mark, const struct task *task,
				       uint32_t depth)
{
	const struct open_call *call = mark->tops ? mark->tops[task->index] : NULL;

	while (call && call->depth > depth)
		call = call->parent;
	return call && call->depth == depth ? call : NULL;
}

int replay_pages_end_of(struct replay_pages *pages, uint64_t number, uint64_t *end,
			struct uft_err *err)
{
	const struct replay_page *page;
	const struct replay_line *line = replay_pages_line(pages, number, &page);

	*end = number;
	if (!line || line->kind != REPLAY_ENTRY)
		return 0;

	const struct replay_line call = *line;

	for (uint64_t at = number + 1;; at++) {
		if (at >= pages->nr_lines) {
			int ret = replay_pages_extend(pages, 4ULL * PAGE_LINES, err);

			if (ret < 0 || at >= pages->nr_lines)
				return ret;
		}
		/* Pages that lie entirely within the call need not be made. */
		for (size_t mark = mark_of(pages, at); mark + 1 < pages->nr_marks; mark++) {
			const struct open_call *open = call_at(&pages->marks[mark + 1], call.task,
							       call.depth);

			if (!open || call_at(&pages->marks[mark], call.task, call.depth) != open)
				break;
			at = pages->marks[mark + 1].line;
		}
		line = replay_pages_line(pages, at, &page);
		if (!line)
			return 0;
		*end = at;
		if (line->task == call.task && line->kind == REPLAY_EXIT &&
		    line->depth <= call.depth)
			return 0;
	}
}

/*
 * Goes back from the page of @mark to the first page whose mark has another call, or none, there.
 */
static size_t mark_before_call(const struct replay_pages *pages, size_t mark,
			       const struct task *task, uint32_t depth)
{
	const struct open_call *open = call_at(&pages->marks[mark], task, depth);

	while (open && mark > 0 && call_at(&pages->marks[mark - 1], task, depth) == open)
		mark--;
	return mark;
}

uint64_t replay_pages_caller_of(struct replay_pages *pages, uint64_t number)
{
	const struct replay_page *page;
	const struct replay_line *line = replay_pages_line(pages, number, &page);

	if (!line || !line->task || line->depth == 0)
		return number;

	const struct task *task = line->task;
	const uint32_t depth = line->depth - 1;

	for (uint64_t at = number; at > 0;) {
		size_t mark = mark_of(pages, at);

		if (at == pages->marks[mark].line)
			at = pages->marks[mark_before_call(pages, mark, task, depth)].line;
		if (at == 0)
			break;
		line = replay_pages_line(pages, --at, &page);
		if (line && line->task == task && line->kind == REPLAY_ENTRY &&
		    line->depth <= depth)
			return at;
	}
	return number;
}

/* --- all of it --- */

/* Filters depend on earlier events, and a duration filter holds lines back. */
static bool may_seek(const struct pipeline_config *config)
{
	const struct filters *filters = config->stages.filters;

	return (!filters || filters->nr == 0) && config->stages.depth == UINT32_MAX &&
	       config->stages.time_filter_ns == 0 && !config->stages.is_off;
}

static int make_heading(struct replay_pages *pages, struct uft_err *err)
{
	struct replay_page page = { 0 };
	struct replay_pass pass = { .pages = pages, .page = &page };
	int ret = begin_pass(&pass, &pages->marks[0], err);

	if (ret == 0) {
		replay_put_header(&pass.replay);
		sink_flush(&pass.sink);
		strbuf_add(&pages->heading, strbuf_str(&page.text),
			   strcspn(strbuf_str(&page.text), "\n"));
	}
	end_pass(&pass);
	strbuf_deinit(&page.text);
	return ret;
}

int replay_pages_init(struct replay_pages *pages, struct trace_data *data,
		      const struct pipeline_config *config, const struct replay_config *view,
		      struct uft_err *err)
{
	*pages = (struct replay_pages){
		.data = data,
		.config = *config,
		.view = *view,
		.can_seek = may_seek(config),
		.marks = calloc(1, sizeof(*pages->marks)),
		.nr_marks = 1,
	};
	if (!pages->marks)
		return err_set_errno(err, -ENOMEM, "cannot show calls");
	pages->config.reads_extern = true;
	pages->config.stages.wants = STAGE_WANTS_DEPTHS;

	int ret = make_heading(pages, err);

	return ret < 0 ? ret : replay_pages_extend(pages, PAGE_LINES, err);
}

void replay_pages_deinit(struct replay_pages *pages)
{
	for (size_t i = 0; i < REPLAY_PAGES; i++) {
		free(pages->pages[i].lines);
		strbuf_deinit(&pages->pages[i].text);
	}
	for (size_t i = 0; i < pages->nr_marks; i++)
		free(pages->marks[i].tops);
	for (struct open_call *next, *call = pages->calls; call; call = next) {
		next = call->made_before;
		free(call);
	}
	free(pages->marks);
	strbuf_deinit(&pages->heading);
	*pages = (struct replay_pages){ 0 };
}
