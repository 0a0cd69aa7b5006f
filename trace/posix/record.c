/* Records an event in all streams that want it, and applies the policy of a full stream. */
#include "posix/posix.h"

#include <errno.h>
#include <string.h>

/* The most records that one event may evict. A large event may need all cells of the ring. */
#define EVICTIONS_MAX (1 << 24)

/*
 * A full stream with POSIX_TRACE_LOOP loses its oldest events. After each OWNER_LOOKS lost events,
 * the writer checks in /proc if the stream's owner is alive.
 */
#define OWNER_LOOKS 16384

bool pxt_is_filtered(struct pxt_stream *stream, uint32_t id)
{
	uint32_t which = atomic_load_explicit(&stream->which_filter, memory_order_acquire) & 1;

	return atomic_load_explicit(&stream->filter[which][id % PT_NR_IDS / 32],
				    memory_order_relaxed) >>
		       (id % 32) &
	       1;
}

void pxt_filter_get(struct pxt_stream *stream, trace_event_set_t *set)
{
	uint32_t which = atomic_load_explicit(&stream->which_filter, memory_order_acquire) & 1;

	for (int nr = 0; nr < PT_NR_IDS / 32; nr++)
		set->utrail_bits[nr] = atomic_load_explicit(&stream->filter[which][nr],
							    memory_order_relaxed);
}

void pxt_wake_readers(struct pxt_stream *stream)
{
	atomic_fetch_add(&stream->wake, 1);
	pxt_futex_wake(&stream->wake);
}

void pxt_want_flush(struct pxt_stream *stream)
{
	if (atomic_load_explicit(&stream->wants_flush, memory_order_relaxed) & PT_WANTS_FLUSH)
		return;
	atomic_fetch_or(&stream->wants_flush, PT_WANTS_FLUSH);
	pxt_futex_wake(&stream->wants_flush);
}

static void lose(struct pxt_stream *stream, const struct pxt_event *event)
{
	pxt_note_lost(stream, atomic_load_explicit(&stream->head, memory_order_relaxed),
		      event->time_ns);
}

/*
 * Stops a full stream that must not lose its old events. @event is lost, like all events until the
 * stream runs again.
 */
static void stop_full(struct pxt_stream *stream, const struct pxt_event *event)
{
	uint32_t run = PT_RUNS;

	atomic_store(&stream->stopped_ns, event->time_ns);
	atomic_compare_exchange_strong(&stream->run, &run, PT_IS_FULL | PT_RESTARTS | PT_SAYS_STOP);
	lose(stream, event);
	pxt_wake_readers(stream);
}

/*
 * Puts the event in the place of cleared records. posix_trace_clear() could not remove these
 * records, because another thread was writing a record. Returns -ENOSPC if there are no cleared
 * records.
 */
static int put_over_cleared(struct pxt_view *view, struct pxt_stream *stream,
			    struct pxt_event *event, const void *data)
{
	int error = -ENOSPC;

	for (int nr = 0; error == -ENOSPC && nr < EVICTIONS_MAX; nr++) {
		if (!pxt_ring_evict_before(view, atomic_load(&stream->clear_at)))
			break;
		error = pxt_ring_put(view, event, data);
	}
	return error;
}

static int put_over(struct pxt_view *view, struct pxt_stream *stream, struct pxt_event *event,
		    const void *data)
{
	uint32_t run = PT_RUNS;
	int error = -ENOSPC;

	/* If another thread has stopped the stream, the stream is not marked as full. */
	if (atomic_load_explicit(&stream->run, memory_order_relaxed) == PT_RUNS)
		atomic_compare_exchange_strong(&stream->run, &run, PT_RUNS | PT_IS_FULL);
	/* If the owner was killed, no process reads the events any more. */
	if (atomic_load_explicit(&stream->lost, memory_order_relaxed) % OWNER_LOOKS == 0 &&
	    pxt_process_is_dead((pid_t)view->owner_pid))
		pxt_close_stream(stream);
	for (int nr = 0; error == -ENOSPC && nr < EVICTIONS_MAX; nr++) {
		if (!pxt_ring_evict(view))
			break;
		error = pxt_ring_put(view, event, data);
	}
	return error;
}

/* HOT. */
static void put_in_stream(struct pxt_view *view, struct pxt_stream *stream, struct pxt_event *event,
			  const void *data)
{
	int error = pxt_ring_put(view, event, data);

	if (PT_LIKELY(!error) && view->policy != POSIX_TRACE_FLUSH)
		return;
	if (!error) {
		/* Half of the cells are for events that come during a flush. */
		if (atomic_load_explicit(&stream->head, memory_order_relaxed) -
			    atomic_load_explicit(&stream->tail, memory_order_relaxed) >
		    view->nr_cells / 2)
			pxt_want_flush(stream);
		return;
	}
	if (error == -ENOSPC)
		error = put_over_cleared(view, stream, event, data);
	if (!error) {
		/*
		 * The stream was full, and the event has replaced records that
		 * posix_trace_clear() had cleared. Request a flush, to make room for more events.
		 */
		if (view->policy == POSIX_TRACE_FLUSH)
			pxt_want_flush(stream);
		return;
	}
	if (error == -ENOSPC && view->policy == POSIX_TRACE_LOOP)
		error = put_over(view, stream, event, data);
	else if (error == -ENOSPC && view->policy == POSIX_TRACE_UNTIL_FULL) {
		stop_full(stream, event);
		return;
	} else if (view->policy == POSIX_TRACE_FLUSH)
		pxt_want_flush(stream);
	if (error)
		lose(stream, event);
}

static struct pxt_event system_event(const struct pxt_view *view, uint32_t id, uint32_t len,
				     const void *address)
{
	return (struct pxt_event){
		.time_ns = pxt_now_ns() + view->offset_ns,
		.address = (uintptr_t)address,
		.thread = (uintptr_t)pthread_self(),
		.pid = atomic_load_explicit(&pxt_process.pid, memory_order_relaxed),
		.id = id,
		.len = len,
	};
}

void pxt_put_system(struct pxt_view *view, uint32_t id, const void *data, uint32_t len,
		    const void *address)
{
	struct pxt_stream *stream = atomic_load(&view->stream);
	struct pxt_event event = system_event(view, id, len, address);

	if (!pxt_is_filtered(stream, id))
		put_in_stream(view, stream, &event, data);
}

void pxt_put_if_room(struct pxt_view *view, uint32_t id)
{
	struct pxt_stream *stream = atomic_load(&view->stream);
	struct pxt_event event = system_event(view, id, 0, NULL);

	if (atomic_load(&stream->run) & PT_RUNS && !pxt_is_filtered(stream, id))
		pxt_ring_put(view, &event, NULL);
}

void pxt_put_start(struct pxt_view *view, const void *address)
{
	trace_event_set_t filter;

	pxt_filter_get(atomic_load(&view->stream), &filter);
	pxt_put_system(view, PT_START, &filter, sizeof(filter), address);
}

/* HOT. Records an event in one stream. The time is read only if the stream wants the event. */
static void record_into(struct pxt_view *view, struct pxt_stream *stream, struct pxt_event *event,
			const void *data)
{
	uint32_t run = atomic_load_explicit(&stream->run, memory_order_acquire);
	uint32_t len = event->len, flags = event->flags;

	if (!(run & (PT_RUNS | PT_IS_FULL)) || pxt_is_filtered(stream, event->id))
		return;
	/* Only user events and events of functions come here. */
	if (PT_UNLIKELY(event->id < PT_UNNAMED) && !view->has_functions)
		return;
	if (!event->time_ns) {
		event->time_ns = pxt_now_ns();
		event->thread = (uintptr_t)pthread_self();
	}
	event->time_ns += view->offset_ns;
	if (PT_UNLIKELY(event->len > view->max_data) && event->id >= PT_UNNAMED) {
		event->len = view->max_data;
		event->flags |= PT_TRUNCATED;
	}
	if (PT_LIKELY(run & PT_RUNS))
		put_in_stream(view, stream, event, data);
	else
		lose(stream, event);
	event->time_ns -= view->offset_ns;
	event->len = len;
	event->flags = flags;
}

enum recorded {
	DONE,
	IS_OTHER, /* the view has another serial, or was mapped during record_number() */
	IS_CLOSED,
};

/* HOT. */
static enum recorded record_number(unsigned int number, uint32_t serial, struct pxt_event *event,
				   const void *data)
{
	struct pxt_view *view = &pxt_process.views[number];
	struct pxt_inside inside = pxt_inside_enter(view);
	enum recorded recorded = DONE;
	struct pxt_stream *stream;

	stream = atomic_load(&view->stream);
	if (PT_UNLIKELY(atomic_load_explicit(&view->serial, memory_order_relaxed) != serial))
		recorded = IS_OTHER;
	else if (PT_LIKELY(stream != NULL)) {
		record_into(view, stream, event, data);
		if (PT_UNLIKELY(atomic_load_explicit(&stream->run, memory_order_relaxed) &
				PT_IS_CLOSED))
			recorded = IS_CLOSED;
	} else {
		/*
		 * The first load of view->stream found no stream. If the second load finds a
		 * stream, the stream was mapped between the two loads. The second load must come
		 * after the load of view->serial, even on CPUs that reorder loads.
		 */
		atomic_thread_fence(memory_order_acquire);
		if (atomic_load(&view->stream))
			recorded = IS_OTHER;
	}
	pxt_inside_leave(&inside);
	return recorded;
}

static void record_slowly(struct pxt_registry *registry, unsigned int number, uint32_t serial,
			  struct pxt_event *event, const void *data, enum recorded recorded)
{
	/*
	 * The serial is 0 in one case: a signal handler has interrupted pxt_record() and has called
	 * fork(2). In the child, pxt_record() continues after the handler. There pxt_record() finds
	 * zeros in the memory of the registry.
	 */
	if (recorded == IS_OTHER && serial && pxt_view_map(number, serial))
		recorded = record_number(number, serial, event, data);
	if (recorded == IS_CLOSED)
		pxt_view_detach(registry, number, serial);
}

/* HOT. */
void pxt_record(uint32_t id, const void *data, size_t len, const void *address)
{
	struct pxt_registry *registry = atomic_load(&pxt_process.registry);
	struct pxt_event event = {
		.address = (uintptr_t)address,
		.id = id,
		.len = len < PT_DATA_MAX ? (uint32_t)len : PT_DATA_MAX,
		.flags = len > PT_DATA_MAX ? PT_TRUNCATED : 0,
	};

	event.pid = atomic_load_explicit(&pxt_process.pid, memory_order_relaxed);
	for (unsigned int nr = 0; nr < PT_ATTACHED_WORDS; nr++) {
		unsigned long word = atomic_load_explicit(&registry->attached[nr],
							  memory_order_acquire);

		for (; word; word &= word - 1) {
			unsigned int number = nr * PT_ATTACHED_BITS +
					      (unsigned int)__builtin_ctzl(word);
			uint32_t serial = atomic_load_explicit(&registry->serial[number],
							       memory_order_relaxed);

			enum recorded recorded = record_number(number, serial, &event, data);

			if (PT_UNLIKELY(recorded != DONE))
				record_slowly(registry, number, serial, &event, data, recorded);
		}
	}
}

/* HOT. If there is no stream and no recorder, a call costs a few loads and a branch. */
void posix_trace_event(trace_event_id_t id, const void *restrict data, size_t len)
{
	struct pxt_registry *registry = atomic_load_explicit(&pxt_process.registry,
							     memory_order_acquire);
	unsigned long attached = atomic_load_explicit(&pxt_process.is_recorded,
						      memory_order_relaxed);

	for (unsigned int nr = 0; nr < PT_ATTACHED_WORDS; nr++)
		attached |= atomic_load_explicit(&registry->attached[nr], memory_order_relaxed);
	if (PT_LIKELY(!attached))
		return;
	if (PT_UNLIKELY(id < PT_UNNAMED || id >= PT_END_NAMED || (!data && len)))
		return;
	if (pxt_join())
		pxt_record(id, data, len, __builtin_return_address(0));
	if (PT_UNLIKELY(atomic_load_explicit(&pxt_process.is_recorded, memory_order_relaxed)))
		pxt_recorded_emit(id, data, len);
}
