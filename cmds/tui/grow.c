/* Updates the views of a recording that grows (see state.h). */
#include <errno.h>
#include <stdlib.h>

#include "cmds/cmd.h"
#include "cmds/terminal/ask.h"
#include "cmds/terminal/growth.h"
#include "cmds/tui/state.h"
#include "utils/base/clock.h"

/* The time between two checks of the recording. */
#define LOOK_NS	      300000000ULL
/*
 * While the recording grows, it is read again and again for the graph and the report. After each
 * reading there is a pause. The pause is REST_FACTOR times as long as the reading, but at least
 * REST_LEAST_NS.
 */
#define REST_FACTOR   10
#define REST_LEAST_NS 1000000000ULL
/*
 * The number of further checks after the files have stopped growing. The recorder first writes
 * records, and reports a bit later that the records are complete. The checks notice this report.
 */
#define LATE_LOOKS    4

void grow_begin(struct tui *tui)
{
	const char *dir = tui->reading->data.dir;

	tui->growth.grows = ask_is_recorded(dir);
	tui->growth.stamp = tui->growth.grows ? growth_stamp(dir) : 0;
	/*
	 * While tui->reading was made, the recorder may have written more records. So tui->reading
	 * counts as out of date.
	 */
	tui->growth.is_stale = tui->growth.grows;
}

/* --- the replay --- */

int grow_open_calls(struct tui *tui, struct uft_err *err)
{
	struct tui_calls *calls = &tui->calls;
	struct opts opts = *tui->opts;
	int ret = 0;

	if (calls->is_open)
		return 0;
	*calls = (struct tui_calls){ .left = LATE_LOOKS };
	opts.follow = true;
	if (tui->growth.grows)
		ret = follow_open_records(&calls->follow, &calls->grows, &calls->data, &opts, err);
	else
		ret = data_open(&calls->data, tui->reading->data.dir, opts.demangle, err);
	if (ret)
		return ret;
	calls->data.modules.syms_dir = opts.syms_dir;
	calls->is_open = true;
	/*
	 * follow_look() asks the recorder for the time up to which records are complete. The next
	 * follow_look(), in grow_replay(), lets the replay show the records up to that time.
	 */
	return calls->grows ? follow_look(&calls->follow, err) : 0;
}

void grow_close_calls(struct tui *tui)
{
	replay_view_deinit(&tui->replay);
	if (tui->calls.is_open)
		data_close(&tui->calls.data);
	tui->calls = (struct tui_calls){ 0 };
	tui->wanted_func = NULL;
}

/*
 * Ends the growth of the replay. The present lines of the replay stay on the screen. The text of
 * @err is shown as a note, and @err is cleared.
 */
static int end_replay(struct tui *tui, struct uft_err *err)
{
	tui->calls.grows = false;
	draw_note(tui, err->text);
	err_clear(err);
	return 0;
}

/*
 * Shows new lines of the replay. A cursor on the last line goes to the new last line. A cursor on
 * any other line does not move.
 */
static int grow_replay(struct tui *tui, bool has_grown, struct uft_err *err)
{
	struct tui_calls *calls = &tui->calls;
	struct replay_view *view = &tui->replay;

	if (has_grown)
		calls->left = LATE_LOOKS;
	if (!calls->is_open || !calls->grows || !calls->left || replay_pages_is_busy(&view->pages))
		return 0;
	calls->left--;

	int ret = follow_look(&calls->follow, err);

	if (ret == -ESTALE)
		return end_replay(tui, err);
	if (ret < 0)
		return ret;
	calls->grows = calls->follow.complete_ns != UINT64_MAX;
	return replay_view_grow(view, calls->follow.complete_ns, calls->follow.has_late_entries,
				draw_rows(), err);
}

/* --- all of it --- */

static bool is_shown(const struct tui *tui)
{
	return tui->view != &tui->replay.view && tui->view != &tui->waiting.view;
}

static int read_next(struct tui *tui, struct uft_err *err)
{
	const struct report_config config = go_report_config(tui);
	unsigned work = JOB_OPEN | JOB_TREE | (tui->has_report ? JOB_REPORT : 0);

	tui->next = calloc(1, sizeof(*tui->next));
	if (!tui->next)
		return err_set_errno(err, -ENOMEM, "cannot read the recording again");
	tui->next->opts = tui->opts;
	tui->growth.is_stale = false;

	int ret = job_start(&tui->job, tui->next, work, &config, err);

	if (ret < 0) {
		free(tui->next);
		tui->next = NULL;
	}
	return ret;
}

int grow_look(struct tui *tui, struct uft_err *err)
{
	struct tui_growth *growth = &tui->growth;
	uint64_t now_ns = clock_now_ns(CLOCK_MONOTONIC);
	uint64_t rest_ns = MAX(REST_FACTOR * growth->took_ns, REST_LEAST_NS);
	int ret = 0;

	if (growth->grows && now_ns - growth->looked_ns >= LOOK_NS) {
		uint64_t stamp = growth_stamp(tui->reading->data.dir);
		bool has_grown = stamp != growth->stamp;

		growth->looked_ns = now_ns;
		growth->grows = ask_is_recorded(tui->reading->data.dir);
		growth->is_stale |= has_grown || !growth->grows;
		growth->stamp = stamp;
		ret = grow_replay(tui, has_grown || !growth->grows, err);
	}
	if (ret == 0 && growth->is_stale && tui->has_tree && !tui->job.runs && is_shown(tui) &&
	    (!growth->grows || now_ns - growth->read_ns >= rest_ns))
		ret = read_next(tui, err);
	return ret;
}

int grow_read_again(struct tui *tui, struct uft_err *err)
{
	bool is_replay = tui->view == &tui->replay.view;
	size_t cursor = tui->replay.view.cursor;
	int ret = 0;

	if (!tui->has_tree || tui->job.runs) {
		draw_note(tui, "it is being read just now");
		return 0;
	}
	tui->growth.grows = ask_is_recorded(tui->reading->data.dir);
	if (is_replay) {
		grow_close_calls(tui);
		ret = go_replay(tui, NULL, err);
		if (ret == 0)
			ret = replay_view_reach(&tui->replay, cursor, draw_rows(), err);
	} else {
		grow_close_calls(tui);
	}
	return ret == 0 ? read_next(tui, err) : ret;
}
