/* The folder that processes of a user share: access, its lock, and mappings of its files. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>

#include "posix/posix.h"
#include "tests/unit/lib/trace_place.h"

static int place;

/* The errors of the next calls; 0: none. */
static int mkdir_error, flock_errors[2];
static char made[256];
static mode_t made_mode;
static unsigned nr_flocks;
/* @nr_interrupted: the number of next allocations that a signal interrupts */
static unsigned nr_interrupted, nr_allocated;
static bool was_blocked, was_sigsys_blocked;
static bool has_no_fallocate; /* the file system lacks fallocate(2), and libc would write zeros */

int __real_mkdirat(int dir, const char *path, mode_t mode);
int __wrap_mkdirat(int dir, const char *path, mode_t mode);
int __real_flock(int fd, int operation);
int __wrap_flock(int fd, int operation);
/* The name that the library calls depends on the size of off_t. */
int __wrap_posix_fallocate(int fd, off_t at, off_t len);
int __wrap_posix_fallocate64(int fd, off_t at, off_t len);

int __wrap_mkdirat(int dir, const char *path, mode_t mode)
{
	snprintf(made, sizeof(made), "%s", path);
	made_mode = mode;
	if (!mkdir_error)
		return __real_mkdirat(dir, path, mode);
	errno = mkdir_error;
	return -1;
}

int __wrap_flock(int fd, int operation)
{
	int error = nr_flocks < 2 ? flock_errors[nr_flocks] : 0;

	nr_flocks++;
	if (!error)
		return __real_flock(fd, operation);
	errno = error;
	return -1;
}

int __wrap_posix_fallocate(int fd, off_t at, off_t len)
{
	sigset_t blocked;

	pthread_sigmask(SIG_SETMASK, NULL, &blocked);
	was_blocked = sigismember(&blocked, SIGALRM) == 1;
	was_sigsys_blocked = sigismember(&blocked, SIGSYS) == 1;
	if (nr_allocated++ < nr_interrupted)
		return EINTR;
	if (fallocate(fd, 0, at, len) == 0)
		return 0;
	has_no_fallocate = errno == EOPNOTSUPP;
	if (!has_no_fallocate)
		return errno;
	return ftruncate(fd, at + len) < 0 ? errno : 0;
}

int __wrap_posix_fallocate64(int fd, off_t at, off_t len)
{
	return __wrap_posix_fallocate(fd, at, len);
}

/*
 * Returns the lowest free descriptor. If code between two calls opens a descriptor and does not
 * close it, the second call returns another number.
 */
static int next_fd(void)
{
	int fd = dup(STDERR_FILENO);

	close(fd);
	return fd;
}

static int begin(void **state)
{
	trace_place_remove();
	mkdir_error = 0;
	memset(flock_errors, 0, sizeof(flock_errors));
	nr_flocks = nr_interrupted = nr_allocated = 0;
	setenv("UTRAIL_TRACE_DIR", trace_place_path, 1);
	if (mkdir(trace_place_above, 0700) < 0)
		return -1;
	place = pxt_place_open();
	return place < 0;
}

static int finish(void **state)
{
	return close(place);
}

TEST_WITH(names_have_a_kind_and_numbers, begin, finish)
{
	char name[64];

	pxt_place_name(name, 's', 7, 99);
	assert_string_equal(name, "s-7");
	pxt_place_name(name, 's', 0, 0);
	assert_string_equal(name, "s-0");
	pxt_place_name(name, 'p', 10, 0);
	assert_string_equal(name, "p-10-0");
	pxt_place_name(name, 'n', 4711, UINT64_MAX);
	assert_string_equal(name, "n-4711-18446744073709551615");
}

TEST_WITH(the_folder_is_made_for_its_user_only, begin, finish)
{
	struct stat st;

	assert_int_equal(fstat(place, &st), 0);
	assert_true(S_ISDIR(st.st_mode));
	assert_int_equal(st.st_mode & 0777, 0700);
	assert_true(fcntl(place, F_GETFD) & FD_CLOEXEC);
	assert_string_equal(made, trace_place_path);
	assert_int_equal(made_mode, 0700);
}

TEST_WITH(one_that_is_there_is_not_made, begin, finish)
{
	int free_fd = next_fd();

	assert_int_equal(rmdir(trace_place_path), 0);
	assert_int_equal(pxt_place_open_existing(), -ENOENT);
	assert_int_equal(access(trace_place_path, F_OK), -1);
	assert_int_equal(pxt_place_open(), free_fd);
	assert_int_equal(pxt_place_open_existing(), free_fd + 1);
	close(free_fd);
	close(free_fd + 1);
}

TEST_WITH(what_cannot_be_made_is_said, begin, finish)
{
	mkdir_error = ENOSPC;
	assert_int_equal(pxt_place_open(), -ENOSPC);
}

TEST_WITH(without_a_name_it_is_the_users_own, begin, finish)
{
	char wanted[64];

	snprintf(wanted, sizeof(wanted), "utrail-%u", (unsigned)geteuid());
	mkdir_error = EROFS;
	setenv("UTRAIL_TRACE_DIR", "", 1);
	assert_int_equal(pxt_place_open(), -EROFS);
	assert_string_equal(made, wanted);
	unsetenv("UTRAIL_TRACE_DIR");
	made[0] = '\0';
	assert_int_equal(pxt_place_open(), -EROFS);
	assert_string_equal(made, wanted);
}

TEST_WITH(one_that_others_may_write_to_is_none, begin, finish)
{
	static const struct {
		mode_t mode;
		bool is_good;
	} modes[] = {
		{ 0755, true }, { 0720, false }, { 0702, false }, { 0777, false }, { 0700, true }
	};
	int free_fd = next_fd();

	for (unsigned nr = 0; nr < sizeof(modes) / sizeof(modes[0]); nr++) {
		assert_int_equal(chmod(trace_place_path, modes[nr].mode), 0);
		assert_int_equal(pxt_place_open(), modes[nr].is_good ? free_fd : -EACCES);
		if (modes[nr].is_good)
			close(free_fd);
		assert_int_equal(next_fd(), free_fd);
	}
}

TEST_WITH(one_of_somebody_else_is_none, begin, finish)
{
	if (geteuid() != 0)
		skip_because("only root can give a folder away");
	assert_int_equal(chown(trace_place_path, 4711, 0), 0);
	assert_int_equal(pxt_place_open(), -EACCES);
	assert_int_equal(chown(trace_place_path, 0, 4711), 0);
	close(pxt_place_open());
}

TEST_WITH(only_a_folder_itself_is_one, begin, finish)
{
	char path[128];
	int fd;

	snprintf(path, sizeof(path), "%s/link", trace_place_above);
	assert_int_equal(symlink(trace_place_path, path), 0);
	setenv("UTRAIL_TRACE_DIR", path, 1);
	assert_true(pxt_place_open() < 0);
	assert_int_equal(unlink(path), 0);
	fd = open(path, O_CREAT | O_WRONLY, 0600);
	assert_true(fd >= 0);
	close(fd);
	assert_int_equal(pxt_place_open(), -ENOTDIR);
}

static bool is_locked(void)
{
	int fd = openat(place, "lock", O_RDWR);
	bool is = __real_flock(fd, LOCK_EX | LOCK_NB) < 0 && errno == EWOULDBLOCK;

	assert_true(fd >= 0);
	close(fd);
	return is;
}

TEST_WITH(the_lock_is_held_until_it_is_given_back, begin, finish)
{
	int lock = pxt_place_lock(place), copy;
	struct stat st;

	assert_true(lock >= 0);
	assert_int_equal(fstatat(place, "lock", &st, 0), 0);
	assert_int_equal(st.st_mode & 0777, 0600);
	assert_true(fcntl(lock, F_GETFD) & FD_CLOEXEC);
	assert_true(is_locked());
	/* A child would have such a copy of the descriptor. */
	copy = dup(lock);
	pxt_place_unlock(lock);
	assert_false(is_locked());
	assert_int_equal(fcntl(lock, F_GETFD), -1);
	close(copy);
}

TEST_WITH(a_signal_does_not_end_the_wait_for_the_lock, begin, finish)
{
	int lock;

	flock_errors[0] = flock_errors[1] = EINTR;
	lock = pxt_place_lock(place);
	assert_true(lock >= 0);
	assert_int_equal(nr_flocks, 3);
	assert_true(is_locked());
	pxt_place_unlock(lock);
}

TEST_WITH(without_a_lock_nothing_stays_open, begin, finish)
{
	int free_fd = next_fd();

	flock_errors[0] = EINTR;
	flock_errors[1] = ENOLCK;
	assert_int_equal(pxt_place_lock(place), -ENOLCK);
	assert_int_equal(next_fd(), free_fd);
	assert_int_equal(pxt_place_lock(-1), -EBADF);
}

static void make_file(const char *name, off_t bytes)
{
	int fd = openat(place, name, O_CREAT | O_RDWR | O_TRUNC, 0600);

	assert_true(fd >= 0);
	assert_int_equal(ftruncate(fd, bytes), 0);
	close(fd);
}

TEST_WITH(the_whole_of_a_file_is_mapped, begin, finish)
{
	int free_fd = next_fd();
	size_t bytes = 100;
	char *memory, back[3];
	int fd;

	make_file("x", 9000);
	memory = pxt_place_map(place, "x", &bytes);
	assert_non_null(memory);
	assert_int_equal(bytes, 9000);
	memcpy(memory + 8997, "abc", 3);
	fd = openat(place, "x", O_RDONLY);
	assert_int_equal(pread(fd, back, 3, 8997), 3);
	assert_memory_equal(back, "abc", 3);
	close(fd);
	munmap(memory, bytes);
	assert_int_equal(next_fd(), free_fd);
}

TEST_WITH(a_file_that_is_too_small_is_not_mapped, begin, finish)
{
	int free_fd = next_fd();
	size_t bytes = 4096;
	void *memory;

	make_file("x", 4095);
	assert_null(pxt_place_map(place, "x", &bytes));
	assert_int_equal(bytes, 4096);
	make_file("x", 4096);
	memory = pxt_place_map(place, "x", &bytes);
	assert_non_null(memory);
	munmap(memory, bytes);
	bytes = 0;
	make_file("x", 0);
	assert_null(pxt_place_map(place, "x", &bytes));
	make_file("x", 1);
	memory = pxt_place_map(place, "x", &bytes);
	assert_non_null(memory);
	assert_int_equal(bytes, 1);
	munmap(memory, bytes);
	assert_int_equal(next_fd(), free_fd);
}

TEST_WITH(a_file_that_is_too_large_is_not_mapped, begin, finish)
{
	size_t bytes = 1;
	void *memory;

	make_file("x", (off_t)2 * PT_SIZE_MAX + 1);
	assert_null(pxt_place_map(place, "x", &bytes));
	make_file("x", (off_t)2 * PT_SIZE_MAX);
	memory = pxt_place_map(place, "x", &bytes);
	assert_non_null(memory);
	assert_int_equal(bytes, (size_t)2 * PT_SIZE_MAX);
	munmap(memory, bytes);
}

TEST_WITH(what_is_no_file_is_not_mapped, begin, finish)
{
	int free_fd = next_fd();
	size_t bytes = 1;

	assert_null(pxt_place_map(place, "x", &bytes));
	assert_int_equal(mkfifoat(place, "x", 0600), 0);
	assert_null(pxt_place_map(place, "x", &bytes));
	make_file("y", 100);
	assert_int_equal(symlinkat("y", place, "z"), 0);
	assert_null(pxt_place_map(place, "z", &bytes));
	assert_int_equal(next_fd(), free_fd);
}

TEST_WITH(a_new_file_replaces_an_old_one_and_has_its_memory, begin, finish)
{
	int free_fd = next_fd(), error = 4711;
	struct stat st;
	char *memory;

	make_file("x", 20000);
	memory = pxt_place_make(place, "x", 8192, &error);
	assert_non_null(memory);
	assert_int_equal(error, 0);
	assert_int_equal(memory[0], 0);
	memory[8191] = 1;
	assert_int_equal(fstatat(place, "x", &st, 0), 0);
	assert_int_equal(st.st_size, 8192);
	assert_int_equal(st.st_mode & 0777, 0600);
	munmap(memory, 8192);
	assert_int_equal(next_fd(), free_fd);
	if (has_no_fallocate)
		skip_because("this file system allocates no memory at once");
	assert_true(st.st_blocks * 512 >= 8192);
}

TEST_WITH(a_signal_does_not_keep_a_file_from_being_made, begin, finish)
{
	sigset_t blocked;
	void *memory;
	int error;

	nr_interrupted = 3;
	memory = pxt_place_make(place, "x", 8192, &error);
	assert_non_null(memory);
	assert_int_equal(error, 0);
	assert_int_equal(nr_allocated, 4);
	assert_true(was_blocked);
	assert_false(was_sigsys_blocked);
	pthread_sigmask(SIG_SETMASK, NULL, &blocked);
	assert_int_equal(sigismember(&blocked, SIGALRM), 0);
	munmap(memory, 8192);
}

TEST_WITH(what_cannot_be_made_is_not_left, begin, finish)
{
	int free_fd = next_fd(), error = 0;

	assert_null(pxt_place_make(place, "no/x", 4096, &error));
	assert_int_equal(error, ENOENT);
	error = 0;
	assert_null(pxt_place_make(place, "x", (size_t)(1ULL << 62), &error));
	assert_int_not_equal(error, 0);
	assert_int_equal(faccessat(place, "x", F_OK, 0), -1);
	error = 0;
	assert_null(pxt_place_make(place, "x", 0, &error));
	assert_int_equal(error, EINVAL);
	assert_int_equal(faccessat(place, "x", F_OK, 0), -1);
	assert_int_equal(next_fd(), free_fd);
}

TEST_GROUP(trace_place_make, NULL)
