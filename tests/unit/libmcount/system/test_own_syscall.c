/* The probe's own system calls: their results, the program's errno, and calls that are forbidden. */
#include "libmcount/system/own_syscall.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "tests/unit/lib/unit.h"
#include "utils/base/compiler.h"

/* An errno that none of the calls sets. */
#define PROGRAMS_ERRNO 4000

static void forbid(long number)
{
	atomic_store(&seal.is_on, true);
	atomic_fetch_or(&seal.forbidden[number / 8], 1U << number % 8);
}

static int allow_all(void **state)
{
	memset(&seal, 0, sizeof(seal));
	return 0;
}

TEST(readable_memory)
{
	size_t page = sysconf(_SC_PAGESIZE);
	char *two = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
			 0);

	assert_ptr_not_equal(two, MAP_FAILED);
	assert_int_equal(mprotect(two + page, page, PROT_NONE), 0);

	const struct {
		const void *at;
		bool expected;
	} cases[] = {
		{ two, true },
		{ two + page - 8, true },
		{ two + page - 7, false },
		{ two + page - 1, false },
		{ two + page, false },
		{ NULL, false },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		errno = PROGRAMS_ERRNO;
		assert_int_equal(own_is_readable((uintptr_t)cases[i].at), cases[i].expected);
		assert_int_equal(errno, PROGRAMS_ERRNO);
	}
	munmap(two, 2 * page);
}

TEST(readable_memory_is_not_known_without_the_call)
{
	uint64_t word = 1;

	forbid(SYS_rt_sigprocmask);
	errno = PROGRAMS_ERRNO;
	assert_false(own_is_readable((uintptr_t)&word));
	assert_int_equal(errno, PROGRAMS_ERRNO);
}

TEST(files_are_read_and_closed)
{
	char name[] = "/tmp/own_syscall.XXXXXX";
	char text[16] = "";
	int fd = mkstemp(name);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, "some text", 9), 9);
	assert_int_equal(own_read_file(name, text, sizeof(text)), 9);
	assert_memory_equal(text, "some text", 9);
	assert_int_equal(own_read_file(name, text, 4), 4);
	/* No descriptor stays open: the next one is the next number. */
	int next = dup(fd);

	assert_int_equal(next, fd + 1);
	close(next);
	close(fd);
	unlink(name);
	assert_int_equal(own_read_file(name, text, sizeof(text)), -1);
}

TEST(files_are_not_opened_when_one_of_the_calls_is_forbidden)
{
	const long numbers[] = { SYS_openat, SYS_read, SYS_close };
	char text[16];

	for (size_t i = 0; i < ARRAY_SIZE(numbers); i++) {
		memset(&seal, 0, sizeof(seal));
		forbid(numbers[i]);
		assert_false(seal_allows_file());
		assert_int_equal(own_read_file("/proc/self/comm", text, sizeof(text)), -1);
	}
}

TEST(a_forbidden_call_is_not_made)
{
	const long unknown[] = { -1, SEAL_NUMBERS, SEAL_NUMBERS + 64 };

	forbid(SYS_getppid);
	errno = 0;
	assert_int_equal(own_syscall(SYS_getppid), -1);
	assert_int_equal(errno, EPERM);
	assert_int_equal(own_syscall(SYS_getpid), getpid());
	for (size_t i = 0; i < ARRAY_SIZE(unknown); i++)
		assert_false(seal_allows(unknown[i]));
	atomic_store(&seal.is_on, false);
	assert_int_equal(own_syscall(SYS_getppid), getppid());
}

static volatile sig_atomic_t nr_signals;

static void note_signal(int number)
{
	nr_signals++;
}

TEST(signals_wait_for_the_end_of_the_quiet_time)
{
	uint64_t mask = UINT64_MAX;
	sigset_t before, after;

	signal(SIGUSR1, note_signal);
	sigprocmask(SIG_SETMASK, NULL, &before);
	assert_true(own_quiet_begin(&mask));
	raise(SIGUSR1);
	assert_int_equal(nr_signals, 0);
	own_quiet_end(mask);
	assert_int_equal(nr_signals, 1);
	sigprocmask(SIG_SETMASK, NULL, &after);
	for (int number = 1; number < 65; number++)
		assert_int_equal(sigismember(&after, number), sigismember(&before, number));
	forbid(SYS_rt_sigprocmask);
	assert_false(own_quiet_begin(&mask));
}

TEST_GROUP(allow_all, allow_all)
