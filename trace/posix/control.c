/* Starts, stops, clears and filters a stream, and reports its status. */
#include "posix/posix.h"

#include <errno.h>
#include <string.h>

/* START is recorded before the stream runs, so that no other event precedes START. */
static void begin_running(struct pxt_view *view, const void *address)
{
	struct pxt_stream *stream = atomic_load(&view->stream);

	pxt_put_start(view, address);
	if (!(atomic_load(&stream->run) & PT_IS_FULL))
		atomic_store(&stream->run, PT_RUNS);
}

/*
 * Restarts a full stream that has been read or flushed, unless posix_trace_stop() has stopped it.
 * Events that come while the stream is stopped are lost, and counted.
 */
void pxt_restart(struct pxt_view *view)
{
	struct pxt_stream *stream = atomic_load(&view->stream);
	uint32_t run = atomic_load(&stream->run);

	if (run & PT_RESTARTS)
		pxt_put_start(view, NULL);
	atomic_compare_exchange_strong(&stream->run, &run, run & PT_RESTARTS ? PT_RUNS : 0);
}

/*
 * Stops the stream. True when it was running.
 *
 * @then: the bits that stream->run gets
 */
static bool end_running(struct pxt_stream *stream, uint32_t then)
{
	uint32_t run = atomic_load(&stream->run);

	while (run & PT_RUNS) {
		if (atomic_compare_exchange_weak(&stream->run, &run, then))
			return true;
	}
	atomic_fetch_and(&stream->run, ~(uint32_t)PT_RESTARTS);
	return false;
}

static void put_stop(struct pxt_view *view, const void *address)
{
	int is_automatic = 0;

	pxt_put_system(view, PT_STOP, &is_automatic, sizeof(is_automatic), address);
	/*
	 * Clear PT_RESTARTS. Otherwise a stream that had no room for the STOP could restart later.
	 */
	atomic_fetch_and(&atomic_load(&view->stream)->run,
			 ~(uint32_t)(PT_RUNS | PT_RESTARTS | PT_IS_STOPPING));
}

void pxt_stop(struct pxt_view *view, const void *address)
{
	if (end_running(atomic_load(&view->stream), 0))
		put_stop(view, address);
}

/*
 * Flushes the stream before the event STOP is recorded. Without the flush, fast writers could fill
 * the stream, and STOP would have no room. A flush ends at the first unfinished record, so the
 * function first waits for threads that are writing. If this process is killed before STOP is
 * recorded, another process completes the log (keeper.h), and adds STOP.
 */
void pxt_stop_for_good(struct pxt_handle *handle, const void *address)
{
	if (!end_running(atomic_load(&handle->view->stream), PT_IS_STOPPING))
		return;
	if (handle->flusher) {
		pxt_view_wait(handle->view, 2000);
		pxt_flush(handle);
	}
	put_stop(handle->view, address);
}

int posix_trace_start(trace_id_t trid)
{
	struct pxt_handle *handle = pxt_handle_get(trid, PT_ACTIVE);

	if (!handle)
		return EINVAL;
	pthread_mutex_lock(&handle->controls);
	if (!atomic_load(&atomic_load(&handle->view->stream)->run))
		begin_running(handle->view, __builtin_return_address(0));
	pthread_mutex_unlock(&handle->controls);
	pxt_handle_put(handle);
	return 0;
}

int posix_trace_stop(trace_id_t trid)
{
	struct pxt_handle *handle = pxt_handle_get(trid, PT_ACTIVE);

	if (!handle)
		return EINVAL;
	pthread_mutex_lock(&handle->controls);
	pxt_stop(handle->view, __builtin_return_address(0));
	pthread_mutex_unlock(&handle->controls);
	pxt_handle_put(handle);
	return 0;
}

static void forget_events(struct pxt_handle *handle)
{
	struct pxt_stream *stream = atomic_load(&handle->view->stream);
	uint64_t head = atomic_load(&stream->head), tail;
	struct pxt_event event;
	uint32_t nr_cells;

	/*
	 * The loop below drops records up to the first unfinished record. Readers skip the other
	 * records before clear_at.
	 */
	atomic_store(&stream->clear_at, head);
	while ((tail = atomic_load(&stream->tail)) != head) {
		int found = pxt_ring_peek(handle->view, tail, &event, NULL, &nr_cells);

		if (found == 1)
			pxt_ring_take(handle->view, tail, nr_cells);
		else if (tail == atomic_load(&stream->tail))
			break;
	}
	handle->at = 0;
	handle->nr_queued = 0;
	handle->has_held = false;
	atomic_store(&stream->gap, 0);
	atomic_store(&stream->gap_ns, 0);
	atomic_store(&stream->is_overrun, 0);
	atomic_store(&stream->lost, 0);
	atomic_fetch_and(&stream->run, PT_RUNS);
}

int posix_trace_clear(trace_id_t trid)
{
	PXT_NO_CANCEL;
	struct pxt_handle *handle = pxt_handle_get(trid, PT_ACTIVE);

	if (!handle)
		return EINVAL;
	if (handle->flusher)
		pxt_flusher_begin_clear(handle);
	pthread_mutex_lock(&handle->reads);
	pthread_mutex_lock(&handle->controls);
	forget_events(handle);
	pthread_mutex_unlock(&handle->controls);
	pthread_mutex_unlock(&handle->reads);
	if (handle->flusher)
		pxt_flusher_end_clear(handle);
	pxt_handle_put(handle);
	return 0;
}

int posix_trace_get_filter(trace_id_t trid, trace_event_set_t *set)
{
	struct pxt_handle *handle = set ? pxt_handle_get(trid, PT_ACTIVE) : NULL;

	if (!handle)
		return EINVAL;
	pxt_filter_get(atomic_load(&handle->view->stream), set);
	pxt_handle_put(handle);
	return 0;
}

static void change_filter(struct pxt_view *view, const trace_event_set_t *set, int how,
			  const void *address)
{
	struct pxt_stream *stream = atomic_load(&view->stream);
	uint32_t other = ~atomic_load(&stream->which_filter) & 1;
	trace_event_set_t filters[2]; /* for the event PT_FILTER: the old and the new filter */

	pxt_filter_get(stream, &filters[0]);
	for (int nr = 0; nr < PT_NR_IDS / 32; nr++) {
		uint32_t before = filters[0].utrail_bits[nr], bits = set->utrail_bits[nr];

		if (how == POSIX_TRACE_ADD_EVENTSET)
			bits |= before;
		else if (how == POSIX_TRACE_SUB_EVENTSET)
			bits = before & ~bits;
		filters[1].utrail_bits[nr] = bits;
		atomic_store_explicit(&stream->filter[other][nr], bits, memory_order_relaxed);
	}
	atomic_store(&stream->which_filter, other);
	if (atomic_load(&stream->run) & PT_RUNS)
		pxt_put_system(view, PT_FILTER, filters, sizeof(filters), address);
}

int posix_trace_set_filter(trace_id_t trid, const trace_event_set_t *set, int how)
{
	struct pxt_handle *handle;

	if (!set || how < POSIX_TRACE_SET_EVENTSET || how > POSIX_TRACE_SUB_EVENTSET)
		return EINVAL;
	handle = pxt_handle_get(trid, PT_ACTIVE);
	if (!handle)
		return EINVAL;
	pthread_mutex_lock(&handle->controls);
	change_filter(handle->view, set, how, __builtin_return_address(0));
	pthread_mutex_unlock(&handle->controls);
	pxt_handle_put(handle);
	return 0;
}

int posix_trace_get_attr(trace_id_t trid, trace_attr_t *attr)
{
	struct pxt_handle *handle = attr ? pxt_handle_get(trid, PT_ANY) : NULL;
	struct pxt_attr copy;

	if (!handle)
		return EINVAL;
	copy = handle->kind == PT_LOG ? *pxt_log_attr(handle) : handle->attr;
	memset(attr, 0, sizeof(*attr));
	memcpy(attr, &copy, sizeof(copy));
	pxt_handle_put(handle);
	return 0;
}

static void stream_status(struct pxt_handle *handle, struct posix_trace_status_info *status)
{
	struct pxt_stream *stream = atomic_load(&handle->view->stream);
	uint32_t run = atomic_load(&stream->run);

	status->posix_stream_status = run & PT_RUNS ? POSIX_TRACE_RUNNING : POSIX_TRACE_SUSPENDED;
	status->posix_stream_full_status = run & PT_IS_FULL ? POSIX_TRACE_FULL
							    : POSIX_TRACE_NOT_FULL;
	status->posix_stream_overrun_status = atomic_exchange(&stream->is_overrun, 0)
						      ? POSIX_TRACE_OVERRUN
						      : POSIX_TRACE_NO_OVERRUN;
	status->posix_stream_lost_events = (unsigned long)atomic_load(&stream->lost);
	if (handle->flusher)
		pxt_flusher_status(handle, status);
}

int posix_trace_get_status(trace_id_t trid, struct posix_trace_status_info *status)
{
	struct pxt_handle *handle = status ? pxt_handle_get(trid, PT_ANY) : NULL;

	if (!handle)
		return EINVAL;
	memset(status, 0, sizeof(*status));
	if (handle->kind == PT_LOG) {
		pxt_log_status(handle, status);
	} else {
		pthread_mutex_lock(&handle->controls);
		stream_status(handle, status);
		pthread_mutex_unlock(&handle->controls);
	}
	pxt_handle_put(handle);
	return 0;
}
