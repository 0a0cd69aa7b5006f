/* Lets views wait while a thread in the background reads the recording (see state.h). */
#include <stdlib.h>
#include <time.h>

#include "cmds/tui/keys.h"
#include "cmds/tui/screen.h"
#include "cmds/tui/state.h"
#include "utils/base/clock.h"

/*
 * The time after which a view says that the recording is being read. Most recordings are read in
 * less time.
 */
#define SILENT_NS 300000000ULL
#define LOOK_NS	  2000000

static int show_waiting(struct tui *tui, struct uft_err *err)
{
	struct list_view *list = &tui->waiting;

	list_view_deinit(list);
	strbuf_addch(&list->text, ' ');
	job_put_progress(&tui->job, &list->text);
	strbuf_addstr(&list->text, "\n\n T shows all calls meanwhile, q quits\n");
	tui->view = &list->view;
	return list_view_init(list, "reading", "Reading the recording",
			      "the graph comes when all calls are added up", err);
}

/* Stops the job that fills tui->next, and frees tui->next, which was to replace tui->reading. */
static void drop_next(struct tui *tui)
{
	if (!tui->next)
		return;
	job_stop(&tui->job);
	reading_close(tui->next);
	free(tui->next);
	tui->next = NULL;
}

static int start_report(struct tui *tui, struct uft_err *err)
{
	const struct report_config config = go_report_config(tui);

	drop_next(tui);
	job_stop(&tui->job);
	return job_start(&tui->job, tui->reading, JOB_REPORT, &config, err);
}

/*
 * Waits without drawing until the work ends, the work has lasted SILENT_NS, or a signal tells the
 * program to end.
 */
static int wait_silently(struct tui *tui, struct uft_err *err)
{
	while (!job_is_done(&tui->job) && !screen_signal() &&
	       clock_now_ns(CLOCK_MONOTONIC) - tui->job.began_ns < SILENT_NS)
		nanosleep(&(struct timespec){ .tv_nsec = LOOK_NS }, NULL);
	return wait_look(tui, err);
}

int wait_first(struct tui *tui, struct uft_err *err)
{
	const struct report_config config = go_report_config(tui);
	unsigned work = JOB_TREE | (tui->opts->live_report ? JOB_REPORT : 0);
	int ret = job_start(&tui->job, tui->reading, work, &config, err);

	tui->wanted = TUI_FIRST;
	if (ret == 0)
		ret = show_waiting(tui, err);
	return ret == 0 ? wait_silently(tui, err) : ret;
}

static bool is_report(int command)
{
	return command == TUI_REPORT || command == TUI_REPORT_AT_FUNC;
}

static bool needs_tree(int command)
{
	return command == TUI_GRAPH || command == TUI_GRAPH_OF_FUNC || is_report(command) ||
	       command == TUI_INFO || command == TUI_SESSIONS;
}

static bool adds_up_report(const struct tui *tui)
{
	return tui->job.runs && tui->has_tree && tui->job.reading == tui->reading;
}

bool wait_for(struct tui *tui, int command, int *ret, struct uft_err *err)
{
	bool is_known = tui->has_tree && (!is_report(command) || tui->has_report);

	*ret = 0;
	if (is_known && adds_up_report(tui) && command != TUI_REPLAY)
		job_stop(&tui->job);
	if (adds_up_report(tui) && (command == TUI_REPLAY || command == TUI_REPLAY_AT_FUNC ||
				    (needs_tree(command) && !is_report(command))))
		job_stop(&tui->job);
	if (!needs_tree(command) || is_known)
		return false;
	tui->wanted = command;
	if (tui->view != &tui->waiting.view)
		tui->wanted_func = go_func_of_line(tui);
	if (command != TUI_GRAPH_OF_FUNC && command != TUI_REPORT_AT_FUNC)
		tui->wanted_func = NULL;
	if (tui->has_tree && !adds_up_report(tui))
		*ret = start_report(tui, err);
	if (*ret == 0)
		*ret = show_waiting(tui, err);
	if (*ret == 0)
		*ret = wait_silently(tui, err);
	return true;
}

int wait_for_report(struct tui *tui, struct uft_err *err)
{
	int ret = start_report(tui, err);

	tui->has_report = false;
	tui->wanted = TUI_REPORT;
	tui->wanted_func = NULL;
	if (ret == 0)
		ret = show_waiting(tui, err);
	return ret == 0 ? wait_silently(tui, err) : ret;
}

/* Takes the result of the reading thread, which has ended, and makes views from it. */
static int take_result(struct tui *tui, struct uft_err *err)
{
	struct tui_reading *next = tui->next;
	int ret = job_end(&tui->job, err);

	tui->growth.took_ns = tui->job.took_ns;
	tui->growth.read_ns = clock_now_ns(CLOCK_MONOTONIC);
	if (next) {
		tui->next = NULL;
		if (ret == 0)
			return go_take_reading(tui, next, err);
		/*
		 * The new reading has failed, because the recording is being written now, or does
		 * not exist any more. So the views keep the events that were read before.
		 */
		err_clear(err);
		reading_close(next);
		free(next);
		return 0;
	}
	if (ret < 0)
		return ret;
	if (tui->job.work & JOB_TREE) {
		tui->has_tree = true;
		replay_view_set_tree(&tui->replay, &tui->reading->tree);
	}
	return tui->job.work & JOB_REPORT ? go_take_report(tui, err) : 0;
}

int wait_look(struct tui *tui, struct uft_err *err)
{
	bool waits = tui->view == &tui->waiting.view;

	if (!tui->job.runs)
		return 0;
	if (!job_is_done(&tui->job))
		return waits ? show_waiting(tui, err) : 0;

	int ret = take_result(tui, err);

	return ret == 0 && waits ? tui_do(tui, tui->wanted, tui->wanted_func, err) : ret;
}

void wait_end(struct tui *tui)
{
	drop_next(tui);
	job_stop(&tui->job);
	list_view_deinit(&tui->waiting);
}
