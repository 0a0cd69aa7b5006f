/* Makes the lines of replay, a page at a time (see replay_pages.h). */
#include "cmds/tui/replay/replay_pages.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* In every LOOK_LINES-th call, is_enough() checks whether the user has pressed a key. */
#define LOOK_LINES   16384
#define EXTEND_LINES (64ULL * PAGE_LINES)
#define KEPT_LOOK_NS 20000000

/*
 * True when the user has pressed a key. Called very often: for each event while lines are made, and
 * for each line of a search. A check in each call would take too much time.
 */
static bool is_enough(struct replay_pages *pages)
{
	return pages->stops && ++pages->looks % LOOK_LINES == 0 && pages->stops();
}

static int end_if_enough(struct replay_pass *pass, void *self)
{
	return is_enough(self) ? PASS_IS_DONE : 0;
}

/* Drops the pages that end at line @from or later, because such a page may lack its last lines. */
static void drop_pages(struct replay_pages *pages, uint64_t from)
{
	for (size_t i = 0; i < REPLAY_PAGES; i++) {
		struct replay_page *page = &pages->pages[i];

		if (!page->used || page->first + page->lines.nr < from)
			continue;
		replay_lines_deinit(&page->lines);
		*page = (struct replay_page){ 0 };
	}
}

static struct replay_mark *last_mark(struct replay_pages *pages)
{
	return &pages->marks.all[pages->marks.nr - 1];
}

static int extend_by_marks(struct replay_pages *pages, uint64_t more, struct uft_err *err)
{
	const struct replay_mark mark = *last_mark(pages);
	struct replay_pass pass = {
		.source = &pages->source,
		.marks = &pages->marks,
		.end = mark.line + MAX(more, 1ULL),
		.look = end_if_enough,
		.self = pages,
	};
	int ret = replay_pass_begin(&pass, &mark, err);

	if (ret == 0)
		ret = replay_pass_run(&pass, true, err);
	if (ret >= 0) {
		drop_pages(pages, pages->nr_lines);
		pages->nr_lines = pass.line;
		pages->is_complete = ret;
	}
	replay_pass_end(&pass);
	return MIN(ret, 0);
}

/*
 * First starts the thread that makes lines, if pages->wants_kept is set. Then, in all cases, waits
 * until the thread has made @more lines or has ended, or until the user has pressed a key. If @more
 * is at most EXTEND_LINES, waits at most KEPT_LOOK_NS.
 */
static int extend_kept(struct replay_pages *pages, uint64_t more, struct uft_err *err)
{
	uint64_t before = pages->nr_lines;
	bool is_done = false;
	struct uft_err why = { 0 };

	if (pages->wants_kept) {
		int ret = replay_kept_start(&pages->kept, &pages->source, err);

		if (ret < 0)
			return ret;
		pages->wants_kept = false;
	}
	while (!is_done && pages->nr_lines - before < more) {
		pages->nr_lines = replay_kept_look(&pages->kept, &is_done, &why);
		if (is_done || pages->nr_lines > before + more || (pages->stops && pages->stops()))
			break;
		nanosleep(&(struct timespec){ .tv_nsec = KEPT_LOOK_NS }, NULL);
		/*
		 * If the caller wants only a few lines, the loop ends after one wait. The caller
		 * checks again later.
		 */
		if (more <= EXTEND_LINES)
			break;
	}
	pages->is_complete = is_done;
	if (why.code && err)
		*err = why;
	return why.code;
}

int replay_pages_extend(struct replay_pages *pages, uint64_t more, struct uft_err *err)
{
	if (pages->is_complete)
		return 0;
	return pages->can_seek ? extend_by_marks(pages, more, err) : extend_kept(pages, more, err);
}

/* Makes lines until line @at is known, or until the user does not want to wait any longer. */
static int extend_to(struct replay_pages *pages, uint64_t at, struct uft_err *err)
{
	int ret = 0;

	while (ret == 0 && at >= pages->nr_lines && !pages->is_complete &&
	       !(pages->stops && pages->stops()))
		ret = replay_pages_extend(pages, EXTEND_LINES, err);
	return ret;
}

bool replay_pages_is_busy(const struct replay_pages *pages)
{
	return pages->kept.runs;
}

void replay_pages_grow(struct replay_pages *pages, uint64_t until_ns, bool has_late_entries)
{
	pages->source.until_ns = until_ns;
	pages->source.has_late_entries = has_late_entries;
	pages->is_complete = false;
	pages->wants_kept = true;
}

/* --- pages --- */

/*
 * Returns a free page. If there is none, the page that was not used for the longest time is freed.
 */
static struct replay_page *take_page(struct replay_pages *pages)
{
	struct replay_page *page = &pages->pages[0];

	for (size_t i = 1; i < REPLAY_PAGES; i++) {
		if (pages->pages[i].used < page->used)
			page = &pages->pages[i];
	}
	replay_lines_deinit(&page->lines);
	*page = (struct replay_page){ 0 };
	return page;
}

static uint64_t end_of_mark(const struct replay_pages *pages, size_t mark)
{
	return mark + 1 < pages->marks.nr ? pages->marks.all[mark + 1].line : pages->nr_lines;
}

/*
 * Returns the last mark whose line is at most @number. If @is_time is set, compares the mark's time
 * instead of its line. If there is no such mark, returns the first mark.
 */
static size_t last_up_to(const struct replay_pages *pages, uint64_t number, bool is_time)
{
	size_t low = 0;
	size_t high = pages->marks.nr;

	while (high - low > 1) {
		size_t middle = low + (high - low) / 2;
		const struct replay_mark *mark = &pages->marks.all[middle];

		if ((is_time ? mark->time_ns : mark->line) <= number)
			low = middle;
		else
			high = middle;
	}
	return low;
}

static size_t mark_of(const struct replay_pages *pages, uint64_t number)
{
	return last_up_to(pages, number, false);
}

static int make_lines(struct replay_pages *pages, uint64_t number, struct replay_page *page)
{
	size_t mark = mark_of(pages, number);
	struct replay_pass pass = {
		.source = &pages->source,
		.lines = &page->lines,
		.first = pages->marks.all[mark].line,
		.end = end_of_mark(pages, mark),
	};
	int ret = replay_pass_begin(&pass, &pages->marks.all[mark], NULL);

	if (ret == 0)
		ret = replay_pass_run(&pass, true, &(struct uft_err){ 0 });
	replay_pass_end(&pass);
	page->first = pages->marks.all[mark].line;
	return ret;
}

static struct replay_page *make_page(struct replay_pages *pages, uint64_t number)
{
	struct replay_page *page = take_page(pages);
	int ret = pages->can_seek
			  ? make_lines(pages, number, page)
			  : replay_kept_load(&pages->kept, number, &page->lines, &page->first);

	page->used = ret < 0 ? 0 : ++pages->nr_used;
	return ret < 0 ? NULL : page;
}

static bool has_line(const struct replay_page *page, uint64_t number)
{
	return page->used && number >= page->first && number - page->first < page->lines.nr;
}

const struct replay_line *replay_pages_line(struct replay_pages *pages, uint64_t number,
					    const struct replay_page **page)
{
	struct replay_page *found = NULL;

	for (size_t i = 0; !found && i < REPLAY_PAGES; i++) {
		if (has_line(&pages->pages[i], number))
			found = &pages->pages[i];
	}
	if (!found)
		found = make_page(pages, number);
	if (!found || !has_line(found, number))
		return NULL;
	found->used = ++pages->nr_used;
	*page = found;
	return &found->lines.lines[number - found->first];
}

uint64_t replay_pages_at_time(const struct replay_pages *pages, uint64_t time_ns)
{
	return pages->marks.all[last_up_to(pages, time_ns, true)].line;
}

/* --- calls --- */

/*
 * If @task has an open call with depth @depth at @mark, returns this call. Otherwise returns NULL.
 */
static const struct open_call *call_at(const struct replay_mark *mark, const struct task *task,
				       uint32_t depth)
{
	const struct open_call *call = task->index < mark->nr_tops ? mark->tops[task->index] : NULL;

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
			int ret = extend_to(pages, at, err);

			if (ret < 0 || at >= pages->nr_lines)
				return ret;
		}
		/*
		 * If the call that began at line @number is open at the beginning and at the end of
		 * a page, skip this page.
		 */
		for (size_t mark = mark_of(pages, at); mark + 1 < pages->marks.nr; mark++) {
			const struct open_call *open = call_at(&pages->marks.all[mark + 1],
							       call.task, call.depth);

			if (!open ||
			    call_at(&pages->marks.all[mark], call.task, call.depth) != open)
				break;
			at = pages->marks.all[mark + 1].line;
		}
		/*
		 * The last mark may be at the end of the known lines. In this case the next round
		 * of the loop makes more lines.
		 */
		if (at >= pages->nr_lines) {
			*end = --at;
			continue;
		}
		line = replay_pages_line(pages, at, &page);
		if (!line || is_enough(pages))
			return 0;
		*end = at;
		if (line->task == call.task && line->kind == REPLAY_EXIT &&
		    line->depth <= call.depth)
			return 0;
	}
}

/*
 * Returns the earliest mark at which a certain call is open: the call of @task that is open with
 * depth @depth at @mark. Returns @mark when there is no such call.
 */
static size_t mark_before_call(const struct replay_pages *pages, size_t mark,
			       const struct task *task, uint32_t depth)
{
	const struct open_call *open = call_at(&pages->marks.all[mark], task, depth);

	while (open && mark > 0 && call_at(&pages->marks.all[mark - 1], task, depth) == open)
		mark--;
	return mark;
}

/*
 * Searches the lines above line @number, and returns the line nearest to @number at which @task has
 * entered a call at depth @depth or less. Returns @number when there is no such line, or when the
 * user has pressed a key.
 */
static uint64_t entry_above(struct replay_pages *pages, uint64_t number, const struct task *task,
			    uint32_t depth)
{
	const struct replay_page *page;

	for (uint64_t at = number; at > 0;) {
		size_t mark = mark_of(pages, at);

		if (at == pages->marks.all[mark].line)
			at = pages->marks.all[mark_before_call(pages, mark, task, depth)].line;
		if (at == 0)
			break;

		const struct replay_line *line = replay_pages_line(pages, --at, &page);

		if (is_enough(pages))
			break;
		if (line && line->task == task && line->kind == REPLAY_ENTRY &&
		    line->depth <= depth)
			return at;
	}
	return number;
}

uint64_t replay_pages_caller_of(struct replay_pages *pages, uint64_t number)
{
	const struct replay_page *page;
	const struct replay_line *line = replay_pages_line(pages, number, &page);

	if (!line || !line->task || line->depth == 0)
		return number;
	return entry_above(pages, number, line->task, line->depth - 1);
}

uint64_t replay_pages_entry_of(struct replay_pages *pages, uint64_t number)
{
	const struct replay_page *page;
	const struct replay_line *line = replay_pages_line(pages, number, &page);

	if (!line || line->kind != REPLAY_EXIT)
		return number;
	return entry_above(pages, number, line->task, line->depth);
}

/* --- all of it --- */

/*
 * True when a pass (replay_pass.h) can begin at a mark. With filters, each pass begins at the start
 * of the recording, because the effect of a filter may depend on all earlier events.
 */
static bool may_seek(const struct pipeline_config *config)
{
	const struct filters *filters = config->stages.filters;

	return !config->range.start.is_set && (!filters || filters->nr == 0) &&
	       config->stages.depth == UINT32_MAX && config->stages.time_filter_ns == 0 &&
	       !config->stages.is_off;
}

static int make_heading(struct replay_pages *pages, struct uft_err *err)
{
	struct replay_lines lines = { 0 };
	struct replay_pass pass = { .source = &pages->source, .lines = &lines };
	int ret = replay_pass_begin(&pass, NULL, err);

	if (ret == 0) {
		replay_pass_put_heading(&pass);
		strbuf_add(&pages->heading, strbuf_str(&lines.text),
			   strcspn(strbuf_str(&lines.text), "\n"));
	}
	replay_pass_end(&pass);
	replay_lines_deinit(&lines);
	return ret;
}

int replay_pages_init(struct replay_pages *pages, const struct replay_source *source,
		      struct uft_err *err)
{
	*pages = (struct replay_pages){
		.source = *source,
		.can_seek = may_seek(&source->config),
		.wants_kept = true,
		.marks = { .all = calloc(1, sizeof(*pages->marks.all)), .nr = 1 },
	};
	if (!pages->marks.all)
		return err_set_errno(err, -ENOMEM, "cannot show calls");
	pages->source.config.reads_extern = true;
	pages->source.config.stages.wants = STAGE_WANTS_DEPTHS;
	return make_heading(pages, err);
}

int replay_pages_show(struct replay_pages *pages, const char *fields, struct uft_err *err)
{
	struct replay_source source = pages->source;
	bool (*stops)(void) = pages->stops;
	int ret;

	source.view.fields = fields;
	source.wants_deltas = strstr(fields, "delta");
	if (pages->can_seek && !source.wants_deltas) {
		pages->source.view.fields = fields;
		drop_pages(pages, 0);
		strbuf_reset(&pages->heading);
		return make_heading(pages, err);
	}
	replay_pages_deinit(pages);
	ret = replay_pages_init(pages, &source, err);
	pages->stops = stops;
	return ret;
}

void replay_pages_deinit(struct replay_pages *pages)
{
	replay_kept_stop(&pages->kept);
	for (size_t i = 0; i < REPLAY_PAGES; i++)
		replay_lines_deinit(&pages->pages[i].lines);
	replay_marks_deinit(&pages->marks);
	strbuf_deinit(&pages->heading);
	*pages = (struct replay_pages){ 0 };
}
