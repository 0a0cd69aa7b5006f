/* Shows the calls in the order in which they were made (see replay_view.h). */
#include "cmds/tui/replay/replay_view.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "utils/base/containers/vec.h"

/*
 * The number of lines that replay_view_work() adds to the view. A call of replay_view_work() takes
 * a few milliseconds. Keys are checked between two calls.
 */
#define WORK_LINES  (8ULL * PAGE_LINES)
/* With one key press, at most this many calls are folded. */
#define FOLDS_MAX   50000
/* A slow call takes at least SLOW_FACTOR times the average time of the called function. */
#define SLOW_FACTOR 4

static struct replay_view *replay_of(const struct tui_view *view)
{
	return (struct replay_view *)view;
}

/* --- folds: @line is a number among all lines, and @shown among the visible lines --- */

/*
 * Searches the folds from index @fold on. Returns the index of the first fold after line @end, or
 * the number of folds if there is no such fold.
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

/*
 * Returns the number of @line among the shown lines. If the line is inside of a folded call,
 * returns the number of the line that shows the call.
 */
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

static int append_fold(struct replay_view *view, uint64_t line, uint64_t end)
{
	struct replay_fold *folds = vec_grow(view->folds, view->nr_folds, sizeof(*folds));

	if (!folds)
		return -ENOMEM;
	view->folds = folds;
	folds[view->nr_folds++] = (struct replay_fold){ line, end };
	return 0;
}

static int add_fold(struct replay_view *view, uint64_t line, uint64_t end)
{
	size_t at = 0;

	if (append_fold(view, line, end) < 0)
		return -ENOMEM;

	struct replay_fold *folds = view->folds;

	while (folds[at].line < line)
		at++;
	memmove(folds + at + 1, folds + at, (view->nr_folds - 1 - at) * sizeof(*folds));
	folds[at] = (struct replay_fold){ line, end };
	return 0;
}

static void remove_fold(struct replay_view *view, const struct replay_fold *fold)
{
	size_t at = fold - view->folds;

	view->nr_folds--;
	memmove(view->folds + at, view->folds + at + 1,
		(view->nr_folds - at) * sizeof(*view->folds));
}

static void unfold_at(struct replay_view *view, uint64_t line)
{
	const struct replay_fold *fold = fold_at(view, line);

	if (fold)
		remove_fold(view, fold);
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
	sink_put_raw(sink, page->lines.text.data + line->text,
		     strcspn(page->lines.text.data + line->text, "\n"));
	if (view->nr_folds && fold_at(view, line_of(view, shown)))
		sink_lit(sink, " ... }");
}

static void put_place(struct tui_view *base, size_t shown, struct sink *sink)
{
	const struct replay_view *view = replay_of(base);

	sink_putf(sink, "line %llu of %llu", (unsigned long long)line_of(view, shown) + 1,
		  (unsigned long long)view->pages.nr_lines);
	if (!view->pages.is_complete || view->pages.source.until_ns != UINT64_MAX)
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

/*
 * Returns false when the word is in no function name of the call tree. Searching the tree is much
 * faster than searching the lines.
 */
static bool knows_word(struct tui_view *base, const char *word)
{
	const struct replay_view *view = replay_of(base);
	const struct tree *tree = view->tree;

	/* The tree lacks the calls that were recorded after the tree was made. */
	if (!tree || view->has_grown)
		return true;
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

/* Adds up calls and times by function, from the tree. */
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

/*
 * True for a slow call. The average times come from the call tree. The struct func of @line is not
 * the struct func in the tree, so strmap_get() looks up the function by name.
 */
static bool is_slow(struct replay_view *view, const struct replay_line *line)
{
	if (!line->func || (line->kind != REPLAY_LEAF && line->kind != REPLAY_EXIT))
		return false;

	const struct func *func = strmap_get(&view->tree->names, line->func->name);

	if (!func || func->id >= view->nr_funcs || view->funcs[func->id].calls == 0)
		return false;
	return line->total_ns >=
	       SLOW_FACTOR * (view->funcs[func->id].total_ns / view->funcs[func->id].calls);
}

/*
 * True when the user has pressed a key, so that the caller's loop should end. Keys are checked only
 * if @step, such as a line number, is a multiple of 1024.
 */
static bool is_enough(struct replay_view *view, size_t step)
{
	return step % 1024 == 0 && view->view.stops && view->view.stops();
}

static int go_to_slow(struct replay_view *view, struct uft_err *err)
{
	const struct replay_page *page;

	if (!view->tree)
		return 0;
	if (!view->funcs && add_up_funcs(view) < 0)
		return err_set_errno(err, -ENOMEM, "cannot add up calls");
	for (size_t at = view->view.cursor + 1; at < nr_lines(&view->view); at++) {
		const struct replay_line *line = line_at(&view->view, at, &page);

		if (line && is_slow(view, line)) {
			view->view.cursor = at;
			break;
		}
		if (is_enough(view, at))
			break;
	}
	return 0;
}

/* --- calls by one caller --- */

/* Returns the cursor's line or, if a call ends at this line, the line of the call's entry. */
static uint64_t entry_of_cursor(struct replay_view *view)
{
	return replay_pages_entry_of(&view->pages, line_of(view, view->view.cursor));
}

/* True when the view has line @at. Makes more lines if line @at is not made yet. */
static bool reaches_line(struct replay_view *view, uint64_t at)
{
	if (at >= view->pages.nr_lines && !view->pages.is_complete)
		replay_view_work(view);
	return at < view->pages.nr_lines;
}

/*
 * Finds the next call that the caller of @of makes. The search begins at line @from. Returns false
 * when this caller makes no more calls, or when the user ends the search.
 */
static bool find_sibling(struct replay_view *view, uint64_t from, const struct replay_line *of,
			 uint64_t *found)
{
	const struct replay_page *page;

	for (uint64_t at = from; reaches_line(view, at); at++) {
		const struct replay_line *line = replay_pages_line(&view->pages, at, &page);

		if (!line || is_enough(view, at))
			return false;
		if (line->task != of->task)
			continue;
		if (line->depth < of->depth)
			return false;
		if (line->depth == of->depth && line->func && line->kind != REPLAY_EXIT) {
			*found = at;
			return true;
		}
	}
	return false;
}

static int go_to_next(struct replay_view *view, struct uft_err *err)
{
	const struct replay_page *page;
	uint64_t number = entry_of_cursor(view);
	const struct replay_line *line = replay_pages_line(&view->pages, number, &page);
	uint64_t end;
	uint64_t found;

	if (!line || !line->task)
		return 0;

	const struct replay_line call = *line;
	int ret = replay_pages_end_of(&view->pages, number, &end, err);

	if (ret == 0 && find_sibling(view, end + 1, &call, &found))
		view->view.cursor = shown_of(view, found);
	return ret;
}

static int go_to_previous(struct replay_view *view)
{
	const struct replay_page *page;
	uint64_t number = entry_of_cursor(view);
	const struct replay_line *line = replay_pages_line(&view->pages, number, &page);

	if (!line || !line->task)
		return 0;

	const struct replay_line call = *line;

	for (uint64_t at = number; at-- > 0;) {
		line = replay_pages_line(&view->pages, at, &page);
		if (!line || is_enough(view, at))
			break;
		if (line->task != call.task || line->depth > call.depth)
			continue;
		if (line->depth < call.depth)
			break;
		if (line->func) {
			view->view.cursor = shown_of(view, replay_pages_entry_of(&view->pages, at));
			break;
		}
	}
	return 0;
}

/*
 * Called by walk_children() for each direct nested call.
 *
 * @line, @end: the numbers of the lines on which the nested call is entered and returns
 * @returns: the line at number @end, on which the nested call returns
 */
typedef int (*each_child)(struct replay_view *view, uint64_t line, uint64_t end,
			  const struct replay_line *returns, void *self);

static int walk_children(struct replay_view *view, uint64_t number, each_child each, void *self,
			 struct uft_err *err)
{
	const struct replay_page *page;
	const struct replay_line *line = replay_pages_line(&view->pages, number, &page);
	uint64_t at;
	int ret = 0;

	if (!line || line->kind != REPLAY_ENTRY)
		return 0;

	struct replay_line child = { .task = line->task, .depth = line->depth + 1 };

	at = number + 1;
	while (ret == 0 && find_sibling(view, at, &child, &at)) {
		uint64_t end;

		ret = replay_pages_end_of(&view->pages, at, &end, err);
		line = ret == 0 ? replay_pages_line(&view->pages, end, &page) : NULL;
		if (!line)
			break;
		child.func = line->func;
		ret = each(view, at, end, line, self);
		at = end + 1;
	}
	return ret;
}

struct longest {
	uint64_t line;
	uint64_t total_ns;
	bool is_found;
};

static int compare_child(struct replay_view *view, uint64_t line, uint64_t end,
			 const struct replay_line *returns, void *self)
{
	struct longest *longest = self;

	if (longest->is_found && returns->total_ns <= longest->total_ns)
		return 0;
	*longest = (struct longest){ line, returns->total_ns, true };
	return 0;
}

static int go_to_longest(struct replay_view *view, struct uft_err *err)
{
	struct longest longest = { 0 };
	uint64_t number = entry_of_cursor(view);
	int ret;

	unfold_at(view, number);
	ret = walk_children(view, number, compare_child, &longest, err);
	if (ret == 0 && longest.is_found)
		view->view.cursor = shown_of(view, longest.line);
	return ret;
}

/* --- folding of the calls within a call --- */

static int fold_child(struct replay_view *view, uint64_t line, uint64_t end,
		      const struct replay_line *returns, void *self)
{
	size_t *nr = self;

	if (end == line)
		return 0;
	if (++*nr > FOLDS_MAX)
		return -E2BIG;
	return fold_at(view, line) ? 0 : add_fold(view, line, end);
}

static int compare_folds(const void *a, const void *b)
{
	const struct replay_fold *x = a;
	const struct replay_fold *y = b;

	return (x->line > y->line) - (x->line < y->line);
}

/* Sorts the folds after some were appended, and removes duplicates. */
static void sort_folds(struct replay_view *view)
{
	size_t nr = 0;

	if (view->nr_folds)
		qsort(view->folds, view->nr_folds, sizeof(*view->folds), compare_folds);
	for (size_t i = 0; i < view->nr_folds; i++) {
		if (nr == 0 || view->folds[nr - 1].line != view->folds[i].line)
			view->folds[nr++] = view->folds[i];
	}
	view->nr_folds = nr;
}

/*
 * The calls that are open during a walk through the lines below an outer call. lines[depth] is the
 * line at which the open call of that depth was entered, or 0. The outer call has depth 0.
 */
struct open_lines {
	uint64_t *lines;
	size_t nr;
};

/*
 * Called for the task's lines after the entry of @call; @at is the number of @line. If a call below
 * @call returns on @line, adds a fold. Returns 1 if @call has ended, 0 if not, or a negative errno.
 */
static int fold_by_line(struct replay_view *view, const struct replay_line *call,
			const struct replay_line *line, uint64_t at, struct open_lines *open)
{
	size_t depth = line->depth - MIN(call->depth, line->depth);

	if (line->depth <= call->depth && line->kind != REPLAY_OTHER)
		return 1;
	if (line->kind == REPLAY_ENTRY) {
		uint64_t *lines = vec_reach(open->lines, &open->nr, depth, sizeof(*lines));

		if (!lines)
			return -ENOMEM;
		open->lines = lines;
		lines[depth] = at;
	}
	if (line->kind != REPLAY_EXIT || depth >= open->nr || !open->lines[depth])
		return 0;

	uint64_t entry = open->lines[depth];

	open->lines[depth] = 0;
	return append_fold(view, entry, at);
}

/* Folds all calls below @call in one walk. Line @number is the entry of @call. */
static int fold_all_below(struct replay_view *view, const struct replay_line *call, uint64_t number)
{
	const struct replay_page *page;
	struct open_lines open = { 0 };
	size_t most = view->nr_folds + FOLDS_MAX;
	int ret = 0;

	for (uint64_t at = number + 1; ret == 0 && view->nr_folds < most && reaches_line(view, at);
	     at++) {
		const struct replay_line *line = replay_pages_line(&view->pages, at, &page);

		if (!line || is_enough(view, at))
			break;
		if (line->task == call->task)
			ret = fold_by_line(view, call, line, at, &open);
	}
	free(open.lines);
	sort_folds(view);
	return MIN(ret, 0);
}

static int fold_within(struct replay_view *view, bool folds_all, struct uft_err *err)
{
	uint64_t number = entry_of_cursor(view);
	const struct replay_page *page;
	const struct replay_line *line = replay_pages_line(&view->pages, number, &page);
	size_t nr = 0;
	int ret;

	if (!line || line->kind != REPLAY_ENTRY)
		return 0;

	const struct replay_line call = *line;

	unfold_at(view, number);
	ret = folds_all ? fold_all_below(view, &call, number)
			: walk_children(view, number, fold_child, &nr, err);
	view->view.cursor = shown_of(view, number);
	if (ret == -E2BIG)
		return 0;
	return ret == -ENOMEM ? err_set_errno(err, ret, "cannot fold calls") : ret;
}

static int unfold_within(struct replay_view *view, bool unfolds_all, struct uft_err *err)
{
	uint64_t number = entry_of_cursor(view);
	const struct replay_page *page;
	const struct replay_line *line = replay_pages_line(&view->pages, number, &page);
	uint64_t end;
	int ret;

	if (!line)
		return 0;

	const struct replay_line call = *line;

	unfold_at(view, number);
	ret = replay_pages_end_of(&view->pages, number, &end, err);
	for (size_t i = 0; ret == 0 && i < view->nr_folds;) {
		const struct replay_fold *fold = &view->folds[i];

		line = fold->line > number && fold->line < end
			       ? replay_pages_line(&view->pages, fold->line, &page)
			       : NULL;
		if (line && line->task == call.task &&
		    (unfolds_all || line->depth == call.depth + 1))
			remove_fold(view, fold);
		else
			i++;
	}
	view->view.cursor = shown_of(view, number);
	return ret;
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
	case TUI_NEXT_SIBLING:
		return go_to_next(view, err);
	case TUI_PREV_SIBLING:
		return go_to_previous(view);
	case TUI_LONGEST_CHILD:
		return go_to_longest(view, err);
	case TUI_FOLD_CHILDREN:
	case TUI_FOLD_ALL:
		return fold_within(view, act == TUI_FOLD_ALL, err);
	case TUI_UNFOLD_CHILDREN:
	case TUI_UNFOLD_ALL:
		return unfold_within(view, act == TUI_UNFOLD_ALL, err);
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

int replay_view_init(struct replay_view *view, const struct replay_source *source,
		     bool (*stops)(void), struct uft_err *err)
{
	view->view.ops = &replay_ops;
	view->view.name = "replay";
	view->view.stops = stops;

	int ret = replay_pages_init(&view->pages, source, err);

	view->pages.stops = stops;
	/* The lines of the first screen are read now. */
	return ret == 0 ? replay_pages_extend(&view->pages, PAGE_LINES, err) : ret;
}

void replay_view_deinit(struct replay_view *view)
{
	replay_pages_deinit(&view->pages);
	free(view->folds);
	free(view->funcs);
	*view = (struct replay_view){ 0 };
}

void replay_view_set_tree(struct replay_view *view, struct tree *tree)
{
	free(view->funcs);
	view->funcs = NULL;
	view->nr_funcs = 0;
	view->tree = tree;
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

/* Extends the folds that ended at line @before - 1, which was the last line. */
static void stretch_folds(struct replay_view *view, uint64_t before)
{
	for (size_t i = 0; i < view->nr_folds; i++) {
		struct replay_fold *fold = &view->folds[i];
		uint64_t end;

		if (fold->end + 1 >= before &&
		    replay_pages_end_of(&view->pages, fold->line, &end, NULL) == 0)
			fold->end = end;
	}
}

int replay_view_grow(struct replay_view *view, uint64_t until_ns, bool has_late_entries,
		     size_t rows, struct uft_err *err)
{
	size_t nr = nr_lines(&view->view);
	uint64_t before = view->pages.nr_lines;
	bool follows = view->view.cursor + 1 >= nr;

	/* While all lines fit on the screen, a cursor on the first line stays there. */
	follows &= nr > rows || view->view.cursor > 0;
	replay_pages_grow(&view->pages, until_ns, has_late_entries);

	int ret = replay_pages_extend(&view->pages, WORK_LINES, err);

	if (ret < 0)
		return ret;
	view->has_grown |= view->pages.nr_lines != before;
	stretch_folds(view, before);
	if (follows)
		view_end(&view->view, rows);
	return 0;
}

/* Gives numbers to more lines until line @line has a number, or until the user ends the wait. */
static int number_up_to(struct replay_view *view, uint64_t line, struct uft_err *err)
{
	int ret = 0;

	while (ret == 0 && line >= view->pages.nr_lines && !view->pages.is_complete &&
	       !(view->view.stops && view->view.stops()))
		ret = replay_pages_extend(&view->pages, WORK_LINES, err);
	return ret;
}

int replay_view_reach(struct replay_view *view, size_t cursor, size_t rows, struct uft_err *err)
{
	int ret = number_up_to(view, cursor, err);

	if (ret == 0)
		view_go(&view->view, MIN(cursor, nr_lines(&view->view)), rows);
	return ret;
}

int replay_view_show(struct replay_view *view, const char *fields, size_t rows, struct uft_err *err)
{
	uint64_t line = line_of(view, view->view.cursor);
	int ret = replay_pages_show(&view->pages, fields, err);

	if (ret == 0)
		ret = number_up_to(view, line, err);
	view_settle(&view->view, rows);
	return ret;
}

/* Returns the time when the first call of @name began, or 0 when the tree has no such call. */
static uint64_t first_call_ns(const struct replay_view *view, const char *name)
{
	const struct tree *tree = view->tree;
	uint64_t first_ns = UINT64_MAX;

	for (size_t i = 0; tree && i < tree->nr_roots; i++) {
		const struct tree_node *node = tree->roots[i]->first;

		for (; node; node = tree_next(node, tree->roots[i])) {
			if (node->first_ns < first_ns && strcmp(node->func->name, name) == 0)
				first_ns = node->first_ns;
		}
	}
	return first_ns == UINT64_MAX ? 0 : first_ns;
}

/*
 * Returns replay_pages_at_time() for @time_ns. If pages.can_seek is set, first adds lines until a
 * mark (struct replay_mark) is later than @time_ns, or until the user presses a key.
 */
static uint64_t line_before(struct replay_view *view, uint64_t time_ns)
{
	const struct replay_marks *marks = &view->pages.marks;

	while (view->pages.can_seek && marks->all[marks->nr - 1].time_ns <= time_ns &&
	       !is_enough(view, 0) && replay_view_work(view))
		;
	return replay_pages_at_time(&view->pages, time_ns);
}

bool replay_view_go(struct replay_view *view, const struct func *func, size_t rows)
{
	const struct replay_page *page;
	uint64_t first_ns = first_call_ns(view, func->name);

	if (view->tree && !view->has_grown && !first_ns)
		return false;
	for (uint64_t line = first_ns ? line_before(view, first_ns) : 0;
	     reaches_line(view, line) && !is_enough(view, line + 1); line++) {
		const struct replay_line *call = replay_pages_line(&view->pages, line, &page);

		if (call && call->func &&
		    (call->func == func || strcmp(call->func->name, func->name) == 0)) {
			view_go(&view->view, shown_of(view, line), rows);
			return true;
		}
	}
	return false;
}
