/* The views that keys lead to (see state.h). */
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
	const struct trace_data *data = &tui->reading.data;

	return index < data->nr_sessions ? data->sessions[index] : NULL;
}

static const char *program_at(const struct tui *tui, size_t index)
{
	return title_program(session_at(tui, index));
}

static bool has_calls(const struct tui *tui, size_t index)
{
	return tui->reading.tree.roots[index]->first;
}

size_t go_nr_programs(const struct tui *tui)
{
	size_t found = 0;

	for (size_t i = 0; i < tui->reading.tree.nr_roots; i++)
		found += has_calls(tui, i);
	return found;
}

static void prepare_graph(struct tui *tui, struct graph_view *view)
{
	*view = (struct graph_view){
		.graph = &tui->graph,
		.modules = &tui->reading.data.modules,
		.session = session_at(tui, tui->session),
		.program = program_at(tui, tui->session),
		.is_utf8 = screen_is_utf8(),
	};
}

static int make_program(struct tui *tui, struct uft_err *err)
{
	struct tui_reading *reading = &tui->reading;

	/* Choose the first session with calls; if none has any, the first one. */
	for (size_t i = 0; !has_calls(tui, tui->session) && i < reading->tree.nr_roots; i++)
		tui->session = has_calls(tui, i) ? i : 0;
	prepare_graph(tui, &tui->program);
	return graph_view_program(&tui->program, reading->tree.roots[tui->session],
				  tui->program.program, err);
}

/* The function of the line, or NULL. */
static const struct func *func_of_line(struct tui *tui)
{
	struct tui_view *view = tui->view;

	return view && view->ops->func_at ? view->ops->func_at(view, view->cursor) : NULL;
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
}

/* Merge all calls of @name in the program into one, below the root of tui->sum. */
static int make_sum(struct tui *tui, const char *name)
{
	struct tree_node *root = tui->reading.tree.roots[tui->session];
	int ret = tree_init(&tui->sum, &tui->reading.pipe, NULL);

	tui->has_sum = true;
	tui->sum.wants_details = true;
	if (ret == 0)
		ret = graph_add_calls(&tui->sum, root, name);
	return ret == 0 && tui->sum.roots[0]->first ? tree_sort(tui->sum.roots[0]->first) : ret;
}

int go_graph_of_func(struct tui *tui, struct uft_err *err)
{
	const struct func *func = func_of_line(tui);
	int ret = tui->program.view.ops ? 0 : make_program(tui, err);

	if (!func || ret < 0)
		return ret;
	drop_func(tui);
	if (make_sum(tui, func->name) < 0)
		return err_set_errno(err, -ENOMEM, "cannot add up calls");
	if (!tui->sum.roots[0]->first) {
		draw_note(tui, "this program does not call it");
		return 0;
	}
	prepare_graph(tui, &tui->func);
	ret = graph_view_func(&tui->func, &tui->program, tui->sum.roots[0]->first, func->name, err);
	if (ret == 0)
		tui->view = &tui->func.view;
	return ret;
}

/* Made from the options, or from the fields that the user has chosen here. */
static struct report_config report_config_of(struct tui *tui)
{
	return (struct report_config){
		.color = tui->opts->color_mode,
		.fields = tui->report_fields,
		.sort_keys = tui->opts->sort_keys,
		.source = tui->opts->srcline ? &tui->reading.data.modules : NULL,
		.counts_outside = tui->opts->event_full,
	};
}

int go_make_report(struct tui *tui, struct uft_err *err)
{
	const struct report_config config = report_config_of(tui);
	struct report wanted;
	int ret = report_init(&wanted, &config, err);

	if (ret < 0)
		return ret;
	draw_prompt(tui, "reading ...");
	report_view_deinit(&tui->report);
	ret = reading_add_up(&tui->reading, &wanted, &tui->report.agg, err);
	report_deinit(&wanted);
	if (ret == 0)
		ret = report_view_init(&tui->report, &config, err);
	tui->report.modules = &tui->reading.data.modules;
	tui->report.dir = tui->reading.data.dir;
	tui->report.nr_sessions = go_nr_programs(tui);
	tui->has_report = ret == 0;
	return ret;
}

int go_report(struct tui *tui, bool at_func, struct uft_err *err)
{
	const struct func *func = at_func ? func_of_line(tui) : NULL;

	if (at_func && !func)
		return 0;

	int ret = tui->has_report ? 0 : go_make_report(tui, err);

	if (ret < 0)
		return ret;
	if (!func && tui->view != &tui->report.view)
		view_home(&tui->report.view);
	tui->view = &tui->report.view;
	if (func)
		report_view_go(&tui->report, func, draw_rows());
	return 0;
}

int go_replay(struct tui *tui, bool at_func, struct uft_err *err)
{
	const struct func *func = at_func ? func_of_line(tui) : NULL;
	const struct opts *opts = tui->opts;
	const struct replay_config shown = {
		.color = opts->color_mode,
		/* Partial passes have time ranges, for which there would be a column more. */
		.fields = "duration,tid",
		.merges_leaves = true,
		.shows_args = opts->show_args,
		.shows_source = opts->srcline,
		.shows_comments = true,
		.shows_callsite = true,
	};
	struct pipeline_config config;
	int ret = 0;

	if (at_func && !func)
		return 0;
	draw_prompt(tui, "reading ...");
	reader_pipeline_config(opts, &config);
	if (!tui->replay.view.ops)
		ret = replay_view_init(&tui->replay, &tui->reading.data, &config, &shown,
				       &tui->reading.tree, err);
	if (ret < 0)
		return ret;
	tui->view = &tui->replay.view;
	if (func && !replay_view_go(&tui->replay, func, draw_rows()))
		draw_note(tui, "this function has no line of its own here");
	else if (func)
		view_center(tui->view, draw_rows());
	return 0;
}

int go_to_know_all(struct tui *tui, struct uft_err *err)
{
	if (tui->view != &tui->replay.view || tui->replay.pages.is_complete)
		return 0;
	draw_prompt(tui, "reading ...");
	return replay_view_finish(&tui->replay, err);
}

static int add_text(void *self, const char *data, size_t len)
{
	strbuf_add(self, data, len);
	return 0;
}

int go_info(struct tui *tui, struct uft_err *err)
{
	if (!tui->has_info) {
		struct sink sink cleanup_sink = { 0 };
		int ret = sink_init(&sink, add_text, &tui->info.text);

		if (ret < 0)
			return err_set_errno(err, ret, "cannot show what was recorded");
		ret = info_show(&tui->reading.data, &sink, err);
		sink_flush(&sink);
		if (ret == 0)
			ret = list_view_init(&tui->info, "info", "utrail info",
					     tui->reading.data.dir, err);
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

		for (size_t i = 0; i < tui->reading.tree.nr_roots; i++) {
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
					 tui->reading.data.dir, err);

		if (ret < 0)
			return ret;
	}
	tui->view = &tui->sessions.view;
	return 0;
}

/* The @nr-th program that has calls. */
static size_t program_number(const struct tui *tui, size_t nr)
{
	for (size_t i = 0; i < tui->reading.tree.nr_roots; i++) {
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

void go_deinit(struct tui *tui)
{
	drop_func(tui);
	graph_view_deinit(&tui->program);
	report_view_deinit(&tui->report);
	replay_view_deinit(&tui->replay);
	list_view_deinit(&tui->info);
	list_view_deinit(&tui->sessions);
	tui->has_report = false;
	tui->has_info = false;
}
