/*
 * The lock of logs: its waiters, its file, the owner to whom files are given, and descriptors, whose
 * numbers leave those of the program free. Each test runs in a process of its own.
 */
#include <errno.h>
#include <fcntl.h>
#include <sys/resource.h>

#include "events/trace.h"
#include "tests/unit/lib/trace_place.h"

#define IN_A_CHILD(name)                                                       \
	static int name##_check(void *arg);                                    \
	TEST_WITH(name, begin, NULL)                                           \
	{                                                                      \
		assert_int_equal(trace_place_in_child(name##_check, NULL), 0); \
	}                                                                      \
	static int name##_check(void *arg)

static char path[128], other_path[128];

static int begin_all(void **state)
{
	if (trace_place_make(state) < 0)
		return -1;
	snprintf(path, sizeof(path), "%s/lock", trace_place_above);
	snprintf(other_path, sizeof(other_path), "%s/other", trace_place_above);
	return 0;
}

static int begin(void **state)
{
	unlink(path);
	unlink(other_path);
	return 0;
}

static int next_fd(void)
{
	int fd = dup(STDERR_FILENO);

	close(fd);
	return fd;
}

/*
 * Returns the pid of the process that has the lock on file @of, or 0 when no process has it. The
 * process with the lock must not call this function.
 */
static pid_t owner_of_lock(const char *of)
{
	struct flock lock = { .l_type = F_WRLCK, .l_whence = SEEK_SET };
	int fd = open(of, O_RDWR);

	if (fd < 0 || fcntl(fd, F_GETLK, &lock) < 0)
		return -1;
	close(fd);
	return lock.l_type == F_UNLCK ? 0 : lock.l_pid;
}

/* True when this process has the lock. A child asks, since the kernel does not tell the owner. */
static bool is_locked_by_us(const char *of)
{
	pid_t us = getpid(), pid = fork();
	int status;

	if (pid == 0)
		_exit(owner_of_lock(of) == us);
	return waitpid(pid, &status, 0) == pid && status == 1 << 8;
}

/* --- threads --- */

IN_A_CHILD(signals_wait_but_for_those_of_faults)
{
	static const int faults[] = { SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP, SIGSYS };
	struct fst_held held;
	sigset_t before, now;

	sigemptyset(&before);
	sigaddset(&before, SIGUSR2);
	sigprocmask(SIG_SETMASK, &before, NULL);
	fst_lock_threads(&held);
	sigprocmask(SIG_SETMASK, NULL, &now);
	for (int sig = 1; sig < 32; sig++) {
		bool is_fault = false;

		for (unsigned nr = 0; nr < 6; nr++)
			is_fault |= sig == faults[nr];
		CHILD_CHECK(sig == SIGKILL || sig == SIGSTOP ||
			    sigismember(&now, sig) == !is_fault);
	}
	fst_unlock_threads(&held);
	sigprocmask(SIG_SETMASK, NULL, &now);
	CHILD_CHECK(sigismember(&now, SIGUSR2) && !sigismember(&now, SIGUSR1));
	return 0;
}

/*
 * A program may wait for the signal of a fault by sigwait(3). Then it blocks this signal, and has
 * no handler for it.
 */
IN_A_CHILD(a_signal_that_the_program_has_blocked_stays_blocked)
{
	struct fst_held held;
	sigset_t before, now;

	sigemptyset(&before);
	sigaddset(&before, SIGTRAP);
	sigprocmask(SIG_SETMASK, &before, NULL);
	raise(SIGTRAP);
	fst_lock_threads(&held);
	sigprocmask(SIG_SETMASK, NULL, &now);
	CHILD_CHECK(sigismember(&now, SIGTRAP));
	fst_unlock_threads(&held);
	return 0;
}

static bool can_be_cancelled(void)
{
	int state;

	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
	pthread_setcancelstate(state, NULL);
	return state == PTHREAD_CANCEL_ENABLE;
}

IN_A_CHILD(a_thread_that_has_it_is_not_cancelled)
{
	struct fst_held held, inner;

	CHILD_CHECK(can_be_cancelled());
	fst_lock(&held);
	CHILD_CHECK(!can_be_cancelled());
	fst_lock_threads(&inner);
	fst_unlock_threads(&inner);
	CHILD_CHECK(!fst_try_lock_threads(&inner));
	CHILD_CHECK(!can_be_cancelled());
	fst_unlock(&held);
	CHILD_CHECK(can_be_cancelled());
	CHILD_CHECK(fst_try_lock_threads(&held));
	CHILD_CHECK(!can_be_cancelled());
	fst_unlock_threads(&held);
	CHILD_CHECK(can_be_cancelled());
	return 0;
}

/*
 * Try the lock, and give it back if that succeeds. In both cases, no signal is blocked afterwards.
 */
static void *try_it(void *arg)
{
	struct fst_held held;
	sigset_t none, now;

	sigemptyset(&none);
	pthread_sigmask(SIG_SETMASK, &none, NULL);
	if (!fst_try_lock_threads(&held)) {
		pthread_sigmask(SIG_SETMASK, NULL, &now);
		return sigismember(&now, SIGUSR1) ? arg : NULL;
	}
	fst_unlock_threads(&held);
	return arg;
}

static bool can_another_thread(void)
{
	pthread_t thread;
	void *result = NULL;

	return pthread_create(&thread, NULL, try_it, path) == 0 &&
	       pthread_join(thread, &result) == 0 && result;
}

IN_A_CHILD(one_thread_has_it_at_a_time)
{
	struct fst_held held, inner;
	sigset_t now;

	CHILD_CHECK(can_another_thread());
	fst_lock_threads(&held);
	CHILD_CHECK(!can_another_thread());
	/* The thread does not wait for a lock that it has itself. */
	fst_lock_threads(&inner);
	fst_unlock_threads(&inner);
	CHILD_CHECK(!can_another_thread());
	/* The thread cannot get the lock once more by fst_try_lock_threads(). */
	CHILD_CHECK(!fst_try_lock_threads(&inner));
	sigprocmask(SIG_SETMASK, NULL, &now);
	CHILD_CHECK(sigismember(&now, SIGUSR1));
	fst_unlock_threads(&held);
	CHILD_CHECK(can_another_thread());
	CHILD_CHECK(fst_try_lock_threads(&held));
	sigprocmask(SIG_SETMASK, NULL, &now);
	CHILD_CHECK(sigismember(&now, SIGUSR1));
	CHILD_CHECK(!fst_try_lock_threads(&inner));
	fst_unlock_threads(&held);
	sigprocmask(SIG_SETMASK, NULL, &now);
	CHILD_CHECK(!sigismember(&now, SIGUSR1));
	return 0;
}

static _Atomic bool has_it;

static void *wait_for_it(void *arg)
{
	struct fst_held held;

	fst_lock_threads(&held);
	atomic_store(&has_it, true);
	fst_unlock_threads(&held);
	return NULL;
}

IN_A_CHILD(another_thread_waits_for_it)
{
	struct fst_held held;
	pthread_t thread;

	fst_lock_threads(&held);
	CHILD_CHECK(pthread_create(&thread, NULL, wait_for_it, NULL) == 0);
	usleep(20000);
	CHILD_CHECK(!atomic_load(&has_it));
	fst_unlock_threads(&held);
	pthread_join(thread, NULL);
	CHILD_CHECK(atomic_load(&has_it));
	return 0;
}

static int take_it_again(void *arg)
{
	struct fst_held held;

	CHILD_CHECK(fst_try_lock_threads(&held));
	fst_unlock_threads(&held);
	CHILD_CHECK(can_another_thread());
	return 0;
}

/* The thread that had the lock does not exist in the child. */
IN_A_CHILD(in_a_child_nobody_has_it)
{
	struct fst_held held;
	int status;

	fst_lock_threads(&held);
	status = trace_place_in_child(take_it_again, NULL);
	fst_unlock_threads(&held);
	CHILD_CHECK(status == 0);
	return 0;
}

/* --- the file --- */

IN_A_CHILD(other_processes_wait_for_it)
{
	struct fst_held held;
	struct stat st;
	int fd = next_fd();

	fstrace_set_lock_path(path);
	CHILD_CHECK(fst_lock_open() == 0);
	CHILD_CHECK(fst_lock_open() == 0);
	CHILD_CHECK(next_fd() == fd + 1);
	CHILD_CHECK(fcntl(fd, F_GETFD) == FD_CLOEXEC);
	CHILD_CHECK(stat(path, &st) == 0 && (st.st_mode & 0777) == 0600);
	CHILD_CHECK(!is_locked_by_us(path));
	fst_lock(&held);
	CHILD_CHECK(is_locked_by_us(path));
	CHILD_CHECK(!can_another_thread());
	fst_unlock(&held);
	CHILD_CHECK(!is_locked_by_us(path));
	CHILD_CHECK(can_another_thread());
	return 0;
}

static int open_it(void *arg)
{
	fstrace_set_lock_path(path);
	CHILD_CHECK(fst_lock_open() == 0);
	return 0;
}

static int do_nothing(void *arg)
{
	return 0;
}

IN_A_CHILD(its_file_goes_with_who_has_made_it)
{
	CHILD_CHECK(trace_place_in_child(open_it, NULL) == 0);
	CHILD_CHECK(access(path, F_OK) < 0);
	CHILD_CHECK(open_it(NULL) == 0);
	CHILD_CHECK(trace_place_in_child(do_nothing, NULL) == 0);
	CHILD_CHECK(access(path, F_OK) == 0);
	return 0;
}

static char default_path[64];

static int find_default(void *arg)
{
	char link[64];
	int fd = next_fd();
	ssize_t len;

	CHILD_CHECK(fst_lock_open() == 0);
	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	len = readlink(link, default_path, sizeof(default_path) - 1);
	CHILD_CHECK(len == 24 && !memcmp(default_path, "/tmp/fstrace.lock.", 18));
	CHILD_CHECK(fcntl(fd, F_GETFD) == FD_CLOEXEC);
	/* The path cannot be changed any more. */
	fstrace_set_lock_path(path);
	CHILD_CHECK(access(default_path, F_OK) == 0 && access(path, F_OK) < 0);
	return 0;
}

IN_A_CHILD(without_a_path_it_is_somewhere)
{
	return trace_place_in_child(find_default, NULL);
}

IN_A_CHILD(its_path_is_set_once)
{
	char *too_long = malloc(FST_PATH_MAX + 1);

	memset(too_long, 'x', FST_PATH_MAX);
	too_long[FST_PATH_MAX] = '\0';
	fstrace_set_lock_path(NULL);
	fstrace_set_lock_path(too_long);
	free(too_long);
	fstrace_set_lock_path(path);
	fstrace_set_lock_path(other_path);
	CHILD_CHECK(fst_lock_open() == 0);
	CHILD_CHECK(access(path, F_OK) == 0 && access(other_path, F_OK) < 0);
	return 0;
}

IN_A_CHILD(a_path_that_is_just_too_long_to_be_kept)
{
	char *name = malloc(FST_PATH_MAX);

	/* The path is stored, but no file can have such a name. */
	memset(name, 'x', FST_PATH_MAX - 1);
	name[FST_PATH_MAX - 1] = '\0';
	fstrace_set_lock_path(name);
	free(name);
	CHILD_CHECK(fst_lock_open() == -1 && errno == ENAMETOOLONG);
	return 0;
}

IN_A_CHILD(a_link_is_no_lock)
{
	int fd = next_fd();

	CHILD_CHECK(symlink("somewhere", path) == 0);
	fstrace_set_lock_path(path);
	CHILD_CHECK(fst_lock_open() == -1 && errno == ELOOP);
	CHILD_CHECK(next_fd() == fd);
	unlink(path);
	CHILD_CHECK(fst_lock_open() == 0);
	return 0;
}

/* --- owners --- */

static bool can_give_away(void)
{
	if (geteuid() == 0)
		return true;
	fprintf(stderr, "skipped: only root can give files away\n");
	return false;
}

static bool has_owner(int fd, uid_t uid, gid_t gid)
{
	struct stat st;

	return fstat(fd, &st) == 0 && st.st_uid == uid && st.st_gid == gid;
}

IN_A_CHILD(files_are_given_to_whom_was_said)
{
	int lock = next_fd(), fd;

	if (!can_give_away())
		return 0;
	fstrace_set_lock_path(path);
	CHILD_CHECK(fst_lock_open() == 0);
	fd = open(other_path, O_CREAT | O_RDWR | O_CLOEXEC, 0600);
	fst_owner_set(fd);
	CHILD_CHECK(has_owner(fd, 0, 0));
	CHILD_CHECK(fstrace_chown(4711, (gid_t)-1) == 0);
	CHILD_CHECK(has_owner(lock, 4711, 0));
	fst_owner_set(fd);
	CHILD_CHECK(has_owner(fd, 4711, 0));
	CHILD_CHECK(fstrace_chown((uid_t)-1, 4712) == 0);
	CHILD_CHECK(has_owner(lock, 4711, 4712));
	fst_owner_set(fd);
	CHILD_CHECK(has_owner(fd, 4711, 4712));
	CHILD_CHECK(fstrace_chown(5, 6) == 0);
	fst_owner_set(fd);
	CHILD_CHECK(has_owner(fd, 5, 6));
	close(lock);
	CHILD_CHECK(fstrace_chown(7, 8) == -1 && errno == EBADF);
	return 0;
}

IN_A_CHILD(a_lock_that_comes_later_is_given_too)
{
	int lock = next_fd();

	if (!can_give_away())
		return 0;
	CHILD_CHECK(fstrace_chown(4711, 4712) == 0);
	fstrace_set_lock_path(path);
	CHILD_CHECK(fst_lock_open() == 0);
	CHILD_CHECK(has_owner(lock, 4711, 4712));
	return 0;
}

/* --- descriptors --- */

IN_A_CHILD(the_programs_descriptors_are_kept_free)
{
	int last = next_fd(), fd;

	CHILD_CHECK(fst_keep_away(-1) == -1);
	for (int nr = 0; nr <= 2; nr++) {
		close(nr);
		CHILD_CHECK(open("/dev/null", O_RDWR) == nr);
		fd = fst_keep_away(nr);
		CHILD_CHECK(fd > 2 && fcntl(fd, F_GETFD) == FD_CLOEXEC);
		CHILD_CHECK(fcntl(nr, F_GETFD) < 0);
		CHILD_CHECK(dup2(fd, nr) == nr);
		close(fd);
	}
	fd = open("/dev/null", O_RDWR);
	CHILD_CHECK(fd == last && fst_keep_away(fd) == fd && fcntl(fd, F_GETFD) == 0);
	close(fd);
	errno = 0;
	CHILD_CHECK(fst_keep_away(-1) == -1 && errno == 0);
	return 0;
}

IN_A_CHILD(a_number_that_was_closed_is_taken_again)
{
	int fd = open("/dev/null", O_RDWR), other = open("/dev/null", O_RDWR);
	struct rlimit limit;

	CHILD_CHECK(fst_replace_fd(other, -1) == -1);
	CHILD_CHECK(fst_replace_fd(-1, fd) == fd);
	CHILD_CHECK(fst_replace_fd(fd, fd) == fd);
	/* The descriptor @other is still open: it belongs to the program. */
	CHILD_CHECK(fst_replace_fd(other, fd) == fd);
	CHILD_CHECK(fcntl(fd, F_GETFD) == 0 && fcntl(other, F_GETFD) == 0);
	close(other);
	CHILD_CHECK(fst_replace_fd(other, fd) == other);
	CHILD_CHECK(fcntl(fd, F_GETFD) < 0 && fcntl(other, F_GETFD) == FD_CLOEXEC);
	fd = open("/dev/null", O_RDWR);
	close(0);
	CHILD_CHECK(fst_replace_fd(0, fd) == 0 && fcntl(0, F_GETFD) == FD_CLOEXEC);
	/* The number is free, but the limit was lowered to this number. */
	CHILD_CHECK(getrlimit(RLIMIT_NOFILE, &limit) == 0);
	fd = open("/dev/null", O_RDWR);
	limit.rlim_cur = 100;
	CHILD_CHECK(setrlimit(RLIMIT_NOFILE, &limit) == 0);
	CHILD_CHECK(fst_replace_fd(100, fd) == fd && fcntl(fd, F_GETFD) == 0);
	return 0;
}

IN_A_CHILD(who_closed_the_lock_gets_it_again)
{
	struct fst_held held;
	int fd = next_fd();

	CHILD_CHECK(fstrace_reinit() == 0);
	CHILD_CHECK(next_fd() == fd);
	fstrace_set_lock_path(path);
	CHILD_CHECK(fst_lock_open() == 0);
	CHILD_CHECK(fstrace_reinit() == 0);
	CHILD_CHECK(next_fd() == fd + 1);
	close(fd);
	CHILD_CHECK(fstrace_reinit() == 0);
	CHILD_CHECK(fcntl(fd, F_GETFD) == FD_CLOEXEC);
	CHILD_CHECK(next_fd() == fd + 1);
	fst_lock(&held);
	CHILD_CHECK(is_locked_by_us(path));
	fst_unlock(&held);
	/* The descriptor's number belongs to another file now. */
	close(fd);
	CHILD_CHECK(open(other_path, O_CREAT | O_RDWR, 0600) == fd);
	CHILD_CHECK(fstrace_reinit() == 0);
	fst_lock(&held);
	CHILD_CHECK(is_locked_by_us(path) && !is_locked_by_us(other_path));
	fst_unlock(&held);
	CHILD_CHECK(fcntl(fd, F_GETFD) == 0);
	return 0;
}

IN_A_CHILD(a_lock_whose_file_is_gone_is_made_again)
{
	struct fst_held held;

	fstrace_set_lock_path(path);
	CHILD_CHECK(fst_lock_open() == 0);
	CHILD_CHECK(unlink(path) == 0);
	CHILD_CHECK(fstrace_reinit() == 0);
	CHILD_CHECK(access(path, F_OK) == 0);
	fst_lock(&held);
	CHILD_CHECK(is_locked_by_us(path));
	fst_unlock(&held);
	return 0;
}

TEST_GROUP(begin_all, NULL)
