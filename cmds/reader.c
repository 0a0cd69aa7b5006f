/* What the commands that read a recording have in common (see reader.h). */
#include "cmds/reader.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cmds/cmd.h"
#include "utils/base/fd.h"

#define OLD_DEFAULT_DIR "ftrace.dir"

/* Where to look when nobody said where. */
static const char *find_default_dir(void)
{
	if (access(OPTS_DEFAULT_DIR, F_OK) == 0)
		return OPTS_DEFAULT_DIR;
	if (access("info", F_OK) == 0)
		return ".";
	if (access(OLD_DEFAULT_DIR, F_OK) == 0)
		return OLD_DEFAULT_DIR;
	return OPTS_DEFAULT_DIR;
}

int reader_open_data(struct trace_data *data, const struct opts *opts, struct uft_err *err)
{
	bool is_default = strcmp(opts->data_dir, OPTS_DEFAULT_DIR) == 0;
	const char *dir = is_default ? find_default_dir() : opts->data_dir;
	int ret = data_open(data, dir, opts->demangle, err);

	return ret < 0 ? CMD_NO_DATA : 0;
}

int reader_open_records(struct trace_data *data, const struct opts *opts, struct uft_err *err)
{
	int ret = reader_open_data(data, opts, err);

	if (ret)
		return ret;
	if (data_has_records(data))
		return 0;
	err_set_errno(err, -ENODATA, "cannot read '%s': it has no records of any task", data->dir);
	data_close(data);
	return CMD_NO_DATA;
}

void reader_pipeline_config(const struct opts *opts, struct pipeline_config *config)
{
	pipeline_config_init(config);
	/* The default is as deep as it gets, and then nobody needs to look. */
	if (opts->depth != OPTS_DEFAULT_DEPTH)
		config->stages.depth = opts->depth;
	config->stages.time_filter_ns = opts->time_filter_ns;
	config->stages.size_filter = opts->size_filter;
	config->stages.show_libcalls = opts->show_libcalls;
	config->stages.show_events = opts->use_events;
	config->stages.show_sched = opts->use_sched;
	config->stages.show_preempt = opts->use_sched_preempt;
	config->stages.show_outside = opts->event_full;
	config->range = opts->range;
	config->tids = opts->tids;
	config->nr_tids = opts->nr_tids;
}

static int write_stdout(void *self, const char *data, size_t len)
{
	return fd_write_all(STDOUT_FILENO, data, len);
}

int reader_open_sink(struct sink *sink, struct uft_err *err)
{
	int ret = sink_init(sink, write_stdout, NULL);

	if (fflush(stdout) != 0 && ret == 0)
		ret = -errno;
	return ret < 0 ? err_set_errno(err, ret, "cannot write the output") : 0;
}

int reader_finish(struct sink *sink, const struct uft_err *broken, int ret, struct uft_err *err)
{
	int flushed = sink_flush(sink);

	if (flushed < 0) {
		err_clear(err);
		return err_set_errno(err, flushed, "cannot write the output");
	}
	if (ret < 0)
		return ret;
	if (broken->code)
		return err_set(err, broken->code, "%s; what comes before that is shown",
			       broken->text);
	return CMD_DONE;
}
