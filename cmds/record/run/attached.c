/* Records running processes, `record -p` (see attached.h). */
#include "cmds/record/run/attached.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "cmds/record/base/peer.h"
#include "cmds/record/attach/attach.h"
#include "cmds/record/attach/maps.h"
#include "cmds/record/attach/target.h"
#include "cmds/record/run/ends.h"
#include "cmds/record/run/progress.h"
#include "utils/base/cleanup.h"
#include "utils/base/containers/vec.h"

/* --- the processes --- */

/*
 * Returns an error if the user gave a command to run, or an option that cannot be used with -p.
 * Such options tell how to start a program, need handlers of signals in the process, or choose
 * events of the kernel.
 */
static int check_options(const struct opts *opts, struct uft_err *err)
{
	static const char late[] = "says how a program is started";
	static const char handles[] = "needs handlers of signals in the process";
	const struct {
		bool is_given;
		const char *name;
		const char *why;
	} options[] = {
		{ opts->keep_pid, "--keep-pid", late },
		{ opts->nop, "--nop", late },
		{ opts->no_pltbind, "--no-pltbind", late },
		{ opts->no_randomize_addr, "--no-randomize-addr", late },
		{ opts->rec.reports_crashes, "--crash-report", handles },
		{ opts->signal_specs != NULL, "--signal", handles },
	};

	for (size_t i = 0; i < ARRAY_SIZE(options); i++) {
		if (options[i].is_given)
			return err_set(err, -ERR_USAGE, "option '%s' %s: it cannot be used with -p",
				       options[i].name, options[i].why);
	}
	if (opts->nr_args)
		return err_set(err, -ERR_USAGE,
			       "option '--pid' records what runs already: '%s' cannot be run, too",
			       opts->args[0]);
	if (event_rules_want(&opts->events, EVENT_OF_KERNEL))
		return err_set(err, -ERR_USAGE,
			       "events of the kernel are for programs that are started: option "
			       "'--Event' with -p knows those of the program only");
	return 0;
}

static int add_pid(struct run *run, pid_t pid)
{
	pid_t *pids = vec_grow(run->pids, run->nr_pids, sizeof(*pids));

	if (!pids)
		return -ENOMEM;
	run->pids = pids;
	for (size_t i = 0; i < run->nr_pids; i++) {
		if (pids[i] == pid)
			return 0;
	}
	pids[run->nr_pids++] = pid;
	return 0;
}

static int find_program(struct run *run, struct uft_err *err)
{
	struct record_program *program = &run->program;
	char link[64];

	snprintf(link, sizeof(link), "/proc/%d/exe", run->pids[0]);

	ssize_t len = readlink(link, program->path, sizeof(program->path) - 1);

	if (len < 0)
		return target_explain(run->pids[0], -errno, err);
	program->path[len] = '\0';
	return object_check_program(link, &program->facts, err);
}

int attached_find(struct run *run, struct uft_err *err)
{
	char *list cleanup_free = strdup(run->opts->pids);
	int ret = list ? check_options(run->opts, err) : -ENOMEM;
	char *save = NULL;

	for (char *word = strtok_r(list, ",", &save); ret == 0 && word;
	     word = strtok_r(NULL, ",", &save)) {
		pid_t pid = target_find(word, err);

		ret = pid < 0 ? pid : target_check(pid, run->opts->rec.force, err);
		if (ret == 0)
			ret = add_pid(run, pid);
	}
	if (ret == 0 && !run->nr_pids)
		ret = err_set(err, -ERR_USAGE,
			      "option '--pid' needs the number or the name of a "
			      "process");
	return ret < 0 ? ret : find_program(run, err);
}

void attached_deinit(struct run *run)
{
	free(run->pids);
	run->pids = NULL;
	run->nr_pids = 0;
}

/* --- patches --- */

static void find_patches_of(struct run *run, struct recorder *rec, pid_t pid)
{
	struct maps maps cleanup_maps = { 0 };
	char link[64], program[PATH_MAX], path[PATH_MAX];

	snprintf(link, sizeof(link), "/proc/%d/exe", pid);
	if (!realpath(link, program) || maps_read(&maps, pid) < 0)
		return;
	for (size_t i = 0; i < maps.nr; i++) {
		const struct mapping *m = &maps.lines[i];
		struct known_module *known;

		/*
		 * Skip a file if realpath() fails, or returns another path. The probe reports a
		 * skipped file later. The recorder then searches the file for places to patch.
		 */
		if (!m->is_code || m->path[0] != '/' || !realpath(m->path, path) ||
		    strcmp(m->path, path) != 0)
			continue;
		known = known_module_get(&rec->planner.modules, path);
		if (known)
			patches_find(&rec->planner.patches, &run->settings, known,
				     strcmp(path, program) == 0);
	}
}

void attached_find_patches(struct run *run, struct recorder *rec)
{
	for (size_t i = 0; i < run->nr_pids; i++)
		find_patches_of(run, rec, run->pids[i]);
}

/* --- the end --- */

/* @is_over: the recording must end, after a signal or after the time opts->for_ns */
struct attachment {
	struct recorder *rec;
	int signal_fd;
	int timer_fd;
	bool is_over;
	struct served signals;
	struct served timer;
};

static void serve_signals(struct served *served, uint32_t epoll_events)
{
	struct attachment *a = container_of(served, struct attachment, signals);
	struct signalfd_siginfo info;

	/*
	 * SIGCHLD needs no action. An attached thread has stopped, and the signal has ended the
	 * wait of loop_serve(), so that world_wait() looks at the thread.
	 */
	while (read(a->signal_fd, &info, sizeof(info)) == sizeof(info)) {
		unsigned nr_tasks;

		if (info.ssi_signo == SIGUSR1)
			service_save(&a->rec->service, &nr_tasks);
		else if (info.ssi_signo != SIGCHLD)
			a->is_over = true;
	}
}

static void serve_timer(struct served *served, uint32_t epoll_events)
{
	container_of(served, struct attachment, timer)->is_over = true;
}

static int begin_watching(struct attachment *a, struct uft_err *err)
{
	sigset_t set;

	recorder_signals(a->rec->settings, &set);
	a->signals = (struct served){ serve_signals, a->rec };
	a->timer = (struct served){ serve_timer, a->rec };
	a->signal_fd = signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC);
	int ret = a->signal_fd < 0 ? -errno : loop_add(&a->rec->loop, a->signal_fd, &a->signals);

	if (ret == 0)
		ret = a->timer_fd = loop_add_timer(&a->rec->loop, 0, &a->timer);
	return ret < 0 ? err_set_errno(err, ret, "cannot watch signals") : 0;
}

static void start_timer(struct attachment *a, uint64_t ns)
{
	const struct itimerspec time = { .it_value = { ns / 1000000000, ns % 1000000000 } };

	if (ns)
		timerfd_settime(a->timer_fd, 0, &time, NULL);
}

static bool is_alive(const struct recorder *rec)
{
	for (const struct process *p = rec->processes.first; p; p = p->next) {
		if (p->pidfd >= 0)
			return true;
	}
	return false;
}

#define LOOK_MS 100

static int wait_for_end(struct attachment *a)
{
	struct recorder *rec = a->rec;

	while (!a->is_over && is_alive(rec) && !atomic_load(&rec->store->is_full) &&
	       !atomic_load(&rec->control->finished)) {
		int ret = loop_serve(&rec->loop, LOOK_MS);

		if (ret < 0)
			return ret;
	}
	return 0;
}

/*
 * Leaves a process: restores its former state. Returns false when the process still runs, and its
 * state could not be restored.
 */
static bool leave(struct run *run, struct recorder *rec, const struct process *p,
		  const struct attach_how *how)
{
	struct uft_err err = { 0 };

	if (p->pidfd < 0)
		return true;

	int ret = attach_end(p->os_pid, how, &err);

	recorder_serve_a_moment(rec);
	if (ret >= 0 || ret == -ESRCH || peer_has_ended(p->pidfd, PEER_END_MS))
		return true;
	msg_warn(&run->opts->msg, "%s", err.text);
	return false;
}

/*
 * The maximum number of rounds of leave_all(). A program may make new processes faster than the
 * recorder leaves them.
 */
#define LEAVE_ROUNDS 100

/*
 * Leaves all processes, including forked children. The first round calls leave() for each process
 * in the list of processes. A child that reports itself during a round is added at the start of the
 * list, and the next round calls leave() for the child. Returns false when a process could not be
 * restored to its former state, or when the list has further children after LEAVE_ROUNDS rounds.
 */
static bool leave_all(struct run *run, struct attachment *a, const struct attach_how *how)
{
	const struct process *left = NULL;
	bool all_left = true;

	for (int i = 0; i < LEAVE_ROUNDS && a->rec->processes.first != left; i++) {
		const struct process *first = a->rec->processes.first;

		for (const struct process *p = first; p != left; p = p->next)
			all_left &= leave(run, a->rec, p, how);
		left = first;
	}
	if (a->rec->processes.first == left)
		return all_left;
	msg_warn(&run->opts->msg,
		 "the program forks faster than its processes are left: the probe stays in some of "
		 "them, and does nothing there; 'utrail record -p PID' takes it out");
	return false;
}

/*
 * Report the ends of the processes. If signals have ended some of the processes, the status of
 * `record` comes from the first of these in run->pids.
 */
static void tell_ends(struct run *run, struct end *ends)
{
	for (size_t i = 0; i < run->nr_pids; i++) {
		int status = ends_tell(&ends[i], &run->opts->msg);

		if (status > 0 && run->end.status <= 0)
			run->end.status = status;
	}
}

int attached_run(struct run *run, struct recorder *rec, struct uft_err *err)
{
	struct attachment a = { .rec = rec, .signal_fd = -1, .timer_fd = -1 };
	const struct attach_how how = { rec->channel.address, run->library, &run->opts->msg,
					recorder_serve_a_moment, rec };
	struct run_progress progress;
	struct end *ends cleanup_free = calloc(run->nr_pids, sizeof(*ends));
	int ret = ends ? begin_watching(&a, err) : err_set_errno(err, -ENOMEM, "cannot attach");

	if (!ends)
		return ret;
	for (size_t i = 0; i < run->nr_pids; i++)
		ends_watch(&ends[i], run->pids[i], &rec->loop);
	run->end = (struct recorder_end){ .status = RECORDER_STATUS_UNKNOWN };
	for (size_t i = 0; ret == 0 && i < run->nr_pids && !a.is_over; i++)
		ret = attach_begin(run->pids[i], &how, err);
	if (ret == 0) {
		start_timer(&a, run->opts->for_ns);
		run_progress_begin(&progress, run, rec, 0);
		ret = wait_for_end(&a);
		run_progress_end(&progress);
		if (ret < 0)
			err_set_errno(err, ret, "cannot wait for the processes");
	}
	run->end.has_stayed = !leave_all(run, &a, &how);
	loop_close_fd(&rec->loop, &a.signal_fd, &a.signals);
	loop_close_fd(&rec->loop, &a.timer_fd, &a.timer);
	tell_ends(run, ends);
	return ret;
}
