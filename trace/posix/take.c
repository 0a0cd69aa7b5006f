/* Takes the next event of a stream: one from the stream's cells, or one about the stream itself. */
#include "posix/posix.h"

#include <errno.h>
#include <string.h>

/* Events about the stream itself belong to no process. */
static struct pxt_event about_stream(uint32_t id, uint64_t time_ns)
{
	return (struct pxt_event){ .id = id, .time_ns = time_ns };
}

static void queue_gap(struct pxt_handle *handle, uint64_t resumed_ns)
{
	struct pxt_stream *stream = atomic_load(&handle->view->stream);

	handle->queue[1] = about_stream(PT_OVERFLOW, pxt_end_gap(stream, resumed_ns));
	handle->queue[0] = about_stream(PT_RESUME, resumed_ns);
	handle->nr_queued = 2;
}

/*
 * Queues OVERFLOW and RESUME if events were lost before the record @event. The caller has already
 * taken this record, so no writer can drop the record while this function runs.
 */
static void tell_gap(struct pxt_handle *handle, uint64_t at, const struct pxt_event *event)
{
	struct pxt_stream *stream = atomic_load(&handle->view->stream);
	uint64_t gap = atomic_load(&stream->gap);

	if (!gap || at + 1 < gap)
		return;
	queue_gap(handle, event->time_ns);
	handle->held = *event;
	handle->has_held = true;
}

bool pxt_take_last_gap(struct pxt_handle *handle)
{
	const struct pxt_view *view = handle->view;

	if (!atomic_load(&atomic_load(&view->stream)->gap))
		return false;
	queue_gap(handle, pxt_now_ns() + view->offset_ns);
	return true;
}

static bool take_waiting(struct pxt_handle *handle, struct pxt_event *event)
{
	if (handle->nr_queued) {
		*event = handle->queue[--handle->nr_queued];
		return true;
	}
	if (handle->has_held) {
		handle->has_held = false;
		*event = handle->held;
		return true;
	}
	return false;
}

/*
 * Takes the STOP of a stream that has stopped because it was full. Called when no record is left:
 * the reader gets the STOP after all records. Restarts the stream if the stream has PT_RESTARTS.
 */
static int take_stop(struct pxt_handle *handle, struct pxt_event *event)
{
	struct pxt_stream *stream = atomic_load(&handle->view->stream);
	uint32_t run = atomic_load(&stream->run);
	int is_automatic = 1;

	if (!(run & PT_SAYS_STOP))
		return 0;
	*event = about_stream(PT_STOP, atomic_load(&stream->stopped_ns));
	event->len = sizeof(is_automatic);
	memcpy(handle->buffer, &is_automatic, sizeof(is_automatic));
	pthread_mutex_lock(&handle->controls);
	pxt_restart(handle->view);
	pthread_mutex_unlock(&handle->controls);
	return 1;
}

/*
 * Takes the record at the tail. Returns a result as pxt_ring_peek() does. After -ESTALE the caller
 * tries again.
 */
static int take_record(struct pxt_handle *handle, struct pxt_event *event)
{
	const struct pxt_view *view = handle->view;
	struct pxt_stream *stream = atomic_load(&view->stream);
	uint64_t tail = atomic_load(&stream->tail);
	uint32_t nr_cells;
	int found = pxt_ring_peek(view, tail, event, handle->buffer, &nr_cells);

	if (found == -EAGAIN)
		return pxt_ring_skip_dead(view, tail) ? -ESTALE : -EAGAIN;
	if (found == -ESTALE)
		return tail != atomic_load(&stream->tail) ? -ESTALE : 0;
	if (!found)
		return 0;
	if (!pxt_ring_take(view, tail, nr_cells) || tail < atomic_load(&stream->clear_at))
		return -ESTALE;
	if (view->policy == POSIX_TRACE_LOOP)
		atomic_fetch_and(&stream->run, ~(uint32_t)PT_IS_FULL);
	tell_gap(handle, tail, event);
	return 1;
}

int pxt_take(struct pxt_handle *handle, struct pxt_event *event)
{
	int found;

	if (take_waiting(handle, event))
		return 1;
	do
		found = take_record(handle, event);
	while (found == -ESTALE);
	if (!found)
		return take_stop(handle, event);
	if (found == 1 && handle->nr_queued)
		take_waiting(handle, event);
	return found;
}

int pxt_follow(struct pxt_handle *handle, struct pxt_event *event)
{
	const struct pxt_view *view = handle->view;
	struct pxt_stream *stream = atomic_load(&view->stream);
	uint32_t nr_cells;
	int found;

	for (;;) {
		uint64_t tail = atomic_load(&stream->tail);
		uint64_t clear_at = atomic_load(&stream->clear_at);

		if (handle->at < tail)
			handle->at = tail;
		if (handle->at < clear_at)
			handle->at = clear_at;
		found = pxt_ring_peek(view, handle->at, event, handle->buffer, &nr_cells);
		/* If the record's cells have been released, @event and its data may be torn. */
		if (atomic_load(&stream->tail) > handle->at)
			continue;
		if (found == 1)
			handle->at += nr_cells;
		return found == -ESTALE ? 0 : found;
	}
}
