/*
 * Traces the processes of the program by ptrace(2). A thread of the recorder is the tracer, and
 * handles the stops of the processes (doc/internals/processes.md).
 */
#include "cmds/record/proc/proc.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/sched.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "cmds/record/base/numbers.h"
#include "cmds/record/base/proc_status.h"
#include "cmds/record/proc/exec_image.h"
#include "cmds/record/proc/filter.h"
#include "cmds/record/proc/response_files.h"
#include "cmds/record/proc/tracees.h"
#include "cmds/record/proc/untraced.h"
#include "utils/base/fd.h"
#include "utils/format/proc_dat.h"

/*
 * The events that ptrace(2) reports for all tracees. PTRACE_O_EXITKILL is not one of the options,
 * so tracees without a seccomp filter go on when the recorder is killed.
 */
#define OPTIONS \
	(PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK | PTRACE_O_TRACECLONE | PTRACE_O_TRACEEXEC)
/*
 * When the recorder ends, the kernel kills the processes that have a seccomp filter. Without a
 * tracer, system calls of these processes would fail.
 */
#define FILTER_OPTIONS (PTRACE_O_TRACESECCOMP | PTRACE_O_TRACESYSGOOD | PTRACE_O_EXITKILL)
#define SYSCALL_STOP   (SIGTRAP | 0x80)

/*
 * The signal that interrupts the waiting of the tracing thread. @timer sends the signal, and
 * ptrace_stop() sends it to end the thread. pthread_cancel(3) is not used: if libgcc_s.so.1 is not
 * installed, pthread_cancel(3) ends the whole process.
 */
#define WAKE_SIGNAL   (SIGRTMAX - 1)
#define WAKE_AGAIN_NS 1000000

/*
 * A new child is held until a stop of its parent has reported the child. Held children are checked
 * at intervals of HELD_LOOK_NS. After HELD_MAX_NS, a child goes on without such a report, because
 * the parent was probably killed.
 */
#define HELD_LOOK_NS 20000000
#define HELD_MAX_NS  1000000000

/* Older C libraries lack this name of a member of struct sigevent (timer_create(2)). */
#ifndef sigev_notify_thread_id
#define sigev_notify_thread_id _sigev_un._tid
#endif

/*
 * The state of this tracer. Only the tracing thread can call ptrace(2).
 *
 * @log, @tracees, @near: while the tracing thread runs, no other thread uses these members
 * @lock: protects @has_end, @status and @usage, which describe the program's end
 * @end_fd, @over_fd: see proc.h
 * @is_stopped: the tracing thread must end
 * @timer: interrupts the tracing thread at intervals of HELD_LOOK_NS, when @is_ticking is set. At
 *         each interrupt, the thread checks held children
 * @has_timer: false when @timer could not be made. In this case the thread checks held children
 *             only when a task ends
 */
struct tracing {
	struct proc_log *log;
	pid_t program;
	int end_fd;
	int over_fd;
	pthread_t thread;
	sem_t is_seized;
	struct uft_err thread_why;
	struct tracees tracees;
	struct tracer_cpu near;
	pthread_mutex_t lock;
	bool has_end;
	int status;
	struct rusage usage;
	atomic_bool is_stopped;
	timer_t timer;
	bool has_timer;
	bool is_ticking;
};

static void write_exit(struct tracing *t, const struct tracee *tracee)
{
	proc_exit_encode(tracee->status, &t->log->payload);
	proc_log_write(t->log, PROC_EXIT, tracee->tid, tracee->pid);
}

/* Lets the task go on. If the task was killed meanwhile, its end is the next event. */
static void go_on(pid_t tid, int sig)
{
	ptrace(PTRACE_CONT, tid, NULL, (void *)(uintptr_t)sig);
}

static unsigned long event_message(pid_t tid)
{
	unsigned long message = 0;

	return ptrace(PTRACE_GETEVENTMSG, tid, NULL, &message) < 0 ? 0 : message;
}

/*
 * Returns the process of the new task @tid: @pid if the task is a thread of @pid, otherwise @tid.
 */
static pid_t process_of(pid_t tid, pid_t pid)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/task/%d", pid, tid);
	return access(path, F_OK) == 0 ? pid : tid;
}

/*
 * Returns the flags of the parent's clone(2). If see_call_begin() has noted a clone(2),
 * parent->call has the arguments.
 */
static uint64_t flags_of_clone(const struct tracee *parent)
{
	return parent->call.id == SYSCALL_CLONE
		       ? (uint32_t)parent->call.args[0] & ~(uint32_t)CLONE_UNTRACED
		       : stopped_clone_flags(parent->tid);
}

static void see_fork(struct tracing *t, const struct tracee *parent, pid_t tid,
		     enum proc_fork_how how)
{
	struct tracee *child = tid > 0 ? tracees_get(&t->tracees, tid) : NULL;
	enum tracee_state before = child ? child->state : TRACEE_LIVE;

	if (before == TRACEE_LIVE)
		return;
	child->pid = process_of(tid, parent->pid);
	proc_fork_encode(&(struct proc_fork){ tid, child->pid, how, flags_of_clone(parent) },
			 &t->log->payload);
	proc_log_write(t->log, PROC_FORK, parent->tid, parent->pid);
	if (before == TRACEE_ENDED) {
		t->log->cpu = PROC_CPU_UNKNOWN;
		write_exit(t, child);
	}
	tracees_set(&t->tracees, child, before == TRACEE_ENDED ? TRACEE_NONE : TRACEE_LIVE);
	if (before == TRACEE_HELD)
		go_on(tid, 0);
}

static void see_inherited(struct tracing *t, const struct tracee *tracee)
{
	char path[64];
	struct dirent *entry;

	snprintf(path, sizeof(path), "/proc/%d/fd", tracee->pid);
	DIR *dir cleanup_dir = opendir(path);

	while (dir && (entry = readdir(dir))) {
		if (entry->d_name[0] != '.' &&
		    stopped_encode_inherited(tracee->pid, atoi(entry->d_name), &t->log->payload))
			proc_log_write(t->log, PROC_INHERIT, tracee->tid, tracee->pid);
	}
}

/* Records the response files of a stopped compiler, before the compiler reads them. */
static void see_responses(struct tracing *t, pid_t pid, const struct exec_image *became)
{
	const struct execution execution = exec_image_execution(became);
	struct view view = { .tid = pid, .dirfd = AT_FDCWD, .base = execution.cwd };

	response_files_write(t->log, &view, /* user= */ NULL, &execution);
}

/*
 * Notes an execve(2). The thread that has called execve(2) is now the leader of the process, and
 * has the leader's thread ID. The kernel reports no exit for the thread's former ID, so the tracee
 * with this ID is removed here.
 */
static void see_exec(struct tracing *t, struct tracee *leader)
{
	pid_t old_tid = event_message(leader->tid);
	struct tracee *old = old_tid > 0 && old_tid != leader->tid
				     ? tracees_find(&t->tracees, old_tid)
				     : NULL;

	struct exec_image became cleanup_became;

	if (old)
		tracees_set(&t->tracees, old, TRACEE_NONE);
	exec_image_read(leader->pid, &became);
	exec_image_encode(&became, old_tid, &t->log->payload);
	proc_log_write(t->log, PROC_EXEC, leader->tid, leader->pid);
	see_responses(t, leader->pid, &became);
	stopped_reset(&leader->call);
	if (t->log->settings->traces_environment) {
		stopped_encode_environment(leader->pid, &t->log->payload);
		proc_log_write(t->log, PROC_ENV, leader->tid, leader->pid);
	}
	if (t->log->settings->traces_files)
		see_inherited(t, leader);
}

/* Records a system call that has returned, or one that can be recorded before it runs. */
static void see_call(struct tracing *t, struct tracee *tracee, int64_t result)
{
	enum proc_kind kind = stopped_encode(tracee->tid, &tracee->call, result, &t->log->payload);

	if (kind)
		proc_log_write(t->log, kind, tracee->tid, tracee->pid);
	stopped_reset(&tracee->call);
}

/*
 * Notes a system call before the call runs. A seccomp filter has stopped the task: the recorder's
 * filter (filter.h), or a filter that the program has installed.
 */
static void see_call_begin(struct tracing *t, struct tracee *tracee)
{
	struct __ptrace_syscall_info info = { 0 };
	struct traced_call *call = &tracee->call;

	stopped_reset(call);
	if (ptrace(PTRACE_GET_SYSCALL_INFO, tracee->tid, sizeof(info), &info) > 0 &&
	    info.op == PTRACE_SYSCALL_INFO_SECCOMP) {
		call->id = proc_filter_call(info.seccomp.ret_data);
		for (size_t i = 0; i < ARRAY_SIZE(call->args); i++)
			call->args[i] = info.seccomp.args[i];
	}
	if (call->id == SYSCALL_CLONE || call->id == SYSCALL_CLONE3) {
		untraced_take_out(tracee->tid, &info);
		ptrace(PTRACE_SYSCALL, tracee->tid, NULL, NULL);
		return;
	}
	if (stopped_begin(tracee->tid, call)) {
		ptrace(PTRACE_SYSCALL, tracee->tid, NULL, NULL);
		return;
	}
	see_call(t, tracee, 0);
	go_on(tracee->tid, 0);
}

static void see_call_end(struct tracing *t, struct tracee *tracee)
{
	struct __ptrace_syscall_info info = { 0 };

	if (ptrace(PTRACE_GET_SYSCALL_INFO, tracee->tid, sizeof(info), &info) > 0 &&
	    info.op == PTRACE_SYSCALL_INFO_EXIT)
		see_call(t, tracee, info.exit.rval);
	stopped_reset(&tracee->call);
}

/*
 * Returns the process that has made the task. If the task is a thread, returns the process of the
 * thread. If the task is a process, returns its parent.
 */
static pid_t maker_now(pid_t tid)
{
	struct strbuf status cleanup_strbuf = { 0 };
	pid_t process;

	if (proc_status_read(tid, &status) < 0)
		return 0;
	process = atoi(proc_status_field(&status, "Tgid"));
	return process != 0 && process != tid ? process : atoi(proc_status_field(&status, "PPid"));
}

/* True when the thread may be in a system call that makes a task (proc_pid_syscall(5)). */
static bool may_make_task(pid_t tid)
{
	char path[64];
	struct strbuf text cleanup_strbuf = { 0 };
	long number;

	snprintf(path, sizeof(path), "/proc/%d/syscall", tid);
	if (file_read_all(path, 4096, &text, NULL) < 0)
		return false;
	number = strtol(strbuf_str(&text), NULL, 10);
	return strncmp(strbuf_str(&text), "running", 7) == 0 || number == SYS_clone ||
	       number == SYS_clone3 ||
#ifdef SYS_fork
	       number == SYS_fork || number == SYS_vfork ||
#endif
	       false;
}

/* True when a thread of the process may still report a child. */
static bool may_report(pid_t pid)
{
	DIR *list cleanup_dir = numbers_list(pid);

	for (pid_t tid; list && (tid = numbers_next(list));) {
		if (may_make_task(tid))
			return true;
	}
	return false;
}

/*
 * True when the parent of @child may still report the child. If that parent was killed before its
 * report, the child has a new parent, and the new parent never reports this child.
 */
static bool is_awaited(const struct tracing *t, const struct tracee *child)
{
	uint64_t age_ns = clock_now_ns(CLOCK_MONOTONIC) - child->held_ns;
	pid_t maker = maker_now(child->tid);

	if (!tracees_find(&t->tracees, maker))
		return false;
	return age_ns < HELD_LOOK_NS || (age_ns < HELD_MAX_NS && may_report(maker));
}

/* Lets held children go on if their parents cannot report them any more. */
static void release_orphans(struct tracing *t)
{
	struct tracees *all = &t->tracees;

	for (size_t i = 0; all->nr_held && i < all->by_tid.nr_slots; i++) {
		struct tracee *child = all->by_tid.slots[i].value;

		if (!child || child->state != TRACEE_HELD || is_awaited(t, child))
			continue;
		child->pid = process_of(child->tid, maker_now(child->tid));
		tracees_set(all, child, TRACEE_LIVE);
		go_on(child->tid, 0);
	}
}

static void see_end(struct tracing *t, pid_t tid, int status, const struct rusage *usage)
{
	struct tracee *tracee = tracees_get(&t->tracees, tid);

	if (tracee) {
		t->log->cpu = tracer_cpu_cpu(&tracee->place);
		tracee->status = status;
		if (tracee->state == TRACEE_LIVE)
			write_exit(t, tracee);
		tracees_set(&t->tracees, tracee,
			    tracee->state == TRACEE_LIVE ? TRACEE_NONE : TRACEE_ENDED);
	}
	if (tid == t->program) {
		pthread_mutex_lock(&t->lock);
		t->has_end = true;
		t->status = status;
		t->usage = *usage;
		pthread_mutex_unlock(&t->lock);
		proc_tell(t->end_fd);
	}
	release_orphans(t);
}

/* Handles the first stop of a new task. The task waits until its parent has reported it. */
static void hold_tracee(struct tracing *t, pid_t tid)
{
	struct tracee *tracee = tracees_get(&t->tracees, tid);

	if (!tracee) {
		go_on(tid, 0);
		return;
	}
	tracee->held_ns = clock_now_ns(CLOCK_MONOTONIC);
	tracees_set(&t->tracees, tracee, TRACEE_HELD);
}

static bool stops_processes(int sig)
{
	return sig == SIGSTOP || sig == SIGTSTP || sig == SIGTTIN || sig == SIGTTOU;
}

/*
 * Notes a new child, and forgets the system call that has made the child. Therefore the return of
 * this system call is not recorded. A system call that fails makes no child, and see_call_end()
 * records its return.
 */
static void see_clone(struct tracing *t, struct tracee *parent, enum proc_fork_how how)
{
	see_fork(t, parent, event_message(parent->tid), how);
	stopped_reset(&parent->call);
}

/* Handles a stop (doc/internals/processes.md, "Stops, by ptrace"). */
static void see_stop(struct tracing *t, pid_t tid, int status)
{
	struct tracee *tracee = tracees_find(&t->tracees, tid);
	int sig = WSTOPSIG(status);

	if (tracee) {
		if (status >> 16 == PTRACE_EVENT_EXEC)
			tracer_cpu_forget(&tracee->place);
		tracer_cpu_stop(&t->near, tid, &tracee->place);
		t->log->cpu = tracer_cpu_cpu(&tracee->place);
	}
	if (!tracee || tracee->state == TRACEE_ENDED) {
		hold_tracee(t, tid);
		return;
	}
	switch (status >> 16) {
	case PTRACE_EVENT_FORK:
		see_clone(t, tracee, PROC_BY_FORK);
		break;
	case PTRACE_EVENT_VFORK:
		see_clone(t, tracee, PROC_BY_VFORK);
		break;
	case PTRACE_EVENT_CLONE:
		see_clone(t, tracee, PROC_BY_CLONE);
		break;
	case PTRACE_EVENT_EXEC:
		see_exec(t, tracee);
		break;
	case PTRACE_EVENT_SECCOMP:
		see_call_begin(t, tracee);
		return;
	case PTRACE_EVENT_STOP:
		/*
		 * If the signal stops processes, the task stays stopped until SIGCONT, like a task
		 * without a tracer.
		 */
		if (stops_processes(sig)) {
			ptrace(PTRACE_LISTEN, tid, NULL, NULL);
			return;
		}
		break;
	default:
		if (sig == SYSCALL_STOP)
			see_call_end(t, tracee);
		go_on(tid, sig == SYSCALL_STOP ? 0 : sig);
		return;
	}
	go_on(tid, 0);
}

static void wake(int sig)
{
}

static void tick(struct tracing *t, bool is_wanted)
{
	const struct timespec interval = { 0, is_wanted ? HELD_LOOK_NS : 0 };
	const struct itimerspec times = { interval, interval };

	if (!t->has_timer || t->is_ticking == is_wanted)
		return;
	timer_settime(t->timer, 0, &times, NULL);
	t->is_ticking = is_wanted;
}

/*
 * Waits for any tracee. Returns -1 when no tracee is left, or when the thread must end. The thread
 * looks at @is_stopped only here. When the thread has ended, tracees without a seccomp filter go on
 * untraced. The kernel kills tracees that have a filter (FILTER_OPTIONS).
 */
static pid_t wait_for_any(struct tracing *t, int *status, struct rusage *usage)
{
	pid_t tid = -1;

	while (!atomic_load(&t->is_stopped)) {
		tick(t, t->tracees.nr_held > 0);
		tid = wait4(-1, status, __WALL | __WNOTHREAD, usage);
		if (tid >= 0 || errno != EINTR)
			break;
		release_orphans(t);
	}
	return tid;
}

/*
 * Installs the handler of WAKE_SIGNAL, in the tracing thread. The program was started earlier, and
 * does not get the handler.
 */
static void expect_wake(void)
{
	struct sigaction action = { .sa_handler = wake };
	sigset_t set;

	sigemptyset(&action.sa_mask);
	sigaction(WAKE_SIGNAL, &action, NULL);
	sigemptyset(&set);
	sigaddset(&set, WAKE_SIGNAL);
	pthread_sigmask(SIG_UNBLOCK, &set, NULL);
}

static int seize_program(struct tracing *t)
{
	struct tracee *program = tracees_get(&t->tracees, t->program);
	unsigned long options = OPTIONS | (t->log->settings->traces_files ? FILTER_OPTIONS : 0);

	if (!program)
		return -ENOMEM;
	program->pid = t->program;
	tracees_set(&t->tracees, program, TRACEE_LIVE);
	return ptrace(PTRACE_SEIZE, t->program, NULL, (void *)options) < 0 ? -errno : 0;
}

static void *trace(void *arg)
{
	struct tracing *t = arg;
	struct rusage usage;
	int status;
	pid_t tid;
	int ret;

	struct sigevent event = { .sigev_notify = SIGEV_THREAD_ID, .sigev_signo = WAKE_SIGNAL };

	expect_wake();
	event.sigev_notify_thread_id = gettid();
	t->has_timer = timer_create(CLOCK_MONOTONIC, &event, &t->timer) == 0;
	tracer_cpu_init(&t->near);
	ret = seize_program(t);
	if (ret < 0)
		err_set_errno(&t->thread_why, ret, "cannot trace processes");
	sem_post(&t->is_seized);
	while (ret == 0 && (tid = wait_for_any(t, &status, &usage)) > 0) {
		if (WIFSTOPPED(status))
			see_stop(t, tid, status);
		else
			see_end(t, tid, status, &usage);
	}
	if (t->has_timer)
		timer_delete(t->timer);
	proc_tell(t->over_fd);
	return NULL;
}

static bool ptrace_end(struct proc *proc, int *status, struct rusage *usage)
{
	struct tracing *t = proc->own;
	bool has_end;

	pthread_mutex_lock(&t->lock);
	has_end = t->has_end;
	if (has_end) {
		*status = t->status;
		*usage = t->usage;
	}
	pthread_mutex_unlock(&t->lock);
	return has_end;
}

/*
 * Ends the tracing thread. The kernel then releases or kills the tracees of this thread (see
 * wait_for_any()).
 */
static void ptrace_stop(struct proc *proc)
{
	const struct timespec pause = { 0, WAKE_AGAIN_NS };
	struct tracing *t = proc->own;

	atomic_store(&t->is_stopped, true);
	/*
	 * The thread may have checked @is_stopped just before atomic_store(), and may begin to wait
	 * just after the first signal. In this case the first signal has no effect, so the signal
	 * is repeated.
	 */
	while (pthread_tryjoin_np(t->thread, NULL) != 0) {
		pthread_kill(t->thread, WAKE_SIGNAL);
		nanosleep(&pause, NULL);
	}
}

static void ptrace_release(struct proc *proc)
{
	struct tracing *t = proc->own;

	if (!t)
		return;
	tracees_deinit(&t->tracees);
	sem_destroy(&t->is_seized);
	pthread_mutex_destroy(&t->lock);
	free(t);
	proc->own = NULL;
}

static int ptrace_prepare(struct proc *proc, const struct record_settings *settings,
			  struct uft_err *err)
{
	struct tracing *t;
	int ret = settings->traces_files ? proc_filter_check() : 0;

	if (ret < 0)
		return err_set_errno(err, ret, PROC_FILTER_WHY);
	t = calloc(1, sizeof(*t));
	if (!t)
		return err_set_errno(err, -ENOMEM, "cannot trace processes");
	pthread_mutex_init(&t->lock, NULL);
	sem_init(&t->is_seized, 0, 0);
	proc->own = t;
	return 0;
}

/* Requests signals only for the ends of children. Stops of tracees need no signal. */
static void ask_for_no_stops(void)
{
	struct sigaction children;

	if (sigaction(SIGCHLD, NULL, &children) == 0) {
		children.sa_flags |= SA_NOCLDSTOP;
		sigaction(SIGCHLD, &children, NULL);
	}
}

static int ptrace_start(struct proc *proc, pid_t pid, struct uft_err *err)
{
	struct tracing *t = proc->own;
	int ret;

	t->log = &proc->log;
	t->program = pid;
	t->end_fd = proc->end_fd;
	t->over_fd = proc->over_fd;
	ask_for_no_stops();
	ret = -pthread_create(&t->thread, NULL, trace, t);
	if (ret < 0)
		return err_set_errno(err, ret, "cannot trace processes");
	while (sem_wait(&t->is_seized) < 0 && errno == EINTR)
		;
	if (!t->thread_why.code)
		return 0;
	pthread_join(t->thread, NULL);
	ret = t->thread_why.code;
	return err_set(err, ret, "%s%s", t->thread_why.text,
		       ret == -EPERM ? ": another program traces it already, or "
				       "/proc/sys/kernel/yama/ptrace_scope forbids it"
				     : "");
}

const struct proc_way proc_by_ptrace = {
	.uses_filter = true,
	.tells_end = true,
	.prepare = ptrace_prepare,
	.start = ptrace_start,
	.end = ptrace_end,
	.stop = ptrace_stop,
	.release = ptrace_release,
};
