/*
 * Logs of ended processes are finished by the next process, even if their shared memory is corrupt.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "posix/keeper.h"
#include "tests/unit/lib/trace_place.h"

#define NR_EVENTS 50

static char log_path[64];
/* The number of the write that fails, from 1 on; 0: none fails. */
static int failing_write;

ssize_t __real_pwrite(int fd, const void *from, size_t len, off_t at);
ssize_t __real_pwrite64(int fd, const void *from, size_t len, off_t at);
ssize_t __wrap_pwrite(int fd, const void *from, size_t len, off_t at);
ssize_t __wrap_pwrite64(int fd, const void *from, size_t len, off_t at);

static bool fails(void)
{
	if (!failing_write || --failing_write)
		return false;
	errno = EIO;
	return true;
}

ssize_t __wrap_pwrite(int fd, const void *from, size_t len, off_t at)
{
	return fails() ? -1 : __real_pwrite(fd, from, len, at);
}

ssize_t __wrap_pwrite64(int fd, const void *from, size_t len, off_t at)
{
	return fails() ? -1 : __real_pwrite64(fd, from, len, at);
}

static int begin(void **state)
{
	snprintf(log_path, sizeof(log_path), "%s/log", trace_place_above);
	return 0;
}

static struct pxt_log_part *part_of(void)
{
	for (int nr = 0; nr < TRACE_SYS_MAX; nr++) {
		if (atomic_load(&pxt_process.views[nr].stream))
			return pxt_log_part_of(&pxt_process.views[nr]);
	}
	return NULL;
}

/* The places at which the process is killed in the middle of posix_trace_shutdown(). */
enum dies {
	DIES_NOT,
	DIES_BEFORE_STOP,
	DIES_AFTER_STOP,
};

static enum dies dies;

bool __real_pxt_view_wait(struct pxt_view *view, int tries);
bool __wrap_pxt_view_wait(struct pxt_view *view, int tries);
void __real_pxt_put_system(struct pxt_view *view, uint32_t id, const void *data, uint32_t len,
			   const void *address);
void __wrap_pxt_put_system(struct pxt_view *view, uint32_t id, const void *data, uint32_t len,
			   const void *address);

bool __wrap_pxt_view_wait(struct pxt_view *view, int tries)
{
	if (dies == DIES_BEFORE_STOP)
		kill(getpid(), SIGKILL);
	return __real_pxt_view_wait(view, tries);
}

void __wrap_pxt_put_system(struct pxt_view *view, uint32_t id, const void *data, uint32_t len,
			   const void *address)
{
	__real_pxt_put_system(view, id, data, len, address);
	if (dies == DIES_AFTER_STOP && id == PT_STOP)
		kill(getpid(), SIGKILL);
}

/* A process that sweeps renames the stream's file before it is mapped. */
static bool is_renamed;

void *__real_pxt_place_map(int place, const char *name, size_t *bytes);
void *__wrap_pxt_place_map(int place, const char *name, size_t *bytes);

void *__wrap_pxt_place_map(int place, const char *name, size_t *bytes)
{
	if (is_renamed && name[0] == 's') {
		is_renamed = false;
		renameat(place, name, place, "d-0-1");
	}
	return __real_pxt_place_map(place, name, bytes);
}

/*
 * Leave a log whose records are only in the stream's memory: the process and its keeper are killed.
 */
static int leave_log(void *arg)
{
	int fd = open(log_path, O_CREAT | O_TRUNC | O_RDWR, 0600);
	const unsigned int *seed = arg;
	struct pxt_log_part *part;
	struct stat st;
	trace_id_t trid;

	CHILD_CHECK(posix_trace_create_withlog(0, NULL, fd, &trid) == 0);
	part = part_of();
	while (!atomic_load(&part->keeper_pid))
		usleep(100);
	kill((pid_t)atomic_load(&part->keeper_pid), SIGKILL);
	posix_trace_start(trid);
	for (int nr = 0; nr < NR_EVENTS; nr++)
		posix_trace_event(POSIX_TRACE_UNNAMED_USER_EVENT, &nr, sizeof(nr));
	if (*seed) {
		struct pxt_stream *stream = atomic_load(&pxt_process.views[0].stream);
		unsigned char *lies[] = { (unsigned char *)&stream->head, (unsigned char *)part,
					  (unsigned char *)part->slots, part->buffer,
					  (unsigned char *)stream + PT_CELLS_OFFSET };

		srand(*seed);
		for (int nr = rand() % 10 + 1; nr > 0; nr--)
			lies[rand() % 5][rand() % 64] = (unsigned char)rand();
		/* A reader would wait ten seconds for a living process to complete the log. */
		if (!pxt_process_is_dead((pid_t)atomic_load(&part->finisher)))
			atomic_store(&part->finisher, 0);
		/* The device and the inode of the log stay right, so that the stream is found. */
		if (fstat(fd, &st) == 0) {
			part->dev = st.st_dev;
			part->ino = st.st_ino;
		}
	}
	if (dies)
		posix_trace_shutdown(trid);
	kill(getpid(), SIGKILL);
	return __LINE__;
}

static int nr_stops;

static int count_events(void)
{
	int fd = open(log_path, O_RDONLY), nr = 0, unavailable;
	struct posix_trace_event_info info;
	trace_id_t trid;
	size_t len;

	nr_stops = 0;
	assert_int_equal(posix_trace_open(fd, &trid), 0);
	while (posix_trace_getnext_event(trid, &info, NULL, 0, &len, &unavailable) == 0 &&
	       !unavailable) {
		nr += info.posix_event_id == POSIX_TRACE_UNNAMED_USER_EVENT;
		nr_stops += info.posix_event_id == POSIX_TRACE_STOP;
	}
	assert_true(unavailable);
	assert_int_equal(posix_trace_close(trid), 0);
	close(fd);
	return nr;
}

static void leave(unsigned int seed)
{
	assert_int_equal(trace_place_in_child(leave_log, &seed), SIGKILL);
}

TEST_WITH(who_opens_it_finds_all_events, begin, NULL)
{
	leave(0);
	assert_int_equal(count_events(), NR_EVENTS);
	assert_int_equal(count_events(), NR_EVENTS);
}

TEST_WITH(a_stream_that_is_renamed_meanwhile_is_found, begin, NULL)
{
	leave(0);
	is_renamed = true;
	assert_int_equal(count_events(), NR_EVENTS);
	assert_false(is_renamed);
}

static void *end_writing(void *argument)
{
	struct pxt_log_part *part = argument;

	usleep(100000);
	atomic_store(&part->finisher, 0);
	return NULL;
}

/* The log is being written by another process, which is alive and fails after a while. */
TEST_WITH(who_opens_it_waits_while_it_is_written, begin, NULL)
{
	size_t bytes = PT_CELLS_OFFSET;
	struct pxt_log_part *part;
	struct pxt_stream *stream;
	pthread_t thread;
	int place;

	leave(0);
	place = pxt_place_open();
	stream = __real_pxt_place_map(place, "s-0", &bytes);
	assert_non_null(stream);
	part = pxt_unfinished(stream, bytes);
	assert_non_null(part);
	atomic_store(&part->finisher, (uint32_t)getppid());
	assert_int_equal(pthread_create(&thread, NULL, end_writing, part), 0);
	assert_int_equal(count_events(), NR_EVENTS);
	assert_int_equal(pthread_join(thread, NULL), 0);
	munmap(stream, bytes);
	close(place);
}

/* Writing fails once, at each place, and the next process that opens the log goes on. */
TEST_WITH(no_event_is_written_twice_after_a_write_has_failed, begin, NULL)
{
	for (int nr = 1; nr <= 4; nr++) {
		leave(0);
		failing_write = nr;
		count_events();
		failing_write = 0;
		assert_int_equal(count_events(), NR_EVENTS);
		assert_int_equal(nr_stops, 1);
	}
}

TEST_WITH(one_that_was_killed_while_it_shut_down_has_a_stop, begin, NULL)
{
	for (dies = DIES_AFTER_STOP; dies != DIES_NOT; dies--) {
		leave(0);
		assert_int_equal(count_events(), NR_EVENTS);
		assert_int_equal(nr_stops, 1);
	}
}

/* The file has become another log meanwhile, which is not touched. */
TEST_WITH(another_log_of_the_same_file_stays_as_it_is, begin, NULL)
{
	const struct pxt_attr attr = { .magic = PT_ATTR_MAGIC,
				       .log_policy = PT_LOG_APPENDS,
				       .created_ns = 1 };
	static unsigned char buffer[PT_LOG_BUFFER];
	struct pxt_log_writer writer;
	struct pxt_log log;
	int fd;

	leave(0);
	fd = open(log_path, O_RDWR);
	assert_int_equal(pxt_log_writer_begin(&writer, fd, &attr, buffer), 0);
	assert_int_equal(pxt_log_sync(&writer), 0);
	assert_int_equal(count_events(), 0);
	assert_int_equal(pxt_log_open(&log, fd), 0);
	assert_false(log.header.is_closed);
	close(fd);
}

TEST_WITH(another_file_is_not_written_to, begin, NULL)
{
	int fd;

	leave(0);
	assert_int_equal(unlink(log_path), 0);
	fd = open(log_path, O_CREAT | O_EXCL | O_RDWR, 0600);
	assert_int_equal(write(fd, "mine", 4), 4);
	pxt_finish_file(fd);
	assert_int_equal(lseek(fd, 0, SEEK_END), 4);
	close(fd);
}

/*
 * Any data of the log's state may be invalid. The log can still be read, and a process that opens
 * it goes on.
 */
TEST_WITH(lies_do_no_harm, begin, NULL)
{
	for (unsigned int seed = 1; seed <= 40; seed++) {
		leave(seed);
		assert_in_range(count_events(), 0, 10 * NR_EVENTS);
	}
}

TEST_GROUP(trace_place_make, NULL)
