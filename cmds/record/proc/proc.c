/* What the processes of the program do (see proc.h). */
#include "cmds/record/proc/proc.h"

#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cmds/record/proc/became.h"
#include "cmds/record/proc/filter.h"
#include "utils/base/fd.h"
#include "utils/format/datadir.h"
#include "utils/format/proc_dat.h"

/* What is told besides signals. When the recorder is killed, the tree goes on... */
#define OPTIONS \
	(PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK | PTRACE_O_TRACECLONE | PTRACE_O_TRACEEXEC)
/* ... but where there is a filter: the system calls that it holds fail when nobody traces, so the tree cannot go on. */
#define FILTER_OPTIONS (PTRACE_O_TRACESECCOMP | PTRACE_O_TRACESYSGOOD | PTRACE_O_EXITKILL)
#define SYSCALL_STOP   (SIGTRAP | 0x80)

/* Times of the file rise, each by at least one. */
static uint64_t next_time(struct proc *proc)
{
	uint64_t now = settings_now_ns(proc->settings);

	proc->thread_last_ns = MAX(now, proc->thread_last_ns + 1);
	return proc->thread_last_ns;
}

/* The record of which @proc->thread_payload is the payload. */
static void write_record(struct proc *proc, enum proc_kind kind, pid_t tid, pid_t pid)
{
	struct strbuf *payload = &proc->thread_payload;
	struct strbuf *record = &proc->thread_record;
	int ret = 0;

	strbuf_reset(record);
	proc_record_encode(
		&(struct proc_record){
			.time_ns = next_time(proc),
			.tid = tid,
			.pid = pid,
			.kind = kind,
			.data = (const uint8_t *)strbuf_str(payload),
			.len = payload->len,
		},
		record);
	if (strbuf_oom(payload) || strbuf_oom(record))
		ret = -ENOMEM;
	else if (store_may_take(proc->store, record->len))
		ret = store_append(proc->store, proc->stream, record->data, record->len);
	store_note_error(proc->store, ret);
	if (strbuf_oom(payload))
		strbuf_deinit(payload);
	if (strbuf_oom(record))
		strbuf_deinit(record);
	strbuf_reset(payload);
}

static void write_exit(struct proc *proc, const struct tracee *tracee)
{
	proc_exit_encode(tracee->status, &proc->thread_payload);
	write_record(proc, PROC_EXIT, tracee->tid, tracee->pid);
}

/* It may have been killed meanwhile: then its end is what comes next. */
static void go_on(pid_t tid, int sig)
{
	ptrace(PTRACE_CONT, tid, NULL, (void *)(uintptr_t)sig);
}

static unsigned long event_message(pid_t tid)
{
	unsigned long message = 0;

	return ptrace(PTRACE_GETEVENTMSG, tid, NULL, &message) < 0 ? 0 : message;
}

/* The process that the new task @tid is in: @pid, or one of its own. */
static pid_t process_of(pid_t tid, pid_t pid)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/task/%d", pid, tid);
	return access(path, F_OK) == 0 ? pid : tid;
}

static void see_fork(struct proc *proc, const struct tracee *parent, pid_t tid,
		     enum proc_fork_how how)
{
	struct tracee *child = tid > 0 ? tracees_get(&proc->tracees, tid) : NULL;
	enum tracee_state before = child ? child->state : TRACEE_LIVE;

	if (before == TRACEE_LIVE)
		return;
	child->pid = process_of(tid, parent->pid);
	proc_fork_encode(&(struct proc_fork){ tid, child->pid, how, call_clone_flags(parent->tid) },
			 &proc->thread_payload);
	write_record(proc, PROC_FORK, parent->tid, parent->pid);
	if (before == TRACEE_ENDED)
		write_exit(proc, child);
	tracees_set(&proc->tracees, child, before == TRACEE_ENDED ? TRACEE_NONE : TRACEE_LIVE);
	if (before == TRACEE_HELD)
		go_on(tid, 0);
}

static void see_inherited(struct proc *proc, const struct tracee *tracee)
{
	char path[64];
	struct dirent *entry;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%d/fd", tracee->pid);
	dir = opendir(path);
	while (dir && (entry = readdir(dir))) {
		if (entry->d_name[0] != '.' &&
		    call_encode_inherited(tracee->pid, atoi(entry->d_name), &proc->thread_payload))
			write_record(proc, PROC_INHERIT, tracee->tid, tracee->pid);
	}
	if (dir)
		closedir(dir);
}

/* A thread that is not the leader of its process becomes that by execve(2): its own number is gone, and nobody tells of its end. */
static void see_exec(struct proc *proc, struct tracee *leader)
{
	pid_t old_tid = event_message(leader->tid);
	struct tracee *old = old_tid > 0 && old_tid != leader->tid
				     ? tracees_find(&proc->tracees, old_tid)
				     : NULL;

	if (old)
		tracees_set(&proc->tracees, old, TRACEE_NONE);
	became_encode(leader->pid, old_tid, &proc->thread_payload);
	write_record(proc, PROC_EXEC, leader->tid, leader->pid);
	call_reset(&leader->call);
	if (proc->settings->traces_environment) {
		call_encode_environment(leader->pid, &proc->thread_payload);
		write_record(proc, PROC_ENV, leader->tid, leader->pid);
	}
	if (proc->settings->traces_files)
		see_inherited(proc, leader);
}

/* The call is over, or what there is to be told of it is known already. */
static void see_call(struct proc *proc, struct tracee *tracee, int64_t result)
{
	enum proc_kind kind = call_encode(tracee->tid, &tracee->call, result,
					  &proc->thread_payload);

	if (kind)
		write_record(proc, kind, tracee->tid, tracee->pid);
	call_reset(&tracee->call);
}

/* The filter holds it in front of a system call, which it goes on with. */
static void see_call_begin(struct proc *proc, struct tracee *tracee)
{
	struct __ptrace_syscall_info info = { 0 };
	struct traced_call *call = &tracee->call;

	call_reset(call);
	if (ptrace(PTRACE_GET_SYSCALL_INFO, tracee->tid, sizeof(info), &info) > 0 &&
	    info.op == PTRACE_SYSCALL_INFO_SECCOMP) {
		call->id = proc_filter_call(info.seccomp.ret_data);
		for (size_t i = 0; i < ARRAY_SIZE(call->args); i++)
			call->args[i] = info.seccomp.args[i];
	}
	if (call_begin(tracee->tid, call)) {
		ptrace(PTRACE_SYSCALL, tracee->tid, NULL, NULL);
		return;
	}
	see_call(proc, tracee, 0);
	go_on(tracee->tid, 0);
}

/* What has failed has done nothing. */
static void see_call_end(struct proc *proc, struct tracee *tracee)
{
	struct __ptrace_syscall_info info = { 0 };

	if (ptrace(PTRACE_GET_SYSCALL_INFO, tracee->tid, sizeof(info), &info) > 0 &&
	    info.op == PTRACE_SYSCALL_INFO_EXIT && !info.exit.is_error)
		see_call(proc, tracee, info.exit.rval);
	call_reset(&tracee->call);
}

static pid_t parent_now(pid_t tid)
{
	char path[64];
	struct strbuf text cleanup_strbuf = { 0 };
	const char *line;

	snprintf(path, sizeof(path), "/proc/%d/status", tid);
	line = file_read_all(path, 65536, &text, NULL) == 0 ? strstr(strbuf_str(&text), "\nPPid:")
							    : NULL;
	return line ? atoi(line + 6) : 0;
}

/*
 * Who is killed between making a child and telling of it never tells. The child has another parent then (which may be one of the tree that adopts
 * children, but then that one has not just made it), and need not wait any longer.
 */
static void release_orphans(struct proc *proc)
{
	struct tracees *all = &proc->tracees;

	for (size_t i = 0; all->nr_held && i < all->nr; i++) {
		struct tracee *child = all->all[i];

		if (child->state != TRACEE_HELD || tracees_find(all, parent_now(child->tid)))
			continue;
		child->pid = child->tid;
		tracees_set(all, child, TRACEE_LIVE);
		go_on(child->tid, 0);
	}
}

static void tell(int eventfd)
{
	const uint64_t one = 1;

	if (write(eventfd, &one, sizeof(one)) < 0)
		return;
}

static void see_end(struct proc *proc, pid_t tid, int status, const struct rusage *usage)
{
	struct tracee *tracee = tracees_get(&proc->tracees, tid);

	if (tracee) {
		tracee->status = status;
		if (tracee->state == TRACEE_LIVE)
			write_exit(proc, tracee);
		tracees_set(&proc->tracees, tracee,
			    tracee->state == TRACEE_LIVE ? TRACEE_NONE : TRACEE_ENDED);
	}
	if (tid == proc->program) {
		pthread_mutex_lock(&proc->lock);
		proc->has_end = true;
		proc->status = status;
		proc->usage = *usage;
		pthread_mutex_unlock(&proc->lock);
		tell(proc->end_fd);
	}
	release_orphans(proc);
}

/* The first stop of a new task: nothing of it may be told before its parent has told of it. */
static void hold(struct proc *proc, pid_t tid)
{
	struct tracee *tracee = tracees_get(&proc->tracees, tid);

	if (!tracee)
		go_on(tid, 0);
	else
		tracees_set(&proc->tracees, tracee, TRACEE_HELD);
}

static bool stops_processes(int sig)
{
	return sig == SIGSTOP || sig == SIGTSTP || sig == SIGTTIN || sig == SIGTTOU;
}

/* doc/internals/processes.md, "Stops" */
static void see_stop(struct proc *proc, pid_t tid, int status)
{
	struct tracee *tracee = tracees_find(&proc->tracees, tid);
	int sig = WSTOPSIG(status);

	if (tracee)
		near_stop(&proc->thread_near, tid, &tracee->place);
	if (!tracee || tracee->state == TRACEE_ENDED) {
		hold(proc, tid);
		return;
	}
	switch (status >> 16) {
	case PTRACE_EVENT_FORK:
		see_fork(proc, tracee, event_message(tid), PROC_BY_FORK);
		break;
	case PTRACE_EVENT_VFORK:
		see_fork(proc, tracee, event_message(tid), PROC_BY_VFORK);
		break;
	case PTRACE_EVENT_CLONE:
		see_fork(proc, tracee, event_message(tid), PROC_BY_CLONE);
		break;
	case PTRACE_EVENT_EXEC:
		see_exec(proc, tracee);
		break;
	case PTRACE_EVENT_SECCOMP:
		see_call_begin(proc, tracee);
		return;
	case PTRACE_EVENT_STOP:
		/* It stays stopped, and can be continued by SIGCONT, as without us. */
		if (stops_processes(sig)) {
			ptrace(PTRACE_LISTEN, tid, NULL, NULL);
			return;
		}
		break;
	default:
		if (sig == SYSCALL_STOP)
			see_call_end(proc, tracee);
		go_on(tid, sig == SYSCALL_STOP ? 0 : sig);
		return;
	}
	go_on(tid, 0);
}

/* Only here the thread may be ended from outside (wait4(2) is a cancellation point); whom it traces goes on untraced then. */
static pid_t wait_for_any(int *status, struct rusage *usage)
{
	pid_t tid;

	pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, NULL);
	do {
		tid = wait4(-1, status, __WALL | __WNOTHREAD, usage);
	} while (tid < 0 && errno == EINTR);
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, NULL);
	return tid;
}

static int seize(struct proc *proc)
{
	struct tracee *program = tracees_get(&proc->tracees, proc->program);
	unsigned long options = OPTIONS | (proc->settings->traces_files ? FILTER_OPTIONS : 0);

	if (!program)
		return -ENOMEM;
	program->pid = proc->program;
	tracees_set(&proc->tracees, program, TRACEE_LIVE);
	return ptrace(PTRACE_SEIZE, proc->program, NULL, (void *)options) < 0 ? -errno : 0;
}

static void *trace(void *arg)
{
	struct proc *proc = arg;
	struct rusage usage;
	int status;
	pid_t tid;
	int ret;

	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, NULL);
	near_init(&proc->thread_near);
	ret = seize(proc);
	if (ret < 0)
		err_set_errno(&proc->thread_why, ret, "cannot trace processes");
	sem_post(&proc->is_seized);
	while (ret == 0 && (tid = wait_for_any(&status, &usage)) > 0) {
		if (WIFSTOPPED(status))
			see_stop(proc, tid, status);
		else
			see_end(proc, tid, status, &usage);
	}
	tell(proc->over_fd);
	return NULL;
}

bool proc_program_end(struct proc *proc, int *status, struct rusage *usage)
{
	bool has_end;

	pthread_mutex_lock(&proc->lock);
	has_end = proc->has_end;
	if (has_end) {
		*status = proc->status;
		*usage = proc->usage;
	}
	pthread_mutex_unlock(&proc->lock);
	return has_end;
}

static void see_over(struct watcher *watcher, uint32_t epoll_events)
{
	struct proc *proc = container_of(watcher, struct proc, over);

	loop_unwatch(proc->loop, proc->over_fd, watcher);
	if (proc->is_followed)
		alive_remove(proc->alive);
	proc->is_followed = false;
}

/* Each record is written when it is made. */
static int proc_save(struct source *source)
{
	return 0;
}

static void close_all(struct proc *proc)
{
	if (proc->over_fd >= 0)
		close(proc->over_fd);
	if (proc->end_fd >= 0)
		close(proc->end_fd);
	if (proc->stream >= 0)
		store_close(proc->store, proc->stream);
	strbuf_deinit(&proc->thread_payload);
	strbuf_deinit(&proc->thread_record);
	tracees_deinit(&proc->tracees);
	sem_destroy(&proc->is_seized);
	pthread_mutex_destroy(&proc->lock);
	*proc = (struct proc){ 0 };
}

static int proc_finish(struct source *source)
{
	struct proc *proc = container_of(source, struct proc, source);

	pthread_cancel(proc->thread);
	pthread_join(proc->thread, NULL);
	if (proc->is_followed)
		loop_unwatch(proc->loop, proc->over_fd, &proc->over);
	close_all(proc);
	return 0;
}

/* Ends of children are told to us by signals; stops of whom we trace need not be. */
static void ask_for_no_stops(void)
{
	struct sigaction children;

	if (sigaction(SIGCHLD, NULL, &children) == 0) {
		children.sa_flags |= SA_NOCLDSTOP;
		sigaction(SIGCHLD, &children, NULL);
	}
}

static int open_files(struct proc *proc)
{
	proc->stream = store_open(proc->store, DATADIR_PROCESSES);
	if (proc->stream < 0)
		return proc->stream;
	proc->end_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	proc->over_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	return proc->end_fd < 0 || proc->over_fd < 0 ? -errno : 0;
}

static int start_thread(struct proc *proc, struct uft_err *err)
{
	int ret = -pthread_create(&proc->thread, NULL, trace, proc);

	if (ret < 0)
		return err_set_errno(err, ret, "cannot trace processes");
	while (sem_wait(&proc->is_seized) < 0 && errno == EINTR)
		;
	if (!proc->thread_why.code)
		return 0;
	pthread_join(proc->thread, NULL);
	ret = proc->thread_why.code;
	return err_set(err, ret, "%s%s", proc->thread_why.text,
		       ret == -EPERM ? ": somebody else traces the program, or "
				       "/proc/sys/kernel/yama/ptrace_scope forbids it"
				     : "");
}

int proc_open(struct proc *proc, struct sources *sources, struct alive *alive, pid_t pid,
	      struct uft_err *err)
{
	int ret;

	*proc = (struct proc){
		.source = { proc_save, proc_finish },
		.settings = sources->settings,
		.store = sources->store,
		.loop = sources->loop,
		.alive = alive,
		.program = pid,
		.end_fd = -1,
		.over_fd = -1,
		.over = { see_over, NULL },
	};
	pthread_mutex_init(&proc->lock, NULL);
	sem_init(&proc->is_seized, 0, 0);
	ask_for_no_stops();
	ret = open_files(proc);
	if (ret == 0)
		ret = loop_watch(proc->loop, proc->over_fd, &proc->over);
	if (ret < 0)
		err_set_errno(err, ret, "cannot record processes");
	else
		ret = start_thread(proc, err);
	if (ret < 0) {
		store_remove(proc->store, DATADIR_PROCESSES);
		close_all(proc);
		return ret;
	}
	proc->is_open = true;
	proc->is_followed = true;
	alive_add(alive);
	sources_add(sources, &proc->source);
	return 0;
}
