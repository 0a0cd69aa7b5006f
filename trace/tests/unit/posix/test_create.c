/* Streams are made and ended: their first events, their files, and that nothing is left. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>

#include "posix/posix.h"
#include "tests/unit/lib/trace_place.h"

static trace_attr_t attr;

static int begin(void **state)
{
	return posix_trace_attr_init(&attr);
}

static trace_id_t make(void)
{
	trace_id_t trid = 0;

	assert_int_equal(posix_trace_create(0, &attr, &trid), 0);
	assert_true(trid > 0);
	return trid;
}

static struct pxt_handle *handle_of(trace_id_t trid)
{
	struct pxt_handle *handle = pxt_handle_get(trid, PT_ANY);

	assert_non_null(handle);
	pxt_handle_put(handle);
	return handle;
}

static struct pxt_stream *stream_of(trace_id_t trid)
{
	return atomic_load(&handle_of(trid)->view->stream);
}

static bool has_file(unsigned number)
{
	char path[128];

	snprintf(path, sizeof(path), "%s/s-%u", trace_place_path, number);
	return access(path, F_OK) == 0;
}

static bool is_attached(unsigned number)
{
	return atomic_load(
		       &atomic_load(&pxt_process.registry)->attached[number / PT_ATTACHED_BITS]) >>
		       number % PT_ATTACHED_BITS &
	       1;
}

TEST_WITH(a_new_stream_is_empty_and_says_whose_it_is, begin, NULL)
{
	uint64_t before = pxt_clock_ns(CLOCK_REALTIME), start;
	struct pxt_stream *stream;
	struct stat st;
	char path[128];
	trace_id_t trid;

	posix_trace_attr_setname(&attr, "a name");
	posix_trace_attr_setmaxdatasize(&attr, 99);
	posix_trace_attr_setstreamfullpolicy(&attr, POSIX_TRACE_UNTIL_FULL);
	trid = make();
	stream = stream_of(trid);
	assert_int_equal(pxt_process_start(getpid(), &start), 0);
	assert_int_equal(stream->magic, PT_MAGIC);
	assert_int_equal(stream->version, PT_VERSION);
	assert_true(stream->serial & 1);
	assert_int_equal(stream->nr_cells, 4096);
	assert_int_equal(stream->max_data, 99);
	assert_int_equal(stream->policy, POSIX_TRACE_UNTIL_FULL);
	assert_int_equal(stream->owner_pid, getpid());
	assert_int_equal(stream->owner_start, start);
	assert_int_equal(stream->names_pid, getpid());
	assert_int_equal(stream->names_start, start);
	assert_in_range(stream->attr.created_ns, before, pxt_clock_ns(CLOCK_REALTIME));
	assert_in_range(stream->offset_ns + pxt_clock_ns(CLOCK_MONOTONIC) + 1000000000, before,
			pxt_clock_ns(CLOCK_REALTIME) + 2000000000);
	assert_string_equal(stream->attr.name, "a name");
	assert_int_equal(atomic_load(&stream->head), 4096);
	assert_int_equal(atomic_load(&stream->tail), 4096);
	assert_int_equal(atomic_load(&stream->run), 0);
	assert_string_equal(handle_of(trid)->attr.name, "a name");
	assert_int_equal(handle_of(trid)->attr.created_ns, stream->attr.created_ns);
	assert_int_equal(handle_of(trid)->kind, PT_STREAM);
	assert_ptr_equal(handle_of(trid)->view, &pxt_process.views[handle_of(trid)->number]);
	snprintf(path, sizeof(path), "%s/s-%u", trace_place_path, handle_of(trid)->number);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_size, PT_CELLS_OFFSET + 4096 * PT_CELL_BYTES);
	assert_int_equal(posix_trace_shutdown(trid), 0);
}

TEST_WITH(it_has_as_many_cells_as_it_needs, begin, NULL)
{
	static const struct {
		size_t size, max_data;
		uint32_t nr_cells;
	} cases[] = {
		{ 1, 0, 64 },
		{ 64 * 64, 0, 64 },
		{ 64 * 64 + 1, 0, 128 },
		{ 128 * 64, 0, 128 },
		{ 100000, 0, 2048 },
		/* The smallest stream has room for four of the largest events. */
		{ 1, 24 + 15 * 56, 64 },
		{ 1, 24 + 15 * 56 + 1, 128 },
		{ 1, 100000, 8192 },
	};

	for (unsigned nr = 0; nr < sizeof(cases) / sizeof(cases[0]); nr++) {
		trace_id_t trid;

		posix_trace_attr_setstreamsize(&attr, cases[nr].size);
		posix_trace_attr_setmaxdatasize(&attr, cases[nr].max_data);
		trid = make();
		assert_int_equal(stream_of(trid)->nr_cells, cases[nr].nr_cells);
		assert_int_equal(handle_of(trid)->view->nr_cells, cases[nr].nr_cells);
		assert_int_equal(posix_trace_shutdown(trid), 0);
	}
}

TEST_WITH(it_takes_the_first_number_that_is_free, begin, NULL)
{
	trace_id_t trids[3], again;

	for (unsigned nr = 0; nr < 3; nr++) {
		trids[nr] = make();
		assert_int_equal(handle_of(trids[nr])->number, nr);
		assert_true(has_file(nr));
		assert_true(is_attached(nr));
		assert_int_equal(atomic_load(&atomic_load(&pxt_process.registry)->serial[nr]),
				 stream_of(trids[nr])->serial);
		assert_int_equal(atomic_load(&pxt_process.views[nr].serial),
				 stream_of(trids[nr])->serial);
	}
	assert_int_equal(posix_trace_shutdown(trids[1]), 0);
	assert_false(has_file(1));
	assert_false(is_attached(1));
	assert_true(is_attached(0));
	assert_true(is_attached(2));
	assert_null(atomic_load(&pxt_process.views[1].stream));
	assert_int_equal(posix_trace_shutdown(trids[1]), EINVAL);
	again = make();
	assert_int_equal(handle_of(again)->number, 1);
	assert_int_not_equal(again, trids[1]);
	assert_int_equal(posix_trace_shutdown(again), 0);
	assert_int_equal(posix_trace_shutdown(trids[0]), 0);
	assert_int_equal(posix_trace_shutdown(trids[2]), 0);
	assert_false(has_file(0) || has_file(2));
}

TEST_WITH(there_are_so_many_and_no_more, begin, NULL)
{
	trace_id_t trids[TRACE_SYS_MAX], one_more = 4711;
	int fd;

	posix_trace_attr_setstreamsize(&attr, 1);
	for (int nr = 0; nr < TRACE_SYS_MAX; nr++)
		trids[nr] = make();
	fd = dup(STDERR_FILENO);
	close(fd);
	assert_int_equal(posix_trace_create(0, &attr, &one_more), EAGAIN);
	assert_int_equal(one_more, 4711);
	assert_int_equal(dup(STDERR_FILENO), fd);
	close(fd);
	for (int nr = 0; nr < TRACE_SYS_MAX; nr++)
		assert_int_equal(posix_trace_shutdown(trids[nr]), 0);
	for (int nr = 0; nr < TRACE_SYS_MAX; nr++)
		assert_false(has_file(nr) || is_attached(nr));
}

TEST_WITH(what_is_asked_for_must_be_right, begin, NULL)
{
	trace_attr_t none;
	trace_id_t trid;
	int policy;

	memset(&none, 0, sizeof(none));
	assert_int_equal(posix_trace_create(0, &attr, NULL), EINVAL);
	assert_int_equal(posix_trace_create(0, &none, &trid), EINVAL);
	posix_trace_attr_setstreamfullpolicy(&attr, POSIX_TRACE_FLUSH);
	assert_int_equal(posix_trace_create(0, &attr, &trid), EINVAL);
	assert_int_equal(posix_trace_create(-1, NULL, &trid), ESRCH);
	assert_int_equal(posix_trace_create(0x3ffffff, NULL, &trid), ESRCH);
	assert_false(has_file(0));
	assert_int_equal(posix_trace_create(getpid(), NULL, &trid), 0);
	assert_int_equal(handle_of(trid)->attr.stream_policy, POSIX_TRACE_LOOP);
	assert_ptr_equal(handle_of(trid)->view, &pxt_process.views[0]);
	posix_trace_get_attr(trid, &attr);
	posix_trace_attr_getstreamfullpolicy(&attr, &policy);
	assert_int_equal(policy, POSIX_TRACE_LOOP);
	posix_trace_shutdown(trid);
}

TEST_WITH(a_log_is_a_file_that_can_be_written_anywhere, begin, NULL)
{
	char path[128];
	int pipes[2], fd;
	trace_id_t trid;

	snprintf(path, sizeof(path), "%s/log", trace_place_above);
	assert_int_equal(posix_trace_create_withlog(0, NULL, -1, &trid), EBADF);
	fd = open(path, O_RDONLY | O_CREAT, 0600);
	assert_int_equal(posix_trace_create_withlog(0, NULL, fd, &trid), EBADF);
	close(fd);
	fd = open(path, O_WRONLY | O_APPEND);
	assert_int_equal(posix_trace_create_withlog(0, NULL, fd, &trid), EINVAL);
	close(fd);
	assert_int_equal(pipe(pipes), 0);
	assert_int_equal(posix_trace_create_withlog(0, NULL, pipes[1], &trid), EINVAL);
	close(pipes[0]);
	close(pipes[1]);
	assert_false(has_file(0));
	for (int nr = 0; nr < 2; nr++) {
		fd = open(path, nr ? O_RDWR : O_WRONLY);
		assert_int_equal(posix_trace_create_withlog(0, NULL, fd, &trid), 0);
		assert_int_equal(handle_of(trid)->kind, PT_WITH_LOG);
		assert_int_equal(handle_of(trid)->attr.stream_policy, POSIX_TRACE_FLUSH);
		assert_true(is_attached(0));
		assert_int_equal(posix_trace_shutdown(trid), 0);
		assert_int_equal(fcntl(fd, F_GETFD), 0);
		close(fd);
	}
	assert_false(has_file(0));
}

TEST_WITH(without_memory_nothing_is_left, begin, NULL)
{
	struct rlimit before, now;
	trace_id_t trid;
	int error;

	posix_trace_attr_setstreamsize(&attr, 1);
	posix_trace_shutdown(make());
	/* Files may have one byte less than the stream needs. */
	signal(SIGXFSZ, SIG_IGN);
	getrlimit(RLIMIT_FSIZE, &before);
	now = (struct rlimit){ PT_CELLS_OFFSET + 64 * PT_CELL_BYTES - 1, before.rlim_max };
	setrlimit(RLIMIT_FSIZE, &now);
	error = posix_trace_create(0, &attr, &trid);
	setrlimit(RLIMIT_FSIZE, &before);
	assert_int_equal(error, ENOMEM);
	assert_false(has_file(0));
	assert_false(is_attached(0));
	assert_null(atomic_load(&pxt_process.views[0].stream));
	trid = make();
	assert_int_equal(handle_of(trid)->number, 0);
	posix_trace_shutdown(trid);
}

TEST_WITH(without_a_folder_there_are_no_streams, begin, NULL)
{
	trace_id_t trid;
	int fd = dup(STDERR_FILENO);

	close(fd);
	setenv("UTRAIL_TRACE_DIR", "/dev/null", 1);
	assert_int_equal(posix_trace_create(0, NULL, &trid), ENOTDIR);
	setenv("UTRAIL_TRACE_DIR", trace_place_path, 1);
	assert_int_equal(dup(STDERR_FILENO), fd);
	close(fd);
}

/* More streams are made, one after the other, than there are numbers for streams. */
TEST_WITH(what_has_ended_or_failed_leaves_no_number, begin, NULL)
{
	trace_id_t trid;

	posix_trace_attr_setstreamsize(&attr, 1);
	for (int nr = 0; nr < 2 * TRACE_SYS_MAX + 1; nr++)
		assert_int_equal(posix_trace_shutdown(make()), 0);
	setenv("UTRAIL_TRACE_DIR", "/dev/null", 1);
	for (int nr = 0; nr < 2 * TRACE_SYS_MAX + 1; nr++)
		assert_int_equal(posix_trace_create(0, &attr, &trid), ENOTDIR);
	setenv("UTRAIL_TRACE_DIR", trace_place_path, 1);
	assert_int_equal(posix_trace_shutdown(make()), 0);
}

/*
 * True when a child maps its names at the address where its parent's were. The child may return
 * from a signal handler to code that uses this address.
 */
static int has_names_at(void *arg)
{
	CHILD_CHECK(pxt_process.names == arg && pxt_process.names_pid != (uint32_t)getpid());
	CHILD_CHECK(pxt_join());
	CHILD_CHECK(pxt_process.names == arg && pxt_process.names_pid == (uint32_t)getpid());
	CHILD_CHECK(!strcmp(pxt_process.names->names[0].text, "a parent's"));
	return 0;
}

TEST_WITH(a_childs_names_take_the_place_of_the_parents, begin, NULL)
{
	trace_event_id_t id;

	assert_int_equal(posix_trace_eventid_open("a parent's", &id), 0);
	assert_int_equal(trace_place_in_child(has_names_at, pxt_process.names), 0);
}

static int pipes[2][2];

static int writes_when_asked(void *arg)
{
	trace_event_id_t id;
	char byte;

	CHILD_CHECK(posix_trace_eventid_open("a child's", &id) == 0);
	CHILD_CHECK(write(pipes[0][1], "x", 1) == 1 && read(pipes[1][0], &byte, 1) == 1);
	posix_trace_event(id, "abc", 3);
	return 0;
}

TEST_WITH(a_stream_may_be_another_processs, begin, NULL)
{
	struct posix_trace_event_info info;
	char data[8], name[TRACE_EVENT_NAME_MAX + 1], byte;
	struct pxt_handle *handle;
	int unavailable, status;
	trace_id_t trid;
	size_t len;
	pid_t pid;

	assert_int_equal(pipe(pipes[0]), 0);
	assert_int_equal(pipe(pipes[1]), 0);
	pid = fork();
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		_exit(writes_when_asked(NULL) != 0);
	}
	assert_int_equal(read(pipes[0][0], &byte, 1), 1);
	assert_int_equal(posix_trace_create(pid, NULL, &trid), 0);
	handle = handle_of(trid);
	assert_ptr_equal(handle->view, &handle->own_view);
	assert_int_equal(stream_of(trid)->names_pid, pid);
	assert_int_equal(stream_of(trid)->owner_pid, getpid());
	assert_false(is_attached(handle->number));
	assert_int_equal(posix_trace_start(trid), 0);
	assert_int_equal(write(pipes[1][1], "x", 1), 1);
	assert_int_equal(
		posix_trace_getnext_event(trid, &info, data, sizeof(data), &len, &unavailable), 0);
	assert_int_equal(info.posix_event_id, POSIX_TRACE_START);
	assert_int_equal(
		posix_trace_getnext_event(trid, &info, data, sizeof(data), &len, &unavailable), 0);
	assert_int_equal(info.posix_pid, pid);
	assert_int_equal(len, 3);
	assert_memory_equal(data, "abc", 3);
	assert_int_equal(posix_trace_eventid_get_name(trid, info.posix_event_id, name), 0);
	assert_string_equal(name, "a child's");
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	assert_int_equal(posix_trace_shutdown(trid), 0);
	for (int nr = 0; nr < 2; nr++) {
		close(pipes[nr][0]);
		close(pipes[nr][1]);
	}
}

TEST_GROUP(trace_place_make, NULL)
