/*
 * Moves records from a stream into its log. A record is in the log before its cells in the stream
 * are released. The progress of the log (struct pxt_log_slot) changes atomically. So if a process
 * is killed while it moves records, the process that finishes the log finds each record exactly
 * once.
 */
#include "posix/keeper.h"

#include <errno.h>
#include <string.h>

/*
 * The number of times to wait, 1 ms each, for a thread in the middle of a record. A thread that is
 * not stopped finishes a record in nanoseconds.
 */
#define WAITS_MAX 50

/* Stores the progress of the log. Called only when all records in the log are complete. */
static void settle_log(struct pxt_drain *drain, uint64_t taken)
{
	uint32_t other = ~atomic_load(&drain->part->which) & 1;

	drain->taken = taken;
	drain->settled = drain->writer.header.last;
	drain->part->slots[other] = (struct pxt_log_slot){
		.begin = drain->settled - drain->writer.nr_buffered,
		.taken = taken,
		.pending = (uint32_t)drain->writer.nr_buffered,
		.has_stop = drain->has_stop,
	};
	atomic_store_explicit(&drain->part->which, other, memory_order_release);
}

/*
 * Called when the buffer has been written to the file, and before the buffer is used again. Stores
 * the progress of the log. If the file ends with a part of a record, the progress does not include
 * this record.
 */
static void buffer_was_written(void *argument)
{
	struct pxt_drain *drain = argument;
	uint32_t other = ~atomic_load(&drain->part->which) & 1;

	drain->part->slots[other] = (struct pxt_log_slot){
		.begin = drain->settled,
		.taken = drain->taken,
		.has_stop = drain->has_stop,
	};
	atomic_store_explicit(&drain->part->which, other, memory_order_release);
}

void pxt_drain_begin(struct pxt_drain *drain, struct pxt_log_part *part, uint64_t taken)
{
	drain->part = part;
	drain->writer.has_written = buffer_was_written;
	drain->writer.argument = drain;
	settle_log(drain, taken);
}

void pxt_drain_note_stop(struct pxt_drain *drain)
{
	drain->has_stop = drain->owner ? PT_STOP_OF_SUCCESSOR : PT_STOP_OF_OWNER;
	settle_log(drain, drain->taken);
}

/* Appends an event that belongs to no process, because the event is about the stream itself. */
static int append_about(struct pxt_drain *drain, uint32_t id, uint64_t time_ns)
{
	const struct pxt_event event = { .id = id, .time_ns = time_ns };

	return pxt_log_append(&drain->writer, &event, NULL, false);
}

/*
 * Ends the stream's gap. If part->overflow_ns is 0, sets part->overflow_ns to the time of the gap's
 * first lost event, or to @before_ns if that time is unknown.
 */
static void note_gap(struct pxt_stream *stream, struct pxt_log_part *part, uint64_t before_ns)
{
	uint64_t lost_ns = pxt_end_gap(stream, before_ns), none = 0;

	atomic_compare_exchange_strong(&part->overflow_ns, &none, lost_ns);
}

static int append_gap(struct pxt_drain *drain, uint64_t resumed_ns)
{
	uint64_t overflow_ns = atomic_load(&drain->part->overflow_ns);
	int error = overflow_ns ? append_about(drain, PT_OVERFLOW, overflow_ns) : 0;

	if (!error && overflow_ns)
		error = append_about(drain, PT_RESUME, resumed_ns);
	return error;
}

/*
 * Appends the record to the log and releases its cells. Returns 1 on success, or a negative errno.
 * Returns 0 if a looping stream has overwritten the record meanwhile: the copy in the log is then
 * removed again, and the caller must try again.
 */
static int take_record(struct pxt_handle *handle, struct pxt_drain *drain, uint64_t tail,
		       const struct pxt_event *event, uint32_t nr_cells)
{
	struct pxt_stream *stream = atomic_load(&handle->view->stream);
	uint64_t last = drain->writer.header.last, gap = atomic_load(&stream->gap);
	uint64_t taken = drain->taken;
	uint32_t had_stop = drain->has_stop;
	int error;

	if (gap && tail + 1 >= gap)
		note_gap(stream, drain->part, event->time_ns);
	error = append_gap(drain, event->time_ns);
	if (!error)
		error = pxt_log_append(&drain->writer, event, handle->buffer, false);
	if (error) {
		pxt_log_take_back(&drain->writer, last);
		return error;
	}
	drain->has_stop = event->id == PT_STOP ? PT_STOP_OF_OWNER : PT_NO_STOP;
	settle_log(drain, tail + nr_cells);
	if (!pxt_ring_take(handle->view, tail, nr_cells)) {
		pxt_log_take_back(&drain->writer, last);
		drain->has_stop = had_stop;
		settle_log(drain, taken);
		return 0;
	}
	atomic_store(&drain->part->overflow_ns, 0);
	if (handle->view->policy == POSIX_TRACE_LOOP)
		atomic_fetch_and(&stream->run, ~(uint32_t)PT_IS_FULL);
	return 1;
}

/*
 * Appends the STOP of a stream that has stopped by itself. The STOP comes after all other records.
 */
static int append_stop(struct pxt_handle *handle, struct pxt_drain *drain)
{
	struct pxt_stream *stream = atomic_load(&handle->view->stream);
	uint32_t run = drain->owner ? atomic_load(&stream->run_at_end) : atomic_load(&stream->run);
	int is_automatic = 1, error;
	const struct pxt_event event = {
		.id = PT_STOP,
		.time_ns = atomic_load(&stream->stopped_ns),
		.len = sizeof(is_automatic),
	};

	if (!(run & PT_SAYS_STOP))
		return 0;
	/*
	 * If the previous writer was killed before it cleared PT_SAYS_STOP, the log may already
	 * contain the STOP.
	 */
	error = drain->owner && drain->has_stop
			? 0
			: pxt_log_append(&drain->writer, &event, &is_automatic, false);
	if (error)
		return error;
	pxt_drain_note_stop(drain);
	if (drain->owner) {
		atomic_fetch_and(&stream->run_at_end, ~(uint32_t)PT_SAYS_STOP);
		return 0;
	}
	pthread_mutex_lock(&handle->controls);
	pxt_restart(handle->view);
	pthread_mutex_unlock(&handle->controls);
	return 1;
}

/*
 * Skips the unfinished record at the tail if the record's writer is dead. Returns true if the
 * caller must look at the tail again.
 *
 * Two kinds of writers seem alive, but may never finish the record: a stopped writer, and a dead
 * writer whose pid now belongs to a new process. Two kinds of flushes wait for the record, but at
 * most WAITS_MAX times:
 *
 * - The stream's last flush. After the waits, this flush skips the record. This is safe because the
 *   stream has stopped: no new record gets the cells of the skipped record.
 * - An earlier flush while handle->is_closing is set. After the waits, this flush leaves the
 *   record.
 */
static bool skip_unfinished(struct pxt_handle *handle, struct pxt_drain *drain, uint64_t tail,
			    int *waits)
{
	const struct timespec step = { 0, 1000000 };
	bool is_last = drain->owner || drain->writer.header.is_closed;

	if ((drain->owner && pxt_ring_skip_of(handle->view, tail, drain->owner)) ||
	    pxt_ring_skip_dead(handle->view, tail))
		return true;
	if (!is_last && !atomic_load(&handle->is_closing))
		return false;
	/*
	 * After the last wait, the last flush tries to skip the record. pxt_ring_skip_of() fails if
	 * the writer has just finished the record, or if the cell at the tail is invalid. In these
	 * two cases, the caller looks at the tail exactly once more.
	 */
	if (++*waits > WAITS_MAX)
		return is_last &&
		       (pxt_ring_skip_of(handle->view, tail, 0) || *waits == WAITS_MAX + 1);
	nanosleep(&step, NULL);
	return true;
}

/*
 * Tries to move one record. Returns 1 when the caller must call this function again, 0 when there
 * is no record to move, -EAGAIN when a writer is in the middle of the record, or another negative
 * errno.
 */
static int drain_one(struct pxt_handle *handle, struct pxt_drain *drain, int *waits)
{
	const struct pxt_view *view = handle->view;
	struct pxt_stream *stream = atomic_load(&view->stream);
	uint64_t tail = atomic_load(&stream->tail);
	struct pxt_event event;
	uint32_t nr_cells;
	int found = pxt_ring_peek(view, tail, &event, handle->buffer, &nr_cells), error;

	if (found == -EAGAIN)
		return skip_unfinished(handle, drain, tail, waits) ? 1 : -EAGAIN;
	if (found == -ESTALE)
		return tail != atomic_load(&stream->tail);
	if (!found)
		return append_stop(handle, drain);
	if (tail < atomic_load(&stream->clear_at)) {
		pxt_ring_take(view, tail, nr_cells);
		return 1;
	}
	error = take_record(handle, drain, tail, &event, nr_cells);
	return error < 0 ? error : 1;
}

int pxt_drain_until(struct pxt_handle *handle, struct pxt_drain *drain, uint64_t head)
{
	struct pxt_stream *stream = atomic_load(&handle->view->stream);
	int found = 1, waits = 0;

	while (found == 1 &&
	       (atomic_load(&stream->tail) < head ||
		(drain->owner ? atomic_load(&stream->run_at_end) : atomic_load(&stream->run)) &
			PT_SAYS_STOP))
		found = drain_one(handle, drain, &waits);
	return found < 0 && found != -EAGAIN ? found : 0;
}

int pxt_drain_last_gap(struct pxt_handle *handle, struct pxt_drain *drain)
{
	struct pxt_stream *stream = atomic_load(&handle->view->stream);
	uint64_t last = drain->writer.header.last;
	uint64_t now = pxt_now_ns() + handle->view->offset_ns;
	int error;

	if (atomic_load(&stream->gap))
		note_gap(stream, drain->part, now);
	error = append_gap(drain, now);
	if (error) {
		pxt_log_take_back(&drain->writer, last);
		return error;
	}
	settle_log(drain, drain->taken);
	atomic_store(&drain->part->overflow_ns, 0);
	return 0;
}

int pxt_drain_names(struct pxt_handle *handle, struct pxt_drain *drain)
{
	char text[PT_NAME_MAX + 1];
	int error = 0;

	while (!error && drain->nr_names < PT_NR_NAMED &&
	       pxt_names_get(handle->names, PT_FIRST_NAMED + drain->nr_names, text)) {
		error = pxt_log_add_name(&drain->writer, PT_FIRST_NAMED + drain->nr_names, text);
		drain->nr_names += !error;
	}
	return error;
}

void pxt_drain_status(struct pxt_handle *handle, struct pxt_drain *drain)
{
	struct pxt_stream *stream = atomic_load(&handle->view->stream);
	struct pxt_status *status = &drain->writer.header.status;
	uint32_t run = atomic_load(&stream->run);

	/*
	 * If the owner has ended, the log gets the status that it would have after
	 * posix_trace_stop().
	 */
	if (drain->owner) {
		run = atomic_load(&stream->run_at_end);
		run = run & PT_RUNS ? 0 : run;
	}
	status->is_running = !!(run & PT_RUNS);
	status->is_full = !!(run & PT_IS_FULL);
	status->is_overrun |= atomic_load(&stream->is_overrun);
	status->lost = atomic_load(&stream->lost);
}

/*
 * Ends a full log whose old events must stay: appends a STOP, and stops the log's stream until
 * posix_trace_clear(). Events that were not flushed are dropped.
 */
void pxt_drain_end_full(struct pxt_handle *handle, struct pxt_drain *drain)
{
	struct pxt_stream *stream = atomic_load(&handle->view->stream);
	struct pxt_event event = {
		.id = PT_STOP,
		.len = sizeof(int),
		.time_ns = pxt_now_ns() + handle->view->offset_ns,
	};
	int is_automatic = 1;

	if (!drain->writer.header.status.is_log_overrun) {
		/* The previous writer may have been killed after it had appended the STOP. */
		bool has_stop = drain->owner && drain->has_stop;

		if (!has_stop && !pxt_log_append(&drain->writer, &event, &is_automatic, true))
			pxt_drain_note_stop(drain);
		drain->writer.has_lost = true;
	}
	drain->writer.header.status.is_log_overrun = 1;
	if (!drain->owner)
		atomic_store(&stream->run, PT_IS_FULL);
	while (pxt_take(handle, &event) == 1)
		drain->writer.has_lost = true;
	handle->nr_queued = 0;
	handle->has_held = false;
	atomic_store(&drain->part->overflow_ns, 0);
	settle_log(drain, atomic_load(&stream->tail));
}
