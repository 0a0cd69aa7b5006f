/* Handles of trace_id_t: lookup, lifetime, and that no number is reused. */
#include <pthread.h>

#include "posix/posix.h"
#include "tests/unit/lib/trace_place.h"

#define NR_HANDLES (2 * TRACE_SYS_MAX)

static struct pxt_stream stream;
static struct pxt_view view;
static unsigned nr_woken;
static struct pxt_handle *shut_down[NR_HANDLES];
static unsigned nr_shut_down;

void __wrap_pxt_wake_readers(struct pxt_stream *woken);
int __wrap_pxt_shutdown(struct pxt_handle *handle, const void *address);

void __wrap_pxt_wake_readers(struct pxt_stream *woken)
{
	assert_ptr_equal(woken, &stream);
	nr_woken++;
}

int __wrap_pxt_shutdown(struct pxt_handle *handle, const void *address)
{
	assert_null(address);
	shut_down[nr_shut_down++] = handle;
	return 0;
}

static int begin(void **state)
{
	nr_woken = nr_shut_down = 0;
	atomic_store(&view.stream, &stream);
	return 0;
}

static struct pxt_handle *make(void)
{
	struct pxt_handle *handle = pxt_handle_new();

	assert_non_null(handle);
	handle->view = &view;
	return handle;
}

static struct pxt_handle *get(trace_id_t trid, int kinds)
{
	struct pxt_handle *handle = pxt_handle_get(trid, kinds);

	if (handle)
		pxt_handle_put(handle);
	return handle;
}

TEST_WITH(a_new_one_is_found_by_nobody_until_it_is_published, begin, NULL)
{
	struct pxt_handle *handle = make();
	trace_id_t trid = (trace_id_t)(handle->generation * NR_HANDLES);

	assert_int_equal((uintptr_t)handle % 64, 0);
	assert_int_equal(handle->kind, PT_FREE);
	assert_int_equal(handle->creator, getpid());
	assert_int_equal(handle->nr_users, 0);
	assert_null(handle->buffer);
	assert_null(get(trid, PT_ANY));
	assert_int_equal(pxt_handle_publish(handle, PT_STREAM), trid);
	assert_ptr_equal(get(trid, PT_ANY), handle);
	pxt_handle_discard(handle);
	assert_null(get(trid, PT_ANY));
}

TEST_WITH(only_wanted_kinds_are_found, begin, NULL)
{
	static const enum pxt_kind kinds[] = { PT_STREAM, PT_WITH_LOG, PT_LOG };

	for (int nr = 0; nr < 3; nr++) {
		struct pxt_handle *handle = make();
		trace_id_t trid = pxt_handle_publish(handle, kinds[nr]);

		assert_ptr_equal(get(trid, PT_ANY), handle);
		assert_ptr_equal(get(trid, PT_ACTIVE), nr < 2 ? handle : NULL);
		for (int other = 0; other < 3; other++)
			assert_ptr_equal(get(trid, (int)kinds[other]), nr == other ? handle : NULL);
		assert_null(pxt_handle_end(trid, (int)kinds[(nr + 1) % 3]));
		pxt_handle_discard(handle);
	}
}

TEST_WITH(other_numbers_are_nobodys, begin, NULL)
{
	struct pxt_handle *handle = make();
	trace_id_t trid = pxt_handle_publish(handle, PT_STREAM);

	assert_null(get(0, PT_ANY));
	assert_null(get(-1, PT_ANY));
	assert_null(get(-trid, PT_ANY));
	assert_null(get(trid + 1, PT_ANY));
	assert_null(get(trid + NR_HANDLES, PT_ANY));
	assert_null(get(trid - NR_HANDLES, PT_ANY));
	/* A handle of the parent is not found. */
	handle->creator++;
	assert_null(get(trid, PT_ANY));
	handle->creator--;
	assert_ptr_equal(get(trid, PT_ANY), handle);
	pxt_handle_discard(handle);
}

TEST_WITH(no_number_comes_twice, begin, NULL)
{
	trace_id_t last = 0;

	for (int nr = 0; nr < 1000; nr++) {
		struct pxt_handle *handle = make();
		trace_id_t trid = pxt_handle_publish(handle, PT_STREAM);

		assert_true(trid > last);
		assert_null(get(last, PT_ANY));
		last = trid;
		pxt_handle_discard(handle);
	}
}

TEST_WITH(there_are_so_many_and_no_more, begin, NULL)
{
	struct pxt_handle *handles[NR_HANDLES], *again;
	trace_id_t trids[NR_HANDLES];

	for (int nr = 0; nr < NR_HANDLES; nr++) {
		handles[nr] = make();
		trids[nr] = pxt_handle_publish(handles[nr], PT_LOG);
	}
	assert_null(pxt_handle_new());
	for (int nr = 0; nr < NR_HANDLES; nr++) {
		assert_ptr_equal(get(trids[nr], PT_ANY), handles[nr]);
		assert_int_equal(trids[nr] % NR_HANDLES, nr);
	}
	pxt_handle_discard(handles[NR_HANDLES - 1]);
	again = make();
	assert_int_equal(pxt_handle_publish(again, PT_LOG), trids[NR_HANDLES - 1] + NR_HANDLES);
	handles[NR_HANDLES - 1] = again;
	for (int nr = 0; nr < NR_HANDLES; nr++)
		pxt_handle_discard(handles[nr]);
}

TEST_WITH(its_buffer_goes_with_it, begin, NULL)
{
	struct pxt_handle *handle = make();

	handle->buffer = malloc(100); /* freed by pxt_handle_discard(), or a sanitizer complains */
	pxt_handle_discard(handle);
}

TEST_WITH(the_end_is_for_one, begin, NULL)
{
	struct pxt_handle *handle = make();
	trace_id_t trid = pxt_handle_publish(handle, PT_STREAM);

	assert_ptr_equal(pxt_handle_end(trid, PT_STREAM), handle);
	assert_int_equal(nr_woken, 1);
	assert_true(atomic_load(&handle->is_closing));
	assert_null(get(trid, PT_ANY));
	assert_null(pxt_handle_end(trid, PT_STREAM));
	pxt_handle_discard(handle);
	/* Logs have no stream. */
	handle = make();
	handle->view = NULL;
	trid = pxt_handle_publish(handle, PT_LOG);
	assert_ptr_equal(pxt_handle_end(trid, PT_LOG), handle);
	pxt_handle_discard(handle);
	handle = make();
	atomic_store(&view.stream, NULL);
	assert_ptr_equal(pxt_handle_end(pxt_handle_publish(handle, PT_STREAM), PT_STREAM), handle);
	assert_int_equal(nr_woken, 1);
	pxt_handle_discard(handle);
}

static _Atomic int nr_left;

static void *leave_soon(void *arg)
{
	struct pxt_handle *handle = arg;

	while (!atomic_load(&handle->is_closing))
		usleep(1000);
	usleep(10000);
	atomic_fetch_add(&nr_left, 1);
	pxt_handle_put(handle);
	return NULL;
}

TEST_WITH(the_end_waits_for_all_who_have_it, begin, NULL)
{
	struct pxt_handle *handle = make();
	trace_id_t trid = pxt_handle_publish(handle, PT_STREAM);
	pthread_t threads[3];

	for (int nr = 0; nr < 3; nr++) {
		assert_ptr_equal(pxt_handle_get(trid, PT_STREAM), handle);
		assert_int_equal(handle->nr_users, nr + 1);
		assert_int_equal(pthread_create(&threads[nr], NULL, leave_soon, handle), 0);
	}
	assert_ptr_equal(pxt_handle_end(trid, PT_STREAM), handle);
	assert_int_equal(atomic_load(&nr_left), 3);
	assert_int_equal(handle->nr_users, 0);
	for (int nr = 0; nr < 3; nr++)
		pthread_join(threads[nr], NULL);
	pxt_handle_discard(handle);
}

static int has_none(void *arg)
{
	trace_id_t *trids = arg;
	struct pxt_handle *handle;

	pxt_handles_forget();
	CHILD_CHECK(!get(trids[0], PT_ANY) && !get(trids[1], PT_ANY));
	handle = pxt_handle_new();
	CHILD_CHECK(handle && pxt_handle_publish(handle, PT_LOG) == trids[0] + NR_HANDLES);
	_exit(0); /* exit() would report handles that were forgotten and not freed */
}

TEST_WITH(a_child_has_none, begin, NULL)
{
	struct pxt_handle *handles[] = { make(), make() };
	trace_id_t trids[] = { pxt_handle_publish(handles[0], PT_STREAM),
			       pxt_handle_publish(handles[1], PT_LOG) };

	assert_int_equal(trace_place_in_child(has_none, trids), 0);
	pxt_handle_discard(handles[0]);
	pxt_handle_discard(handles[1]);
}

TEST_WITH(streams_that_nobody_uses_are_shut_down_at_the_end, begin, NULL)
{
	struct pxt_handle *used = make(), *with_log = make(), *log = make(), *ending = make(),
			  *last = make();

	pxt_handle_get(pxt_handle_publish(used, PT_STREAM), PT_STREAM);
	pxt_handle_publish(with_log, PT_WITH_LOG);
	pxt_handle_publish(log, PT_LOG);
	pxt_handle_publish(ending, PT_STREAM);
	atomic_store(&ending->is_closing, 1);
	pxt_handle_publish(last, PT_STREAM);
	pxt_handles_shutdown();
	assert_int_equal(nr_shut_down, 2);
	assert_ptr_equal(shut_down[0], with_log);
	assert_ptr_equal(shut_down[1], last);
	assert_int_equal(nr_woken, 3);
	assert_true(atomic_load(&used->is_closing));
	assert_true(atomic_load(&last->is_closing));
	assert_false(atomic_load(&log->is_closing));
	pxt_handle_discard(used);
	pxt_handle_discard(with_log);
	pxt_handle_discard(log);
	pxt_handle_discard(ending);
	pxt_handle_discard(last);
}

TEST_GROUP(trace_place_make, NULL)
