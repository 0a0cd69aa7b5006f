/* The lock for rare operations, the file of this lock, and the owner that new files get. */
#include "events/trace.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static pthread_mutex_t threads;
static unsigned depth; /* the number of times that the mutex is held by its owner */
static char lock_path[FST_PATH_MAX];
static int lock_fd = -1;
static pid_t lock_maker;
static uid_t owner_uid = -1;
static gid_t owner_gid = -1;

/*
 * Makes the mutex at the start, and makes it anew in a forked child. Another thread of the parent
 * may hold the mutex at the fork. In the child, no thread would release such a mutex. The mutex is
 * recursive, so that the signal handler of a fault can log while the faulting thread holds the
 * mutex.
 */
static void renew_mutex(void)
{
	pthread_mutexattr_t attr;

	pthread_mutexattr_init(&attr);
	pthread_mutexattr_settype(&attr, PTHREAD_MUTEX_RECURSIVE);
	pthread_mutex_init(&threads, &attr);
	pthread_mutexattr_destroy(&attr);
	depth = 0;
}

static void remove_file(void)
{
	if (lock_fd >= 0 && getpid() == lock_maker)
		unlink(lock_path);
}

__attribute__((constructor)) static void prepare(void)
{
	renew_mutex();
	pthread_atfork(NULL, NULL, renew_mutex);
	atexit(remove_file);
}

/*
 * Blocks signals, and disables cancellation. A cancelled thread, or a signal handler that jumps
 * away, would leave the lock locked. The signals of faults are not blocked: if a fault raises a
 * blocked signal, the kernel kills the process. SIGSYS is not blocked either, since a sandbox may
 * make system calls in the handler of SIGSYS.
 */
static void hold_thread(struct fst_held *held)
{
	sigset_t set;

	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &held->cancel_before);
	sigfillset(&set);
	sigdelset(&set, SIGSEGV);
	sigdelset(&set, SIGBUS);
	sigdelset(&set, SIGILL);
	sigdelset(&set, SIGFPE);
	sigdelset(&set, SIGTRAP);
	sigdelset(&set, SIGSYS);
	pthread_sigmask(SIG_BLOCK, &set, &held->before);
}

static void release_thread(const struct fst_held *held)
{
	pthread_sigmask(SIG_SETMASK, &held->before, NULL);
	pthread_setcancelstate(held->cancel_before, NULL);
}

void fst_lock_threads(struct fst_held *held)
{
	hold_thread(held);
	pthread_mutex_lock(&threads);
	depth++;
}

bool fst_try_lock_threads(struct fst_held *held)
{
	hold_thread(held);
	if (pthread_mutex_trylock(&threads) == 0) {
		if (depth == 0) {
			depth++;
			return true;
		}
		pthread_mutex_unlock(&threads);
	}
	release_thread(held);
	return false;
}

void fst_unlock_threads(struct fst_held *held)
{
	depth--;
	pthread_mutex_unlock(&threads);
	release_thread(held);
}

static void lock_file(short type)
{
	struct flock lock = { .l_type = type, .l_whence = SEEK_SET };

	while (lock_fd >= 0 && fcntl(lock_fd, F_SETLKW, &lock) < 0 && errno == EINTR)
		continue;
}

void fst_lock(struct fst_held *held)
{
	fst_lock_threads(held);
	lock_file(F_WRLCK);
}

void fst_unlock(struct fst_held *held)
{
	lock_file(F_UNLCK);
	fst_unlock_threads(held);
}

int fst_keep_away(int fd)
{
	if (fd < 0 || fd > STDERR_FILENO)
		return fd;

	int other = fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
	int error = errno;

	close(fd);
	errno = error;
	return other;
}

void fst_owner_set(int fd)
{
	if ((owner_uid != (uid_t)-1 || owner_gid != (gid_t)-1) &&
	    fchown(fd, owner_uid, owner_gid) < 0)
		return; /* the log or lock file is used even if the file's owner cannot be set */
}

static int open_lock_file(void)
{
	if (lock_path[0])
		return open(lock_path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	strcpy(lock_path, "/tmp/fstrace.lock.XXXXXX");

	int fd = mkostemp(lock_path, O_CLOEXEC);

	if (fd < 0)
		lock_path[0] = '\0';
	return fd;
}

int fst_lock_open(void)
{
	struct fst_held held;

	fst_lock_threads(&held);
	if (lock_fd < 0) {
		lock_fd = fst_keep_away(open_lock_file());
		lock_maker = getpid();
		if (lock_fd >= 0)
			fst_owner_set(lock_fd);
	}
	fst_unlock_threads(&held);
	return lock_fd < 0 ? -1 : 0;
}

void fstrace_set_lock_path(const char *path)
{
	if (lock_fd < 0 && !lock_path[0] && path && strlen(path) < sizeof(lock_path))
		strcpy(lock_path, path);
}

int fstrace_chown(uid_t uid, gid_t gid)
{
	owner_uid = uid;
	owner_gid = gid;
	return lock_fd < 0 ? 0 : fchown(lock_fd, uid, gid);
}

int fst_replace_fd(int old, int fd)
{
	if (fd < 0 || fd == old || old < 0)
		return fd;

	/*
	 * If the program has closed @old, another thread may open a file at any time, and the file
	 * may get the number @old. In this case dup3() would close the other thread's file.
	 * F_DUPFD_CLOEXEC takes the number @old only if this number is free.
	 */
	int moved = fcntl(fd, F_DUPFD_CLOEXEC, old);

	if (moved == old) {
		close(fd);
		return old;
	}
	if (moved >= 0)
		close(moved);
	return fd;
}

/* True when lock_fd still refers to the file at lock_path. */
static bool has_lock_file(void)
{
	struct stat by_fd, by_path;

	return fstat(lock_fd, &by_fd) == 0 && stat(lock_path, &by_path) == 0 &&
	       by_fd.st_ino == by_path.st_ino && by_fd.st_dev == by_path.st_dev;
}

int fstrace_reinit(void)
{
	struct fst_held held;

	fst_lock_threads(&held);
	if (lock_fd >= 0 && !has_lock_file()) {
		int fd = fst_keep_away(
			open(lock_path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));

		lock_fd = fst_replace_fd(lock_fd, fd);
	}
	fst_unlock_threads(&held);
	return 0;
}
