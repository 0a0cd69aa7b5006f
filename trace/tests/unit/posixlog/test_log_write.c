/*
 * Logs that another process continues after their writer was killed at any place, also with wrong
 * data about them.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "posixlog/log.h"
#include "tests/unit/lib/unit.h"

#define DATA_MAX 40000

/*
 * @begin, @pending: the values that the successor gets. @settled: the length of the log without the
 * record that is being added
 */
struct state {
	struct pxt_log_writer writer;
	unsigned char buffer[PT_LOG_BUFFER];
	uint64_t settled;
	uint64_t begin;
	size_t pending;
	uint32_t next;
};

static struct state logged;

static void has_written(void *argument)
{
	logged.begin = logged.settled;
	logged.pending = 0;
}

static void settle(void)
{
	logged.settled = logged.writer.header.last;
	logged.begin = logged.settled - logged.writer.nr_buffered;
	logged.pending = logged.writer.nr_buffered;
}

static int begin_log(uint32_t policy, uint64_t size)
{
	const struct pxt_attr attr = {
		.magic = PT_ATTR_MAGIC,
		.log_policy = policy,
		.log_size = size,
		.max_data = DATA_MAX,
	};
	int fd = memfd_create("log", 0);

	assert_true(fd >= 0);
	memset(&logged, 0, sizeof(logged));
	assert_int_equal(pxt_log_writer_begin(&logged.writer, fd, &attr, logged.buffer), 0);
	logged.writer.has_written = has_written;
	return fd;
}

static void append(uint32_t len)
{
	static unsigned char data[DATA_MAX];
	const struct pxt_event event = { .id = PT_UNNAMED, .time_ns = ++logged.next, .len = len };

	memset(data, (int)logged.next, len);
	assert_int_equal(pxt_log_append(&logged.writer, &event, data, false), 0);
	settle();
}

/* Let a successor go on, which has only the buffer of its predecessor. */
static void go_on(int fd)
{
	struct pxt_log_writer other;

	assert_int_equal(pxt_log_writer_resume(&other, fd, logged.buffer), 0);
	assert_int_equal(pxt_log_recover(&other, logged.begin, logged.pending), 0);
	other.header.is_closed = 1;
	assert_int_equal(pxt_log_sync(&other), 0);
}

/* Count the records. Check that none is missing between them, and that the newest one is there. */
static uint32_t check(int fd)
{
	static unsigned char data[DATA_MAX];
	struct pxt_event event = { .time_ns = 0 };
	uint32_t nr = 0, before = 0;
	struct pxt_log log;

	assert_int_equal(pxt_log_open(&log, fd), 0);
	while (pxt_log_next(&log, &event, data, sizeof(data)) == 1) {
		assert_true(!before || event.time_ns == before + 1);
		for (uint32_t at = 0; at < event.len; at++)
			assert_int_equal(data[at], event.time_ns & 0xff);
		before = (uint32_t)event.time_ns;
		nr++;
	}
	assert_int_equal(log.at, log.header.last);
	assert_int_equal(before, logged.next);
	return nr;
}

TEST(what_was_not_synced_is_there)
{
	int fd = begin_log(PT_LOG_APPENDS, 0);

	for (uint32_t nr = 0; nr < 3; nr++)
		append(nr * 100);
	go_on(fd);
	assert_int_equal(check(fd), 3);
	close(fd);
}

TEST(a_log_of_nothing_is_one)
{
	int fd = begin_log(PT_LOG_APPENDS, 0);

	go_on(fd);
	assert_int_equal(check(fd), 0);
	close(fd);
}

/*
 * Small and large records, so that the buffer is written before, after and in the middle of a
 * record.
 */
TEST(no_record_is_missing_wherever_it_ended)
{
	for (unsigned seed = 0; seed < 300; seed++) {
		uint32_t policy = seed % 2 ? PT_LOG_LOOPS : PT_LOG_APPENDS, nr;
		int fd = begin_log(policy, 100000 + seed);

		srand(seed);
		for (nr = (uint32_t)rand() % 60; nr > 0; nr--) {
			append((uint32_t)rand() % (rand() % 4 ? 3000 : DATA_MAX));
			if (rand() % 20 == 0)
				assert_int_equal(pxt_log_sync(&logged.writer), 0);
		}
		go_on(fd);
		nr = check(fd);
		assert_true(policy == PT_LOG_LOOPS || nr == logged.next);
		close(fd);
	}
}

static int nr_closed_too_early;

static void look_at_header(void *argument)
{
	struct pxt_log log;

	if (pxt_log_open(&log, logged.writer.fd) < 0 || log.header.is_closed)
		nr_closed_too_early++;
	has_written(argument);
}

/*
 * A log that loops gets a header whenever records are dropped. A reader that finds a closed log
 * there would miss the records that are still to be written.
 */
TEST(a_log_is_closed_only_after_its_last_record_is_in_the_file)
{
	int fd = begin_log(PT_LOG_LOOPS, 100000);
	struct pxt_log log;

	logged.writer.has_written = look_at_header;
	logged.writer.header.is_closed = 1;
	nr_closed_too_early = 0;
	for (uint32_t nr = 0; nr < 200; nr++)
		append(3000);
	assert_int_equal(pxt_log_sync(&logged.writer), 0);
	assert_int_equal(nr_closed_too_early, 0);
	assert_int_equal(pxt_log_open(&log, fd), 0);
	assert_int_equal(log.header.is_closed, 1);
	assert_true(check(fd) > 10);
	close(fd);
}

/* The recovered log ends before the first bytes that are no record. */
TEST(lies_make_no_log_that_cannot_be_read)
{
	for (unsigned seed = 0; seed < 3000; seed++) {
		int fd = begin_log(seed % 2 ? PT_LOG_LOOPS : PT_LOG_APPENDS, 100000);
		struct pxt_event event;
		struct pxt_log log;

		srand(seed);
		for (int nr = rand() % 10; nr > 0; nr--)
			append((uint32_t)rand() % 3000);
		if (rand() % 2)
			assert_int_equal(pxt_log_sync(&logged.writer), 0);
		for (int nr = rand() % 10; nr > 0; nr--)
			append((uint32_t)rand() % 3000);
		for (int nr = rand() % 10; nr > 0; nr--)
			logged.buffer[(size_t)rand() % (rand() % 2 ? 64 : PT_LOG_BUFFER)] ^=
				(unsigned char)rand();
		if (rand() % 2)
			logged.begin += (uint64_t)(rand() % 5000 - 2500) *
					(rand() % 9 ? 8 : 1ull << 40);
		if (rand() % 2)
			logged.pending += (size_t)(rand() % 5000 - 2500) *
					  (rand() % 9 ? 8 : 1ul << 20);
		go_on(fd);
		assert_int_equal(pxt_log_open(&log, fd), 0);
		while (pxt_log_next(&log, &event, NULL, 0) == 1)
			;
		assert_int_equal(log.at, log.header.last);
		close(fd);
	}
}

TEST(what_is_no_log_is_not_gone_on_with)
{
	struct pxt_log_writer writer;
	int fd = memfd_create("none", 0);

	assert_int_equal(pxt_log_writer_resume(&writer, fd, logged.buffer), -EINVAL);
	assert_int_equal(ftruncate(fd, 1 << 20), 0);
	assert_int_equal(pxt_log_writer_resume(&writer, fd, logged.buffer), -EINVAL);
	close(fd);
}
