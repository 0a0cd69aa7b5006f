/* `utrail record`: run a program under the probe, and save what the program did. */
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "cmds/record/plan/values/captures.h"
#include "cmds/record/plan/counters.h"
#include "cmds/record/plan/watches.h"

#include "cmds/arg_opts.h"
#include "cmds/cmd.h"
#include "cmds/advice/no_result.h"
#include "cmds/filter_opts.h"
#include "cmds/filter_warn.h"
#include "cmds/list_functions.h"
#include "cmds/record/proc/filter.h"
#include "cmds/record/run/attached.h"
#include "cmds/record/run/dry_run.h"
#include "cmds/record/run/launcher.h"
#include "cmds/record/run/debug_facts.h"
#include "cmds/record/run/infofile.h"
#include "cmds/record/run/progress.h"
#include "cmds/record/store/dir.h"
#include "cmds/ulimits.h"
#include "config.h"
#include "utils/base/cleanup.h"
#include "utils/builddb/compiler/compiler.h"
#include "utils/base/units.h"

/* True for compilers and launchers (ccache). These programs start only a few processes. */
static bool is_compiler(const struct opts *opts)
{
	return opts->nr_args && (compiler_kind(opts->args[0]) != COMPILER_NONE ||
				 compiler_is_launcher(opts->args[0]));
}

/* Returns the number of writer threads: one for each four CPUs, rounded up, as in uftrace. */
static unsigned default_writers(void)
{
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);

	return cpus > 4 ? (cpus + 3) / 4 : 1;
}

/*
 * Chooses the events of perf. Without --Event all three kinds are used: starts and ends of tasks,
 * names of tasks, and context switches.
 */
static void choose_perf(const struct opts *opts, struct record_settings *settings)
{
	const struct event_rules *events = &opts->events;
	bool wants_all = opts->use_events && !events->nr;
	unsigned wanted = event_rules_linux(events);

	settings->use_tasks = wants_all || (wanted & EVENT_LINUX_TASKS);
	settings->use_names = wants_all || (wanted & EVENT_LINUX_NAMES);
	settings->use_switches = wants_all || (wanted & EVENT_LINUX_SCHED);
	/* If -C or -L leaves out a waiting call, the call's recorded caller would seem to wait. */
	if (!opts->use_sched || opts->specs[SPEC_CALLER] || opts->specs[SPEC_LOCATION])
		settings->use_switches = false;
}

static struct record_settings make_settings(const struct opts *opts)
{
	unsigned writers = opts->num_thread ? opts->num_thread : default_writers();
	bool has_depth = opts_has_given(opts, "depth");

	struct record_settings settings = opts->rec;

	settings.data_dir = opts->data_dir;
	settings.segment_bytes = ALIGN_UP(MAX(settings.segment_bytes, (uint64_t)RING_PAGE),
					  (uint64_t)RING_PAGE);
	settings.kernel_buffer_bytes = ALIGN_UP(settings.kernel_buffer_bytes,
						(uint64_t)sysconf(_SC_PAGESIZE));
	settings.kernel_depth = opts->kernel_depth ? opts->kernel_depth : opts->use_kernel;
	settings.threshold_ns = opts->time_filter_ns;
	settings.size_filter = opts->size_filter;
	settings.filters = opts->filters;
	settings.syms_dir = opts->syms_dir;
	settings.watch = &opts->watch;
	settings.events = &opts->events;
	settings.trace_include = opts->trace_include_spec ? &opts->trace_include : NULL;
	settings.trace_exclude = opts->trace_exclude_spec ? &opts->trace_exclude : NULL;
	settings.demangle = opts->demangle;
	settings.depth = has_depth ? opts->depth : MAX(opts->depth, settings.max_stack);
	settings.tells_depth = has_depth ? opts->depth > settings.max_stack ||
						   filters_renew_depth(opts->filters)
					 : settings.max_stack >= OPTS_DEFAULT_DEPTH;
	if (!settings.max_bytes)
		settings.max_bytes = settings.flight_bytes * FLIGHT_DEFAULT_TASKS;
	settings.drops_when_full = opts->when_full == OPTS_FULL_DROP;
	settings.nr_writers = MIN(writers, (unsigned)CONTROL_WRITERS_MAX);
	settings.trace_on = opts->trace_on;
	settings.is_steerable = settings.has_agent || settings.overhead_percent;
	settings.traces_files &= settings.proc_way != PROC_WAY_NOT;
	settings.expects_few = is_compiler(opts);
	settings.specs = opts->specs;
	settings.match = opts->match;
	settings.use_libcalls = opts->show_libcalls;
	settings.hooks_interpreters = opts->rec.force ||
				      patch_rules_have(opts->rec.patches, /* takes_out= */ false);
	settings.attaches = opts->pids != NULL;
	/* perf follows the started program and its children, but no process that runs already. */
	if (!settings.attaches)
		choose_perf(opts, &settings);
	return settings;
}

static void run_deinit(struct run *run)
{
	attached_deinit(run);
	store_compact_deinit(&run->compact);
	store_dir_close(&run->dir);
	argrules_deinit(&run->args);
	debuginfo_deinit(&run->debug);
}

static uint64_t since_ns(struct timespec from)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (now.tv_sec - from.tv_sec) * 1000000000ULL + now.tv_nsec - from.tv_nsec;
}

static void block_signals(const struct run *run)
{
	sigset_t set;

	recorder_signals(&run->settings, &set);
	pthread_sigmask(SIG_BLOCK, &set, NULL);
}

/*
 * Raises the recorder's limit on file sizes as far as allowed. SIGXFSZ is blocked, so that a write
 * above the limit fails like a write to a full disk. The program starts with the user's limit.
 */
static void bear_file_limit(const struct run *run)
{
	struct rlimit all_that_is_allowed = { run->launch.file_size.rlim_max,
					      run->launch.file_size.rlim_max };
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGXFSZ);
	pthread_sigmask(SIG_BLOCK, &set, NULL);
	setrlimit(RLIMIT_FSIZE, &all_that_is_allowed);
}

static const char *subject_of_limit(int code)
{
	return code == EMFILE	? "too few open files are allowed"
	       : code == ENOMEM ? "there is too little memory"
				: strerror(code);
}

static void warn_about_limits(const struct run *run, const struct recorder *rec)
{
	int code = rec->channel.why_no_arena;

	msg_warn_nr(&run->opts->msg, rec->channel.nr_without_arena,
		    "{process was|processes were} not traced: %s%s", subject_of_limit(code),
		    limit_behind(-code));
}

/*
 * Warns that no process has connected to the recorder. The likely cause is a low limit on
 * descriptors, or a loader that did not preload the probe. The program has run normally.
 */
static void warn_that_nobody_came(const struct run *run, int status)
{
	bool are_few = limit_has_few_files();

	msg_warn(&run->opts->msg,
		 "cannot trace '%s': %s%s; it ran untraced and ended with status %d",
		 run->program.path,
		 are_few ? subject_of_limit(EMFILE)
			 : "the probe was not loaded (a setuid program, or one for another C "
			   "library?)",
		 are_few ? limit_behind(-EMFILE) : "", status);
}

/*
 * Warns when a seccomp filter may have ended the program. The probe sees only filters that libc's
 * functions have set. Any other filter may forbid a system call that the probe needs.
 */
static void warn_about_unseen_filter(const struct run *run, const struct notes *notes)
{
	int status = run->end.status;

	if (status == RECORDER_STATUS_UNKNOWN || !WIFSIGNALED(status) ||
	    WTERMSIG(status) != SIGSYS || notes->sealed || notes->threads_caged)
		return;
	msg_warn(&run->opts->msg,
		 "a filter of system calls (seccomp) has ended the program, and utrail has not "
		 "seen it begin: it was not put on by prctl() or syscall() of the C library. The "
		 "call that it forbids may be one of utrail's");
}

/*
 * Warns of programs that have used seccomp to forbid system calls. The probe does not make the
 * forbidden system calls, so the recording is incomplete.
 */
static void warn_about_sealed(const struct msg *msg, const struct notes *notes,
			      unsigned long long lost)
{
	if (notes->sealed && lost)
		msg_warn_nr(msg, notes->sealed,
			    "{process has|processes have} forbidden {itself|themselves} system "
			    "calls (seccomp): what did not fit into {its|their} buffers was lost, "
			    "since {it|they} could not wait");
	msg_warn_nr(msg, notes->threads_sealed,
		    "{thread was|threads were} not traced: {it|they} began when system calls that "
		    "the probe needs were forbidden (seccomp)");
	if (notes->talks_sealed)
		msg_warn(msg,
			 "libraries that were loaded %llu %s are without names: telling the "
			 "recorder was forbidden (seccomp)",
			 (unsigned long long)notes->talks_sealed,
			 notes->talks_sealed == 1 ? "time" : "times");
}

/* Returns an error of writing a symbol file or a map. A code of 0 means that there is no error. */
static const struct uft_err *save_error(const struct recorder *rec)
{
	return rec->channel.save_error.code ? &rec->channel.save_error : &rec->tasks.map_error;
}

/* Warns of each loss of records. The recording remains usable. */
static void warn_about_losses(const struct run *run, struct recorder *rec)
{
	const struct msg *msg = &run->opts->msg;
	unsigned long long inside = atomic_load(&rec->writers.records_lost_inside);
	unsigned long long lost = atomic_load(&rec->writers.records_lost) - inside;
	unsigned long long untraced = atomic_load(&rec->writers.threads_untraced);
	unsigned long long nr_left_out = rec->channel.talks.nr_modules_left_out +
					 rec->planner.modules.nr_left_out;
	int write_error = atomic_load(&rec->store->error);

	if (write_error)
		msg_warn(msg, "cannot write to '%s': %s; the recording is not complete",
			 run->settings.data_dir, strerror(-write_error));
	if (save_error(rec)->code)
		msg_warn(msg, "%s%s", save_error(rec)->text, limit_behind(save_error(rec)->code));
	warn_about_limits(run, rec);
	if (atomic_load(&rec->store->is_full))
		msg_warn(msg, "the recording reached its --max-size; later calls are not in it");
	/* If writing has failed, or --max-size was reached, a larger buffer would not help. */
	msg_warn_nr(msg, lost, "{record was|records were} lost%s",
		    write_error || atomic_load(&rec->store->is_full)
			    ? ""
			    : "; a larger buffer (-b) may help");
	msg_warn_nr(
		msg, rec->tasks.nr_too_deep,
		"{call was|calls were} not recorded: {it was|they were} deeper than %u levels%s",
		run->settings.max_stack,
		run->settings.max_stack < UINT16_MAX ? "; --max-stack=N follows deeper ones" : "");
	msg_warn_nr(msg, inside,
		    "{record|records} of calls inside of the probe {was|were} lost: it keeps the "
		    "calls of one signal handler at a time that interrupts it, and a limited "
		    "number of records; a larger buffer does not help");
	msg_warn_nr(msg, rec->proc.lost,
		    "{event of a process was|events of processes were} lost: {it|they} came faster "
		    "than {it|they} could be written; --proc=ptrace loses none");
	if (rec->kernel.is_full)
		msg_warn(msg, "events of the kernel reached half of --max-size; later ones are not "
			      "in the recording");
	msg_warn_nr(msg, rec->kernel.lost,
		    "{event of the kernel was|events of the kernel were} lost; a larger buffer "
		    "(--kernel-buffer) may help");
	msg_warn_nr(msg, rec->channel.declined,
		    "{process was|processes were} not traced: {its|their} address space is limited "
		    "(ulimit -v)");
	msg_warn_nr(msg, rec->channel.protected,
		    "{process was|processes were} not traced: {its|their} return addresses are "
		    "protected by a shadow stack (GLIBC_TUNABLES=glibc.cpu.x86_shstk=off turns it "
		    "off)");
	msg_warn_nr(
		msg, rec->channel.talks.nr_other_version,
		"{process was|processes were} not traced: {its|their} probe (libmcount.so) speaks "
		"version %u of the control messages, this utrail speaks version %u; install both "
		"from the same build",
		rec->channel.talks.other_version, CONTROL_VERSION);
	msg_warn_nr(msg, rec->channel.talks.nr_refused,
		    "{conversation with a process was|conversations with processes were} ended at "
		    "a message that was not understood; {this process|these processes} may not be "
		    "traced (is {its|their} libmcount.so of the same build as this utrail?)");
	msg_warn_nr(msg, rec->channel.talks.nr_dropped,
		    "{process was|processes were} not heard to the end and not traced: too many "
		    "spoke to the recorder at the same time");
	msg_warn_nr(msg, nr_left_out,
		    "{library was|libraries were} left out: the program has reported more than can "
		    "be kept");
	msg_warn_nr(msg, rec->channel.other_libc,
		    "{process was|processes were} not traced: {its|their} C library is not glibc "
		    "(musl?), which the probe needs");
	msg_warn_nr(msg, rec->channel.in_valgrind,
		    "{process was|processes were} not traced: valgrind runs {it|them}, and would "
		    "report other backtraces");
	msg_warn_nr(msg, rec->processes.notes.children_cut_off,
		    "forked {process was|processes were} not traced: {it|they} could not reach the "
		    "recorder (a network or user namespace of {its|their} own, seccomp, or no "
		    "descriptor left?)");
	msg_warn_nr(msg, rec->processes.notes.threads_caged,
		    "{thread was|threads were} traced only until {it|they} forbade "
		    "{itself|themselves} what the probe needs (seccomp, PR_SET_TSC)");
	warn_about_sealed(msg, &rec->processes.notes, lost);
	warn_about_unseen_filter(run, &rec->processes.notes);
	msg_warn_nr(msg, rec->processes.notes.threads_shared,
		    "{thread was|threads were} traced only until {it|they} made another one that "
		    "shares {its|their} thread-local storage (clone(2) with CLONE_VM)");
	notes_warn_about_events(&rec->processes.notes, msg);
	msg_warn_nr(msg, untraced,
		    "{thread was|threads were} not traced: too many at a time, or too little "
		    "address space (ulimit -v)");
}

/*
 * Begins to record tracepoints, and reports missing ones. Then adds FEAT_KERNEL to `info`, so that
 * `info` announces the kernel's records even if the recording is cut off.
 */
static void begin_tracepoints(struct run *run, struct recorder *rec, pid_t pid)
{
	struct uft_err note = { 0 };

	if (!event_rules_want(run->settings.events, EVENT_OF_KERNEL) && !run->settings.kernel_depth)
		return;
	run->has_kernel = kernel_open(&rec->kernel, &rec->sources, pid, &note) == 0;
	if (note.code)
		msg_warn(&run->opts->msg, "%s", note.text);
	/* Errors are ignored, because infofile_finish() also writes FEAT_KERNEL to `info`. */
	if (run->has_kernel)
		infofile_begin(run, NULL);
}

/* Begins to record scheduler events. Without permission the recording goes on without them. */
static void begin_perf(struct run *run, struct recorder *rec, pid_t pid)
{
	struct uft_err err = { 0 };

	if (!run->settings.use_tasks && !run->settings.use_names && !run->settings.use_switches)
		return;
	if (perf_open(&rec->perf, &rec->sources, pid, &err) < 0)
		msg_debug(&run->opts->msg, MSG_EVENT, 1, "%s", err.text);
	else
		run->has_perf = true;
}

static int choose_way(struct run *run, struct recorder *rec, struct uft_err *err)
{
	struct uft_err note = { 0 };
	int ret;

	if (!run->settings.proc_way)
		return 0;
	ret = proc_choose(&rec->proc, &run->settings, &note, err);
	if (note.code)
		msg_debug(&run->opts->msg, MSG_EVENT, 1, "%s", note.text);
	return ret;
}

/* Begins to follow all processes of the program. Call it before the program starts. */
static int begin_processes(struct run *run, struct recorder *rec, struct uft_err *err)
{
	struct launched *program = &run->program_process;
	int ret;

	if (!run->settings.proc_way)
		return 0;
	ret = proc_open(&rec->proc, &rec->sources, &rec->alive, program->pid, err);
	if (ret < 0) {
		kill(program->pid, SIGKILL);
		waitpid(program->pid, NULL, 0);
		close(program->go);
		close(program->report);
	}
	return ret;
}

static struct launch make_launch(const struct run *run)
{
	struct launch launch = {
		.path = run->program.path,
		.argv = run->program.argv,
		.preload = run->settings.without_probe ? NULL : run->library,
		.fixed_addresses = run->opts->no_randomize_addr,
		.no_binding = run->opts->no_pltbind,
		.ignores_children = run->opts->ignores_children,
	};

	pthread_sigmask(SIG_SETMASK, NULL, &launch.mask);
	getrlimit(RLIMIT_FSIZE, &launch.file_size);
	getrlimit(RLIMIT_NOFILE, &launch.file_number);
	return launch;
}

static int finish_run(struct run *run, struct recorder *rec, int ret)
{
	run->elapsed_ns = since_ns(run->started);
	recorder_stop(rec);
	run->stop_ns = since_ns(run->started) - run->elapsed_ns;
	return ret;
}

/* Finds the functions that are to be patched. Call it before the program starts. */
static void find_patches(struct run *run, struct recorder *rec)
{
	char path[PATH_MAX];
	struct known_module *known;

	if (run->nr_pids)
		attached_find_patches(run, rec);
	/* With -p, no program is started. With --force, the program may be a script. */
	if (run->nr_pids || run->opts->rec.force || !realpath(run->program.path, path))
		return;
	known = known_module_get(&rec->planner.modules, path);
	if (known)
		patches_find(&rec->planner.patches, &run->settings, known, /* is_program= */ true);
}

/*
 * Warns that the recorder has no socket for requests, or that the socket does not have its usual
 * name. Gives no warning if users do not want to send requests.
 */
static void warn_about_door(const struct run *run, const struct recorder *rec)
{
	if (rec->service.trouble.code && (run->settings.has_agent || run->settings.flight_bytes))
		msg_warn(&run->opts->msg, "%s", rec->service.trouble.text);
}

static int run_program(struct run *run, struct recorder *rec, struct uft_err *err)
{
	struct launch launch = run->launch;
	struct launched *program = &run->program_process;
	bool keeps_pid = run->opts->keep_pid;
	struct run_progress progress;
	struct proc_filter filter;

	/*
	 * Signals are blocked before any thread is started. The control thread reads them from a
	 * descriptor.
	 */
	block_signals(run);

	int ret = recorder_open(rec, &run->settings, run->store, err);

	if (ret == 0)
		warn_about_door(run, rec);

	/*
	 * Readers treat each directory with a file `info` as a recording. In a recording, readers
	 * expect the files that recorder_open() makes. So `info` is written after these files.
	 */
	if (ret == 0)
		ret = infofile_begin(run, err);
	if (ret < 0)
		return ret;
	run_progress_prepare(run, rec);
	find_patches(run, rec);
	if (launch.preload)
		launch.address = rec->channel.address;
	clock_gettime(CLOCK_MONOTONIC, &run->started);
	if (run->nr_pids)
		return finish_run(run, rec, attached_run(run, rec, err));
	ret = choose_way(run, rec, err);
	if (ret < 0)
		return ret;
	if (proc_uses_filter(&rec->proc, &run->settings)) {
		proc_filter_make(&filter);
		launch.filter = &filter.program;
	}
	ret = keeps_pid ? 0 : launch_prepare(&launch, program, err);
	if (ret < 0)
		return ret;
	ret = begin_processes(run, rec, err);
	if (ret < 0)
		return ret;
	begin_perf(run, rec, program->pid);
	begin_tracepoints(run, rec, program->pid);
	ret = keeps_pid ? launch_release(&launch, program, err) : launch_go(&launch, program, err);
	if (ret < 0)
		return ret;
	run_progress_begin(&progress, run, rec, program->pid);
	ret = recorder_run(rec, program->pid, &run->end, err);
	run_progress_end(&progress);
	return finish_run(run, rec, ret);
}

/*
 * Returns the program's exit status. If a signal ended the program or the recording, returns 128 +
 * the signal number, as shells do.
 */
static int exit_status(const struct run *run)
{
	const struct msg *msg = &run->opts->msg;
	int status = run->end.status;

	if (run->end.given_up) {
		msg_warn(msg,
			 "the recording ended with signal %d: %s; the program goes on (pid %d)",
			 run->end.given_up, strsignal(run->end.given_up), run->program_process.pid);
		return 128 + run->end.given_up;
	}
	if (run->end.has_left_rest)
		msg_warn(msg, "processes that the command has left behind go on; what they do from "
			      "now on is not recorded");
	if (status == RECORDER_STATUS_UNKNOWN)
		return run->end.has_stayed ? CMD_FAILED : CMD_DONE;
	if (WIFSIGNALED(status) && run->nr_pids)
		return 128 + WTERMSIG(status);
	if (WIFSIGNALED(status)) {
		msg_warn(msg, "child terminated by signal: %d: %s", WTERMSIG(status),
			 strsignal(WTERMSIG(status)));
		return 128 + WTERMSIG(status);
	}
	return WEXITSTATUS(status);
}

static void print_seconds(const char *label, uint64_t ns)
{
	printf("%12s: %7llu.%09llu sec\n", label, SECONDS_OF(ns));
}

static uint64_t timeval_ns(struct timeval tv)
{
	return tv.tv_sec * 1000000000ULL + tv.tv_usec * 1000ULL;
}

static void print_times(const struct run *run)
{
	print_seconds("elapsed time", run->elapsed_ns);
	print_seconds("system time", timeval_ns(run->end.usage.ru_stime));
	print_seconds("user time", timeval_ns(run->end.usage.ru_utime));
}

/* Warns that hooks of -finstrument-functions get no registers, and so record no arguments. */
static void warn_about_method(const struct run *run)
{
	const struct object_program *facts = &run->program.facts;

	if (capture_is_wanted(&run->settings.captures) && facts->has_cyg_profile &&
	    !facts->has_mcount && !facts->has_fentry)
		msg_warn(&run->opts->msg, "cannot record arguments of functions that were compiled "
					  "with -finstrument-functions: use -pg");
}

static void gather_names(const struct run *run, const struct recorder *rec,
			 struct func_names *names)
{
	for (const struct known_module *m = rec->planner.modules.first; m; m = m->next) {
		struct symtab symbols cleanup_symtab = { 0 };

		if (m->has_functions && known_symbols_load(&run->settings, m, &symbols) == 0)
			func_names_add(names, &symbols);
	}
}

/*
 * Warns of filters without a match. Call it after all libraries were loaded. Returns true when the
 * warning says that nothing is recorded.
 */
static bool warn_about_filters(const struct run *run, const struct recorder *rec)
{
	struct func_names names cleanup_func_names = { .demangle = run->opts->demangle };

	if (!filter_has_unmatched(run->opts))
		return false;
	gather_names(run, rec, &names);
	return filter_warn_unmatched(run->opts, &names);
}

static void warn_about_patches(const struct run *run, struct recorder *rec)
{
	struct strbuf launcher cleanup_strbuf = { 0 };
	struct func_names names cleanup_func_names = { .demangle = run->opts->demangle };

	if (patches_have_unmatched(run->settings.patches))
		gather_names(run, rec, &names);
	patches_warn(&rec->planner.patches, run->settings.patches, &names.text, &run->opts->msg);
	if (!run->nr_pids)
		launcher_describe(rec, run->program.path, &launcher);
	if (launcher.len)
		msg_warn(&run->opts->msg, "%s", strbuf_str(&launcher));
}

/*
 * Warns when nothing was recorded. Without the warning, users would not know later why the
 * recording is empty.
 */
static void warn_about_nothing(const struct run *run, const struct recorder *rec)
{
	struct strbuf options cleanup_strbuf = { 0 };

	if (rec->tasks.nr_tids || !rec->processes.first || run->settings.proc_way)
		return;
	/* warn_about_losses() has reported this error, which explains why nothing was recorded. */
	if (save_error(rec)->code || atomic_load(&rec->store->error))
		return;
	no_result_add_options(run->opts, &options);
	if (options.len)
		msg_warn(&run->opts->msg, "nothing was recorded: no call passed %s",
			 strbuf_str(&options));
	else if (run->program.facts.runs_python && run->nr_pids)
		msg_warn(&run->opts->msg,
			 "nothing was recorded: Python functions are recorded from the start of a "
			 "program only, and not with --pid");
	else if (run->program.facts.runs_python && !rec->planner.callables.nr)
		msg_warn(&run->opts->msg,
			 "nothing was recorded: no Python function was called, or audit hooks or "
			 "debuggers came first, or this is no CPython from 3.9 to 3.13, or one "
			 "without the GIL");
	else if (limit_has_few_files())
		msg_warn(&run->opts->msg, "nothing was recorded: %s%s", subject_of_limit(EMFILE),
			 limit_behind(-EMFILE));
	else
		msg_warn(&run->opts->msg,
			 "nothing was recorded: the program made no call that can be seen");
}

/*
 * Writes the final `info`. If the disk is full, the first version of the file remains, and the exit
 * status is still that of the program.
 */
static void save_info(const struct run *run, struct recorder *rec)
{
	struct uft_err err = { 0 };

	if (infofile_finish(run, rec, &err) < 0)
		msg_warn(&run->opts->msg, "%s", err.text);
}

static int record_into_dir(struct run *run, struct uft_err *err)
{
	struct recorder rec cleanup_recorder = { 0 };
	int ret = store_dir_make(&run->dir, run->settings.data_dir, err);

	/* Only the user may read the directory: command lines may hold secrets. */
	if (ret == 0 && run->settings.proc_way && fchmod(run->dir.fd, 0700) < 0)
		ret = err_set_errno(err, -errno, "cannot protect '%s'", run->settings.data_dir);
	if (ret < 0)
		return ret;
	run->store = &run->dir.store;
	if (run->opts->compact) {
		store_compact_init(&run->compact, run->store);
		run->store = &run->compact.store;
	}
	warn_about_method(run);
	debug_facts_before_run(run);
	ret = infofile_default_opts(run, err);
	if (ret == 0 && points_have_file(&run->settings))
		ret = points_make_file(run->store, &run->settings, err);
	if (ret == 0)
		ret = run_program(run, &rec, err);
	run->has_debug = rec.sessions.has_debug;
	run->has_events = rec.planner.declared.nr > 0;
	if (ret == 0)
		save_info(run, &rec);
	store_dir_give_to_user(&run->dir);
	if (ret < 0)
		return ret;
	warn_about_losses(run, &rec);
	traceme_warn(&run->end.traceme, &run->opts->msg);
	debug_facts_after_run(run, &rec);
	if (!warn_about_filters(run, &rec))
		warn_about_nothing(run, &rec);
	if (run->debug.problem.code)
		msg_warn(&run->opts->msg, "%s", run->debug.problem.text);
	counters_warn(&run->settings.filters->counters, rec.processes.notes.reads_failed,
		      &run->opts->msg);
	warn_about_patches(run, &rec);
	points_warn(&rec.planner.points, rec.processes.notes.points_failed,
		    rec.processes.first != NULL, &run->opts->msg);
	callables_warn(&rec.planner.callables, &run->opts->msg);
	declared_warn(&rec.planner.declared, rec.processes.notes.events_undeclared,
		      rec.processes.first != NULL, &run->opts->msg);
	crashes_print(rec.channel.crashes, run->settings.data_dir, &run->opts->msg);
	if (!run->nr_pids && !run->settings.proc_way && !rec.processes.first &&
	    !rec.channel.declined && !rec.channel.protected && !rec.channel.other_libc &&
	    !rec.channel.in_valgrind && !rec.channel.talks.nr_other_version &&
	    !rec.channel.nr_without_arena) {
		int status = exit_status(run);

		warn_that_nobody_came(run, status);
		return status;
	}
	if (run->opts->show_time)
		print_times(run);
	return exit_status(run);
}

/* --nop: measures the cost of preloading a library that does nothing. No data is recorded. */
static int run_nop(struct run *run, struct uft_err *err)
{
	struct launched child;
	siginfo_t info = { 0 };

	clock_gettime(CLOCK_MONOTONIC, &run->started);

	int ret = launch_prepare(&run->launch, &child, err);

	if (ret == 0)
		ret = launch_go(&run->launch, &child, err);
	if (ret < 0)
		return ret;
	/*
	 * Wait for @child. Meanwhile, release each stopped task whose tracer is this process
	 * (PTRACE_TRACEME). When a child other than @child ends, reap that child. All children
	 * other than @child were started before this process executed utrail.
	 */
	while (info.si_pid != child.pid || info.si_code == CLD_TRAPPED) {
		if (waitid(P_ALL, 0, &info, WEXITED | WNOWAIT | __WALL) < 0) {
			if (errno != EINTR)
				break;
		} else if (info.si_code == CLD_TRAPPED) {
			traceme_let_go(&run->end.traceme);
		} else if (info.si_pid != child.pid) {
			waitid(P_PID, info.si_pid, &info, WEXITED | __WALL);
		}
	}
	while (wait4(child.pid, &run->end.status, 0, &run->end.usage) < 0 && errno == EINTR)
		;
	traceme_warn(&run->end.traceme, &run->opts->msg);
	run->elapsed_ns = since_ns(run->started);
	if (run->opts->show_time)
		print_times(run);
	return exit_status(run);
}

int record_run(const struct opts *opts, struct uft_err *err)
{
	struct run run cleanup(run_deinit) = {
		.opts = opts,
		.settings = make_settings(opts),
		.dir = STORE_DIR_CLOSED,
	};
	struct record_program *program cleanup(record_program_deinit) = &run.program;
	int ret = arg_opts_parse(opts, &run.args, err);

	if (ret == 0 && !HAVE_PROBE && !opts->list_functions && !opts->rec.without_probe)
		return err_set(err, -ENOSYS,
			       "cannot record: there is no probe for " UTRAIL_MACHINE
			       " yet; recordings of other machines can be read here");

	run.settings.captures.rules = &run.args;
	run.settings.captures.has_lines = opts->srcline || opts->specs[SPEC_LOCATION];
	run.settings.captures.debug = &run.debug;
	if (ret == 0)
		ret = filter_opts_check_recording(opts, err);
	if (ret == 0 && opts->dry_run && opts->pids)
		return err_set(
			err, -ERR_USAGE,
			"option '--dry-run' is about a program, not about processes (--pid)");
	if (ret == 0)
		ret = opts->pids ? attached_find(&run, err)
				 : record_program_find(program, opts, err);
	/*
	 * If -E is not given, context switches of a Python program are not recorded. The probe
	 * causes such switches: the program waits whenever the probe asks the recorder for the
	 * number of a function.
	 */
	if (ret == 0 && !opts->pids && program->facts.runs_python && !opts->events.nr)
		run.settings.use_switches = false;
	if (ret == 0 && !opts->pids && program->facts.runs_python &&
	    recorder_python_flags(opts->rec.patches))
		msg_warn(&opts->msg,
			 "functions of Python's own interpreter are patched (-P), so that no calls "
			 "of Python code are recorded, which would add to theirs; -P .@LIBRARY "
			 "patches a module in C");
	if (ret == 0 && opts->list_functions)
		return list_functions(opts, program->path, err);
	if (ret == 0 && opts->dry_run)
		return dry_run(&run, err);
	if (ret == 0 && !opts->rec.without_probe)
		ret = launch_find_library(opts->libmcount_path,
					  opts->nop ? "libmcount-nop.so" : "libmcount.so",
					  run.library, err);
	if (ret < 0)
		return ret;
	filter_warn_ignored(opts);
	ret = watches_check(&run.settings, run.program.path, err);
	if (ret < 0)
		return ret;
	if (opts->syms_dir && access(opts->syms_dir, R_OK | X_OK) < 0)
		return err_set_errno(err, -errno, "cannot open '%s'", opts->syms_dir);
	run.launch = make_launch(&run);
	if (opts->nop)
		return run_nop(&run, err);
	if (opts->keep_pid)
		ret = launch_change_places(&run.launch, &run.program_process, err);
	if (ret == 0)
		bear_file_limit(&run);
	return ret < 0 ? ret : record_into_dir(&run, err);
}
