/*
 * Streams as mapped in a process: their checks, when they are mapped, and when they are unmapped.
 */
#include <errno.h>
#include <sys/mman.h>

#include "posix/posix.h"
#include "tests/unit/lib/trace_place.h"

#define NUMBER 5
#define BYTES  (PT_CELLS_OFFSET + 64 * PT_CELL_BYTES)

static struct pxt_view *const view = &pxt_process.views[NUMBER];
/*
 * The simulated wait for users of a view. @are_out: all users have left; @nr_waits: the number of
 * waits; @tries_given: the number of tries that the last wait was allowed.
 */
static bool are_out;
static unsigned nr_waits;
static int tries_given;
static struct pxt_registry registry;

bool __wrap_pxt_inside_wait(int *tries);

bool __wrap_pxt_inside_wait(int *tries)
{
	nr_waits++;
	tries_given = *tries;
	return are_out;
}

/* While @is_slow is set, a thread that maps a stream waits, as if it had lost the CPU. */
static _Atomic bool is_slow, is_in_the_middle;

struct pxt_stream *__real_pxt_place_map_stream(int place, unsigned int number, size_t *bytes);
struct pxt_stream *__wrap_pxt_place_map_stream(int place, unsigned int number, size_t *bytes);

struct pxt_stream *__wrap_pxt_place_map_stream(int place, unsigned int number, size_t *bytes)
{
	atomic_store(&is_in_the_middle, true);
	while (atomic_load(&is_slow))
		usleep(1000);
	return __real_pxt_place_map_stream(place, number, bytes);
}

static struct pxt_stream *make(size_t bytes)
{
	struct pxt_stream *stream = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
					 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	assert_ptr_not_equal(stream, MAP_FAILED);
	stream->magic = PT_MAGIC;
	stream->version = PT_VERSION;
	stream->serial = 77;
	stream->nr_cells = (uint32_t)((bytes - PT_CELLS_OFFSET) / PT_CELL_BYTES);
	stream->max_data = 100;
	stream->policy = POSIX_TRACE_UNTIL_FULL;
	stream->offset_ns = 123456789012;
	stream->owner_pid = 4711;
	return stream;
}

static bool is_mapped(const void *memory)
{
	unsigned char vec[1];

	return mincore((void *)(uintptr_t)memory, 1, vec) == 0;
}

static int begin(void **state)
{
	memset(view, 0, sizeof(*view));
	are_out = true;
	nr_waits = 0;
	return 0;
}

TEST_WITH(what_was_checked_is_kept, begin, NULL)
{
	struct pxt_stream *stream = make(PT_CELLS_OFFSET + 128 * PT_CELL_BYTES);

	stream->attr.functions = 1;
	assert_int_equal(pxt_view_set(view, stream, PT_CELLS_OFFSET + 128 * PT_CELL_BYTES, 77), 0);
	assert_ptr_equal(atomic_load(&view->stream), stream);
	assert_ptr_equal(view->cells, (char *)stream + PT_CELLS_OFFSET);
	assert_int_equal(view->map_bytes, PT_CELLS_OFFSET + 128 * PT_CELL_BYTES);
	assert_int_equal(view->nr_cells, 128);
	assert_int_equal(view->shift, 7);
	assert_int_equal(view->max_data, 100);
	assert_int_equal(view->policy, POSIX_TRACE_UNTIL_FULL);
	assert_true(view->has_functions);
	assert_int_equal(view->offset_ns, 123456789012);
	assert_int_equal(view->owner_pid, 4711);
	assert_int_equal(atomic_load(&view->serial), 77);
	pxt_view_drop(view);
}

static void check_refused(struct pxt_stream *stream, size_t bytes, uint32_t serial)
{
	assert_int_equal(pxt_view_set(view, stream, bytes, serial), -EINVAL);
	assert_null(atomic_load(&view->stream));
	assert_int_equal(atomic_load(&view->serial), 0);
}

TEST_WITH(what_is_no_stream_is_refused, begin, NULL)
{
	struct pxt_stream *stream = make(BYTES);

	check_refused(stream, BYTES, 78);
	stream->magic++;
	check_refused(stream, BYTES, 77);
	stream->magic--;
	stream->version++;
	check_refused(stream, BYTES, 77);
	stream->version--;
	check_refused(stream, BYTES - PT_CELL_BYTES, 77);
	check_refused(stream, BYTES + 1, 77);
	stream->nr_cells = 63;
	check_refused(stream, BYTES - PT_CELL_BYTES, 77);
	stream->nr_cells = 32;
	check_refused(stream, PT_CELLS_OFFSET + 32 * PT_CELL_BYTES, 77);
	stream->nr_cells = 96;
	check_refused(stream, PT_CELLS_OFFSET + 96 * PT_CELL_BYTES, 77);
	stream->nr_cells = 1u << 25;
	check_refused(stream, PT_CELLS_OFFSET + (size_t)(1u << 25) * PT_CELL_BYTES, 77);
	munmap(stream, BYTES);
}

TEST_WITH(one_of_the_largest_size_is_taken, begin, NULL)
{
	size_t bytes = PT_CELLS_OFFSET + (size_t)PT_SIZE_MAX;
	struct pxt_stream *stream = make(bytes);

	stream->max_data = PT_DATA_MAX;
	assert_int_equal(pxt_view_set(view, stream, bytes, 77), 0);
	pxt_view_drop(view);
	atomic_store(&view->serial, 0);
	stream = make(bytes);
	stream->max_data = PT_DATA_MAX + 1;
	check_refused(stream, bytes, 77);
	munmap(stream, bytes);
}

TEST_WITH(the_largest_event_must_fit, begin, NULL)
{
	struct pxt_stream *stream = make(BYTES);

	stream->max_data = PT_INLINE_DATA + 63 * PT_CELL_DATA + 1;
	check_refused(stream, BYTES, 77);
	stream->max_data--;
	assert_int_equal(pxt_view_set(view, stream, BYTES, 77), 0);
	pxt_view_drop(view);
}

static void use(void)
{
	assert_int_equal(pxt_view_set(view, make(BYTES), BYTES, 77), 0);
}

TEST_WITH(memory_goes_when_all_have_left, begin, NULL)
{
	struct pxt_stream *stream;

	use();
	stream = atomic_load(&view->stream);
	pxt_view_drop(view);
	assert_null(atomic_load(&view->stream));
	assert_false(is_mapped(stream));
	assert_int_equal(nr_waits, 1);
	assert_int_equal(tries_given, 2000);
	pxt_view_drop(view);
	assert_int_equal(nr_waits, 1);
}

TEST_WITH(memory_stays_when_somebody_is_inside, begin, NULL)
{
	struct pxt_stream *stream;

	use();
	stream = atomic_load(&view->stream);
	are_out = false;
	pxt_view_drop(view);
	assert_null(atomic_load(&view->stream));
	assert_true(is_mapped(stream));
	munmap(stream, BYTES);
}

TEST_WITH(who_is_counted_is_waited_for_but_not_for_ever, begin, NULL)
{
	for (int nr = 0; nr < PT_NR_USERS; nr += PT_NR_USERS - 1) {
		struct pxt_stream *stream;

		use();
		stream = atomic_load(&view->stream);
		atomic_store(&view->users[nr].nr, 1);
		assert_false(pxt_view_wait(view, 0));
		assert_int_equal(tries_given, 0);
		atomic_store(&view->users[nr].nr, 0);
		assert_true(pxt_view_wait(view, 0));
		pxt_view_drop(view);
		assert_false(is_mapped(stream));
	}
}

/* A handler that has forked may return to code that reads the stream. */
TEST_WITH(a_forgotten_stream_is_empty_at_the_same_address, begin, NULL)
{
	struct pxt_stream *stream;

	pxt_view_forget(view);
	assert_null(atomic_load(&view->stream));
	use();
	stream = atomic_load(&view->stream);
	atomic_store(&stream->run, PT_RUNS);
	view->cells[63].word = 99;
	pxt_view_forget(view);
	assert_ptr_equal(atomic_load(&view->stream), stream);
	assert_int_equal(atomic_load(&view->serial), 0);
	assert_int_equal(atomic_load(&stream->run), 0);
	assert_int_equal(atomic_load(&view->cells[63].word), 0);
}

static _Atomic bool has_left;

static void *leave_soon(void *arg)
{
	usleep(30000);
	atomic_store(&has_left, true);
	atomic_store(&view->users[2].nr, 0);
	return NULL;
}

TEST_WITH(who_leaves_is_waited_for, begin, NULL)
{
	struct pxt_stream *stream;
	pthread_t thread;

	use();
	stream = atomic_load(&view->stream);
	atomic_store(&view->users[2].nr, 1);
	assert_int_equal(pthread_create(&thread, NULL, leave_soon, NULL), 0);
	pxt_view_drop(view);
	/* On a busy machine the thread may have been slower than two thousand looks. */
	assert_int_equal(is_mapped(stream), !atomic_load(&has_left));
	pthread_join(thread, NULL);
	if (is_mapped(stream))
		munmap(stream, BYTES);
}

/* --- by number --- */

static void make_file(uint32_t serial, size_t bytes)
{
	int place = pxt_place_open(), error;
	struct pxt_stream *stream;
	char name[64];

	pxt_place_name(name, 's', NUMBER, 0);
	stream = pxt_place_make(place, name, bytes, &error);
	assert_non_null(stream);
	stream->magic = PT_MAGIC;
	stream->version = PT_VERSION;
	stream->serial = serial;
	stream->nr_cells = 64;
	munmap(stream, bytes);
	close(place);
}

TEST_WITH(one_that_is_there_is_mapped_once, begin, NULL)
{
	struct pxt_stream *stream;
	int fd = dup(STDERR_FILENO);

	close(fd);
	make_file(9, BYTES);
	errno = 66;
	assert_true(pxt_view_map(NUMBER, 9));
	assert_int_equal(errno, 66);
	stream = atomic_load(&view->stream);
	assert_non_null(stream);
	assert_true(pxt_view_map(NUMBER, 9));
	assert_ptr_equal(atomic_load(&view->stream), stream);
	assert_int_equal(nr_waits, 0);
	assert_int_equal(dup(STDERR_FILENO), fd);
	close(fd);
	/* Another stream has this number now. */
	make_file(11, BYTES);
	assert_true(pxt_view_map(NUMBER, 11));
	assert_int_equal(nr_waits, 1);
	assert_int_equal(tries_given, 1);
	assert_int_equal(atomic_load(&view->stream)->serial, 11);
	pxt_view_drop(view);
}

TEST_WITH(what_is_not_that_stream_is_not_asked_for_again, begin, NULL)
{
	make_file(9, BYTES);
	assert_false(pxt_view_map(NUMBER, 10));
	assert_null(atomic_load(&view->stream));
	assert_int_equal(atomic_load(&view->serial), 10);
	assert_false(pxt_view_map(NUMBER, 10));
	make_file(12, PT_CELLS_OFFSET - 1);
	assert_false(pxt_view_map(NUMBER, 12));
	assert_null(atomic_load(&view->stream));
}

TEST_WITH(the_old_one_stays_while_somebody_is_in_it, begin, NULL)
{
	struct pxt_stream *stream;

	use();
	stream = atomic_load(&view->stream);
	are_out = false;
	make_file(9, BYTES);
	assert_false(pxt_view_map(NUMBER, 9));
	assert_ptr_equal(atomic_load(&view->stream), stream);
	assert_int_equal(atomic_load(&view->serial), 77);
	assert_true(is_mapped(stream));
	are_out = true;
	assert_true(pxt_view_map(NUMBER, 9));
	assert_int_equal(atomic_load(&view->stream)->serial, 9);
	pxt_view_drop(view);
}

TEST_WITH(a_forgotten_stream_stays_when_another_comes, begin, NULL)
{
	struct pxt_stream *stream;

	use();
	stream = atomic_load(&view->stream);
	pxt_view_forget(view);
	are_out = false;
	make_file(9, BYTES);
	assert_true(pxt_view_map(NUMBER, 9));
	assert_int_equal(atomic_load(&view->stream)->serial, 9);
	assert_true(is_mapped(stream));
	munmap(stream, BYTES);
	are_out = true;
	pxt_view_drop(view);
}

static void *map_nine(void *unused)
{
	return pxt_view_map(NUMBER, 9) ? view : NULL;
}

TEST_WITH(a_thread_that_maps_slowly_is_waited_for, begin, NULL)
{
	pthread_t threads[2];
	void *found;

	make_file(9, BYTES);
	atomic_store(&is_slow, true);
	atomic_store(&is_in_the_middle, false);
	assert_int_equal(pthread_create(&threads[0], NULL, map_nine, NULL), 0);
	while (!atomic_load(&is_in_the_middle))
		usleep(1000);
	assert_int_equal(pthread_create(&threads[1], NULL, map_nine, NULL), 0);
	usleep(100000);
	atomic_store(&is_slow, false);
	for (int nr = 0; nr < 2; nr++) {
		assert_int_equal(pthread_join(threads[nr], &found), 0);
		assert_ptr_equal(found, view);
	}
	pxt_view_drop(view);
}

TEST_WITH(in_a_child_only_its_own_thread_is_counted, begin, NULL)
{
	_Atomic uint32_t *own = pxt_view_user(view);

	for (int nr = 0; nr < PT_NR_USERS; nr++)
		atomic_store(&view->users[nr].nr, 3);
	pxt_nr_counted = 2;
	pxt_view_in_child();
	for (int nr = 0; nr < PT_NR_USERS; nr++)
		assert_int_equal(atomic_load(&view->users[nr].nr),
				 &view->users[nr].nr == own ? 2 : 0);
	pxt_nr_counted = 0;
	pxt_view_in_child();
	assert_int_equal(atomic_load(own), 0);
}

TEST_WITH(a_thread_without_a_struct_is_counted_while_it_is_inside, begin, NULL)
{
	struct pxt_inside inside;

	pxt_thread = &pxt_nobody;
	inside = pxt_inside_enter(view);
	assert_int_equal(pxt_nr_counted, 1);
	assert_int_equal(atomic_load(pxt_view_user(view)), 1);
	pxt_inside_leave(&inside);
	assert_int_equal(pxt_nr_counted, 0);
	assert_int_equal(atomic_load(pxt_view_user(view)), 0);
	pxt_thread = NULL;
}

TEST_WITH(only_the_stream_of_that_serial_is_detached, begin, NULL)
{
	memset(&registry, 0, sizeof(registry));
	atomic_store(&registry.serial[NUMBER], 8);
	atomic_store(&registry.attached[0], ~0ul);
	pxt_view_detach(&registry, NUMBER, 9);
	assert_int_equal(atomic_load(&registry.attached[0]), ~0ul);
	pxt_view_detach(&registry, NUMBER, 8);
	assert_int_equal(atomic_load(&registry.attached[0]), ~(1ul << NUMBER));
	atomic_store(&registry.serial[63], 8);
	pxt_view_detach(&registry, 63, 8);
	assert_int_equal(atomic_load(&registry.attached[PT_ATTACHED_WORDS - 1]) >>
				 (PT_ATTACHED_BITS - 1),
			 0);
}

TEST_GROUP(trace_place_make, NULL)
