/* Shows the call graph as lines that can be folded (see graph_view.h). */
#include "cmds/tui/graph_view.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cmds/tui/source_place.h"
#include "utils/base/containers/vec.h"
#include "utils/view/graph/graph_columns.h"
#include "utils/view/source_line.h"
#include "utils/view/texts.h"

/*
 * graph_view.shown has an entry for each line of the view: the number of an item. An entry with
 * this flag stands for the empty line before the item. An entry without this flag stands for the
 * line that shows the item.
 */
#define GRAPH_GAP      (1U << 31)
/*
 * The maximum number of items. Item numbers must leave the bit GRAPH_GAP free. A graph with more
 * items is an error.
 */
#define GRAPH_ITEMS    (GRAPH_GAP - 1)
/*
 * The maximum number of lines for all paths to a function. If there are many paths, long paths are
 * cut.
 */
#define PATH_ITEMS_MAX ((size_t)2 << 20)

static struct graph_view *graph_of(const struct tui_view *view)
{
	return (struct graph_view *)view;
}

static bool is_below(const struct graph_view *view, uint32_t at)
{
	return view->items[at].end > at + 1;
}

static bool has_next(const struct graph_view *view, uint32_t at)
{
	return view->items[at].parent != at &&
	       view->items[at].end < view->items[view->items[at].parent].end;
}

static bool has_previous(const struct graph_view *view, uint32_t at)
{
	return view->items[at].parent != at && view->items[at].parent + 1 != at;
}

static bool has_siblings(const struct graph_view *view, uint32_t at)
{
	return has_next(view, at) || has_previous(view, at);
}

/* --- items --- */

static int add_item(struct graph_view *view, struct graph_item item, uint32_t *index)
{
	struct graph_item *items = vec_grow(view->items, view->nr_items, sizeof(*items));

	if (!items || view->nr_items == GRAPH_ITEMS)
		return -ENOMEM;
	view->items = items;
	item.end = view->nr_items + 1;
	items[view->nr_items] = item;
	*index = view->nr_items++;
	return 0;
}

static int add_node(struct graph_view *view, const struct tree_node *node, uint32_t parent,
		    uint32_t *index)
{
	const struct graph_item item = { .node = node, .func = node->func, .parent = parent };

	return add_item(view, item, index);
}

/* Adds @top and all nodes below @top. The function is not recursive, because paths can be long. */
static int add_tree(struct graph_view *view, const struct tree_node *top, uint32_t parent)
{
	const struct tree_node *node = top;
	uint32_t at;
	int ret = add_node(view, node, parent, &at);

	while (ret == 0) {
		if (node->first) {
			node = node->first;
			ret = add_node(view, node, at, &at);
			continue;
		}
		while (node != top && !node->next) {
			view->items[at].end = view->nr_items;
			at = view->items[at].parent;
			node = node->parent;
		}
		view->items[at].end = view->nr_items;
		if (node == top)
			break;
		node = node->next;
		ret = add_node(view, node, view->items[at].parent, &at);
	}
	return ret;
}

/* Adds an invisible parent for lines that have no other parent. */
static int begin_section(struct graph_view *view, uint32_t *section)
{
	const struct graph_item item = { .kind = GRAPH_HIDDEN, .parent = view->nr_items };

	return add_item(view, item, section);
}

static int add_text(struct graph_view *view, const char *text)
{
	uint32_t section;
	uint32_t at;
	int ret = begin_section(view, &section);
	const struct graph_item item = { .kind = GRAPH_TEXT, .text = text, .parent = section };

	if (ret == 0)
		ret = add_item(view, item, &at);
	if (ret == 0)
		view->items[section].end = view->nr_items;
	return ret;
}

static int add_section(struct graph_view *view, const struct tree_node *top)
{
	uint32_t section;
	int ret = begin_section(view, &section);

	if (ret == 0)
		ret = add_tree(view, top, section);
	if (ret == 0)
		view->items[section].end = view->nr_items;
	return ret;
}

static int list_shown(struct graph_view *view)
{
	size_t nr = 0;
	uint32_t *shown = realloc(view->shown, (2 * (size_t)view->nr_items + 1) * sizeof(*shown));

	if (!shown)
		return -ENOMEM;
	view->shown = shown;
	for (uint32_t at = 0; at < view->nr_items;) {
		const struct graph_item *item = &view->items[at];

		if (item->kind != GRAPH_HIDDEN) {
			if (has_previous(view, at))
				shown[nr++] = at | GRAPH_GAP;
			shown[nr++] = at;
		}
		at = item->is_folded ? item->end : at + 1;
	}
	view->nr_shown = nr;
	return 0;
}

/* --- lines --- */

static size_t nr_lines(struct tui_view *base)
{
	return graph_of(base)->nr_shown;
}

static bool is_gap_line(const struct tui_view *base, size_t line)
{
	return graph_of(base)->shown[line] & GRAPH_GAP;
}

static void put_heading(struct tui_view *base, struct sink *sink)
{
	const struct graph *graph = graph_of(base)->graph;

	graph_put_titles(graph, sink);
	sink_lit(sink, " : FUNCTION");
}

/*
 * Appends a blank, and the branches of all calls that contain item @at. The first loop goes from
 * the innermost call to the outermost. The second loop prints the branches in the opposite order.
 */
static void add_branches(const struct graph_view *view, uint32_t at, struct strbuf *out)
{
	struct strbuf marks cleanup_strbuf = { 0 };

	strbuf_addch(out, ' ');
	for (uint32_t up = view->items[at].parent; view->items[up].parent != up;
	     up = view->items[up].parent) {
		if (has_siblings(view, up))
			strbuf_addch(&marks, has_next(view, up) ? '|' : ' ');
	}
	for (size_t i = marks.len; i-- > 0;) {
		if (marks.data[i] == ' ')
			strbuf_addstr(out, "   ");
		else
			strbuf_addstr(out, view->is_utf8 ? " │ " : " | ");
	}
}

/*
 * Appends the branch of item @at to @out: the short line that connects the item with the tree. An
 * item without siblings has no branch. The branch of a folded call ends with a mark. If a folded
 * call has no branch, the mark replaces the blank at the end of @out.
 */
static void add_branch(const struct graph_view *view, uint32_t at, struct strbuf *out)
{
	bool folds = view->items[at].is_folded && is_below(view, at);
	const char *mark = view->is_utf8 ? "▶" : ">";

	if (!has_siblings(view, at)) {
		if (folds) {
			strbuf_cut(out, out->len - 1);
			strbuf_addstr(out, mark);
		}
		return;
	}
	if (view->is_utf8)
		strbuf_addstr(out, has_next(view, at) ? " ├" : " └");
	else
		strbuf_addstr(out, " +");
	strbuf_addstr(out, folds ? mark : view->is_utf8 ? "─" : "-");
}

static void put_call(const struct graph_view *view, const struct graph_item *item,
		     struct sink *sink)
{
	const struct graph_config *config = &view->graph->config;

	sink_putf(sink, "(%llu) ", (unsigned long long)item->node->calls);
	if (!item->func) {
		sink_str(sink, view->program);
		return;
	}
	sink_func(sink, item->func);
	if (config->source)
		source_line_put(config->source, item->func, config->color, " [", "]", sink);
}

static void put_line(struct tui_view *base, size_t line, struct sink *sink)
{
	const struct graph_view *view = graph_of(base);
	uint32_t at = view->shown[line] & ~GRAPH_GAP;
	bool is_gap = view->shown[line] & GRAPH_GAP;
	const struct graph_item *item = &view->items[at];
	const struct graph_row row = { .node = item->node };
	struct strbuf branches cleanup_strbuf = { 0 };

	graph_put_fields(view->graph, item->kind == GRAPH_CALL && !is_gap ? &row : NULL, sink);
	sink_lit(sink, " :");
	if (item->kind == GRAPH_TEXT) {
		sink_str(sink, item->text);
		return;
	}
	add_branches(view, at, &branches);
	if (is_gap)
		strbuf_addstr(&branches, view->is_utf8 ? " │" : " |");
	else
		add_branch(view, at, &branches);
	sink_put_made(sink, &branches);
	if (!is_gap)
		put_call(view, item, sink);
}

static const struct func *func_at(struct tui_view *base, size_t line)
{
	const struct graph_view *view = graph_of(base);

	return line < view->nr_shown ? view->items[view->shown[line] & ~GRAPH_GAP].func : NULL;
}

static void put_place(struct tui_view *base, size_t line, struct sink *sink)
{
	const struct graph_view *view = graph_of(base);
	const struct func *func = func_at(base, line);

	if (func && source_place_put(view->modules, func, sink))
		return;
	if (func) {
		const struct graph_item *item = &view->items[view->shown[line] & ~GRAPH_GAP];

		sink_putf(sink, "source line is not known [at %#llx]",
			  (unsigned long long)item->node->addr);
	} else {
		sink_lit(sink, "session ");
		sink_str(sink, view->session ? view->session->sid : "none");
		sink_lit(sink, " (");
		sink_str(sink, view->session ? view->session->exename : view->program);
		sink_lit(sink, ")");
	}
}

static bool has_word(struct tui_view *base, size_t line, const char *word)
{
	const struct graph_view *view = graph_of(base);
	const struct graph_item *item = &view->items[view->shown[line] & ~GRAPH_GAP];

	if (view->shown[line] & GRAPH_GAP || item->kind != GRAPH_CALL)
		return false;
	return view_word_is_in(item->func ? item->func->name : view->program, word);
}

/* --- keys --- */

static uint32_t next_child(const struct graph_view *view, uint32_t parent, uint32_t child)
{
	uint32_t next = child == parent ? parent + 1 : view->items[child].end;

	return next < view->items[parent].end ? next : parent;
}

static void fold_children(struct graph_view *view, uint32_t at, bool is_folded)
{
	for (uint32_t child = at; (child = next_child(view, at, child)) != at;)
		view->items[child].is_folded = is_folded;
	view->items[at].is_folded = false;
}

static void fold_all(struct graph_view *view, uint32_t at, bool is_folded)
{
	for (uint32_t below = at + 1; below < view->items[at].end; below++)
		view->items[below].is_folded = is_folded;
	view->items[at].is_folded = false;
}

static uint32_t previous_sibling(const struct graph_view *view, uint32_t at)
{
	uint32_t parent = view->items[at].parent;
	uint32_t before = parent + 1;

	for (uint32_t next = before; next != at; next = view->items[next].end)
		before = next;
	return before;
}

/*
 * Folds the call @from. Unfolds the call @to, and folds the direct callees of @to. If @from and @to
 * are the same call, folds and unfolds nothing. Returns @to, where the cursor goes.
 */
static uint32_t leave_for(struct graph_view *view, uint32_t from, uint32_t to)
{
	if (from != to) {
		view->items[from].is_folded = true;
		fold_children(view, to, true);
	}
	return to;
}

static uint32_t longest_child(struct graph_view *view, uint32_t at)
{
	uint32_t longest = at;

	for (uint32_t child = at; (child = next_child(view, at, child)) != at;) {
		if (longest == at ||
		    view->items[child].node->total_ns > view->items[longest].node->total_ns)
			longest = child;
	}
	if (longest != at) {
		fold_children(view, at, true);
		view->items[longest].is_folded = false;
	}
	return longest;
}

static uint32_t parent_call(struct graph_view *view, uint32_t at)
{
	uint32_t parent = view->items[at].parent;

	if (view->items[parent].kind == GRAPH_HIDDEN)
		return at;
	fold_children(view, parent, true);
	return parent;
}

static void go_to_item(struct graph_view *view, uint32_t at)
{
	size_t low = 0;
	size_t high = view->nr_shown;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if ((view->shown[middle] & ~GRAPH_GAP) < at)
			low = middle + 1;
		else
			high = middle;
	}
	view->view.cursor = low + (low < view->nr_shown && view->shown[low] & GRAPH_GAP);
}

static int act_on(struct graph_view *view, uint32_t *at, enum tui_act act)
{
	switch (act) {
	case TUI_FOLD:
		/* The program itself cannot be folded, because no other line would stay visible. */
		view->items[*at].is_folded ^= view->items[*at].func && is_below(view, *at);
		return 0;
	case TUI_FOLD_CHILDREN:
	case TUI_UNFOLD_CHILDREN:
		fold_children(view, *at, act == TUI_FOLD_CHILDREN);
		return 0;
	case TUI_FOLD_ALL:
	case TUI_UNFOLD_ALL:
		fold_all(view, *at, act == TUI_FOLD_ALL);
		return 0;
	case TUI_NEXT_SIBLING:
		*at = leave_for(view, *at, has_next(view, *at) ? view->items[*at].end : *at);
		return 0;
	case TUI_PREV_SIBLING:
		*at = leave_for(view, *at, previous_sibling(view, *at));
		return 0;
	case TUI_PARENT:
		*at = parent_call(view, *at);
		return 0;
	case TUI_LONGEST_CHILD:
		*at = longest_child(view, *at);
		return 0;
	default:
		return -ENOTSUP;
	}
}

static int act_on_line(struct tui_view *base, enum tui_act act, struct uft_err *err)
{
	struct graph_view *view = graph_of(base);

	if (base->cursor >= view->nr_shown)
		return -ENOTSUP;

	uint32_t at = view->shown[base->cursor] & ~GRAPH_GAP;

	if (view->items[at].kind != GRAPH_CALL)
		return -ENOTSUP;

	int ret = act_on(view, &at, act);

	if (ret == 0 && list_shown(view) < 0)
		return err_set_errno(err, -ENOMEM, "cannot show the call graph");
	if (ret == 0)
		go_to_item(view, at);
	return ret;
}

static const struct tui_view_ops graph_ops = {
	.nr_lines = nr_lines,
	.put_heading = put_heading,
	.put_line = put_line,
	.put_place = put_place,
	.is_gap = is_gap_line,
	.func_at = func_at,
	.has_word = has_word,
	.act = act_on_line,
};

/* --- making views --- */

static int end_making(struct graph_view *view, int ret, struct uft_err *err)
{
	view->view.ops = &graph_ops;
	view->view.name = "graph";
	if (ret == 0)
		ret = list_shown(view);
	if (ret < 0)
		err_set_errno(err, ret, "cannot show the call graph");
	return ret;
}

int graph_view_program(struct graph_view *view, const struct tree_node *root, const char *program,
		       struct uft_err *err)
{
	view->program = program;
	return end_making(view, add_section(view, root), err);
}

/*
 * Adds @call and its callers. Adds no line for the program itself. If there are more than @room
 * calls, adds only the innermost @room calls, and a line about the others. @call is the index of an
 * item of @whole. All lines of calls show the times and the count of @call.
 */
static int add_path(struct graph_view *view, uint32_t section, const struct graph_view *whole,
		    uint32_t call, size_t room)
{
	uint32_t parent = section;
	uint32_t first = view->nr_items;
	uint32_t up = call;
	int ret = 0;

	for (; ret == 0 && whole->items[up].func && room--; up = whole->items[up].parent) {
		struct graph_item item = {
			.node = whole->items[call].node,
			.func = whole->items[up].func,
			.parent = parent,
			.is_folded = up != call,
		};

		ret = add_item(view, item, &parent);
	}
	if (ret == 0 && whole->items[up].func) {
		const struct graph_item more = {
			.kind = GRAPH_TEXT,
			.text = " ... and more callers",
			.parent = parent,
		};

		ret = add_item(view, more, &parent);
	}
	for (uint32_t at = first; ret == 0 && at < view->nr_items; at++)
		view->items[at].end = view->nr_items;
	return ret;
}

/*
 * Returns the first call of @name among the items from @at to the end, or nr_items. To find the
 * next call, start after the items inside of the found call.
 */
static uint32_t find_call(const struct graph_view *whole, uint32_t at, const char *name)
{
	while (at < whole->nr_items &&
	       !(whole->items[at].func && func_is_called(whole->items[at].func, name)))
		at++;
	return at;
}

static size_t count_calls(const struct graph_view *whole, const char *name)
{
	size_t nr = 0;
	uint32_t at = 0;

	while ((at = find_call(whole, at, name)) < whole->nr_items) {
		at = whole->items[at].end;
		nr++;
	}
	return nr;
}

/* Adds the paths to all calls of @name that are not inside of another call of @name. */
static int add_paths(struct graph_view *view, const struct graph_view *whole, const char *name)
{
	uint32_t section;
	int ret = begin_section(view, &section);
	size_t room = MAX(PATH_ITEMS_MAX / MAX(count_calls(whole, name), (size_t)1), (size_t)1);

	for (uint32_t at = 0; ret == 0 && (at = find_call(whole, at, name)) < whole->nr_items;
	     at = whole->items[at].end)
		ret = add_path(view, section, whole, at, room);
	if (ret == 0)
		view->items[section].end = view->nr_items;
	return ret;
}

int graph_view_func(struct graph_view *view, const struct graph_view *whole,
		    const struct tree_node *sum, const char *name, struct uft_err *err)
{
	int ret = asprintf(&view->title, "=== Function Call Graph for '%s' ===", name);

	if (ret < 0)
		view->title = NULL;
	ret = ret < 0 ? -ENOMEM : add_text(view, view->title);
	if (ret == 0)
		ret = add_text(view, "========== Back-trace ==========");
	if (ret == 0)
		ret = add_paths(view, whole, name);
	if (ret == 0)
		ret = add_text(view, "");
	if (ret == 0)
		ret = add_text(view, "========== Call Graph ==========");
	for (const struct tree_node *top = sum->first; ret == 0 && top; top = top->next)
		ret = add_section(view, top);
	return end_making(view, ret, err);
}

/* --- finding the items of an earlier view in a new view --- */

static bool are_alike(const struct graph_item *a, const struct graph_item *b)
{
	if (a->kind != b->kind || !a->func != !b->func)
		return false;
	return !a->func || strcmp(a->func->name, b->func->name) == 0;
}

static uint32_t scan_siblings(const struct graph_view *view, uint32_t from, uint32_t end,
			      const struct graph_item *item)
{
	while (from < end && !are_alike(&view->items[from], item))
		from = view->items[from].end;
	return from < end ? from : view->nr_items;
}

/*
 * Returns the index of the child of @parent in @view that corresponds to @item. @item belongs to an
 * earlier view. If there is no such child, returns view->nr_items. The search begins at *@guess.
 *
 * @parent: the index of an item, or view->nr_items to search the sections
 */
static uint32_t find_like(const struct graph_view *view, uint32_t parent, uint32_t *guess,
			  const struct graph_item *item)
{
	bool is_section = parent == view->nr_items;
	uint32_t first = is_section ? 0 : parent + 1;
	uint32_t end = is_section ? view->nr_items : view->items[parent].end;
	uint32_t from = MAX(*guess, first);
	uint32_t found = scan_siblings(view, from, end, item);

	if (found == view->nr_items)
		found = scan_siblings(view, first, MIN(from, end), item);
	if (found < view->nr_items)
		*guess = view->items[found].end;
	return found;
}

/*
 * Folds the items of @view that are folded in @before.
 *
 * @now: gets, for each item of @before, the index of the same item in @view. If @view does not have
 *       the item, the index is view->nr_items
 */
static void carry_folds(struct graph_view *view, const struct graph_view *before, uint32_t *now,
			uint32_t *guesses)
{
	for (uint32_t at = 0; at < before->nr_items; at++) {
		const struct graph_item *item = &before->items[at];
		bool is_section = item->parent == at;
		uint32_t parent = is_section ? view->nr_items : now[item->parent];

		/*
		 * If the parent of the item does not exist any more, the item does not exist
		 * either.
		 */
		if (!is_section && parent == view->nr_items)
			now[at] = view->nr_items;
		else
			now[at] = find_like(view, parent, &guesses[parent], item);
		if (now[at] < view->nr_items)
			view->items[now[at]].is_folded = item->is_folded;
	}
}

static void carry_cursor(struct graph_view *view, const struct graph_view *before,
			 const uint32_t *now)
{
	const struct tui_view *base = &before->view;
	size_t row = base->cursor - MIN(base->top, base->cursor);
	uint32_t at = base->cursor < before->nr_shown ? before->shown[base->cursor] & ~GRAPH_GAP
						      : before->nr_items;

	view->view.shift = base->shift;
	view->view.rows = base->rows;
	if (at == before->nr_items || now[at] == view->nr_items)
		return;
	go_to_item(view, now[at]);
	view->view.top = view->view.cursor - MIN(row, view->view.cursor);
}

int graph_view_carry(struct graph_view *view, const struct graph_view *before, struct uft_err *err)
{
	uint32_t *now cleanup_free = malloc((before->nr_items + 1) * sizeof(*now));
	uint32_t *guesses cleanup_free = calloc((size_t)view->nr_items + 1, sizeof(*guesses));

	if (!now || !guesses)
		return err_set_errno(err, -ENOMEM, "cannot show the call graph");
	carry_folds(view, before, now, guesses);
	if (list_shown(view) < 0)
		return err_set_errno(err, -ENOMEM, "cannot show the call graph");
	carry_cursor(view, before, now);
	return 0;
}

void graph_view_deinit(struct graph_view *view)
{
	free(view->items);
	free(view->shown);
	free(view->title);
	*view = (struct graph_view){ 0 };
}
