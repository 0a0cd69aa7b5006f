/*
 * The streams that a new process inherits from its parent, and those that an executed image ends.
 */
#include <fcntl.h>
#include <signal.h>

#include "tests/unit/lib/trace_files.h"

static int place;
static uint64_t start;
static struct pxt_registry own;
/* The pid of a child that does nothing. */
static pid_t child;

static int begin(void **state)
{
	memset(&own, 0, sizeof(own));
	own.names_pid = 1;
	own.names_start = 2;
	child = fork();
	if (child == 0)
		for (;;)
			pause();
	return child < 0 || trace_files_begin(&place) || pxt_process_start(getpid(), &start);
}

static int end(void **state)
{
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	return close(place);
}

TEST_WITH(the_parents_registry_is_found, begin, end)
{
	struct pxt_registry *registry, *found;
	int fd = dup(STDERR_FILENO);

	close(fd);
	assert_null(pxt_parent_registry(place, child));
	registry = trace_file_registry(place, (uint32_t)getpid(), start);
	registry->names_pid = 4711;
	found = pxt_parent_registry(place, child);
	assert_non_null(found);
	assert_int_equal(found->names_pid, 4711);
	munmap(found, sizeof(*found));
	registry->magic++;
	assert_null(pxt_parent_registry(place, child));
	registry->magic--;
	registry->version++;
	assert_null(pxt_parent_registry(place, child));
	registry->version--;
	assert_null(pxt_parent_registry(place, -1));
	/* The process init has no parent. */
	assert_null(pxt_parent_registry(place, 1));
	munmap(registry, sizeof(*registry));
	assert_int_equal(dup(STDERR_FILENO), fd);
	close(fd);
}

/* The start time of a process that has begun 5 seconds ago. */
static uint64_t begun(void)
{
	return (pxt_clock_ns(CLOCK_BOOTTIME) - 5 * (uint64_t)PT_NS_PER_SECOND) /
	       (PT_NS_PER_SECOND / (uint64_t)sysconf(_SC_CLK_TCK));
}

static void attach(struct pxt_registry *registry, unsigned number, uint32_t serial,
		   uint16_t inherited, int64_t age_ms)
{
	struct pxt_stream *stream = trace_file_stream(place, number, 1, 1);

	stream->serial = serial;
	stream->attr.inherited = inherited;
	stream->attr.created_ns = pxt_clock_ns(CLOCK_REALTIME) - (uint64_t)age_ms * 1000000;
	munmap(stream, STREAM_BYTES);
	atomic_store(&registry->serial[number], serial);
	atomic_fetch_or(&registry->attached[number / PT_ATTACHED_BITS],
			1ul << number % PT_ATTACHED_BITS);
}

static void inherit(void)
{
	pxt_inherit(place, &own, child, begun());
}

static void check_attached(unsigned number, bool is)
{
	assert_int_equal(atomic_load(&own.attached[number / PT_ATTACHED_BITS]) >>
					 number % PT_ATTACHED_BITS &
				 1,
			 is);
}

TEST_WITH(streams_that_are_inherited_come_with_their_names, begin, end)
{
	struct pxt_registry *registry = trace_file_registry(place, (uint32_t)getpid(), start);

	registry->names_pid = 31;
	registry->names_start = 32;
	attach(registry, 0, 70, POSIX_TRACE_INHERITED, 60000);
	attach(registry, 5, 75, POSIX_TRACE_CLOSE_FOR_CHILD, 60000);
	attach(registry, 63, 73, POSIX_TRACE_INHERITED, 6000);
	inherit();
	assert_int_equal(own.names_pid, 31);
	assert_int_equal(own.names_start, 32);
	for (unsigned nr = 0; nr < TRACE_SYS_MAX; nr++)
		check_attached(nr, nr == 0 || nr == 63);
	assert_int_equal(atomic_load(&own.serial[0]), 70);
	assert_int_equal(atomic_load(&own.serial[63]), 73);
	assert_int_equal(atomic_load(&own.serial[5]), 0);
	munmap(registry, sizeof(*registry));
}

TEST_WITH(others_do_not_come, begin, end)
{
	struct pxt_registry *registry = trace_file_registry(place, (uint32_t)getpid(), start);

	/*
	 * These streams are not inherited: 1 was made after the process, 2 does not have the serial
	 * number that the registry has, 3 is not attached, and 4 does not exist. The time of 1 lies
	 * ahead: on a busy machine, begun() may be called seconds later than this.
	 */
	attach(registry, 1, 71, POSIX_TRACE_INHERITED, -25000);
	attach(registry, 2, 72, POSIX_TRACE_INHERITED, 60000);
	atomic_store(&registry->serial[2], 73);
	attach(registry, 3, 73, POSIX_TRACE_INHERITED, 60000);
	atomic_fetch_and(&registry->attached[0], ~(1ul << 3));
	atomic_fetch_or(&registry->attached[0], 1ul << 4);
	inherit();
	assert_int_equal(atomic_load(&own.attached[0]), 0);
	assert_int_equal(own.names_pid, 1);
	assert_int_equal(own.names_start, 2);
	munmap(registry, sizeof(*registry));
}

TEST_WITH(without_a_registry_there_is_nothing, begin, end)
{
	inherit();
	assert_int_equal(atomic_load(&own.attached[0]), 0);
}

TEST_WITH(what_the_image_before_made_is_closed, begin, end)
{
	struct pxt_stream *first = trace_file_stream(place, 0, 31, 32);
	struct pxt_stream *last = trace_file_stream(place, 63, 31, 32);
	struct pxt_stream *others[] = { trace_file_stream(place, 1, 31, 33),
					trace_file_stream(place, 2, 30, 32) };

	pxt_close_own(place, 31, 32);
	assert_int_equal(atomic_load(&first->run), PT_IS_CLOSED);
	assert_int_equal(atomic_load(&last->run), PT_IS_CLOSED);
	assert_false(trace_file_is(place, 's', 0, 0));
	assert_false(trace_file_is(place, 's', 63, 0));
	for (unsigned nr = 0; nr < 2; nr++) {
		assert_int_equal(atomic_load(&others[nr]->run), PT_RUNS);
		assert_true(trace_file_is(place, 's', nr + 1, 0));
		munmap(others[nr], STREAM_BYTES);
	}
	munmap(first, STREAM_BYTES);
	munmap(last, STREAM_BYTES);
}

TEST_GROUP(trace_place_make, NULL)
