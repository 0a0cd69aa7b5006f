/* Stops the threads of a running process, and lets them go (see attached.h). */
#include "cmds/record/attach/attached.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "cmds/record/attach/attached_private.h"
#include "cmds/record/base/numbers.h"
#include "cmds/record/base/proc_status.h"
#include "cmds/record/base/settings.h"
#include "utils/base/cleanup.h"
#include "utils/base/containers/vec.h"

/*
 * The maximum time in milliseconds that a thread may take to stop. Usually a thread stops within
 * microseconds. But the kernel cannot wake some threads, for example a thread that waits for a
 * device.
 */
#define STOP_PATIENCE_MS 2000

uint64_t world_now_ms(void)
{
	return clock_now_ns(CLOCK_MONOTONIC) / 1000000;
}

static void wait_a_moment(const struct attached *w)
{
	const struct timespec moment = { 0, 50000 };

	if (w->wait)
		w->wait(w->wait_arg);
	else
		nanosleep(&moment, NULL);
}

/*
 * True when the thread is a child of this process and has ended. The function does not collect the
 * exit status of the child.
 */
static bool has_ended_as_child(const struct attached *w, const struct attached_thread *t)
{
	siginfo_t info = { 0 };

	if (!w->is_child || t->tid != w->pid ||
	    waitid(P_PID, t->tid, &info, WEXITED | WSTOPPED | WNOHANG | WNOWAIT | __WALL) < 0)
		return false;
	return info.si_pid && (info.si_code == CLD_EXITED || info.si_code == CLD_KILLED ||
			       info.si_code == CLD_DUMPED);
}

int world_wait(const struct attached *w, struct attached_thread *t, uint64_t until_ms, int *status)
{
	for (;;) {
		/*
		 * Read the time before the thread is checked. In the opposite order, this process
		 * could be paused between the two steps, and the thread could stop during the
		 * pause. The wait would then time out, although the thread has stopped.
		 */
		bool is_last = world_now_ms() > until_ms;
		bool has_ended = has_ended_as_child(w, t);
		pid_t pid = has_ended ? -1 : waitpid(t->tid, status, __WALL | WNOHANG);

		if (has_ended)
			errno = ESRCH;
		if (pid == t->tid && !WIFSTOPPED(*status))
			pid = -1;
		if (pid == t->tid) {
			t->is_stopped = true;
			return 0;
		}
		if (pid < 0 && errno != EINTR) {
			t->is_gone = true;
			t->is_stopped = false;
			return -ESRCH;
		}
		if (is_last)
			return -ETIMEDOUT;
		wait_a_moment(w);
	}
}

int attached_open(struct attached *w, pid_t pid, struct uft_err *err)
{
	char path[64];

	siginfo_t unused;

	*w = (struct attached){ .pid = pid, .memory_fd = -1 };
	w->is_child = waitid(P_PID, pid, &unused, WEXITED | WNOHANG | WNOWAIT) == 0;
	snprintf(path, sizeof(path), "/proc/%d/mem", pid);
	w->memory_fd = open(path, O_RDWR | O_CLOEXEC);
	return w->memory_fd < 0
		       ? err_set_errno(err, -errno, "cannot open the memory of process %d", pid)
		       : 0;
}

void attached_close(struct attached *w)
{
	if (w->pid)
		attached_let_go(w);
	free(w->threads);
	w->threads = NULL;
	if (w->memory_fd >= 0)
		close(w->memory_fd);
	w->memory_fd = -1;
}

size_t attached_read(const struct attached *w, uint64_t address, void *to, size_t len)
{
	ssize_t n = pread(w->memory_fd, to, len, (off_t)address);

	return n < 0 ? 0 : n;
}

size_t attached_write(const struct attached *w, uint64_t address, const void *from, size_t len)
{
	ssize_t n = pwrite(w->memory_fd, from, len, (off_t)address);

	return n < 0 ? 0 : n;
}

/*
 * Some machines have only mmap2. It counts the offset in pages, which makes no difference for the
 * offset 0.
 */
#ifdef SYS_mmap
#define CALL_MMAP SYS_mmap
#else
#define CALL_MMAP SYS_mmap2
#endif

int attached_map(struct attached *w, struct attached_thread *t, uint64_t bytes, int64_t *at,
		 struct uft_err *err)
{
	const uint64_t map[6] = {
		0, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, UINT64_MAX, 0
	};
	int ret = attached_syscall(w, t, CALL_MMAP, map, at, err);

	if (ret == 0 && *at < 0 && *at > -4096)
		return err_set_errno(err, *at, "process %d cannot have more memory", w->pid);
	return ret;
}

/* --- registers --- */

static int get_regs(struct attached_thread *t)
{
	struct iovec general = { t->regs.words, sizeof(t->regs.words) };

	if (ptrace(PTRACE_GETREGSET, t->tid, NT_PRSTATUS, &general) < 0)
		return -errno;
	t->regs.bytes = general.iov_len;
	return 0;
}

int world_get_vectors(struct attached_thread *t)
{
	struct iovec vectors = { t->regs.vectors, sizeof(t->regs.vectors) };

	if (ptrace(PTRACE_GETREGSET, t->tid, arch_remote_vector_note, &vectors) < 0)
		return -errno;
	t->regs.vector_bytes = vectors.iov_len;
	return vectors.iov_len < sizeof(t->regs.vectors) ? 0 : -E2BIG;
}

int world_set_regs(pid_t tid, const struct arch_remote *regs)
{
	struct iovec general = { (void *)regs->words, regs->bytes };

	return ptrace(PTRACE_SETREGSET, tid, NT_PRSTATUS, &general) < 0 ? -errno : 0;
}

int world_set_vectors(pid_t tid, const struct arch_remote *regs)
{
	struct iovec vectors = { (void *)regs->vectors, regs->vector_bytes };

	return ptrace(PTRACE_SETREGSET, tid, arch_remote_vector_note, &vectors) < 0 ? -errno : 0;
}

/* --- stopping --- */

static bool is_interrupted(int status)
{
	return status >> 16 == PTRACE_EVENT_STOP;
}

bool world_is_caught(const struct attached *w, int sig)
{
	struct strbuf status cleanup_strbuf = { 0 };

	return proc_status_read(w->pid, &status) == 0 &&
	       strtoull(proc_status_field(&status, "SigCgt"), NULL, 16) & (1ULL << (sig - 1));
}

/*
 * Delivers a signal that has woken an attached thread. If the program has no handler for the
 * signal, the signal must not end the interrupted system call. So the system call is restarted.
 */
static void deliver(const struct attached *w, struct attached_thread *t, int sig)
{
	if (!world_is_caught(w, sig) && get_regs(t) == 0 && arch_remote_restart(&t->regs))
		world_set_regs(t->tid, &t->regs);
	t->is_stopped = false;
	ptrace(PTRACE_CONT, t->tid, NULL, (void *)(long)sig);
}

/*
 * Wait until @t has stopped. If a signal comes first, the signal is delivered. If the signal has a
 * handler, @t then stops at the first instruction of the handler.
 */
static int await_stop(const struct attached *w, struct attached_thread *t, uint64_t until_ms)
{
	int status;

	for (;;) {
		int ret = world_wait(w, t, until_ms, &status);

		if (ret < 0)
			return ret;
		if (is_interrupted(status))
			break;
		deliver(w, t, WSTOPSIG(status));
	}

	int ret = get_regs(t);

	/*
	 * If the stop has interrupted a system call that must be restarted, set the registers for
	 * the restart now, rather than when the thread is let go. So the system call does not fail
	 * if the recorder dies before it lets the thread go.
	 */
	if (ret == 0 && arch_remote_restart(&t->regs))
		ret = world_set_regs(t->tid, &t->regs);
	return ret;
}

int world_interrupt(const struct attached *w, struct attached_thread *t, uint64_t until_ms)
{
	if (ptrace(PTRACE_INTERRUPT, t->tid, NULL, NULL) < 0) {
		t->is_gone = errno == ESRCH;
		return -errno;
	}
	return await_stop(w, t, until_ms);
}

static struct attached_thread *find_thread(const struct attached *w, pid_t tid)
{
	for (size_t i = 0; i < w->nr; i++) {
		if (w->threads[i]->tid == tid && !w->threads[i]->is_gone)
			return w->threads[i];
	}
	return NULL;
}

/* Attaches to a thread. Returns 0 or a negative errno. After an error, *@thread is NULL. */
static int seize_thread(struct attached *w, pid_t tid, struct attached_thread **thread)
{
	struct attached_thread *t = calloc(1, sizeof(*t));
	struct attached_thread **threads = vec_room(w->threads, w->nr, &w->cap, sizeof(t));

	*thread = NULL;
	if (threads)
		w->threads = threads;
	if (!t || !threads) {
		free(t);
		return -ENOMEM;
	}
	t->tid = tid;
	if (ptrace(PTRACE_SEIZE, tid, NULL, (void *)(long)PTRACE_O_TRACESYSGOOD) < 0 ||
	    ptrace(PTRACE_INTERRUPT, tid, NULL, NULL) < 0) {
		int ret = -errno;

		free(t);
		return ret;
	}
	w->threads[w->nr++] = t;
	*thread = t;
	return 0;
}

/* True when the thread is ending, or has ended. Such a thread may still be listed in /proc. */
static bool is_ending(pid_t tid)
{
	struct strbuf status cleanup_strbuf = { 0 };

	return proc_status_read(tid, &status) < 0 ||
	       strchr("ZX", *proc_status_field(&status, "State"));
}

/*
 * For each listed thread of the process: if w->threads lacks the thread, attaches to the thread and
 * requests a stop. Returns the number of threads to which the function has attached, or a negative
 * errno.
 */
static int seize_new(struct attached *w)
{
	DIR *list cleanup_dir = numbers_list(w->pid);
	int nr = 0;

	if (!list)
		return -errno;
	for (pid_t tid; (tid = numbers_next(list));) {
		struct attached_thread *t;

		if (find_thread(w, tid))
			continue;
		int ret = seize_thread(w, tid, &t);

		if (ret < 0 && ret != -ESRCH && !is_ending(tid))
			return ret;
		nr += ret == 0;
	}
	return nr;
}

static int await_all(struct attached *w, uint64_t until_ms)
{
	for (size_t i = 0; i < w->nr; i++) {
		struct attached_thread *t = w->threads[i];

		if (t->is_stopped || t->is_gone)
			continue;

		int ret = await_stop(w, t, until_ms);

		if (ret < 0 && ret != -ESRCH)
			return ret;
	}
	return 0;
}

static bool has_any(const struct attached *w)
{
	for (size_t i = 0; i < w->nr; i++) {
		if (!w->threads[i]->is_gone)
			return true;
	}
	return false;
}

static int fail_to_stop(struct attached *w, int ret, struct uft_err *err)
{
	attached_let_go(w);
	if (ret == -ETIMEDOUT)
		return err_set(
			err, -EBUSY,
			"a thread of process %d does not stop: it waits for a device, or for "
			"the child of a vfork",
			w->pid);
	return err_set_errno(err, ret, "cannot stop process %d", w->pid);
}

int attached_stop(struct attached *w, struct uft_err *err)
{
	uint64_t until_ms = world_now_ms() + STOP_PATIENCE_MS;
	int nr;

	/*
	 * A running thread may start other threads. When seize_new() finds no new thread, all
	 * threads of the process are stopped.
	 */
	do {
		nr = seize_new(w);

		int ret = nr < 0 ? nr : await_all(w, until_ms);

		if (ret < 0)
			return fail_to_stop(w, ret, err);
	} while (nr > 0);
	return has_any(w) ? 0 : fail_to_stop(w, -ESRCH, err);
}

int attached_stop_thread(struct attached *w, pid_t tid, struct attached_thread **thread,
			 struct uft_err *err)
{
	int ret = seize_thread(w, tid, thread);

	if (ret == 0)
		ret = await_stop(w, *thread, world_now_ms() + STOP_PATIENCE_MS);
	return ret < 0 ? fail_to_stop(w, ret, err) : 0;
}

/* --- letting go --- */

static void detach_thread(struct attached *w, struct attached_thread *t)
{
	/*
	 * Only a stopped thread can be let go. A thread that does not stop in time remains
	 * attached. If this thread stops later, it does not continue until the recorder ends.
	 */
	if (t->is_gone)
		return;
	if (!t->is_stopped)
		world_interrupt(w, t, world_now_ms() + STOP_PATIENCE_MS);
	ptrace(PTRACE_DETACH, t->tid, NULL, NULL);
}

void attached_let_others_go(struct attached *w, const struct attached_thread *thread)
{
	size_t kept = 0;

	for (size_t i = 0; i < w->nr; i++) {
		if (w->threads[i] == thread) {
			w->threads[kept++] = w->threads[i];
			continue;
		}
		detach_thread(w, w->threads[i]);
		free(w->threads[i]);
	}
	w->nr = kept;
}

void attached_let_go(struct attached *w)
{
	attached_let_others_go(w, NULL);
}

/* --- bytes that change --- */

/* The maximum number of instructions that attached_step_out() lets a thread execute. */
#define STEPS_MAX 256

int attached_step_out(struct attached *w, struct attached_thread *t, uint64_t start, uint64_t end)
{
	for (int i = 0; i < STEPS_MAX; i++) {
		int status;

		if (arch_remote_pc(&t->regs) - start >= end - start)
			return 0;
		/*
		 * Fail if the thread was stopped in a system call. A step would begin the system
		 * call again, and the thread would wait in the system call.
		 */
		uint64_t args[4];

		if (arch_remote_system_call(&t->regs, args) >= 0)
			return -EBUSY;
		t->is_stopped = false;
		if (ptrace(PTRACE_SINGLESTEP, t->tid, NULL, NULL) < 0)
			return -EBUSY;

		int ret = world_wait(w, t, world_now_ms() + STOP_PATIENCE_MS, &status);

		if (ret == -ESRCH)
			return 0;
		if (ret < 0 || get_regs(t) < 0)
			return -EBUSY;
		/*
		 * If a signal came before the step, deliver the signal with another step. If the
		 * signal has a handler, this step enters the handler. Usually the handler is
		 * outside of [@start, @end).
		 */
		if (!is_interrupted(status) && WSTOPSIG(status) != SIGTRAP) {
			t->is_stopped = false;
			if (ptrace(PTRACE_SINGLESTEP, t->tid, NULL,
				   (void *)(long)WSTOPSIG(status)) < 0 ||
			    world_wait(w, t, world_now_ms() + STOP_PATIENCE_MS, &status) < 0 ||
			    get_regs(t) < 0)
				return -EBUSY;
		}
	}
	return -EBUSY;
}
