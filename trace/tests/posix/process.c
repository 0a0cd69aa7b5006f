/*
 * Conformance with several processes: tracing of others, inheritance in children, and killed
 * processes.
 */
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "point.h"
#include "posix/posix.h"

extern char **environ;

static void wait_well(pid_t pid)
{
	int status = -1;

	CHECK_IS(waitpid(pid, &status, 0), pid);
	CHECK_IS(status, 0);
}

/* --- a process that joins --- */

static void *open_name(void *name)
{
	return (void *)(uintptr_t)open_id(name);
}

/* The first thread waits for the folder's lock. The second one waits for the first one. */
POINT(names_that_two_threads_open_first_have_both_an_id)
{
	int place = pxt_place_open(), lock = pxt_place_lock(place);
	pthread_t threads[2];
	void *ids[2];

	CHECK(lock >= 0);
	CHECK_IS(pthread_create(&threads[0], NULL, open_name, "a"), 0);
	CHECK_IS(pthread_create(&threads[1], NULL, open_name, "b"), 0);
	usleep(100000);
	pxt_place_unlock(lock);
	close(place);
	for (int nr = 0; nr < 2; nr++)
		CHECK_IS(pthread_join(threads[nr], &ids[nr]), 0);
	CHECK((uintptr_t)ids[0] != POSIX_TRACE_UNNAMED_USER_EVENT);
	CHECK((uintptr_t)ids[1] != POSIX_TRACE_UNNAMED_USER_EVENT);
	CHECK(ids[0] != ids[1]);
}

/* Two processes that take turns. */
struct turns {
	int to_child[2], to_parent[2];
};

static void make_turns(struct turns *turns)
{
	CHECK(pipe(turns->to_child) == 0 && pipe(turns->to_parent) == 0);
}

static void tell(int fd)
{
	CHECK_IS(write(fd, "x", 1), 1);
}

static void await(int fd)
{
	char c;

	CHECK_IS(read(fd, &c, 1), 1);
}

static trace_id_t make_inherited(size_t nr_small, int policy)
{
	trace_attr_t attr;

	small_attr(&attr, policy, nr_small);
	posix_trace_attr_setinherited(&attr, POSIX_TRACE_INHERITED);
	return make_running(&attr);
}

/* Inheritance */

POINT(child_of_a_process_whose_stream_closes_for_children_is_not_traced)
{
	trace_event_id_t id = open_id("x");
	trace_id_t trid = make_running(NULL);
	struct seen seen;
	pid_t pid = make_child();

	if (pid == 0) {
		write_numbers(id, 1, 1);
		exit(0);
	}
	wait_well(pid);
	write_numbers(id, 2, 1);
	expect_started(trid, id, &seen);
	CHECK_IS(number_of(&seen), 2);
	expect_nothing(trid);
}

POINT(child_that_inherits_is_traced_into_the_same_stream_with_the_same_ids)
{
	trace_event_id_t id = open_id("x");
	trace_id_t trid = make_inherited(1000, POSIX_TRACE_LOOP);
	struct seen seen;
	pid_t pid = make_child();

	if (pid == 0) {
		CHECK_IS(open_id("x"), id);
		write_numbers(id, 1, 1);
		exit(0);
	}
	wait_well(pid);
	expect_started(trid, id, &seen);
	CHECK_IS(number_of(&seen), 1);
	CHECK_IS(seen.info.posix_pid, pid);
}

POINT(grandchild_inherits_too)
{
	trace_event_id_t id = open_id("x");
	trace_id_t trid = make_inherited(1000, POSIX_TRACE_LOOP);
	struct seen seen;
	pid_t pid = make_child();

	if (pid == 0) {
		pid = make_child();
		if (pid == 0) {
			write_numbers(id, 1, 1);
			exit(0);
		}
		wait_well(pid);
		exit(0);
	}
	wait_well(pid);
	expect_started(trid, id, &seen);
	CHECK(seen.info.posix_pid != pid && seen.info.posix_pid != getpid());
}

POINT(names_that_parent_and_child_open_after_the_fork_have_different_ids)
{
	trace_id_t trid = make_inherited(1000, POSIX_TRACE_LOOP);
	char name[TRACE_EVENT_NAME_MAX + 1];
	trace_event_id_t id;
	struct seen seen;
	pid_t pid = make_child();

	if (pid == 0) {
		write_numbers(open_id("of the child"), 1, 1);
		exit(0);
	}
	id = open_id("of the parent");
	wait_well(pid);
	expect(trid, POSIX_TRACE_START, &seen);
	CHECK(try_next(trid, &seen));
	CHECK(seen.info.posix_event_id != id);
	CHECK_IS(posix_trace_eventid_get_name(trid, seen.info.posix_event_id, name), 0);
	CHECK(!strcmp(name, "of the child"));
}

POINT(names_of_a_child_that_does_not_inherit_begin_with_those_of_the_parent)
{
	trace_event_id_t id = open_id("x");
	pid_t pid = make_child();

	if (pid == 0) {
		CHECK_IS(open_id("x"), id);
		exit(0);
	}
	wait_well(pid);
}

POINT(trid_of_the_parent_is_einval_in_a_child)
{
	trace_id_t trid = make_running(NULL);
	pid_t pid = make_child();

	if (pid == 0) {
		struct posix_trace_status_info status;
		struct seen seen;

		CHECK_IS(posix_trace_stop(trid), EINVAL);
		CHECK_IS(posix_trace_get_status(trid, &status), EINVAL);
		CHECK_IS(posix_trace_shutdown(trid), EINVAL);
		CHECK_IS(posix_trace_trygetnext_event(trid, &seen.info, NULL, 0, &seen.len,
						      &seen.unavailable),
			 EINVAL);
		exit(0);
	}
	wait_well(pid);
	CHECK_IS(status_of(trid).posix_stream_status, POSIX_TRACE_RUNNING);
}

POINT(stream_of_the_parent_goes_on_when_a_child_ends)
{
	trace_event_id_t id = open_id("x");
	trace_id_t trid = make_inherited(1000, POSIX_TRACE_LOOP);
	struct seen seen;
	pid_t pid = make_child();

	if (pid == 0)
		exit(0);
	wait_well(pid);
	write_numbers(id, 3, 1);
	expect_started(trid, id, &seen);
}

POINT(child_makes_streams_of_its_own)
{
	trace_id_t trid = make_running(NULL);
	trace_event_id_t id = open_id("x");
	struct seen seen;
	pid_t pid = make_child();

	if (pid == 0) {
		trid = make_running(NULL);
		write_numbers(id, 9, 1);
		expect_started(trid, id, &seen);
		CHECK_IS(posix_trace_shutdown(trid), 0);
		exit(0);
	}
	wait_well(pid);
	expect(trid, POSIX_TRACE_START, &seen);
	expect_nothing(trid);
}

/* Signal handlers that fork: the child returns to the function that was interrupted. */

static pid_t forked = -1;
static void *volatile no_access;

static void fork_in_handler(int signal_number)
{
	if (no_access)
		mprotect(no_access, 4096, PROT_READ);
	if (forked < 0)
		forked = make_child();
}

POINT(child_of_a_handler_that_interrupts_an_event_goes_on)
{
	trace_event_id_t id = open_id("x");
	trace_id_t trids[] = { make_running(NULL), make_inherited(1000, POSIX_TRACE_LOOP),
			       make_running(NULL) };
	struct turns turns;
	struct seen seen;

	make_turns(&turns);
	/* The data cannot be read, so the handler interrupts the first stream. */
	no_access = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	CHECK(no_access != MAP_FAILED);
	signal(SIGSEGV, fork_in_handler);
	posix_trace_event(id, no_access, 4);
	if (forked == 0) {
		await(turns.to_child[0]);
		write_numbers(id, 1, 1);
		exit(0);
	}
	tell(turns.to_child[1]);
	wait_well(forked);
	for (int nr = 0; nr < 3; nr++) {
		expect_started(trids[nr], id, &seen);
		CHECK_IS(seen.info.posix_pid, getpid());
		if (nr == 1) {
			expect(trids[nr], id, &seen);
			CHECK_IS(seen.info.posix_pid, forked);
		}
		expect_nothing(trids[nr]);
	}
}

POINT(child_of_a_handler_that_interrupts_getnext_goes_on)
{
	const struct sigaction action = { .sa_handler = fork_in_handler };
	trace_id_t trid = make_running(NULL);
	struct timespec until;
	struct seen seen;
	int error;

	expect(trid, POSIX_TRACE_START, &seen);
	sigaction(SIGALRM, &action, NULL);
	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += 2;
	ualarm(50000, 0);
	error = posix_trace_timedgetnext_event(trid, &seen.info, seen.data, sizeof(seen.data),
					       &seen.len, &seen.unavailable, &until);
	/* On a busy machine the signal may come before the wait, or before the call. */
	CHECK(error == EINTR || error == ETIMEDOUT || (forked == 0 && error == EINVAL));
	/* If all of this took place late, the time was over before the signal came. */
	while (forked < 0)
		usleep(1000);
	if (forked == 0)
		exit(0);
	wait_well(forked);
}

static int count_descriptors_of(const struct stat *file)
{
	struct stat st;
	int nr = 0;

	for (int fd = 0; fd < 100; fd++)
		nr += fstat(fd, &st) == 0 && st.st_ino == file->st_ino && st.st_dev == file->st_dev;
	return nr;
}

/* If a handler interrupted a flush and forked, both processes would write the log. */
POINT(child_cannot_write_the_log_of_its_parent)
{
	int fd = make_file();
	trace_id_t trid = make_log(fd, NULL);
	struct stat file;
	pid_t pid;

	CHECK_IS(fstat(fd, &file), 0);
	close(fd);
	CHECK_IS(count_descriptors_of(&file), 1);
	pid = make_child();
	if (pid == 0) {
		CHECK_IS(count_descriptors_of(&file), 0);
		exit(0);
	}
	wait_well(pid);
	CHECK_IS(posix_trace_shutdown(trid), 0);
}

/*
 * The work of this program when a point executes it by its name. @what: the word in its environment
 * that selects the work.
 */
static void run_program(const char *what)
{
	trace_event_id_t id = open_id("of the program");

	write_numbers(id, 77, 1);
	if (!strcmp(what, "owner"))
		_exit(id == 0);
	_exit(0);
}

__attribute__((constructor(65535))) static void begin(void)
{
	const char *what = getenv("UTRAIL_POSIX_PROGRAM");

	if (what)
		run_program(what);
}

static void expect_program(trace_id_t trid, pid_t pid)
{
	char name[TRACE_EVENT_NAME_MAX + 1];
	struct seen seen;

	expect(trid, POSIX_TRACE_START, &seen);
	CHECK(try_next(trid, &seen));
	CHECK_IS(number_of(&seen), 77);
	CHECK_IS(seen.info.posix_pid, pid);
	CHECK_IS(posix_trace_eventid_get_name(trid, seen.info.posix_event_id, name), 0);
	CHECK(!strcmp(name, "of the program"));
}

POINT(program_that_a_traced_child_executes_is_traced)
{
	trace_id_t trid = make_inherited(1000, POSIX_TRACE_LOOP);
	pid_t pid = make_child();

	if (pid == 0) {
		setenv("UTRAIL_POSIX_PROGRAM", "writes", 1);
		execl("/proc/self/exe", "points", (char *)NULL);
		_exit(1);
	}
	wait_well(pid);
	expect_program(trid, pid);
}

POINT(program_that_was_spawned_is_traced_as_a_child_is)
{
	trace_id_t trid = make_inherited(1000, POSIX_TRACE_LOOP);
	char *words[] = { "points", NULL };
	pid_t pid;

	setenv("UTRAIL_POSIX_PROGRAM", "writes", 1);
	CHECK_IS(posix_spawn(&pid, "/proc/self/exe", NULL, NULL, words, environ), 0);
	wait_well(pid);
	expect_program(trid, pid);
}

POINT(program_that_was_spawned_is_not_traced_when_streams_close_for_children)
{
	trace_id_t trid = make_running(NULL);
	char *words[] = { "points", NULL };
	struct seen seen;
	pid_t pid;

	setenv("UTRAIL_POSIX_PROGRAM", "writes", 1);
	CHECK_IS(posix_spawn(&pid, "/proc/self/exe", NULL, NULL, words, environ), 0);
	wait_well(pid);
	expect(trid, POSIX_TRACE_START, &seen);
	expect_nothing(trid);
}

POINT(controller_that_executes_a_program_gives_its_streams_back)
{
	trace_id_t trids[TRACE_SYS_MAX - 1];
	struct turns turns;
	pid_t pid;

	for (int nr = 0; nr < TRACE_SYS_MAX - 1; nr++)
		trids[nr] = make_stream(NULL);
	make_turns(&turns);
	pid = make_child();
	if (pid == 0) {
		make_running(NULL);
		setenv("UTRAIL_POSIX_PROGRAM", "owner", 1);
		execl("/proc/self/exe", "points", (char *)NULL);
		_exit(1);
	}
	wait_well(pid);
	make_stream(NULL);
	posix_trace_shutdown(trids[0]);
}

/* Another process */

static pid_t fork_target(struct turns *turns, bool joins)
{
	pid_t pid;

	make_turns(turns);
	pid = make_child();
	if (pid != 0)
		return pid;
	if (joins)
		open_id("before");
	tell(turns->to_parent[1]);
	await(turns->to_child[0]);
	write_numbers(open_id("before"), 1, 3);
	write_numbers(open_id("behind"), 4, 1);
	tell(turns->to_parent[1]);
	await(turns->to_child[0]);
	exit(0);
}

static void trace_target(bool joins)
{
	char name[TRACE_EVENT_NAME_MAX + 1];
	struct turns turns;
	pid_t pid = fork_target(&turns, joins);
	trace_id_t trid = -1;
	struct seen seen;

	await(turns.to_parent[0]);
	CHECK_IS(posix_trace_create(pid, NULL, &trid), 0);
	CHECK_IS(posix_trace_start(trid), 0);
	tell(turns.to_child[1]);
	await(turns.to_parent[0]);
	expect(trid, POSIX_TRACE_START, &seen);
	for (int nr = 1; nr <= 4; nr++) {
		CHECK(try_next(trid, &seen));
		CHECK_IS(number_of(&seen), nr);
		CHECK_IS(seen.info.posix_pid, pid);
		CHECK_IS(posix_trace_eventid_get_name(trid, seen.info.posix_event_id, name), 0);
		CHECK(!strcmp(name, nr < 4 ? "before" : "behind"));
	}
	expect_nothing(trid);
	tell(turns.to_child[1]);
	wait_well(pid);
	CHECK_IS(posix_trace_shutdown(trid), 0);
}

POINT(create_for_another_process_gets_its_events)
{
	trace_target(true);
}

POINT(create_for_another_process_that_has_not_called_us_yet_gets_its_events)
{
	trace_target(false);
}

POINT(create_for_another_process_leaves_the_own_events_out)
{
	struct turns turns;
	pid_t pid = fork_target(&turns, true);
	trace_id_t trid = -1;
	struct seen seen;

	await(turns.to_parent[0]);
	CHECK_IS(posix_trace_create(pid, NULL, &trid), 0);
	CHECK_IS(posix_trace_start(trid), 0);
	write_numbers(open_id("own"), 1, 5);
	expect(trid, POSIX_TRACE_START, &seen);
	expect_nothing(trid);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

POINT(names_of_the_controller_are_known_to_the_other_process)
{
	char name[TRACE_EVENT_NAME_MAX + 1];
	trace_event_id_t id = 0;
	struct turns turns;
	pid_t pid = fork_target(&turns, true);
	trace_id_t trid = -1;
	struct seen seen;

	await(turns.to_parent[0]);
	CHECK_IS(posix_trace_create(pid, NULL, &trid), 0);
	CHECK_IS(posix_trace_start(trid), 0);
	CHECK_IS(posix_trace_trid_eventid_open(trid, "behind", &id), 0);
	tell(turns.to_child[1]);
	await(turns.to_parent[0]);
	do
		CHECK(try_next(trid, &seen));
	while (seen.info.posix_event_id != id);
	CHECK_IS(number_of(&seen), 4);
	CHECK_IS(posix_trace_eventid_get_name(trid, id, name), 0);
	CHECK(!strcmp(name, "behind"));
	tell(turns.to_child[1]);
	wait_well(pid);
}

POINT(process_goes_on_when_its_controller_shuts_down_and_makes_another_stream)
{
	struct turns turns;
	pid_t pid = fork_target(&turns, true);
	trace_id_t trid = -1;
	struct seen seen;

	await(turns.to_parent[0]);
	for (int nr = 0; nr < 5; nr++) {
		CHECK_IS(posix_trace_create(pid, NULL, &trid), 0);
		CHECK_IS(posix_trace_start(trid), 0);
		if (nr < 4)
			CHECK_IS(posix_trace_shutdown(trid), 0);
	}
	tell(turns.to_child[1]);
	await(turns.to_parent[0]);
	expect(trid, POSIX_TRACE_START, &seen);
	CHECK(try_next(trid, &seen));
	CHECK_IS(number_of(&seen), 1);
	CHECK_IS(posix_trace_shutdown(trid), 0);
	tell(turns.to_child[1]);
	wait_well(pid);
}

POINT(stream_of_a_process_that_was_killed_can_be_read)
{
	struct turns turns;
	pid_t pid = fork_target(&turns, true);
	trace_id_t trid = -1;
	struct seen seen;

	await(turns.to_parent[0]);
	CHECK_IS(posix_trace_create(pid, NULL, &trid), 0);
	CHECK_IS(posix_trace_start(trid), 0);
	tell(turns.to_child[1]);
	await(turns.to_parent[0]);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	expect(trid, POSIX_TRACE_START, &seen);
	for (int nr = 1; nr <= 4; nr++) {
		CHECK(try_next(trid, &seen));
		CHECK_IS(number_of(&seen), nr);
	}
	CHECK_IS(posix_trace_shutdown(trid), 0);
	CHECK_IS(posix_trace_create(pid, NULL, &trid), ESRCH);
}

POINT(streams_of_an_owner_that_was_killed_are_given_back)
{
	trace_id_t trids[TRACE_SYS_MAX], trid;
	pid_t pid;

	for (int round = 0; round < 3; round++) {
		pid = make_child();
		if (pid == 0) {
			for (int nr = 0; nr < TRACE_SYS_MAX; nr++)
				trids[nr] = make_small(POSIX_TRACE_LOOP, 64);
			CHECK_IS(posix_trace_create(0, NULL, &trid), EAGAIN);
			kill(getpid(), SIGKILL);
		}
		waitpid(pid, NULL, 0);
	}
	for (int nr = 0; nr < TRACE_SYS_MAX; nr++)
		trids[nr] = make_small(POSIX_TRACE_LOOP, 64);
	CHECK_IS(posix_trace_shutdown(trids[0]), 0);
}

POINT(process_whose_controller_was_killed_goes_on_and_can_be_traced_again)
{
	trace_event_id_t id = open_id("x");
	struct turns turns;
	trace_id_t trid;
	struct seen seen;
	pid_t pid, self = getpid();

	make_turns(&turns);
	pid = make_child();
	if (pid == 0) {
		CHECK_IS(posix_trace_create(self, NULL, &trid), 0);
		CHECK_IS(posix_trace_start(trid), 0);
		tell(turns.to_parent[1]);
		pause();
	}
	await(turns.to_parent[0]);
	write_numbers(id, 0, 100000);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	write_numbers(id, 0, 100000);
	trid = make_running(NULL);
	write_numbers(id, 5, 1);
	expect_started(trid, id, &seen);
	CHECK_IS(number_of(&seen), 5);
}

/* Storms */

#define NR_PROCESSES 8
#define NR_THREADS   8

/*
 * The data of an event of the storm. Events must come complete, and those of each thread in order.
 */
struct drop {
	int process, thread, number;
	unsigned char more[80];
};

static trace_event_id_t storm_id;
static int storm_process, storm_nr;

static void *blow(void *thread)
{
	struct drop drop = { storm_process, (int)(intptr_t)thread, 0, { 0 } };

	for (; drop.number < storm_nr; drop.number++) {
		size_t len = (size_t)(drop.number * 7 + drop.thread) % sizeof(drop.more);

		memset(drop.more, drop.number, sizeof(drop.more));
		posix_trace_event(storm_id, &drop, offsetof(struct drop, more) + len);
	}
	return NULL;
}

static pid_t fork_storm(int process)
{
	pthread_t threads[NR_THREADS];
	pid_t pid = make_child();

	if (pid != 0)
		return pid;
	storm_process = process;
	for (intptr_t nr = 0; nr < NR_THREADS; nr++)
		CHECK_IS(pthread_create(&threads[nr], NULL, blow, (void *)nr), 0);
	for (int nr = 0; nr < NR_THREADS; nr++)
		pthread_join(threads[nr], NULL);
	exit(0);
}

static void check_drop(const struct seen *seen, int last[NR_PROCESSES][NR_THREADS])
{
	struct drop drop;
	size_t len;

	memset(&drop, 0, sizeof(drop));
	memcpy(&drop, seen->data, seen->len);
	CHECK(drop.process >= 0 && drop.process < NR_PROCESSES);
	CHECK(drop.thread >= 0 && drop.thread < NR_THREADS);
	len = (size_t)(drop.number * 7 + drop.thread) % sizeof(drop.more);
	CHECK_IS(seen->len, offsetof(struct drop, more) + len);
	for (size_t at = 0; at < len; at++)
		CHECK_IS(drop.more[at], (unsigned char)drop.number);
	CHECK(drop.number > last[drop.process][drop.thread]);
	last[drop.process][drop.thread] = drop.number;
}

static bool is_over_with(pid_t pid, bool may_be_killed)
{
	int status = 0;

	if (waitpid(pid, &status, WNOHANG) != pid)
		return false;
	CHECK(status == 0 || may_be_killed);
	return true;
}

/*
 * Returns the number of events that were read. With @kills, filters change meanwhile, and a process
 * is killed.
 */
static long read_storm(trace_id_t trid, pid_t *pids, bool kills)
{
	int last[NR_PROCESSES][NR_THREADS], nr_left = NR_PROCESSES;
	trace_event_set_t set;
	struct seen seen;
	long nr_read = 0;

	memset(last, -1, sizeof(last));
	posix_trace_eventset_fill(&set, POSIX_TRACE_SYSTEM_EVENTS);
	for (long round = 1;; round++) {
		bool is_over = nr_left == 0;

		while (try_next(trid, &seen)) {
			if (seen.info.posix_event_id != storm_id)
				continue;
			check_drop(&seen, last);
			if (++nr_read % 1000 == 0 && kills)
				posix_trace_set_filter(trid, &set,
						       nr_read % 2000 ? POSIX_TRACE_ADD_EVENTSET
								      : POSIX_TRACE_SUB_EVENTSET);
			if (kills && nr_read == 5000 && pids[0] > 0)
				kill(pids[0], SIGKILL);
		}
		if (is_over)
			return nr_read;
		for (int nr = 0; nr < NR_PROCESSES; nr++) {
			if (pids[nr] && is_over_with(pids[nr], kills)) {
				pids[nr] = 0;
				nr_left--;
			}
		}
		usleep(100);
	}
}

static trace_id_t begin_storm(pid_t pids[NR_PROCESSES], int nr_events)
{
	trace_event_set_t set;
	trace_id_t trid;

	storm_id = open_id("drop");
	storm_nr = getenv("UTRAIL_STORM") ? atoi(getenv("UTRAIL_STORM")) : nr_events;
	/* The stream filters system events out, since the test does not count them. */
	trid = make_inherited(512, POSIX_TRACE_LOOP);
	posix_trace_eventset_fill(&set, POSIX_TRACE_SYSTEM_EVENTS);
	posix_trace_set_filter(trid, &set, POSIX_TRACE_SET_EVENTSET);
	posix_trace_clear(trid);
	for (int nr = 0; nr < NR_PROCESSES; nr++)
		pids[nr] = fork_storm(nr);
	return trid;
}

POINT(storm_of_processes_and_threads_tears_no_event_and_counts_what_is_lost)
{
	pid_t pids[NR_PROCESSES];
	trace_id_t trid = begin_storm(pids, 500);
	long nr_read = read_storm(trid, pids, false);

	CHECK_IS(nr_read + (long)status_of(trid).posix_stream_lost_events,
		 (long)storm_nr * NR_PROCESSES * NR_THREADS);
}

POINT(storm_in_which_filters_change_and_processes_are_killed_ends)
{
	pid_t pids[NR_PROCESSES];
	trace_id_t trid = begin_storm(pids, 500);
	long nr_read = read_storm(trid, pids, true);

	CHECK(nr_read > 0);
	/* Tracing goes on after processes were killed. */
	CHECK_IS(posix_trace_clear(trid), 0);
	write_numbers(open_id("behind"), 1, 1);
	CHECK_IS(posix_trace_shutdown(trid), 0);
}
