/* `utrail record`: run a program under the probe and save what it did. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "cmds/cmd.h"
#include "cmds/record/files.h"
#include "cmds/record/launch.h"
#include "cmds/record/program.h"
#include "cmds/record/recorder.h"
#include "cmds/record/sysinfo.h"
#include "config.h"
#include "utils/base/cleanup.h"
#include "utils/base/fd.h"
#include "utils/base/units.h"
#include "utils/object/build_id.h"

/* Writer threads: one for each four CPUs, as the peer has it. */
static unsigned default_writers(void)
{
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);

	return cpus > 4 ? (cpus + 3) / 4 : 1;
}

static struct record_settings make_settings(const struct opts *opts)
{
	unsigned writers = opts->num_thread ? opts->num_thread : default_writers();

	return (struct record_settings){
		.data_dir = opts->data_dir,
		.segment_bytes = ALIGN_UP(MAX(opts->buffer_bytes, (uint64_t)RING_PAGE),
					  (uint64_t)RING_PAGE),
		.threshold_ns = opts->time_filter_ns,
		.size_filter = opts->size_filter,
		.depth = opts->depth,
		.max_stack = opts->max_stack,
		.clock_id = opts->clock_id,
		.nr_writers = MIN(writers, (unsigned)CONTROL_WRITERS_MAX),
		.rt_prio = opts->rt_prio,
		.trace_on = opts->trace_on,
		.use_libcalls = opts->show_libcalls,
		.nest_libcalls = opts->nest_libcalls,
		.use_perf = opts->use_events,
		.use_switches = opts->use_sched,
	};
}

static char *join_command_line(const struct opts *opts)
{
	struct strbuf text = { 0 };

	for (int i = 0; i < opts->argc; i++) {
		if (i)
			strbuf_addch(&text, ' ');
		strbuf_addstr(&text, i ? opts->argv[i] : "utrail");
	}
	if (strbuf_oom(&text)) {
		strbuf_deinit(&text);
		return NULL;
	}
	return text.data ? text.data : strdup("");
}

/* Everything that belongs to one run of `record`, from the program check to the last file. */
struct run {
	const struct opts *opts;
	struct record_settings settings;
	struct record_program program;
	char library[PATH_MAX];
	int dir_fd;
	struct timespec started;
	uint64_t elapsed_ns;
	int status;
	struct rusage usage;
	bool has_perf; /* there are perf-cpu<N>.dat files */
};

static void run_deinit(struct run *run)
{
	if (run->dir_fd >= 0)
		close(run->dir_fd);
}

static struct data_header make_header(const struct run *run)
{
	uint64_t perf = run->has_perf ? FEAT_PERF_EVENT : 0;
	uint64_t plthook = run->settings.use_libcalls ? FEAT_PLTHOOK : 0;

	return (struct data_header){
		.version = HEADER_VERSION,
		.header_size = HEADER_SIZE,
		.endian = run->program.facts.endian,
		.elf_class = run->program.facts.elf_class,
		.feat_mask = FEAT_TASK_SESSION | FEAT_SYM_REL_ADDR | FEAT_MAX_STACK |
			     FEAT_AUTO_ARGS | perf | plthook,
		.max_stack = run->settings.max_stack,
	};
}

/* `info`, first with what a reader needs at least, at the end with everything. */
static int write_info(const struct run *run, const struct info *info, struct uft_err *err)
{
	struct data_header header = make_header(run);
	uint8_t bytes[HEADER_SIZE];
	struct strbuf text cleanup_strbuf = { 0 };

	header.info_mask = info->mask;
	header_encode(&header, bytes);
	strbuf_add(&text, bytes, sizeof(bytes));
	info_encode(info, &text);
	if (strbuf_oom(&text))
		return err_set_errno(err, -ENOMEM, "cannot write 'info'");
	return files_publish(run->dir_fd, "info", text.data, text.len, err);
}

static int describe_program(const struct run *run, struct info *info)
{
	char hex[BUILD_ID_HEX_SIZE];
	char *real = realpath(run->program.path, NULL);

	info->exename = real ? real : strdup(run->program.path);
	info->cmdline = join_command_line(run->opts);
	info->version = strdup(UTRAIL_VERSION_TEXT);
	info->pattern_type = strdup("regex");
	if (!info->exename || !info->cmdline || !info->version || !info->pattern_type)
		return -ENOMEM;
	info->mask |= INFO_EXE_NAME | INFO_CMDLINE | INFO_VERSION | INFO_PATTERN_TYPE;
	if (object_build_id(run->program.path, hex, NULL) == 0 && hex[0]) {
		info->build_id = strdup(hex);
		if (!info->build_id)
			return -ENOMEM;
		info->mask |= INFO_EXE_BUILD_ID;
	}
	return 0;
}

static int compare_tid(const void *a, const void *b)
{
	int32_t x = *(const int32_t *)a;
	int32_t y = *(const int32_t *)b;

	return (x > y) - (x < y);
}

static int describe_tasks(struct recorder *rec, struct info *info)
{
	if (!rec->nr_tids)
		return 0;
	qsort(rec->tids, rec->nr_tids, sizeof(*rec->tids), compare_tid);
	info->tids = malloc(rec->nr_tids * sizeof(*rec->tids));
	if (!info->tids)
		return -ENOMEM;
	memcpy(info->tids, rec->tids, rec->nr_tids * sizeof(*rec->tids));
	info->nr_tids = rec->nr_tids;
	info->mask |= INFO_TASKINFO;
	return 0;
}

static int describe_time(const struct run *run, struct recorder *rec, struct info *info)
{
	time_t now = time(NULL);
	char date[64];
	struct timespec wall;

	if (!ctime_r(&now, date))
		return 0;
	date[strcspn(date, "\n")] = '\0';
	info->record_date = strdup(date);
	if (!info->record_date)
		return -ENOMEM;
	info->elapsed_ns = run->elapsed_ns;
	clock_gettime(CLOCK_REALTIME, &wall);
	info->utc_offset_s = wall.tv_sec - (int64_t)(recorder_now_ns(rec) / 1000000000ULL);
	info->mask |= INFO_RECORD_DATE | INFO_UTC_OFFSET;
	return 0;
}

static int finish_info(const struct run *run, struct recorder *rec, struct uft_err *err)
{
	struct info info cleanup_info = { .exit_status = run->status, .mask = INFO_EXIT_STATUS };
	int ret = describe_program(run, &info);

	if (ret == 0)
		ret = describe_tasks(rec, &info);
	if (ret == 0)
		ret = describe_time(run, rec, &info);
	if (ret == 0)
		ret = sysinfo_add_machine(&info);
	if (ret < 0)
		return err_set_errno(err, ret, "cannot write 'info'");
	sysinfo_add_usage(&info, &run->usage);
	return write_info(run, &info, err);
}

/* What readers of an unfinished recording get to see. */
static int begin_info(const struct run *run, struct uft_err *err)
{
	struct info info cleanup_info = { 0 };
	int ret = describe_program(run, &info);

	if (ret < 0)
		return err_set_errno(err, ret, "cannot write 'info'");
	return write_info(run, &info, err);
}

/* Options that reading commands are to use, too (spec/data-format.md section 12). */
static int write_default_opts(const struct run *run, struct uft_err *err)
{
	struct strbuf text cleanup_strbuf = { 0 };

	if (run->settings.threshold_ns) {
		strbuf_addstr(&text, "-t ");
		format_time(run->settings.threshold_ns, &text);
		strbuf_addch(&text, '\n');
	}
	return files_publish(run->dir_fd, "default.opts", strbuf_str(&text), text.len, err);
}

static uint64_t since_ns(struct timespec from)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (now.tv_sec - from.tv_sec) * 1000000000ULL + now.tv_nsec - from.tv_nsec;
}

static void block_signals(sigset_t *before)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGCHLD);
	pthread_sigmask(SIG_BLOCK, &set, before);
}

/* What got lost must be said; what was saved is still good. */
static void warn_about_losses(const struct run *run, struct recorder *rec)
{
	const struct msg *msg = &run->opts->msg;
	unsigned long long lost = atomic_load(&rec->records_lost);
	unsigned long long untraced = atomic_load(&rec->threads_untraced);
	int write_error = atomic_load(&rec->write_error);

	if (write_error)
		msg_warn(msg, "cannot write to '%s': %s; the recording is not complete",
			 run->settings.data_dir, strerror(-write_error));
	if (rec->save_error.code)
		msg_warn(msg, "%s", rec->save_error.text);
	if (lost)
		msg_warn(msg, "%llu records were lost; a larger buffer (-b) may help", lost);
	if (rec->declined)
		msg_warn(msg,
			 "%u processes were not traced: their address space is limited (ulimit -v)",
			 rec->declined);
	if (untraced)
		msg_warn(msg, "%llu threads were not traced: too many at a time", untraced);
}

/* Scheduler events are an extra: without the permission the recording goes on without them. */
static void watch_kernel(struct run *run, struct recorder *rec, pid_t pid)
{
	struct uft_err err = { 0 };

	if (!run->settings.use_perf)
		return;
	if (perf_open(&rec->perf, pid, run->settings.clock_id, run->settings.use_switches,
		      rec->epoll_fd, run->dir_fd, &err) < 0)
		msg_debug(&run->opts->msg, MSG_EVENT, 1, "%s", err.text);
	else
		run->has_perf = true;
}

static int run_program(struct run *run, struct recorder *rec, struct uft_err *err)
{
	struct launch launch = {
		.path = run->program.path,
		.argv = run->program.argv,
		.preload = run->library,
		.socket_name = rec->socket_name,
		.fixed_addresses = run->opts->no_randomize_addr,
		.no_binding = run->opts->no_pltbind,
	};

	/* Before any thread is started, so that signals come to the control thread's descriptor. */
	block_signals(&launch.mask);

	int ret = recorder_open(rec, &run->settings, run->dir_fd, err);

	if (ret < 0)
		return ret;
	clock_gettime(CLOCK_MONOTONIC, &run->started);

	struct launched child;

	ret = launch_prepare(&launch, &child, err);
	if (ret < 0)
		return ret;
	watch_kernel(run, rec, child.pid);
	ret = launch_go(&launch, &child, err);
	if (ret < 0)
		return ret;
	ret = recorder_run(rec, child.pid, &run->status, &run->usage, err);
	run->elapsed_ns = since_ns(run->started);
	recorder_stop(rec);
	return ret;
}

/* The shell's convention: the program's own status, or 128 + the signal that ended it. */
static int exit_status(const struct run *run)
{
	if (WIFSIGNALED(run->status)) {
		msg_warn(&run->opts->msg, "child terminated by signal: %d: %s",
			 WTERMSIG(run->status), strsignal(WTERMSIG(run->status)));
		return 128 + WTERMSIG(run->status);
	}
	return WEXITSTATUS(run->status);
}

static void print_seconds(const char *label, uint64_t ns)
{
	printf("%12s: %7llu.%09llu sec\n", label, (unsigned long long)(ns / 1000000000ULL),
	       (unsigned long long)(ns % 1000000000ULL));
}

static uint64_t timeval_ns(struct timeval tv)
{
	return tv.tv_sec * 1000000000ULL + tv.tv_usec * 1000ULL;
}

static void print_times(const struct run *run)
{
	print_seconds("elapsed time", run->elapsed_ns);
	print_seconds("system time", timeval_ns(run->usage.ru_stime));
	print_seconds("user time", timeval_ns(run->usage.ru_utime));
}

static int record_into_dir(struct run *run, struct uft_err *err)
{
	struct recorder rec cleanup_recorder = { .dir_fd = -1 };
	int ret = files_make_dir(run->settings.data_dir, err);

	if (ret < 0)
		return ret;
	run->dir_fd = ret;
	ret = begin_info(run, err);
	if (ret == 0)
		ret = write_default_opts(run, err);
	if (ret == 0)
		ret = run_program(run, &rec, err);
	if (ret == 0)
		ret = finish_info(run, &rec, err);
	files_give_to_user(run->dir_fd);
	if (ret < 0)
		return ret;
	warn_about_losses(run, &rec);
	if (!rec.processes && !rec.declined) {
		int status = exit_status(run);

		/* Nobody reported: the loader could not or would not preload the probe. */
		msg_warn(
			&run->opts->msg,
			"cannot trace '%s': the probe was not loaded (a setuid program, or one for "
			"another C library?); it ran untraced and ended with status %d",
			run->program.path, status);
		return status ? status : CMD_FAILED;
	}
	if (run->opts->show_time)
		print_times(run);
	return exit_status(run);
}

/* --nop: what does it cost to have a library preloaded that does nothing? No data is made. */
static int run_nop(struct run *run, struct uft_err *err)
{
	struct launch launch = {
		.path = run->program.path,
		.argv = run->program.argv,
		.preload = run->library,
		.fixed_addresses = run->opts->no_randomize_addr,
		.no_binding = run->opts->no_pltbind,
	};

	pthread_sigmask(SIG_SETMASK, NULL, &launch.mask);
	clock_gettime(CLOCK_MONOTONIC, &run->started);

	struct launched child;
	int ret = launch_prepare(&launch, &child, err);

	if (ret == 0)
		ret = launch_go(&launch, &child, err);
	if (ret < 0)
		return ret;
	while (wait4(child.pid, &run->status, 0, &run->usage) < 0 && errno == EINTR)
		;
	run->elapsed_ns = since_ns(run->started);
	if (run->opts->show_time)
		print_times(run);
	return exit_status(run);
}

static int run_record(const struct opts *opts, struct uft_err *err)
{
	struct run run cleanup(run_deinit) = {
		.opts = opts,
		.settings = make_settings(opts),
		.dir_fd = -1,
	};
	struct record_program *program cleanup(record_program_deinit) = &run.program;
	int ret = record_program_find(program, opts, err);

	if (ret == 0)
		ret = launch_find_library(opts->libmcount_path,
					  opts->nop ? "libmcount-nop.so" : "libmcount.so",
					  run.library, err);
	if (ret < 0)
		return ret;
	return opts->nop ? run_nop(&run, err) : record_into_dir(&run, err);
}

const struct cmd cmd_record = {
	.name = "record",
	.args = "PROGRAM [ARGUMENTS]",
	.help = "run a program and save the trace data",
	.bit = CMD_RECORD,
	.needs_program = true,
	.run = run_record,
};
