/* Code that is shared by all commands that read a recording (see reader.h). */
#include "cmds/reader.h"

#include <errno.h>
#include <limits.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cmds/terminal/ask.h"
#include "cmds/cmd.h"
#include "cmds/event_warn.h"
#include "cmds/debug_facts.h"
#include "cmds/filter_warn.h"
#include "cmds/nameless.h"
#include "cmds/advice/near_data.h"
#include "cmds/pager.h"
#include "cmds/terminal/statusline.h"
#include "cmds/read_progress.h"
#include "config.h"
#include "utils/base/clock.h"
#include "utils/base/fd.h"
#include "utils/base/containers/nearest.h"
#include "utils/format/datadir.h"
#include "utils/pipeline/recording/cpu_files.h"
#include "utils/pipeline/recording/ending.h"
#include "utils/view/values/kernelfields.h"

#define OLD_DEFAULT_DIR "ftrace.dir"

/* Returns the directory to read when the options name none. */
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

const char *reader_data_dir(const struct opts *opts)
{
	return strcmp(opts->data_dir, OPTS_DEFAULT_DIR) == 0 ? find_default_dir() : opts->data_dir;
}

/*
 * Checks that the directory of symbols exists, because otherwise a misspelt name would not be
 * noticed.
 */
static int check_syms_dir(const struct opts *opts, struct uft_err *err)
{
	if (opts->syms_dir && access(opts->syms_dir, R_OK | X_OK) < 0)
		return err_set_errno(err, -errno, "cannot open '%s'", opts->syms_dir);
	return 0;
}

/*
 * If @ret says that there is no recording (-ENOENT, -ENOTDIR), appends advice to @err, for example
 * the paths of recordings nearby (near_data_add()).
 */
static int report_no_data(const struct opts *opts, int ret, struct uft_err *err)
{
	if (ret == -ENOENT || ret == -ENOTDIR)
		near_data_add(reader_data_dir(opts), strcmp(opts->data_dir, OPTS_DEFAULT_DIR) == 0,
			      err);
	return CMD_NO_DATA;
}

/*
 * Warns when the recording was cut off. For `live`, the recorder has already printed this warning.
 * `info` needs no warning, because a line of its output tells how the recording ended.
 */
static void warn_of_end(const struct trace_data *data, const struct opts *opts)
{
	struct strbuf text cleanup_strbuf = { 0 };

	if (!opts_is_of_live(opts) && opts->cmd->bit != CMD_INFO && data_has_records(data) &&
	    data_describe_end(data, &text))
		msg_warn(&opts->msg, "'%s' is %s", data->dir, strbuf_str(&text));
}

static int open_data(struct trace_data *data, const struct opts *opts, const char *dir,
		     struct uft_err *err)
{
	ask_wait_for_end(dir);

	int ret = check_syms_dir(opts, err);

	if (ret < 0)
		return ret;

	uint64_t began_ns = clock_now_ns(CLOCK_MONOTONIC);

	ret = data_open(data, dir, opts->demangle, err);
	if (ret < 0)
		return report_no_data(opts, ret, err);
	data->modules.syms_dir = opts->syms_dir;
	debug_facts_data_opened(opts, data, clock_now_ns(CLOCK_MONOTONIC) - began_ns);
	warn_of_end(data, opts);
	return 0;
}

int reader_open_data(struct trace_data *data, const struct opts *opts, struct uft_err *err)
{
	const char *dir = reader_data_dir(opts);

	read_progress_opening(opts, dir);

	int ret = open_data(data, opts, dir, err);

	/*
	 * If the recording was opened, the line "opening ..." stays until the records are read.
	 * Meanwhile the command reads tasks and symbols, which may take long.
	 */
	if (ret)
		read_progress_opened();
	return ret;
}

int reader_open_growing(struct trace_data *data, const struct opts *opts, struct uft_err *err)
{
	int ret = check_syms_dir(opts, err);

	if (ret < 0)
		return ret;
	ret = data_open_growing(data, reader_data_dir(opts), opts->demangle, err);
	if (ret < 0)
		return report_no_data(opts, ret, err);
	data->modules.syms_dir = opts->syms_dir;
	return 0;
}

void reader_close_data(struct trace_data *data, const struct opts *opts)
{
	read_progress_opened();
	debug_facts_data_shown(opts, data);
	nameless_warn(opts, data);
	data_close(data);
}

static int has_bytes(void *self, const char *name, uint32_t cpu)
{
	const struct trace_data *data = self;
	char path[PATH_MAX];
	struct stat st;

	snprintf(path, sizeof(path), "%s/%s", data->dir, name);
	return stat(path, &st) == 0 && st.st_size > 0 ? -EEXIST : 0;
}

/* True when a file "<prefix><cpu>.dat" exists and is not empty. */
static bool has_cpu_files(const struct trace_data *data, const char *prefix)
{
	return cpu_files_each(data->dir, prefix, has_bytes, (void *)data, NULL) == -EEXIST;
}

int reader_check_records(const struct trace_data *data, const struct opts *opts,
			 struct uft_err *err)
{
	bool has_kernel = has_cpu_files(data, "kernel-cpu");
	bool has_processes = has_bytes((void *)data, DATADIR_PROCESSES, 0) < 0;
	const char *hint = "";

	if (data_has_records(data))
		return 0;
	/* For `live`, the recorder has already told why there are no records. */
	if (opts_is_of_live(opts))
		return CMD_NO_DATA;
	/*
	 * The kernel's files and proc.dat may have events of tasks without a probe. These events
	 * are outside of all functions.
	 */
	if (has_kernel || has_cpu_files(data, "perf-cpu") || has_processes) {
		bool shows_outside = opts->event_full || (opts->cmd->bit & CMD_EVENTS);

		if (((shows_outside && opts->use_events) || (has_kernel && opts->kernel_full)) &&
		    !data->growth)
			return 0;
		hint = "; --event-full shows the other events of its tasks";
	}

	struct strbuf end cleanup_strbuf = { 0 };

	if (data_describe_end(data, &end))
		strbuf_addstr(&end, "; ");
	err_set(err, -ENODATA, "cannot show '%s': %sit has no records of any task%s%s%s", data->dir,
		strbuf_str(&end), data->info.cmdline ? "; it was made by: " : "",
		data->info.cmdline ? data->info.cmdline : "", hint);
	return CMD_NO_DATA;
}

int reader_open_records(struct trace_data *data, const struct opts *opts, struct uft_err *err)
{
	int ret = reader_open_data(data, opts, err);

	if (ret)
		return ret;
	ret = reader_check_records(data, opts, err);
	if (ret) {
		read_progress_opened();
		data_close(data);
	}
	return ret;
}

int reader_open_records_of(struct trace_data *data, const struct opts *opts, const char *name,
			   struct uft_err *err)
{
	int ret = reader_open_records(data, opts, err);

	if (ret == 0 && name) {
		ret = module_set_prefer(&data->modules, name, err);
		if (ret < 0)
			reader_close_data(data, opts);
	}
	return ret;
}

void reader_add_nearest(const struct opts *opts, struct trace_data *data, const char *name,
			struct uft_err *err)
{
	struct func_names names cleanup_func_names = { .demangle = opts->demangle };
	struct strbuf text cleanup_strbuf = { 0 };
	struct nearest near;

	for (size_t i = 0; i < data->modules.nr_modules; i++)
		func_names_add(&names, &data->modules.modules[i]->symtab);
	nearest_init(&near, name);
	strbuf_list_each (&names.text, known) {
		if (strcmp(known, name) != 0)
			nearest_offer(&near, known);
	}
	if (!nearest_is_close(&near))
		return;
	nearest_text(&near, "", &text);

	size_t used = strlen(err->text);

	snprintf(err->text + used, sizeof(err->text) - used, "; the nearest: %s",
		 strbuf_str(&text));
}

void reader_pipeline_config(const struct opts *opts, struct pipeline_config *config)
{
	pipeline_config_init(config);
	/* By default the depth is unlimited, so no stage needs to check the depth. */
	if (opts->depth != OPTS_DEFAULT_DEPTH)
		config->stages.depth = opts->depth;
	config->stages.time_filter_ns = opts->time_filter_ns;
	config->stages.size_filter = opts->size_filter;
	config->stages.filters = opts->filters;
	config->stages.actions = opts->view_actions;
	config->stages.show_libcalls = opts->show_libcalls;
	config->stages.show_events = opts->use_events || opts->events.nr;
	/* The recorder of `live` has already left out all events that are not chosen. */
	config->stages.events = !opts_is_of_live(opts) ? &opts->events : NULL;
	config->stages.sched = !opts->use_sched		 ? STAGE_SCHED_NONE
			       : opts->use_sched_preempt ? STAGE_SCHED_ALL
							 : STAGE_SCHED_WILLING;
	config->stages.show_outside = opts->event_full;
	config->stages.show_kernel_outside = opts->kernel_full;
	config->stages.show_kernel_only = opts->kernel_only;
	config->stages.is_off = !opts->trace_on;
	config->range = opts->range;
	config->tids = opts->tids;
	config->nr_tids = opts->nr_tids;
}

void reader_warn_filters(const struct opts *opts, struct trace_data *data)
{
	struct func_names names cleanup_func_names = { .demangle = opts->demangle };

	/* For `live`, the recorder has already warned of unmatched filters and events. */
	if (opts_is_of_live(opts))
		return;
	event_warn_unmatched(opts, data);
	filter_warn_ignored(opts);
	if (opts->kernel_only && !kernel_formats_have_calls(&data->kernel))
		msg_warn(&opts->msg, "option '--kernel-only': no call of the kernel was recorded, "
				     "as record -k does");
	if (!filter_has_unmatched(opts))
		return;
	for (size_t i = 0; i < data->modules.nr_modules; i++)
		func_names_add(&names, &data->modules.modules[i]->symtab);
	filter_warn_unmatched(opts, &names);
}

void reader_warn_kernel(const struct opts *opts, const struct trace_data *data,
			const struct pipeline *pipe)
{
	const struct kernel_losses *kernel = pipe ? &pipe->kernel : NULL;

	if (data->kernel.nr_types && !kernelfields_are_built_in())
		msg_warn(&opts->msg, "events of the kernel are shown without their fields: utrail "
				     "was built without libtraceevent");
	/* For `live`, the recorder has already warned of the lost events. */
	if (!kernel || opts_is_of_live(opts) || !(kernel->lost || kernel->has_more_lost))
		return;

	bool is_one = kernel->lost == 1 && !kernel->has_more_lost;
	char number[48] = "";

	/*
	 * The kernel can tell the number of lost events only if it has room for the number in its
	 * buffer.
	 */
	if (kernel->lost)
		snprintf(number, sizeof(number), "%s%llu ",
			 kernel->has_more_lost ? "more than " : "",
			 (unsigned long long)kernel->lost);
	msg_warn(&opts->msg,
		 "%sevent%s of the kernel %s lost when this was recorded (see --kernel-buffer)",
		 number, is_one ? "" : "s", is_one ? "was" : "were");
}

size_t reader_threads(const struct opts *opts)
{
	cpu_set_t cpus;

	if (opts->num_thread)
		return opts->num_thread;
	return sched_getaffinity(0, sizeof(cpus), &cpus) == 0 ? CPU_COUNT(&cpus) : 1;
}

static int write_stdout(void *self, const char *data, size_t len)
{
	statusline_before_output(pager_is_open());
	return fd_write_all(STDOUT_FILENO, data, len);
}

struct export_config reader_export_config(const struct opts *opts)
{
	return (struct export_config){
		.tool = "utrail " UTRAIL_VERSION_TEXT,
		.sample_ns = opts->sample_time_ns,
		.counts_outside = opts->event_full,
		.shows_args = opts->show_args,
		.threads = reader_threads(opts),
	};
}

int reader_open_export(struct pipeline *pipe, const struct opts *opts,
		       const struct exporter *exporter, struct trace_data *data,
		       struct uft_err *err)
{
	struct pipeline_config stages;

	reader_pipeline_config(opts, &stages);
	export_configure(exporter, &stages);
	return pipeline_open(pipe, data, &stages, err);
}

int reader_export(struct pipeline *pipe, const struct opts *opts, const struct exporter *exporter,
		  const struct export_config *config, struct sink *sink, struct uft_err *err)
{
	uint64_t nr_dropped = 0;
	int ret = export_run(exporter, config, pipe, sink, &nr_dropped, err);

	if (ret == 0)
		msg_warn_nr(&opts->msg, nr_dropped, "{event is|events are} left out of %s: %s",
			    exporter->name, exporter->drops_points);
	return ret;
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
	if (broken && broken->code)
		return err_set(err, broken->code, "%s; the part before that is shown",
			       broken->text);
	return CMD_DONE;
}
