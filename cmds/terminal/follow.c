/* Follows a recording that is still being made (see follow.h). */
#include "cmds/terminal/follow.h"

#include <errno.h>
#include <time.h>
#include <unistd.h>

#include "cmds/terminal/ask.h"
#include "cmds/reader.h"

/* The pause between two checks of the recording. */
#define REST_NS 30000000
/*
 * On a terminal, the entry of a call is shown if the call has not returned after this time, in
 * nanoseconds. The call may never return.
 */
#define OPEN_NS 200000000

/*
 * Asks the recorder for its progress.
 *
 * @is_own: the recorder is a process of this `live` command. Such a recorder always answers in the
 *         end, even on a busy machine
 */
static int ask_progress(const char *dir, bool is_own, struct request_answer *answer)
{
	int ret;

	do
		ret = ask_recorder(dir, REQUEST_PROGRESS, -1, answer);
	while (ret == -ETIMEDOUT && is_own);
	return ret;
}

static int is_possible(const struct opts *opts, struct uft_err *err)
{
	const char *dir = reader_data_dir(opts);
	struct request_answer answer;
	int ret = ask_progress(dir, opts_is_of_live(opts), &answer);

	if (ret == 0 && answer.error == -EOPNOTSUPP)
		return err_set(
			err, -EOPNOTSUPP,
			"cannot follow '%s': a flight recording is in memory until it is saved",
			dir);
	if (ret == -ETIMEDOUT)
		return ask_failed(ret, "follow", dir, err);
	return ret == 0;
}

/*
 * Reads task.txt, and then asks the recorder. The recorder completes the maps and symbols of all
 * sessions in task.txt before it answers. Returns 1 with @answer, 0 when the recorder has ended, or
 * a negative errno.
 */
static int read_tasks(const struct follow *follow, struct request_answer *answer,
		      struct uft_err *err)
{
	struct trace_data *data = follow->data;
	int ret = data_read_more(data, err);

	if (ret < 0)
		return ret;

	int asked = ask_progress(data->dir, follow->is_own, answer);
	/* -EPERM: the recorder has ended, and another process listens at the recorder's address. */
	bool has_ended = asked == -ENOTCONN || asked == -EPIPE || asked == -ENOENT ||
			 asked == -EPERM;

	if (asked < 0 && !has_ended)
		return ask_failed(asked, "follow", data->dir, err);
	if (has_ended)
		ret = data_read_more(data, err);
	if (ret == 0)
		ret = data_grow(data, err);
	return ret < 0 ? ret : !has_ended;
}

/*
 * Looks at the recording once. The recorder's answer contains the time up to which the records are
 * complete. But task.txt was read before the answer came. So a session that began shortly before
 * that time may be unknown. Therefore this look uses the time of the previous answer, and the next
 * look uses the time of this answer.
 */
static int look_once(struct follow *follow, struct uft_err *err)
{
	struct trace_data *data = follow->data;
	struct request_answer answer;
	int ret = read_tasks(follow, &answer, err);

	if (ret < 0)
		return ret;

	int measured = data_measure_files(data, err);

	if (measured < 0)
		return measured;
	if (ret == 0) {
		follow->complete_ns = UINT64_MAX;
		return 0;
	}
	follow->complete_ns = follow->answer_ns;
	follow->answer_ns = MAX(follow->answer_ns, answer.complete_ns);
	/*
	 * While answer.holds_back is set, the probe records some entries late. `utrail control` can
	 * end this state. But entries that the probe holds back at that time may still be recorded
	 * late. So @has_late_entries stays true.
	 */
	follow->has_late_entries |= answer.holds_back != 0;
	return MIN(read_tasks(follow, &answer, err), 0);
}

/*
 * The recorder and most files are found by the name of the directory. If another recording has
 * taken this name, the answers and the files belong to the other recording. In this case, their
 * contents must not be shown.
 */
int follow_look(struct follow *follow, struct uft_err *err)
{
	struct uft_err why = { 0 };
	int ret = look_once(follow, &why);
	int moved = data_check_name(follow->data, err);

	if (moved < 0)
		return moved;
	return ret < 0 ? err_set(err, ret, "%s", why.text) : 0;
}

static void rest(void)
{
	nanosleep(&(struct timespec){ .tv_nsec = REST_NS }, NULL);
}

/* Waits until the recording has records. Returns the same values as follow_open_records(). */
static int open_growing(struct follow *follow, struct trace_data *data, const struct opts *opts,
			struct uft_err *err)
{
	int ret = reader_open_growing(data, opts, err);

	if (ret)
		return ret;
	*follow = (struct follow){ .data = data,
				   .is_own = opts_is_of_live(opts),
				   .is_watched = isatty(STDOUT_FILENO) };
	while ((ret = follow_look(follow, err)) == 0 && follow->complete_ns != UINT64_MAX &&
	       !data_has_records(data))
		rest();
	if (ret == 0)
		ret = reader_check_records(data, opts, err);
	if (ret)
		data_close(data);
	return ret;
}

/*
 * Calls that began before the returned time are shown although they are still open. If the output
 * goes to a pipe or a file, no open call is shown.
 */
static uint64_t open_since_ns(const struct follow *follow)
{
	if (!follow->is_watched)
		return 0;
	return follow->complete_ns > OPEN_NS ? follow->complete_ns - OPEN_NS : 0;
}

int follow_open_records(struct follow *follow, bool *grows, struct trace_data *data,
			const struct opts *opts, struct uft_err *err)
{
	int ret = opts->follow ? is_possible(opts, err) : 0;

	if (ret < 0)
		return ret;
	*grows = ret;
	return ret ? open_growing(follow, data, opts, err) : reader_open_records(data, opts, err);
}

int follow_run(struct follow *follow, struct pipeline *pipe, const struct follow_view *shown,
	       struct uft_err *err)
{
	const struct view *view = &shown->view;

	for (;;) {
		int ret = shown->grow ? shown->grow(view->self, err) : 0;

		pipe->has_late_entries = follow->has_late_entries;
		if (ret == 0)
			ret = pipeline_follow(pipe, follow->complete_ns, view, err);
		if (ret < 0 || follow->complete_ns == UINT64_MAX)
			return ret;
		/*
		 * If Ctrl-C has stopped @pipe, call pipeline_follow() once more. During this call,
		 * each lane (struct lane) ends as if there were no more events.
		 */
		if (atomic_load(&pipe->is_stopped))
			return pipeline_follow(pipe, follow->complete_ns, view, err);
		ret = shown->pause ? shown->pause(view->self, open_since_ns(follow)) : 0;
		if (ret < 0)
			return ret;
		rest();
		ret = follow_look(follow, err);
		if (ret < 0)
			return ret;
	}
}
