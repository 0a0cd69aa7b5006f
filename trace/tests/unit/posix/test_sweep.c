/* Files of killed processes are removed, and nothing else. */
#include <fcntl.h>

#include "posix/keeper.h"
#include "tests/unit/lib/trace_files.h"

static int place;
static uint64_t start;
/* The number of seconds by which the simulated clock is ahead of the real one. */
static uint64_t seconds_later;

uint64_t __real_pxt_clock_ns(clockid_t clock);
uint64_t __wrap_pxt_clock_ns(clockid_t clock);

uint64_t __wrap_pxt_clock_ns(clockid_t clock)
{
	return __real_pxt_clock_ns(clock) + seconds_later * PT_NS_PER_SECOND;
}

#define US ((uint32_t)getpid())

static int begin(void **state)
{
	seconds_later = 0;
	return trace_files_begin(&place) || pxt_process_start(getpid(), &start);
}

static int end(void **state)
{
	return close(place);
}

TEST_WITH(streams_go_with_their_owners, begin, end)
{
	struct pxt_stream *ours = trace_file_stream(place, 3, US, start);
	struct pxt_stream *anothers = trace_file_stream(place, 4, US, start + 1);
	struct pxt_stream *nobodys = trace_file_stream(place, 200, 0x3ffffff, start);

	pxt_sweep(place);
	assert_true(trace_file_is(place, 's', 3, 0));
	assert_false(trace_file_is(place, 's', 4, 0));
	assert_false(trace_file_is(place, 's', 200, 0));
	assert_int_equal(atomic_load(&ours->run), PT_RUNS);
	/* A writer of a removed stream learns that it is closed. */
	assert_int_equal(atomic_load(&anothers->run), PT_IS_CLOSED);
	assert_int_equal(atomic_load(&nobodys->run), PT_IS_CLOSED);
	munmap(ours, STREAM_BYTES);
	munmap(anothers, STREAM_BYTES);
	munmap(nobodys, STREAM_BYTES);
}

TEST_WITH(registries_go_with_their_processes, begin, end)
{
	munmap(trace_file_registry(place, US, start), sizeof(struct pxt_registry));
	munmap(trace_file_registry(place, US, start - 1), sizeof(struct pxt_registry));
	munmap(trace_file_registry(place, 0x3ffffff, start), sizeof(struct pxt_registry));
	pxt_sweep(place);
	assert_true(trace_file_is(place, 'p', US, start));
	assert_false(trace_file_is(place, 'p', US, start - 1));
	assert_false(trace_file_is(place, 'p', 0x3ffffff, start));
}

TEST_WITH(names_stay_while_somebody_uses_them, begin, end)
{
	struct pxt_stream *stream = trace_file_stream(place, 0, US, start);
	struct pxt_registry *registry = trace_file_registry(place, US, start);

	stream->names_pid = 11;
	stream->names_start = 12;
	registry->names_pid = 21;
	registry->names_start = 22;
	trace_file_names(place, 11, 12);
	trace_file_names(place, 11, 13);
	trace_file_names(place, 12, 12);
	trace_file_names(place, 21, 22);
	trace_file_names(place, 21, 12);
	trace_file_names(place, US, start);
	pxt_sweep(place);
	assert_true(trace_file_is(place, 'n', 11, 12));
	assert_true(trace_file_is(place, 'n', 21, 22));
	assert_false(trace_file_is(place, 'n', 11, 13));
	assert_false(trace_file_is(place, 'n', 12, 12));
	assert_false(trace_file_is(place, 'n', 21, 12));
	assert_false(trace_file_is(place, 'n', US, start));
	munmap(stream, STREAM_BYTES);
	munmap(registry, sizeof(*registry));
}

TEST_WITH(a_registry_that_is_too_small_uses_none, begin, end)
{
	munmap(trace_file(place, 'p', US, start, sizeof(struct pxt_registry) - 1),
	       sizeof(struct pxt_registry) - 1);
	munmap(trace_file(place, 's', 1, 0, PT_CELLS_OFFSET - 1), PT_CELLS_OFFSET - 1);
	trace_file_names(place, US, start);
	pxt_sweep(place);
	assert_true(trace_file_is(place, 'p', US, start));
	assert_true(trace_file_is(place, 's', 1, 0));
	assert_false(trace_file_is(place, 'n', US, start));
}

TEST_WITH(what_has_no_such_name_stays, begin, end)
{
	static const char *const names[] = {
		"lock",	  "x",	    "p",     "n",      "s",	 "p-",	  "n-",
		"p-x-5",  "p-5",    "p-0-5", "p-5-5x", "p-5x-5", "n-0-5", "n-5",
		"n-5-5x", "n--5-5", "p_5-5", "n_5-5",  "q-5-5",	 "m-5-5",
	};

	for (unsigned nr = 0; nr < sizeof(names) / sizeof(names[0]); nr++)
		close(openat(place, names[nr], O_CREAT | O_WRONLY, 0600));
	pxt_sweep(place);
	for (unsigned nr = 0; nr < sizeof(names) / sizeof(names[0]); nr++)
		assert_int_equal(faccessat(place, names[nr], F_OK, 0), 0);
}

/*
 * Check names of many streams. With more streams than the table holds, it is unknown which names
 * are in use.
 */
static void check_many(unsigned nr_streams, bool is_kept)
{
	for (unsigned nr = 0; nr < nr_streams; nr++) {
		char name[64];
		int fd;

		pxt_place_name(name, 's', nr, 0);
		fd = openat(place, name, O_CREAT | O_RDWR, 0600);
		if (nr == 0) {
			struct pxt_stream stream = { .owner_pid = US,
						     .owner_start = start,
						     .names_pid = 5,
						     .names_start = 6 };

			assert_int_equal(write(fd, &stream, sizeof(stream)), sizeof(stream));
			assert_int_equal(ftruncate(fd, PT_CELLS_OFFSET), 0);
			close(fd);
			continue;
		}
		close(fd);
		assert_int_equal(unlinkat(place, name, 0), 0);
		assert_int_equal(linkat(place, "s-0", place, name, 0), 0);
	}
	trace_file_names(place, 5, 6);
	trace_file_names(place, 5, 7);
	pxt_sweep(place);
	assert_true(trace_file_is(place, 'n', 5, 6));
	assert_int_equal(trace_file_is(place, 'n', 5, 7), is_kept);
}

TEST_WITH(as_many_as_can_be_remembered, begin, end)
{
	check_many(1024, false);
}

TEST_WITH(more_than_can_be_remembered, begin, end)
{
	check_many(1025, true);
}

#define LOG_BYTES (STREAM_BYTES + sizeof(struct pxt_log_part))

/* Make a log that waits. The numbers are such that neither names nor their hashes are in order. */
static void make_left(unsigned nr)
{
	struct pxt_stream *stream = trace_file(place, 'd', nr * 37 % 101, nr + 1, LOG_BYTES);

	stream->magic = PT_MAGIC;
	stream->version = PT_VERSION;
	stream->serial = nr + 1;
	stream->nr_cells = 64;
	stream->log_bytes = sizeof(struct pxt_log_part);
	munmap(stream, LOG_BYTES);
}

static bool is_left(unsigned nr)
{
	return trace_file_is(place, 'd', nr * 37 % 101, nr + 1);
}

TEST_WITH(of_many_logs_the_newest_wait_for_an_hour, begin, end)
{
	const unsigned nr_old = 6, nr_all = nr_old + TRACE_SYS_MAX;

	for (unsigned nr = 0; nr < nr_all; nr++) {
		if (nr == nr_old)
			usleep(50000); /* the times of files are not exact */
		make_left(nr);
	}
	/*
	 * On a slow machine, the logs may be old before the sweep. So the clock is set back by 1000
	 * seconds.
	 */
	seconds_later = (uint64_t)-1000;
	pxt_sweep(place);
	for (unsigned nr = 0; nr < nr_all; nr++)
		assert_true(is_left(nr));
	seconds_later = 1000;
	pxt_sweep(place);
	for (unsigned nr = 0; nr < nr_all; nr++)
		assert_int_equal(is_left(nr), nr >= nr_old);
	seconds_later = 3601;
	pxt_sweep(place);
	for (unsigned nr = 0; nr < nr_all; nr++)
		assert_false(is_left(nr));
}

TEST_WITH(as_many_logs_as_streams_wait_for_an_hour, begin, end)
{
	for (unsigned nr = 0; nr < TRACE_SYS_MAX; nr++)
		make_left(nr);
	seconds_later = 3000;
	pxt_sweep(place);
	for (unsigned nr = 0; nr < TRACE_SYS_MAX; nr++)
		assert_true(is_left(nr));
}

TEST_WITH(nothing_stays_open, begin, end)
{
	int fd = dup(STDERR_FILENO);

	close(fd);
	pxt_sweep(place);
	pxt_sweep(-1);
	assert_int_equal(dup(STDERR_FILENO), fd);
	close(fd);
}

TEST_GROUP(trace_place_make, NULL)
