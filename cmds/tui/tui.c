/* The screen program (see tui.h). */
#include "cmds/tui/tui.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "cmds/cmd.h"
#include "cmds/tui/keys.h"
#include "cmds/tui/screen.h"
#include "cmds/tui/state.h"

static struct graph_config graph_config_of(const struct opts *opts)
{
	return (struct graph_config){
		.color = opts->color_mode,
		.fields = opts->live_report ? NULL : opts->fields,
	};
}

static struct report_config report_config_of(const struct opts *opts)
{
	return (struct report_config){
		.color = opts->color_mode,
		.fields = opts->live_report ? opts->fields : NULL,
		.sort_keys = opts->sort_keys,
	};
}

int tui_check(const struct opts *opts, struct uft_err *err)
{
	const struct graph_config graph_config = graph_config_of(opts);
	const struct report_config report_config = report_config_of(opts);
	struct report report;
	struct graph graph;
	int ret = graph_init(&graph, &graph_config, err);

	if (ret == 0)
		ret = report_init(&report, &report_config, err);
	return ret < 0 ? -ERR_USAGE : 0;
}

/* Go to the clicked line; a second click on it acts as Enter. */
static int click_line(struct tui *tui, struct uft_err *err)
{
	struct tui_view *view = tui->view;
	size_t row = screen_clicked_row();
	size_t line = view->top + row - 1;

	if (row == 0 || line >= view->ops->nr_lines(view))
		return 0;
	if (line == view->cursor && view->ops->act)
		return view->ops->act(view, TUI_FOLD, err);
	view_go(view, line, draw_rows());
	return 0;
}

static int do_command(struct tui *tui, int command, struct uft_err *err);

/* The command that leads to the view on the screen. */
static int command_of_view(const struct tui *tui)
{
	if (tui->view == &tui->report.view)
		return TUI_REPORT;
	return tui->view == &tui->replay.view ? TUI_REPLAY : TUI_GRAPH;
}

/* Read the whole recording again; the view stays, from its beginning. */
static int read_again(struct tui *tui, struct uft_err *err)
{
	int command = command_of_view(tui);
	int ret;

	/* Reading may have to say something. */
	screen_leave();
	go_deinit(tui);
	reading_close(&tui->reading);
	ret = reading_open(&tui->reading, tui->opts, err);
	screen_return();
	tui->view = NULL;
	tui->session = 0;
	if (ret == 0)
		ret = go_graph(tui, err);
	return ret == 0 && command != TUI_GRAPH ? do_command(tui, command, err) : ret;
}

/* Something within the view. */
static int do_act(struct tui *tui, enum tui_act act, struct uft_err *err)
{
	struct tui_view *view = tui->view;
	int ret;

	if (view == &tui->sessions.view && act == TUI_FOLD)
		return do_command(tui, go_chosen(tui), err);
	ret = view->ops->act ? view->ops->act(view, act, err) : -ENOTSUP;
	return ret == -ENOTSUP ? 0 : ret;
}

static int do_command(struct tui *tui, int command, struct uft_err *err)
{
	if (command >= TUI_ACT)
		return do_act(tui, command - TUI_ACT, err);

	/* These look at lines that may not have numbers yet. */
	int ret = command == TUI_END || command == TUI_SEARCH || command == TUI_NEXT_MATCH
			  ? go_to_know_all(tui, err)
			  : 0;

	if (ret < 0 || view_do_move(tui->view, command, draw_rows()))
		return ret;
	switch (command) {
	case TUI_GRAPH:
		return go_graph(tui, err);
	case TUI_GRAPH_OF_FUNC:
		return go_graph_of_func(tui, err);
	case TUI_REPORT:
	case TUI_REPORT_AT_FUNC:
		return go_report(tui, command == TUI_REPORT_AT_FUNC, err);
	case TUI_REPLAY:
	case TUI_REPLAY_AT_FUNC:
		return go_replay(tui, command == TUI_REPLAY_AT_FUNC, err);
	case TUI_INFO:
		return go_info(tui, err);
	case TUI_SESSIONS:
		return go_sessions(tui, err);
	case TUI_EDITOR:
		editor_open(tui);
		return 0;
	case TUI_SEARCH:
		ask_search(tui);
		return 0;
	case TUI_NEXT_MATCH:
	case TUI_PREV_MATCH:
		ask_next_match(tui, command == TUI_NEXT_MATCH ? 1 : -1);
		return 0;
	case TUI_FIELDS:
		return ask_fields(tui, err);
	case TUI_DEBUG:
		tui->shows_debug ^= true;
		return 0;
	case TUI_RELOAD:
		return read_again(tui, err);
	case TUI_HELP:
		ask_help(tui);
		return 0;
	case TUI_CLICK:
		return click_line(tui, err);
	case TUI_QUIT:
		tui->quits = true;
		return 0;
	default:
		return 0;
	}
}

/* Wait for a key, and number lines of the replay meanwhile. */
static int wait_for_key(struct tui *tui)
{
	int key = SCREEN_NO_KEY;
	bool has_work = tui->view == &tui->replay.view && !tui->replay.pages.is_complete;

	while (has_work && key == SCREEN_NO_KEY && !screen_signal()) {
		key = screen_key(0);
		if (key == SCREEN_NO_KEY) {
			has_work = replay_view_work(&tui->replay);
			draw_all(tui);
		}
	}
	return key == SCREEN_NO_KEY ? screen_key(-1) : key;
}

static int run_keys(struct tui *tui, struct uft_err *err)
{
	int ret = 0;

	while (ret == 0 && !tui->quits && !screen_signal()) {
		draw_all(tui);

		int key = wait_for_key(tui);

		if (key == SCREEN_NO_KEY)
			continue;
		draw_note(tui, NULL);
		if (key != SCREEN_RESIZED)
			tui->shows_count = false;
		ret = do_command(tui, keys_find(key), err);
	}
	return ret;
}

static int show_first(struct tui *tui, struct uft_err *err)
{
	int ret = go_graph(tui, err);

	if (ret == 0 && tui->opts->live_report)
		return go_report(tui, false, err);
	if (ret == 0 && go_nr_programs(tui) > 1)
		return go_sessions(tui, err);
	return ret;
}

static int add_line(void *self, const char *data, size_t len)
{
	strbuf_add(self, data, len);
	return 0;
}

static int run_screen(struct tui *tui, struct uft_err *err)
{
	int ret = sink_init(&tui->sink, add_line, &tui->line);

	if (ret < 0)
		return err_set_errno(err, ret, "cannot show the recording");
	ret = screen_open(tui->opts->color_mode != COLOR_MODE_OFF, err);
	if (ret == 0)
		ret = show_first(tui, err);
	if (ret == 0)
		ret = run_keys(tui, err);
	screen_close();
	return ret;
}

static void close_tui(struct tui *tui)
{
	go_deinit(tui);
	sink_deinit(&tui->sink);
	strbuf_deinit(&tui->line);
	free(tui->report_fields);
	free(tui->word);
	free(tui->note);
	reading_close(&tui->reading);
}

int tui_run(const struct opts *opts, struct uft_err *err)
{
	const struct graph_config config = graph_config_of(opts);
	struct tui tui = { .opts = opts };
	int ret = screen_check(err);

	if (ret == 0)
		ret = graph_init(&tui.graph, &config, err);
	if (ret == 0)
		ret = reading_open(&tui.reading, opts, err);
	if (ret == 0) {
		if (opts->srcline)
			tui.graph.config.source = &tui.reading.data.modules;
		if (opts->live_report && opts->fields)
			tui.report_fields = strdup(opts->fields);
		ret = run_screen(&tui, err);
	}
	if (ret == 0 && tui.reading.pipe.broken.code)
		msg_warn(&opts->msg, "%s; what comes before that was shown",
			 tui.reading.pipe.broken.text);
	close_tui(&tui);

	/* Whoever waits for us is to know of the signal. */
	int sig = screen_signal();

	if (sig)
		raise(sig);
	return ret;
}
