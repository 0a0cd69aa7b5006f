/* Reads logs, and merges their lines in the order of time (see import.h). */
#include "cmds/import/import.h"

#include <endian.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cmds/cmd.h"
#include "cmds/events/events_log.h"
#include "cmds/import/output.h"
#include "utils/base/cleanup.h"
#include "utils/format/event_ids.h"
#include "utils/format/fstrace/log.h"

/*
 * A clock that goes back by more than this time was set back. Smaller steps occur when lines of
 * several writers are a little out of order.
 */
#define SET_BACK_US 10000000LL
/* The latest time that a line may have. */
#define US_MAX	    (IMPORT_NS_MAX / 1000)

/*
 * A log that is being read.
 *
 * @has_line: @line is the next line. @ns is the time that the log gives for @line, plus @shift_ns
 * @last_us: the time of the last valid line, as in the log
 * @shift_ns, @nr_back: the log's clock was set back @nr_back times, by @shift_ns altogether
 */
struct log_source {
	struct fst_log log;
	struct fst_log_line line;
	bool has_line;
	int64_t last_us;
	uint64_t ns;
	uint64_t shift_ns;
	uint64_t nr_back;
	uint64_t first_back;
	const char *first_back_path;
	struct log_problems problems;
};

/*
 * @common: the logs' common format, or NULL
 * @last_ns: the time of the last record
 * @paths: the paths of all logs
 */
struct import {
	const struct opts *opts;
	struct fst_format *common;
	char **paths;
	struct log_source *sources;
	size_t nr_sources;
	struct import_tasks tasks;
	struct import_kinds kinds;
	struct import_output out;
	uint64_t last_ns;
	uint64_t nr_events;
};

static void import_deinit(struct import *im)
{
	for (size_t i = 0; i < im->nr_sources; i++)
		fst_log_close(&im->sources[i].log);
	free(im->sources);
	free(im->paths);
	fst_format_free(im->common);
	import_tasks_deinit(&im->tasks);
	import_kinds_deinit(&im->kinds);
	import_output_close(&im->out);
}

/* --- one log --- */

static void note_set_back(struct log_source *src)
{
	if (!src->nr_back++) {
		src->first_back = src->line.number;
		src->first_back_path = src->line.path;
	}
}

/* Finds the line's time on a clock that is never set back. Returns NULL or the error. */
static const char *place_in_time(struct log_source *src)
{
	int64_t us = src->line.parts.time_us;
	uint64_t shift_ns = src->shift_ns;

	if (us < 1 || us > US_MAX)
		return "no record can have a time before 1970 or after 2262";
	if (us + SET_BACK_US < src->last_us)
		shift_ns += (uint64_t)(src->last_us - us) * 1000;
	if (us * 1000ULL + shift_ns > IMPORT_NS_MAX)
		return "the clock was set back too often: no record can have such a time";
	if (shift_ns != src->shift_ns)
		note_set_back(src);
	src->shift_ns = shift_ns;
	src->last_us = us;
	src->ns = us * 1000ULL + shift_ns;
	return NULL;
}

/* Reads the next valid line, and reports invalid lines before it. */
static int advance_source(struct log_source *src, struct uft_err *err)
{
	int ret;

	while ((ret = fst_log_next(&src->log, &src->line, err)) > 0) {
		const char *wrong = src->line.wrong;
		size_t at = src->line.wrong_at;

		if (!wrong) {
			at = 0;
			wrong = place_in_time(src);
		}
		if (!wrong)
			break;
		log_problems_note(&src->problems, src->line.path, src->line.number, at, wrong);
	}
	src->has_line = ret > 0;
	return ret < 0 ? ret : 0;
}

/* --- one event --- */

/* The task, the event and the time of a line. */
struct place {
	uint64_t time_ns;
	struct import_kind *kind;
	struct import_task *task;
};

static const char *find_origin(const struct import *im, const struct fst_line *line,
			       struct fst_origin *origin, size_t *at)
{
	const char *wrong;

	*at = 0;
	if (!im->common) {
		fst_origin_find(line->body, line->body_len, origin);
		return NULL;
	}
	wrong = fst_origin_by_format(im->common, line->body, line->body_len, origin, at);
	*at += line->body - line->id + FST_TIME_LEN + 1;
	return wrong;
}

/*
 * Finds the time of the event by the recording's clock. If this time is not later than the time of
 * the last record, the event gets the next nanosecond after that record. The events thus keep their
 * order. Returns NULL or the error.
 */
static const char *find_time(const struct import *im, uint64_t ns, uint64_t *time_ns)
{
	uint64_t at = ns - (uint64_t)im->out.offset_ns;

	if (im->out.offset_ns > 0 && ns <= (uint64_t)im->out.offset_ns)
		return "it is older than the clock of the recording";
	*time_ns = MAX(at, im->last_ns + 1);
	return *time_ns <= IMPORT_NS_MAX ? NULL : "no record can have such a time";
}

/*
 * Finds the task, event and time of a line. If the line is wrong, returns the error as text, and
 * sets *@at to the error's position in the line. Otherwise returns NULL. If memory is missing,
 * returns NULL and leaves to->kind or to->task NULL.
 */
static const char *find_place(struct import *im, struct log_source *src, struct place *to,
			      size_t *at)
{
	const struct fst_line *line = &src->line.parts;
	struct fst_origin origin;
	const char *wrong = find_origin(im, line, &origin, at);
	bool is_full;

	if (wrong)
		return wrong;
	*at = 0;
	wrong = find_time(im, src->ns, &to->time_ns);
	if (wrong)
		return wrong;
	to->kind = import_kinds_get(&im->kinds, line, &is_full);
	if (is_full)
		return "there is no room for another event: there are too many, or their names "
		       "and keys are too long";
	if (!to->kind)
		return NULL;
	to->task = import_tasks_get(&im->tasks, &origin, src - im->sources, &is_full);
	return is_full ? "there is no room for another task" : NULL;
}

/*
 * Adds the event of a line to the output, or reports that the line cannot be taken. Returns 0 or
 * -ENOMEM.
 */
static int take_log_line(struct import *im, struct log_source *src)
{
	const struct fst_line *line = &src->line.parts;
	struct place to = { 0 };
	uint64_t us;
	size_t at;
	const char *wrong = find_place(im, src, &to, &at);

	if (wrong) {
		log_problems_note(&src->problems, src->line.path, src->line.number, at, wrong);
		return 0;
	}
	if (!to.kind || !to.task)
		return -ENOMEM;
	im->last_ns = to.time_ns;
	im->nr_events++;
	us = htole64(line->time_us);
	return import_tasks_add(&im->tasks, to.task, to.time_ns, to.kind->id,
				text_of((const char *)&us, sizeof(us)),
				text_of(line->body, line->body_len));
}

/* --- all logs --- */

/*
 * Returns the source with the earliest line, or NULL at the end of all logs. Lines of this source
 * up to the time @until_ns come before the lines of all other sources.
 */
static struct log_source *earliest_source(struct import *im, uint64_t *until_ns)
{
	struct log_source *first = NULL;

	*until_ns = UINT64_MAX;
	for (size_t i = 0; i < im->nr_sources; i++) {
		struct log_source *src = &im->sources[i];

		if (!src->has_line)
			continue;
		if (!first || src->ns < first->ns) {
			*until_ns = first ? first->ns - 1 : UINT64_MAX;
			first = src;
		} else {
			*until_ns = MIN(*until_ns, src->ns);
		}
	}
	return first;
}

/*
 * Reads the first line of each source. If there is any line, opens or makes the output directory.
 */
static int begin_sources(struct import *im, struct uft_err *err)
{
	bool has_line = false;

	for (size_t i = 0; i < im->nr_sources; i++) {
		int ret = advance_source(&im->sources[i], err);

		if (ret < 0)
			return ret;
		has_line |= im->sources[i].has_line;
	}
	if (!has_line)
		return 0;
	return import_output_open(&im->out, im->opts, &im->tasks, &im->kinds, err);
}

static int take_all(struct import *im, struct uft_err *err)
{
	struct log_source *src;
	uint64_t until_ns;
	int ret = 0;

	while (ret == 0 && (src = earliest_source(im, &until_ns))) {
		while (ret == 0 && src->has_line && src->ns <= until_ns) {
			ret = take_log_line(im, src);
			if (ret < 0)
				return err_set_errno(err, ret, "cannot import '%s'",
						     src->line.path);
			if (im->tasks.buffered > IMPORT_BUFFER_BYTES)
				ret = import_tasks_flush(&im->tasks, &im->out.dir.store, err);
			if (ret == 0)
				ret = advance_source(src, err);
		}
	}
	return ret < 0 ? ret : import_tasks_flush(&im->tasks, &im->out.dir.store, err);
}

static int open_logs(struct import *im, struct uft_err *err)
{
	size_t nr = im->opts->nr_args - 1;
	size_t at = 0;

	im->paths = malloc(nr * sizeof(*im->paths));
	im->sources = calloc(nr, sizeof(*im->sources));
	if (!im->paths || !im->sources)
		return err_set_errno(err, -ENOMEM, "cannot import %zu files", nr);
	memcpy(im->paths, im->opts->args + 1, nr * sizeof(*im->paths));
	fst_log_sort(im->paths, nr);
	for (size_t i = 1; i < nr; i++) {
		if (strcmp(im->paths[i - 1], im->paths[i]) == 0)
			return err_set(err, -ERR_USAGE, "events import: '%s' is given twice",
				       im->paths[i]);
	}
	while (at < nr) {
		struct log_source *src = &im->sources[im->nr_sources++];

		fst_log_open(&src->log, im->paths + at, nr - at);
		src->problems.msg = &im->opts->msg;
		at += src->log.nr_paths;
	}
	return 0;
}

/*
 * Reports the number of wrong lines that were not reported one by one (log_problems_end()). Warns
 * about clocks that were set back. Returns the number of all wrong lines.
 */
static uint64_t tell_problems(struct import *im)
{
	uint64_t nr_wrong = 0;

	for (size_t i = 0; i < im->nr_sources; i++) {
		struct log_source *src = &im->sources[i];

		log_problems_end(&src->problems);
		nr_wrong += src->problems.nr_all;
		if (src->nr_back)
			msg_warn(&im->opts->msg,
				 "%s:%llu: the clock was set back%s: later lines are moved by as "
				 "much in the recording",
				 src->first_back_path, (unsigned long long)src->first_back,
				 src->nr_back > 1 ? " for the first time" : "");
	}
	return nr_wrong;
}

static int finish_logs(struct import *im, struct uft_err *err)
{
	struct text *programs cleanup_free = calloc(im->nr_sources, sizeof(*programs));

	if (!programs)
		return err_set_errno(err, -ENOMEM, "cannot import %zu logs", im->nr_sources);
	for (size_t i = 0; i < im->nr_sources; i++)
		programs[i] = text_of(im->sources[i].log.prefix, im->sources[i].log.prefix_len);
	return import_output_finish(&im->out, &im->tasks, &im->kinds, programs, im->nr_sources,
				    im->last_ns, err);
}

static int run_log_import(struct import *im, struct uft_err *err)
{
	const struct opts *opts = im->opts;
	int ret = open_logs(im, err);

	if (ret == 0)
		ret = begin_sources(im, err);
	if (ret == 0)
		ret = take_all(im, err);

	uint64_t nr_wrong = tell_problems(im);

	if (ret == 0 && !im->nr_events)
		ret = err_set(err, -ENODATA, "no line of the given files is a line of a log");
	if (ret == 0)
		ret = finish_logs(im, err);
	if (ret < 0) {
		/*
		 * After a failure, no files of new tasks may stay in a recording that existed
		 * before the import. (A new directory is not a recording yet, because it has no
		 * `info`.)
		 */
		import_tasks_remove(&im->tasks, &im->out.dir.store);
		return ret;
	}
	msg_list("%llu events of %zu kinds in %zu tasks are in '%s', %llu lines were left out",
		 (unsigned long long)im->nr_events, im->kinds.nr, im->tasks.nr,
		 im->out.into ? im->out.into : opts->data_dir, (unsigned long long)nr_wrong);
	return nr_wrong ? CMD_FAILED : CMD_DONE;
}

static struct fst_format *make_common(const struct opts *opts)
{
	struct fst_format *common = fst_format_make(opts->import_common);

	if (common && !fst_format_is_bare(common)) {
		fst_format_free(common);
		return NULL;
	}
	return common;
}

int events_import(const struct opts *opts, struct uft_err *err)
{
	struct import im cleanup(import_deinit) = {
		.opts = opts,
		.tasks = { .next_made = IMPORT_TID_MADE },
		.kinds = { .next_id = EVENT_ID_USER },
		.out = { .dir = STORE_DIR_CLOSED },
		.common = opts->import_common ? make_common(opts) : NULL,
	};

	if (opts->import_common && !im.common)
		return err_set_errno(err, -ENOMEM, "cannot import");
	return run_log_import(&im, err);
}

int events_import_check(const struct opts *opts, struct uft_err *err)
{
	struct fst_format *common = opts->import_common ? make_common(opts) : NULL;

	if (opts->import_into && opts_has_given(opts, "data"))
		return err_set(err, -ERR_USAGE, "--into and --data exclude each other");
	if (opts->import_common && !common)
		return err_set(err, -ERR_USAGE,
			       "option '--common': '%s' is no common format: it may have %%P, %%T, "
			       "%%F, %%L, %%e and %%%%",
			       opts->import_common);
	fst_format_free(common);
	return 0;
}
