/* The calls in the order in which they were made (see replay_view.h). */
#include "cmds/tui/replay_view.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "utils/base/containers/vec.h"

/* The lines that are numbered while no key is pressed: a few milliseconds of work. */
#define WORK_LINES  (8ULL * PAGE_LINES)
/* A call is slow when it took this many times the average of its function. */
#define SLOW_FACTOR 4

static struct replay_view *replay_of(const struct tui_view *view)
{
	return (struct replay_view *)view;
}

/* --- folds: the view counts the lines shown, the recording counts all lines --- */

/*
 * Returns the fold that hides lines after @line and is not hidden itself; without one the number of
 * folds.
 */
static size_t next_fold(const struct replay_view *view, size_t fold, uint64_t end)
{
	while (fold < view->nr_folds && view->folds[fold].line <= end)
		fold++;
	return fold;
}

static uint64_t line_of(const struct replay_view *view, size_t shown)
{
	uint64_t line = shown;

	for (size_t i = 0; i < view->nr_folds && view->folds[i].line < line;) {
		uint64_t end = MIN(view->folds[i].end, view->pages.nr_lines);

		line += end - view->folds[i].line;
		i = next_fold(view, i, end);
	}
	return line;
}

/* Returns the line that shows @line, or the folded call around it. */
static size_t shown_of(const struct replay_view *view, uint64_t line)
{
	uint64_t hidden = 0;

	for (size_t i = 0; i < view->nr_folds && view->folds[i].line < line;) {
		uint64_t end = MIN(view->folds[i].end, view->pages.nr_lines);

		if (line <= end)
			return view->folds[i].line - hidden;
		hidden += end - view->folds[i].line;
		i = next_fold(view, i, end);
	}
	return line - hidden;
}

static size_t nr_lines(struct tui_view *base)
{
	const struct replay_view *view = replay_of(base);

	return view->pages.nr_lines ? shown_of(view, view->pages.nr_lines - 1) + 1 : 0;
}

static const struct replay_fold *fold_at(const struct replay_view *view, uint64_t line)
{
	for (size_t i = 0; i < view->nr_folds; i++) {
		if (view->folds[i].line == line)
			return &view->folds[i];
	}
	return NULL;
}

static int add_fold(struct replay_view *view, uint64_t line, uint64_t end)
{
	struct replay_fold *folds = vec_grow(view->folds, view->nr_folds, sizeof(*folds));
	size_t at = 0;

	if (!folds)
		return -ENOMEM;
	view->folds = folds;
	while (at < view->nr_folds && folds[at].line < line)
		at++;
	memmove(folds + at + 1, folds + at, (view->nr_folds - at) * sizeof(*folds));
	folds[at] = (struct replay_fold){ line, end };
	view->nr_folds++;
	return 0;
}

static void remove_fold(struct replay_view *view, const struct replay_fold *fold)
{
	size_t at = fold - view->folds;

	view->nr_folds--;
	memmove(view->folds + at, view->folds + at + 1,
		(view->nr_folds - at) * sizeof(*view->folds));
}

static int turn_fold(struct replay_view *view, struct uft_err *err)
{
	uint64_t line = line_of(view, view->view.cursor);
	const struct replay_fold *fold = fold_at(view, line);
	uint64_t end;

	if (fold) {
		remove_fold(view, fold);
		return 0;
	}

	int ret = replay_pages_end_of(&view->pages, line, &end, err);

	if (ret == 0 && end > line && add_fold(view, line, end) < 0)
		ret = err_set_errno(err, -ENOMEM, "cannot fold a call");
	return ret;
}

/* --- lines --- */

static const struct replay_line *line_at(struct tui_view *base, size_t shown,
					 const struct replay_page **page)
{
	struct replay_view *view = replay_of(base);
	uint64_t line = line_of(view, shown);

	return line < view->pages.nr_lines ? replay_pages_line(&view->pages, line, page) : NULL;
}

static void put_heading(struct tui_view *base, struct sink *sink)
{
	sink_put_made(sink, &replay_of(base)->pages.heading);
}

static void put_line(struct tui_view *base, size_t shown, struct sink *sink)
{
	const struct replay_page *page;
	const struct replay_line *line = line_at(base, shown, &page);
	const struct replay_view *view = replay_of(base);

	if (!line)
		return;
	sink_put_raw(sink, page->text.data + line->text,
		     strcspn(page->text.data + line->text, "\n"));
	if (view->nr_folds && fold_at(view, line_of(view, shown)))
		sink_lit(sink, " ... }");
}

static void put_place(struct tui_view *base, size_t shown, struct sink *sink)
{
	const struct replay_view *view = replay_of(base);

	sink_putf(sink, "line %llu of %llu", (unsigned long long)line_of(view, shown) + 1,
		  (unsigned long long)view->pages.nr_lines);
	if (!view->pages.is_complete)
		sink_lit(sink, " so far");
}

static const struct func *func_at(struct tui_view *base, size_t shown)
{
	const struct replay_page *page;
	const struct replay_line *line = line_at(base, shown, &page);

	return line ? line->func : NULL;
}

static bool has_word(struct tui_view *base, size_t shown, const char *word)
{
	const struct replay_page *page;
	const struct replay_line *line = line_at(base, shown, &page);

	return line && line->func && line->kind != REPLAY_EXIT &&
	       view_word_is_in(line->func->name, word);
}

/* The tree contains all called functions, and is much smaller. */
static bool knows_word(struct tui_view *base, const char *word)
{
	const struct tree *tree = replay_of(base)->tree;

	for (size_t i = 0; i < tree->nr_roots; i++) {
		const struct tree_node *node = tree->roots[i]->first;

		for (; node; node = tree_next(node, tree->roots[i])) {
			if (view_word_is_in(node->func->name, word))
				return true;
		}
	}
	return false;
}

/* --- keys --- */

/* Calls and times by function, out of the tree. */
static int add_up_funcs(struct replay_view *view)
{
	for (size_t i = 0; i < view->tree->nr_roots; i++) {
		const struct tree_node *root = view->tree->roots[i];

		for (const struct tree_node *node = root->first; node;
		     node = tree_next(node, root)) {
			struct slow_func *funcs = vec_reach(view->funcs, &view->nr_funcs,
							    node->func->id, sizeof(*funcs));

			if (!funcs)
				return -ENOMEM;
			view->funcs = funcs;
			funcs[node->func->id].calls += node->calls;
			funcs[node->func->id].total_ns += time_abs(node->total_ns);
		}
	}
	return 0;
}

static bool is_slow(struct replay_view *view, const struct replay_line *line)
{
	if (!line->func || (line->kind != REPLAY_LEAF && line->kind != REPLAY_EXIT))
		return false;

	const struct func *func = tree_canon(view->tree, line->func);

	if (!func || func->id >= view->nr_funcs || view->funcs[func->id].calls == 0)
		return false;
	return line->total_ns >=
	       SLOW_FACTOR * (view->funcs[func->id].total_ns / view->funcs[func->id].calls);
}

static int go_to_slow(struct replay_view *view, struct uft_err *err)
{
	const struct replay_page *page;

	if (!view->funcs && add_up_funcs(view) < 0)
		return err_set_errno(err, -ENOMEM, "cannot add up calls");
	for (size_t at = view->view.cursor + 1; at < nr_lines(&view->view); at++) {
		const struct replay_line *line = line_at(&view->view, at, &page);

		if (line && is_slow(view, line)) {
			view->view.cursor = at;
			break;
		}
	}
	return 0;
}

static int act_on_replay(struct tui_view *base, enum tui_act act, struct uft_err *err)
{
	struct replay_view *view = replay_of(base);

	switch (act) {
	case TUI_FOLD:
		return turn_fold(view, err);
	case TUI_PARENT:
		base->cursor = shown_of(
			view, replay_pages_caller_of(&view->pages, line_of(view, base->cursor)));
		return 0;
	case TUI_NEXT_SLOW:
		return go_to_slow(view, err);
	default:
		return -ENOTSUP;
	}
}

static const struct tui_view_ops replay_ops = {
	.is_long = true,
	.nr_lines = nr_lines,
	.put_heading = put_heading,
	.put_line = put_line,
	.put_place = put_place,
	.func_at = func_at,
	.has_word = has_word,
	.knows_word = knows_word,
	.act = act_on_replay,
};

int replay_view_init(struct replay_view *view, struct trace_data *data,
		     const struct pipeline_config *config, const struct replay_config *shown,
		     struct tree *tree, struct uft_err *err)
{
	view->view.ops = &replay_ops;
	view->view.name = "replay";
	view->tree = tree;
	return replay_pages_init(&view->pages, data, config, shown, err);
}

void replay_view_deinit(struct replay_view *view)
{
	replay_pages_deinit(&view->pages);
	free(view->folds);
	free(view->funcs);
	*view = (struct replay_view){ 0 };
}

bool replay_view_work(struct replay_view *view)
{
	if (replay_pages_extend(&view->pages, WORK_LINES, NULL) < 0)
		view->pages.is_complete = true;
	return !view->pages.is_complete;
}

int replay_view_finish(struct replay_view *view, struct uft_err *err)
{
	return replay_pages_extend(&view->pages, UINT64_MAX / 2, err);
}

bool replay_view_go(struct replay_view *view, const struct func *func, size_t rows)
{
	const struct replay_page *page;

	for (uint64_t line = 0;; line++) {
		const struct replay_line *call;

		if (line >= view->pages.nr_lines && !view->pages.is_complete)
			replay_view_work(view);
		if (line >= view->pages.nr_lines)
			return false;
		call = replay_pages_line(&view->pages, line, &page);
		if (call && call->func &&
		    (call->func == func || strcmp(call->func->name, func->name) == 0)) {
			view_go(&view->view, shown_of(view, line), rows);
			return true;
		}
	}
}
