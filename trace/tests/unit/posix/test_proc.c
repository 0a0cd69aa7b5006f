/* Other processes: liveness, start time, parents; clocks and futexes. */
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>

#include "posix/posix.h"
#include "tests/unit/lib/trace_place.h"

/* Make a child of that name, which does nothing until it is killed. */
static pid_t make_child(const char *name)
{
	int pipes[2];
	char byte;
	pid_t pid;

	assert_int_equal(pipe(pipes), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		prctl(PR_SET_NAME, name);
		if (write(pipes[1], "x", 1) == 1)
			for (;;)
				pause();
		_exit(1);
	}
	assert_int_equal(read(pipes[0], &byte, 1), 1);
	close(pipes[0]);
	close(pipes[1]);
	return pid;
}

static void end_child(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

/* Kill the process, and leave its status unread. */
static void make_zombie(pid_t pid)
{
	siginfo_t info;

	kill(pid, SIGKILL);
	assert_int_equal(waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT), 0);
}

/* Returns field @nr of proc(5), read in another way than by the library. */
static unsigned long long field(pid_t pid, int nr)
{
	char path[64], text[1024];
	char *at;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	f = fopen(path, "r");
	assert_non_null(f);
	text[fread(text, 1, sizeof(text) - 1, f)] = '\0';
	fclose(f);
	at = strtok(strrchr(text, ')') + 2, " ");
	for (int i = 3; i < nr; i++)
		at = strtok(NULL, " ");
	return strtoull(at, NULL, 10);
}

TEST(a_process_has_a_path)
{
	char path[32];

	pxt_process_path(path, 4711);
	assert_string_equal(path, "/proc/4711/stat");
	pxt_process_path(path, 7);
	assert_string_equal(path, "/proc/7/stat");
	pxt_process_path(path, 10);
	assert_string_equal(path, "/proc/10/stat");
	pxt_process_path(path, 4194304);
	assert_string_equal(path, "/proc/4194304/stat");
}

TEST(this_process_has_begun_and_has_a_parent)
{
	uint64_t start = 0;

	assert_int_equal(pxt_process_start(getpid(), &start), 0);
	assert_int_equal(start, field(getpid(), 22));
	assert_int_equal(pxt_process_parent(getpid()), getppid());
	assert_true(pxt_process_is_alive(getpid(), start));
	assert_false(pxt_process_is_alive(getpid(), start + 1));
	assert_false(pxt_process_is_alive(getpid(), start - 1));
	assert_false(pxt_process_is_dead(getpid()));
}

TEST(a_name_with_brackets_hides_nothing)
{
	static const char *names[] = { "a) Z 1 (b", ") ) )", "x y z", "" };

	for (unsigned nr = 0; nr < sizeof(names) / sizeof(names[0]); nr++) {
		pid_t pid = make_child(names[nr]);
		uint64_t start;

		assert_int_equal(pxt_process_start(pid, &start), 0);
		assert_int_equal(start, field(pid, 22));
		assert_int_equal(pxt_process_parent(pid), getpid());
		assert_false(pxt_process_is_dead(pid));
		assert_false(pxt_process_first_is_dead(pid));
		end_child(pid);
	}
}

TEST(one_that_nobody_has_looked_after_is_dead)
{
	pid_t pid = make_child("zombie");
	uint64_t start = 4711;

	make_zombie(pid);
	errno = 77;
	assert_true(pxt_process_is_dead(pid));
	assert_int_equal(errno, 77);
	assert_true(pxt_process_first_is_dead(pid));
	assert_int_equal(pxt_process_start(pid, &start), -ESRCH);
	assert_int_equal(start, 4711);
	assert_int_equal(pxt_process_parent(pid), 0);
	end_child(pid);
	errno = 78;
	assert_true(pxt_process_is_dead(pid));
	assert_int_equal(errno, 78);
	assert_int_equal(pxt_process_start(pid, &start), -ESRCH);
	assert_false(pxt_process_is_alive(pid, start));
}

TEST(what_is_no_pid_is_nobody)
{
	uint64_t start;

	assert_int_equal(pxt_process_start(0, &start), -ESRCH);
	assert_int_equal(pxt_process_start(-1, &start), -ESRCH);
	assert_int_equal(pxt_process_parent(-getpid()), 0);
	assert_false(pxt_process_is_dead(0));
	assert_false(pxt_process_is_dead(-1));
	assert_false(pxt_process_is_dead(-getpid()));
}

static int sees_that_init_lives(void *arg)
{
	if (setuid(4711) < 0)
		return 0;
	CHILD_CHECK(kill(1, 0) < 0 && errno == EPERM);
	CHILD_CHECK(!pxt_process_is_dead(1));
	return 0;
}

TEST(one_of_somebody_else_is_not_dead)
{
	assert_int_equal(trace_place_in_child(sees_that_init_lives, NULL), 0);
}

TEST(nothing_stays_open)
{
	int fd = dup(STDERR_FILENO);
	uint64_t start;

	close(fd);
	pxt_process_start(getpid(), &start);
	assert_int_equal(dup(STDERR_FILENO), fd);
	close(fd);
}

TEST(clocks_are_in_nanoseconds)
{
	struct timespec before, after;
	uint64_t now;

	clock_gettime(CLOCK_MONOTONIC, &before);
	now = pxt_clock_ns(CLOCK_MONOTONIC);
	clock_gettime(CLOCK_MONOTONIC, &after);
	assert_in_range(now, before.tv_sec * 1000000000ULL + before.tv_nsec,
			after.tv_sec * 1000000000ULL + after.tv_nsec);
	assert_int_equal(pxt_clock_ns((clockid_t)12345), 0);
}

TEST(nanoseconds_are_seconds_and_the_rest)
{
	struct timespec time = pxt_timespec(12999999999);

	assert_int_equal(time.tv_sec, 12);
	assert_int_equal(time.tv_nsec, 999999999);
	time = pxt_timespec(13000000000);
	assert_int_equal(time.tv_sec, 13);
	assert_int_equal(time.tv_nsec, 0);
}

TEST(a_futex_waits_until_a_time)
{
	_Atomic uint32_t word = 5;

	assert_int_equal(pxt_futex(&word, FUTEX_WAIT_BITSET, 4, NULL), -1);
	assert_int_equal(errno, EAGAIN);
	assert_int_equal(pxt_futex(&word, FUTEX_WAIT_BITSET, 5, &(struct timespec){ 1, 0 }), -1);
	assert_int_equal(errno, ETIMEDOUT);
	assert_int_equal(
		pxt_futex(&word, FUTEX_WAIT_BITSET, 5, &(struct timespec){ 0, 1000000000 }), -1);
	assert_int_equal(errno, EINVAL);
}

static _Atomic uint32_t sleepers_word;
static _Atomic int nr_awake;

static void *sleep_in_futex(void *arg)
{
	while (!atomic_load(&sleepers_word))
		pxt_futex(&sleepers_word, FUTEX_WAIT_BITSET, 0, NULL);
	atomic_fetch_add(&nr_awake, 1);
	return NULL;
}

TEST(all_who_sleep_are_woken_and_errno_stays)
{
	pthread_t threads[3];

	for (int nr = 0; nr < 3; nr++)
		assert_int_equal(pthread_create(&threads[nr], NULL, sleep_in_futex, NULL), 0);
	usleep(20000);
	atomic_store(&sleepers_word, 1);
	errno = 99;
	pxt_futex_wake(&sleepers_word);
	assert_int_equal(errno, 99);
	pxt_futex_wake(NULL);
	assert_int_equal(errno, 99);
	for (int nr = 0; nr < 3; nr++)
		pthread_join(threads[nr], NULL);
	assert_int_equal(atomic_load(&nr_awake), 3);
}

TEST_GROUP(trace_place_make, NULL)
