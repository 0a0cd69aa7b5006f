/*
 * The keeper is a process that waits until the owner of a stream ends or executes another program.
 * The keeper then completes the stream's log, and removes the stream's file from shared memory. The
 * owner's wait() does not see the keeper. The keeper has no terminal and none of the owner's
 * descriptors, and calls only signal-safe functions.
 */
#include "posix/keeper.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define NAME "utrail-keeper"

/*
 * The interval at which the keeper checks the owner after the owner's lock was released. The owner
 * may still run: the program may have released the lock by closing all descriptors.
 */
#define LOOK_MS 100

/*
 * The maximum number of attempts to write a log. The pauses between the attempts are 1, 2, 4 ...
 * seconds long, because a full disk may get room during a pause.
 */
#define TRIES_MAX 7

/* The size of the stack that clone() needs. */
#define STACK_BYTES (256ul << 10)

/*
 * Makes a process by ThreadSanitizer's own clone(). Another thread may hold a lock of the sanitizer
 * at this moment. In a child of this clone() the lock is free. The child has a copy of the stack.
 */
static pid_t make_sanitized(int exit_signal, int (*run)(void *), void *argument)
{
	char *stack = mmap(NULL, STACK_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			   -1, 0);
	pid_t pid;

	if (stack == MAP_FAILED)
		return -1;
	pid = clone(run, stack + STACK_BYTES, exit_signal, argument);
	munmap(stack, STACK_BYTES);
	return pid;
}

/*
 * Makes a process that calls @run, which does not return. fork() is not used, since fork() would
 * run the program's pthread_atfork(3) handlers. If @exit_signal is 0, the program's wait() does not
 * see the process.
 */
static pid_t make_process(int exit_signal, int (*run)(void *), void *argument)
{
	pid_t pid;

	if (pxt_has_thread_sanitizer())
		return make_sanitized(exit_signal, run, argument);
	pid = (pid_t)syscall(SYS_clone, exit_signal, NULL, NULL, NULL, NULL);
	if (pid == 0)
		run(argument);
	return pid;
}

/* Ends this process without _exit(): a sanitizer's version of _exit() would do other work first. */
static void __attribute__((noreturn)) end_process(int status)
{
	for (;;)
		syscall(SYS_exit_group, status);
}

static bool lock_whole(int fd, int how)
{
	struct flock whole = { .l_type = F_WRLCK, .l_whence = SEEK_SET };

	while (fcntl(fd, how, &whole) < 0) {
		if (errno != EINTR)
			return false;
	}
	return true;
}

/*
 * Makes a file without a name, and locks the file. The lock belongs to this process, the owner of
 * the stream. The lock is released when the owner ends or executes a program. The end of a child
 * does not release the lock.
 */
static int make_lock(void)
{
	int fd = (int)syscall(SYS_memfd_create, NAME, 1 /* MFD_CLOEXEC */);

	if (fd < 0)
		return -1;
	if (lock_whole(fd, F_SETLK))
		return fd;
	close(fd);
	return -1;
}

static void close_from_to(unsigned int first, unsigned int last)
{
	struct rlimit limit;

	if (first > last)
		return;
#ifdef SYS_close_range
	if (syscall(SYS_close_range, first, last, 0) == 0)
		return;
#endif
	if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur - 1 < last)
		last = (unsigned int)limit.rlim_cur - 1;
	for (unsigned int fd = first; fd <= last; fd++)
		syscall(SYS_close, fd);
}

/* Closes all descriptors except @fds. The last elements of @fds may be -1. */
static void close_others(const int fds[3])
{
	unsigned int from = 0, best;

	for (int nr = 0; nr < 3; nr++) {
		best = ~0u;
		for (int other = 0; other < 3; other++) {
			if (fds[other] >= 0 && (unsigned int)fds[other] >= from &&
			    (unsigned int)fds[other] < best)
				best = (unsigned int)fds[other];
		}
		if (best == ~0u)
			break;
		if (best)
			close_from_to(from, best - 1);
		from = best + 1;
	}
	close_from_to(from, ~0u);
}

/*
 * Gives all signals their default action. rt_sigaction(2) takes a struct. If all bytes of this
 * struct are 0, the action is SIG_DFL. Signals 32 to SIGRTMIN - 1 belong to the C library and are
 * left alone.
 */
static void reset_signals(void)
{
	static const char none[64];

	for (int nr = 1; nr < NSIG; nr++) {
		if (nr < 32 || nr >= SIGRTMIN)
			syscall(SYS_rt_sigaction, nr, none, NULL, (NSIG - 1) / 8);
	}
}

/*
 * Gives up everything that is shared with the program, and blocks all signals. A signal to the
 * program's session or group must not end the keeper.
 */
static void leave_program(const int fds[3])
{
	const struct rlimit none = { 0, 0 };
	sigset_t all;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, NULL);
	/*
	 * Use system calls: a sanitizer's versions of signal() and prctl() could wait for a lock
	 * that another thread held at the fork.
	 */
	reset_signals();
	setrlimit(RLIMIT_CORE, &none);
	syscall(SYS_prctl, PR_SET_NAME, NAME);
	if (chdir("/") < 0)
		errno = 0;
	close_others(fds);
}

/*
 * Replaces the program's arguments by the keeper's name, which ps then shows. The last byte of the
 * arguments must be 0. Otherwise ps would also show the bytes that follow the arguments. See fields
 * 48, 49 and 51 of "stat" in proc(5).
 */
static void rename_arguments(void)
{
	uint64_t begin, end, end_of_all;

	if (pxt_process_field(getpid(), 48, &begin) < 0 ||
	    pxt_process_field(getpid(), 49, &end) < 0 ||
	    pxt_process_field(getpid(), 51, &end_of_all) < 0 || !begin || end <= begin ||
	    end_of_all < end || end_of_all - begin < sizeof(NAME))
		return;
	memset((void *)(uintptr_t)begin, 0, (size_t)(end - begin));
	memcpy((void *)(uintptr_t)begin, NAME, sizeof(NAME));
}

static void forget_program(const struct pxt_keeping *keeping)
{
	const void *const keeps[] = {
		__builtin_frame_address(0),
		(const void *)pthread_self(),
		&errno,
		&pxt_thread,
		pxt_thread,
		&pxt_process,
		keeping->stream,
		keeping->names,
	};

	rename_arguments();
	pxt_trim(keeps, sizeof(keeps) / sizeof(keeps[0]));
}

static void wait_a_little(int pidfd)
{
	const struct timespec step = { 0, LOOK_MS * 1000000 };
	struct pollfd ended = { .fd = pidfd, .events = POLLIN };

	if (pidfd < 0 || poll(&ended, 1, LOOK_MS) < 0)
		nanosleep(&step, NULL);
}

/*
 * True when nothing is left to write to the log. If the stream has no log, true when the stream is
 * closed.
 */
static bool is_done(const struct pxt_keeping *keeping, const struct pxt_log_part *part)
{
	if (part)
		return atomic_load(&part->is_done);
	return atomic_load(&keeping->stream->run) & PT_IS_CLOSED;
}

/*
 * Waits until the owner has ended. Returns false when the keeper has nothing to do. The owner holds
 * a lock on the file @lock. The release of the lock does not prove that the owner has ended, since
 * the program may have closed all descriptors.
 */
static bool wait_for_owner(const struct pxt_keeping *keeping, const struct pxt_log_part *part,
			   int lock)
{
	int pidfd = -1;

	lock_whole(lock, F_SETLKW);
#ifdef SYS_pidfd_open
	pidfd = (int)syscall(SYS_pidfd_open, (pid_t)keeping->stream->owner_pid, 0);
#endif
	while (!is_done(keeping, part)) {
		if (pxt_owner_is_gone(keeping->stream, keeping->mapped_at, keeping->bytes))
			return true;
		wait_a_little(pidfd);
	}
	return false;
}

static void write_log(const struct pxt_keeping *keeping, const struct pxt_log_part *part)
{
	struct timespec step = { 1, 0 };

	for (int nr = 0; nr < TRIES_MAX; nr++) {
		if (nr) {
			nanosleep(&step, NULL);
			step.tv_sec *= 2;
		}
		pxt_finish(keeping->stream, keeping->bytes, keeping->names, keeping->log);
		if (atomic_load(&part->is_done))
			break;
	}
}

/*
 * Completes the log and removes the stream's file. If the log cannot be completed, the keeper
 * leaves this work to the process that opens the log.
 */
static void finish_keeping(const struct pxt_keeping *keeping, const struct pxt_log_part *part)
{
	int lock;

	if (part)
		write_log(keeping, part);
	else
		pxt_close_stream(keeping->stream);
	if (!is_done(keeping, part))
		return;
	lock = pxt_place_lock(keeping->place);
	pxt_remove_finished(keeping->place, keeping->number, keeping->stream);
	if (lock >= 0)
		pxt_place_unlock(lock);
}

/*
 * @lock:  the file that the owner has locked
 * @stays: the first child becomes the keeper
 */
struct beginning {
	const struct pxt_keeping *keeping;
	struct pxt_log_part *part;
	int lock;
	bool stays;
};

static int __attribute__((noreturn, noinline)) keep_stream(void *argument)
{
	const struct beginning beginning = *(const struct beginning *)argument;
	const struct pxt_keeping keeping = *beginning.keeping;
	struct pxt_log_part *part = beginning.part;
	const int fds[3] = { keeping.place, keeping.log, beginning.lock };
	uint64_t start = 0;

	leave_program(fds);
	pxt_process_start(getpid(), &start);
	if (part) {
		part->keeper_start = start;
		atomic_store(&part->keeper_pid, (uint32_t)getpid());
	}
	forget_program(&keeping);
	if (wait_for_owner(&keeping, part, beginning.lock))
		finish_keeping(&keeping, part);
	end_process(0);
}

/*
 * True when this process adopts orphans. If this process adopted the keeper, wait() would see the
 * keeper. To avoid this, the keeper of such a process is a direct child without an exit signal.
 * wait() ignores such a child.
 */
static bool adopts_orphans(void)
{
	int is_subreaper = 0;

	prctl(PR_GET_CHILD_SUBREAPER, &is_subreaper);
	return is_subreaper || getpid() == 1;
}

/*
 * Runs in the first child. Either this child becomes the keeper, or it makes the keeper and exits,
 * so that the keeper's parent is no process of the program.
 */
static int __attribute__((noreturn)) begin_keeper(void *argument)
{
	const struct beginning *beginning = argument;

	setsid();
	if (beginning->stays)
		keep_stream(argument);
	end_process(make_process(SIGCHLD, keep_stream, argument) < 0);
}

static bool has_begun(pid_t pid)
{
	int status;

	while (waitpid(pid, &status, __WCLONE) < 0) {
		if (errno != EINTR)
			return false;
	}
	return status == 0;
}

/*
 * Makes the keeper. Returns the keeper's pid if the keeper is a child of this process, 0 if the
 * keeper has another parent, or -1 on failure.
 */
static pid_t fork_keeper(const struct pxt_keeping *keeping, struct pxt_log_part *part, int lock)
{
	struct beginning beginning = { keeping, part, lock, adopts_orphans() };
	sigset_t before;
	pid_t pid;

	pxt_block_signals(&before);
	pid = make_process(0, begin_keeper, &beginning);
	if (pid > 0 && !beginning.stays)
		pid = has_begun(pid) ? 0 : -1;
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return pid;
}

void pxt_keeper_start(struct pxt_keeper *keeper, const struct pxt_keeping *keeping,
		      struct pxt_log_part *part)
{
	int fd = make_lock();
	struct stat st;

	*keeper = (struct pxt_keeper){ .fd = -1 };
	if (fd < 0)
		return;
	keeper->child = fstat(fd, &st) == 0 ? fork_keeper(keeping, part, fd) : -1;
	if (keeper->child < 0) {
		close(fd);
		return;
	}
	keeper->fd = fd;
	keeper->dev = st.st_dev;
	keeper->ino = st.st_ino;
}

/* Reaps a keeper that is a child of this process. The keeper ends as soon as it gets the lock. */
static void reap(pid_t pid)
{
	const struct timespec step = { 0, 1000000 };

	for (int nr = 0; nr < 100 && waitpid(pid, NULL, __WCLONE | WNOHANG) == 0; nr++)
		nanosleep(&step, NULL);
}

void pxt_keeper_end(const struct pxt_keeper *keeper)
{
	int error = errno;

	if (keeper->fd >= 0 && pxt_is_file(keeper->fd, keeper->dev, keeper->ino))
		close(keeper->fd);
	if (keeper->child > 0)
		reap(keeper->child);
	errno = error;
}
