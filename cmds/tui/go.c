/* Makes the views that the user chooses with the keyboard (see state.h). */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cmds/reader.h"
#include "cmds/tui/keys.h"
#include "cmds/tui/screen.h"
#include "cmds/tui/state.h"
#include "utils/view/graph/graph_columns.h"
#include "utils/view/infotext.h"
#include "utils/view/values/titles.h"

static const struct session *session_at(const struct tui *tui, size_t index)
{
	const struct trace_data *data = &tui->reading->data;

	return index < data->nr_sessions ? data->sessions[index] : NULL;
}

static const char *program_at(const struct tui *tui, size_t index)
{
	return title_program(session_at(tui, index));
}

static bool has_calls(const struct tui *tui, size_t index)
{
	return tui->reading->tree.roots[index]->first;
}

size_t go_nr_programs(const struct tui *tui)
{
	size_t found = 0;

	for (size_t i = 0; i < tui->reading->tree.nr_roots; i++)
		found += has_calls(tui, i);
	return found;
}

static void prepare_graph(struct tui *tui, struct graph_view *view)
{
	*view = (struct graph_view){
		.graph = &tui->graph,
		.modules = &tui->reading->data.modules,
		.session = session_at(tui, tui->session),
		.program = program_at(tui, tui->session),
		.is_utf8 = screen_is_utf8(),
	};
}

static int make_program(struct tui *tui, struct uft_err *err)
{
	struct tui_reading *reading = tui->reading;

	/*
	 * If the present session has calls, it stays chosen. Otherwise the first session with calls
	 * is chosen. If no session has calls, the first session is chosen.
	 */
	for (size_t i = 0; !has_calls(tui, tui->session) && i < reading->tree.nr_roots; i++)
		tui->session = has_calls(tui, i) ? i : 0;
	prepare_graph(tui, &tui->program);
	return graph_view_program(&tui->program, reading->tree.roots[tui->session],
				  tui->program.program, err);
}

const struct func *go_func_of_line(struct tui *tui)
{
	struct tui_view *view = tui->view;

	return view && view->ops->func_at ? view->ops->func_at(view, view->cursor) : NULL;
}

struct module_set *go_modules(struct tui *tui)
{
	return tui->view == &tui->replay.view ? &tui->calls.data.modules
					      : &tui->reading->data.modules;
}

int go_graph(struct tui *tui, struct uft_err *err)
{
	int ret = tui->program.view.ops ? 0 : make_program(tui, err);

	if (ret == 0)
		tui->view = &tui->program.view;
	return ret;
}

static void drop_func(struct tui *tui)
{
	graph_view_deinit(&tui->func);
	if (tui->has_sum)
		tree_deinit(&tui->sum);
	tui->has_sum = false;
	free(tui->func_name);
	tui->func_name = NULL;
}

/*
 * Merges all calls of the function @name in the shown program. The result is below the root of
 * tui->sum.
 */
static int make_sum(struct tui *tui, const char *name)
{
	struct tree_node *root = tui->reading->tree.roots[tui->session];
	int ret = tree_init(&tui->sum, &tui->reading->pipe, NULL);

	tui->has_sum = true;
	tui->sum.wants_details = true;
	if (ret == 0)
		ret = graph_add_calls(&tui->sum, root, name);
	return ret == 0 ? tree_sort(tui->sum.roots[0]) : ret;
}

/*
 * Makes the graph of @name. Makes no graph, and returns 0, when the program does not call the
 * function.
 */
static int make_func(struct tui *tui, const char *name, struct uft_err *err)
{
	tui->func_name = strdup(name);
	if (!tui->func_name || make_sum(tui, name) < 0)
		return err_set_errno(err, -ENOMEM, "cannot add up calls");
	if (!tui->sum.roots[0]->first)
		return 0;
	prepare_graph(tui, &tui->func);
	return graph_view_func(&tui->func, &tui->program, tui->sum.roots[0], tui->func_name, err);
}

int go_graph_of_func(struct tui *tui, const struct func *func, struct uft_err *err)
{
	int ret = tui->program.view.ops ? 0 : make_program(tui, err);

	if (!func || ret < 0)
		return ret;

	/* The name is copied, because it may belong to the graph that drop_func() frees. */
	char *name cleanup_free = strdup(func->name);

	drop_func(tui);
	if (!name)
		return err_set_errno(err, -ENOMEM, "cannot add up calls");
	ret = make_func(tui, name, err);
	if (ret < 0)
		return ret;
	if (tui->func.view.ops) {
		tui->view = &tui->func.view;
		return 0;
	}
	if (tui->view == &tui->func.view)
		tui->view = &tui->program.view;
	draw_note(tui, "this program does not call it");
	return 0;
}

struct report_config go_report_config(const struct tui *tui)
{
	return (struct report_config){
		.color = tui->opts->color_mode,
		.fields = tui->report_fields,
		.sort_keys = tui->opts->sort_keys,
		.counts_outside = tui->opts->event_full,
	};
}

int go_take_report(struct tui *tui, struct uft_err *err)
{
	struct report_config config = go_report_config(tui);
	struct tui_reading *reading = tui->reading;
	int sorted;

	if (tui->opts->srcline)
		config.source = &reading->data.modules;
	sorted = tui->report.view.ops ? tui->report.sorted : -1;
	report_view_deinit(&tui->report);
	tui->report.agg = reading->agg;
	reading->agg = (struct aggregate){ 0 };

	int ret = report_view_init(&tui->report, &config, err);

	tui->report.modules = &reading->data.modules;
	tui->report.dir = reading->data.dir;
	tui->report.nr_sessions = go_nr_programs(tui);
	tui->has_report = ret == 0;
	if (ret == 0)
		report_view_sort(&tui->report, sorted);
	return ret;
}

void go_report(struct tui *tui, const struct func *func)
{
	if (!func && tui->view != &tui->report.view)
		view_home(&tui->report.view);
	tui->view = &tui->report.view;
	if (func)
		report_view_go(&tui->report, func, draw_rows());
}

static int make_replay(struct tui *tui, struct uft_err *err)
{
	const struct opts *opts = tui->opts;
	const struct replay_config shown = {
		.color = opts->color_mode,
		/*
		 * All passes must print the same fields. If the fields were NULL, a pass with a
		 * time range would print one field more than other passes. For example, a pass that
		 * begins at a mark has a time range. So the fields are never NULL.
		 */
		.fields = tui->replay_fields ? tui->replay_fields : REPLAY_FIELDS,
		.merges_leaves = true,
		.shows_args = opts->show_args,
		.shows_source = opts->srcline,
		.shows_comments = true,
		.shows_callsite = true,
	};
	struct replay_source source = {
		.view = shown,
		.until_ns = UINT64_MAX,
		.wants_deltas = strstr(shown.fields, "delta"),
	};
	int ret = grow_open_calls(tui, err);

	if (ret)
		return ret;
	source.data = &tui->calls.data;
	reader_pipeline_config(opts, &source.config);
	if (tui->calls.grows) {
		source.until_ns = tui->calls.follow.complete_ns;
		source.has_late_entries = tui->calls.follow.has_late_entries;
	}
	ret = replay_view_init(&tui->replay, &source, screen_is_interrupted, err);
	replay_view_set_tree(&tui->replay, tui->has_tree ? &tui->reading->tree : NULL);
	return ret;
}

int go_replay(struct tui *tui, const struct func *func, struct uft_err *err)
{
	int ret = tui->replay.view.ops ? 0 : make_replay(tui, err);

	if (ret)
		return ret;
	tui->view = &tui->replay.view;
	if (!func)
		return 0;
	draw_prompt(tui, "reading ...");
	if (replay_view_go(&tui->replay, func, draw_rows()))
		view_center(tui->view, draw_rows());
	else
		draw_note(tui, "this function has no line of its own here");
	return 0;
}

int go_to_know_all(struct tui *tui, struct uft_err *err)
{
	if (tui->view != &tui->replay.view || tui->replay.pages.is_complete)
		return 0;
	draw_prompt(tui, "reading ...");
	return replay_view_finish(&tui->replay, err);
}

int go_info(struct tui *tui, struct uft_err *err)
{
	if (!tui->has_info) {
		struct sink sink cleanup_sink = { 0 };
		int ret = sink_init_text(&sink, &tui->info.text);

		if (ret < 0)
			return err_set_errno(err, ret, "cannot show what was recorded");
		ret = info_show(&tui->reading->data, &sink, err);
		sink_flush(&sink);
		if (ret == 0)
			ret = list_view_init(&tui->info, "info", "utrail info",
					     tui->reading->data.dir, err);
		if (ret < 0)
			return ret;
		tui->has_info = true;
	}
	tui->view = &tui->info.view;
	return 0;
}

int go_sessions(struct tui *tui, struct uft_err *err)
{
	if (!tui->sessions.view.ops) {
		struct strbuf *text = &tui->sessions.text;
		size_t nr = 0;

		for (size_t i = 0; i < tui->reading->tree.nr_roots; i++) {
			if (!has_calls(tui, i))
				continue;
			strbuf_addf(text, " G  call Graph for session #%zu: ", ++nr);
			escape_addstr(text, MEDIUM_TERMINAL, program_at(tui, i));
			strbuf_addch(text, '\n');
		}
		strbuf_addstr(text, " R  Report functions\n"
				    " I  utrail Info\n"
				    " h  Help message\n"
				    " q  quit\n");

		int ret = list_view_init(&tui->sessions, "sessions", "Key utrail command",
					 tui->reading->data.dir, err);

		if (ret < 0)
			return ret;
	}
	tui->view = &tui->sessions.view;
	return 0;
}

/*
 * Returns the index of the program with the number @nr. Only programs that have calls get numbers;
 * the first number is 0. If no program has the number @nr, returns the index of the present
 * program.
 */
static size_t program_number(const struct tui *tui, size_t nr)
{
	for (size_t i = 0; i < tui->reading->tree.nr_roots; i++) {
		if (has_calls(tui, i) && nr-- == 0)
			return i;
	}
	return tui->session;
}

int go_chosen(struct tui *tui)
{
	static const int commands[] = { TUI_REPORT, TUI_INFO, TUI_HELP, TUI_QUIT };
	size_t nr = go_nr_programs(tui);
	size_t line = tui->sessions.view.cursor;

	if (line >= nr)
		return line - nr < ARRAY_SIZE(commands) ? commands[line - nr] : -1;

	size_t chosen = program_number(tui, line);

	if (chosen != tui->session) {
		drop_func(tui);
		graph_view_deinit(&tui->program);
		tui->session = chosen;
	}
	return TUI_GRAPH;
}

/* --- changing the views to a new struct tui_reading --- */

static int take_program(struct tui *tui, struct uft_err *err)
{
	struct graph_view before cleanup(graph_view_deinit) = tui->program;

	if (!before.view.ops)
		return 0;
	if (tui->session >= tui->reading->tree.nr_roots)
		tui->session = 0;

	int ret = make_program(tui, err);

	return ret < 0 ? ret : graph_view_carry(&tui->program, &before, err);
}

static int take_func(struct tui *tui, struct uft_err *err)
{
	struct graph_view before cleanup(graph_view_deinit) = tui->func;
	char *name cleanup_free = tui->func_name ? strdup(tui->func_name) : NULL;

	tui->func = (struct graph_view){ 0 };
	drop_func(tui);
	if (!before.view.ops || !name)
		return 0;

	int ret = make_func(tui, name, err);

	if (ret == 0 && tui->func.view.ops)
		return graph_view_carry(&tui->func, &before, err);
	if (tui->view == &tui->func.view)
		tui->view = &tui->program.view;
	return ret;
}

static int take_report(struct tui *tui, struct uft_err *err)
{
	struct tui_view before = tui->report.view;
	const struct func *func = before.ops ? before.ops->func_at(&tui->report.view, before.cursor)
					     : NULL;
	char *name cleanup_free = func ? strdup(func->name) : NULL;

	if (!tui->has_report) {
		report_view_deinit(&tui->report);
		return 0;
	}

	int ret = go_take_report(tui, err);

	if (ret < 0)
		return ret;
	before.ops = tui->report.view.ops;
	tui->report.view = before;
	/*
	 * A cursor on the first line stays there, although the line may show another function now.
	 * A cursor on any other line goes to the new line of the same function.
	 */
	if (name && before.cursor)
		report_view_find(&tui->report, name);
	return 0;
}

static int take_lists(struct tui *tui, struct uft_err *err)
{
	struct tui_view info = tui->info.view;
	struct tui_view sessions = tui->sessions.view;
	struct tui_view *shown = tui->view;
	int ret = 0;

	list_view_deinit(&tui->info);
	list_view_deinit(&tui->sessions);
	tui->has_info = false;
	if (shown == &tui->info.view)
		ret = go_info(tui, err);
	else if (shown == &tui->sessions.view)
		ret = go_sessions(tui, err);
	tui->info.view.cursor = info.cursor;
	tui->info.view.top = info.top;
	tui->sessions.view.cursor = sessions.cursor;
	tui->sessions.view.top = sessions.top;
	return ret;
}

int go_take_reading(struct tui *tui, struct tui_reading *next, struct uft_err *err)
{
	struct tui_reading *before = tui->reading;

	tui->reading = next;
	if (tui->opts->srcline)
		tui->graph.config.source = &next->data.modules;

	int ret = take_program(tui, err);

	if (ret == 0)
		ret = take_func(tui, err);
	if (ret == 0)
		ret = take_report(tui, err);
	if (ret == 0)
		ret = take_lists(tui, err);
	replay_view_set_tree(&tui->replay, &next->tree);
	/*
	 * After an error the views are dropped, because they point into @before, which is closed
	 * here.
	 */
	if (ret < 0)
		go_deinit(tui);
	reading_close(before);
	free(before);
	return ret;
}

void go_deinit(struct tui *tui)
{
	drop_func(tui);
	graph_view_deinit(&tui->program);
	report_view_deinit(&tui->report);
	list_view_deinit(&tui->info);
	list_view_deinit(&tui->sessions);
	tui->has_report = false;
	tui->has_info = false;
}
