/* The main loop of `utrail tui` (see tui.h). */
#include "cmds/terminal/ask.h"
#include "cmds/tui/tui.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cmds/cmd.h"
#include "cmds/reader.h"
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

/*
 * JOB_LOOK_MS: the time between two checks whether the background job is done. GROWTH_LOOK_MS: the
 * time between two checks whether the recording has grown.
 */
#define JOB_LOOK_MS    100
#define GROWTH_LOOK_MS 300

/* Puts the cursor on the line that was clicked. A second click on a line acts like Enter. */
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

/* Performs @act in the view that is shown. Does nothing if the view does not support @act. */
static int do_act(struct tui *tui, enum tui_act act, struct uft_err *err)
{
	struct tui_view *view = tui->view;
	int ret;

	if (view == &tui->sessions.view && act == TUI_FOLD)
		return tui_do(tui, go_chosen(tui), NULL, err);
	ret = view->ops->act ? view->ops->act(view, act, err) : -ENOTSUP;
	return ret == -ENOTSUP ? 0 : ret;
}

/* Shows the first view, which depends on the options and on the recording. */
static int show_first(struct tui *tui, struct uft_err *err)
{
	int ret = go_graph(tui, err);

	if (ret < 0)
		return ret;
	if (tui->opts->live_report)
		go_report(tui, NULL);
	else if (go_nr_programs(tui) > 1)
		return go_sessions(tui, err);
	return 0;
}

/*
 * If @command names a view, goes to this view. The data of the view must have been read.
 */
static int go_to_view(struct tui *tui, int command, const struct func *func, struct uft_err *err)
{
	switch (command) {
	case TUI_FIRST:
		return show_first(tui, err);
	case TUI_GRAPH:
		return go_graph(tui, err);
	case TUI_GRAPH_OF_FUNC:
		return go_graph_of_func(tui, func, err);
	case TUI_REPORT:
		go_report(tui, NULL);
		return 0;
	case TUI_REPORT_AT_FUNC:
		if (func)
			go_report(tui, func);
		return 0;
	case TUI_REPLAY:
		return go_replay(tui, NULL, err);
	case TUI_REPLAY_AT_FUNC:
		return func ? go_replay(tui, func, err) : 0;
	case TUI_INFO:
		return go_info(tui, err);
	case TUI_SESSIONS:
		return go_sessions(tui, err);
	default:
		return 0;
	}
}

static int do_other(struct tui *tui, int command, struct uft_err *err)
{
	switch (command) {
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
		return grow_read_again(tui, err);
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

int tui_do(struct tui *tui, int command, const struct func *func, struct uft_err *err)
{
	int ret;

	if (command >= TUI_ACT)
		return do_act(tui, command - TUI_ACT, err);
	if (wait_for(tui, command, &ret, err))
		return ret;

	/* In the replay, these commands need all lines. Read the missing lines. */
	if (command == TUI_END || command == TUI_SEARCH || command == TUI_NEXT_MATCH)
		ret = go_to_know_all(tui, err);
	if (ret < 0 || view_do_move(tui->view, command, draw_rows()))
		return ret;
	ret = go_to_view(tui, command, func, err);
	return ret == 0 ? do_other(tui, command, err) : ret;
}

/*
 * Returns the time in ms until a job or the recording must be checked. Returns -1 when there is
 * nothing to check. Returns 0 if the replay is shown and some of its lines have no number yet.
 */
static int idle_ms(const struct tui *tui)
{
	if (tui->view == &tui->replay.view && !tui->replay.pages.is_complete)
		return 0;
	if (tui->job.runs)
		return JOB_LOOK_MS;
	return tui->growth.grows || tui->growth.is_stale ? GROWTH_LOOK_MS : -1;
}

/* Waits for a key. Meanwhile, lines of the replay are numbered. */
static int wait_for_key(struct tui *tui)
{
	int ms = idle_ms(tui);
	int key = screen_key(ms);

	if (key == SCREEN_NO_KEY && ms == 0 && !screen_signal())
		replay_view_work(&tui->replay);
	return key;
}

/*
 * Does the work between keys: takes the results of a background job that has read the recording,
 * and checks whether the recording has grown.
 */
static int look_around(struct tui *tui, struct uft_err *err)
{
	int ret = wait_look(tui, err);

	return ret == 0 ? grow_look(tui, err) : ret;
}

static int run_keys(struct tui *tui, struct uft_err *err)
{
	int ret = 0;

	while (ret == 0 && !tui->quits && !screen_signal()) {
		draw_all(tui);

		int key = wait_for_key(tui);

		ret = look_around(tui, err);
		if (key == SCREEN_NO_KEY || ret < 0)
			continue;
		draw_note(tui, NULL);
		if (key != SCREEN_RESIZED)
			tui->shows_count = false;
		ret = tui_do(tui, keys_find(key), go_func_of_line(tui), err);
	}
	return ret;
}

static bool is_ended(void)
{
	return screen_signal() != 0;
}

static int run_screen(struct tui *tui, struct uft_err *err)
{
	int ret = sink_init_text(&tui->sink, &tui->line);

	if (ret < 0)
		return err_set_errno(err, ret, "cannot show the recording");
	ask_end_when(is_ended);
	ret = screen_open(tui->opts->color_mode != COLOR_MODE_OFF, err);
	if (ret == 0)
		ret = wait_first(tui, err);
	if (ret == 0)
		ret = run_keys(tui, err);
	screen_close();
	return ret;
}

static void close_tui(struct tui *tui)
{
	wait_end(tui);
	go_deinit(tui);
	grow_close_calls(tui);
	sink_deinit(&tui->sink);
	strbuf_deinit(&tui->line);
	free(tui->report_fields);
	free(tui->replay_fields);
	free(tui->word);
	free(tui->note);
	reading_close(tui->reading);
	free(tui->reading);
}

int tui_check_terminal(struct uft_err *err)
{
	return screen_check(err);
}

/*
 * Opens the recording. If the recording has no call, and a recorder is writing the recording, waits
 * for the first call.
 */
static int open_reading(struct tui *tui, struct uft_err *err)
{
	const struct timespec rest = { .tv_nsec = 50000000 };
	int ret;

	tui->reading = calloc(1, sizeof(*tui->reading));
	if (!tui->reading)
		return err_set_errno(err, -ENOMEM, "cannot show the recording");
	while ((ret = reading_open(tui->reading, tui->opts, false, err)) == CMD_NO_DATA &&
	       (err->code == -ENODATA || !err->code) &&
	       ask_is_recorded(reader_data_dir(tui->opts))) {
		err_clear(err);
		nanosleep(&rest, NULL);
	}
	return ret;
}

int tui_run(const struct opts *opts, struct uft_err *err)
{
	const struct graph_config config = graph_config_of(opts);
	struct tui tui = { .opts = opts };
	int ret = screen_check(err);

	if (ret == 0)
		ret = graph_init(&tui.graph, &config, err);
	if (ret == 0)
		ret = open_reading(&tui, err);
	if (ret == 0) {
		grow_begin(&tui);
		if (opts->srcline)
			tui.graph.config.source = &tui.reading->data.modules;
		if (opts->live_report && opts->fields)
			tui.report_fields = strdup(opts->fields);
		ret = run_screen(&tui, err);
	}
	wait_end(&tui);
	if (ret == 0 && tui.reading->pipe.broken.code)
		msg_warn(&opts->msg, "%s; the part before that was shown",
			 tui.reading->pipe.broken.text);
	if (tui.reading)
		close_tui(&tui);

	/*
	 * If this program must end because of a signal, raise the signal again. The parent process
	 * then sees the signal that has ended this process.
	 */
	int sig = screen_signal();

	if (sig)
		raise(sig);
	return ret;
}
