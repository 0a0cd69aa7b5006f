/* Completes the logs of processes that have ended without shutting their streams down. */
#include "posix/keeper.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/*
 * Another process, such as the keeper (keeper.h), may complete the log. These are the time limits
 * of the wait for that process:
 *
 * BEGIN_NS: until the keeper begins to complete the log
 * STUCK_NS: until the process makes progress
 * WAIT_NS: until the log is complete
 */
#define BEGIN_NS 1000000000ull
#define STUCK_NS 10000000000ull
#define WAIT_NS	 60000000000ull
#define STEP_NS	 5000000

/*
 * Appends the STOP event that posix_trace_shutdown() would have recorded. The event gets the pid of
 * the stream's owner.
 */
static int append_stop(struct pxt_handle *handle, struct pxt_drain *drain)
{
	struct pxt_stream *stream = atomic_load(&handle->view->stream);
	uint32_t run = atomic_load(&stream->run_at_end);
	int is_automatic = 0;
	const struct pxt_event event = {
		.id = PT_STOP,
		.time_ns = pxt_now_ns() + handle->view->offset_ns,
		.pid = handle->view->owner_pid,
		.len = sizeof(is_automatic),
	};
	int error;

	/*
	 * If the log ends with a STOP from an earlier attempt to complete the log, no other STOP is
	 * needed. If the log ends with a STOP of the owner, the stream may have run again after
	 * this STOP. The log does not always show that run: a filter, for example, may have left
	 * out the START. Therefore the function looks at @run: another STOP is needed only if
	 * the stream was running when it was closed (PT_RUNS).
	 */
	if (drain->has_stop == PT_STOP_OF_SUCCESSOR || (drain->has_stop && !(run & PT_RUNS)))
		return 0;
	if (!(run & (PT_RUNS | PT_IS_STOPPING)) || pxt_is_filtered(stream, PT_STOP))
		return 0;
	error = pxt_log_append(&drain->writer, &event, &is_automatic, false);
	if (!error)
		pxt_drain_note_stop(drain);
	return error;
}

/*
 * Copies all events of the stream to the log. Some threads may have begun to record an event before
 * the stream was closed. Therefore the loop ends only after a round without new events.
 */
static int copy_events(struct pxt_handle *handle, struct pxt_drain *drain)
{
	struct pxt_stream *stream = atomic_load(&handle->view->stream);
	uint64_t before, head = atomic_load(&stream->head);
	int error = 0;

	if (drain->writer.header.status.is_log_overrun && drain->writer.policy == PT_LOG_UNTIL_FULL)
		return -EXFULL;
	do {
		before = head;
		error = pxt_drain_until(handle, drain, head);
		head = atomic_load(&stream->head);
	} while (!error && head != before);
	if (!error)
		error = pxt_drain_last_gap(handle, drain);
	return error ? error : append_stop(handle, drain);
}

static int write_rest(struct pxt_handle *handle, struct pxt_drain *drain)
{
	int error = copy_events(handle, drain);

	if (error == -EXFULL) {
		pxt_drain_end_full(handle, drain);
		error = 0;
	}
	if (!error)
		error = pxt_drain_names(handle, drain);
	pxt_drain_status(handle, drain);
	drain->writer.header.is_closed = 1;
	return error ? error : pxt_log_sync(&drain->writer);
}

/*
 * Continues where the previous writer stopped. The positions that this writer has left in @part are
 * used only if they are plausible.
 */
static int go_on(struct pxt_handle *handle, struct pxt_drain *drain, struct pxt_log_part *part)
{
	struct pxt_stream *stream = atomic_load(&handle->view->stream);
	struct pxt_log_slot slot = part->slots[atomic_load(&part->which) & 1];
	uint64_t tail = atomic_load(&stream->tail), head = atomic_load(&stream->head);
	int error = pxt_log_recover(&drain->writer, slot.begin, slot.pending);

	if (error)
		return error;
	if (slot.taken > tail && slot.taken <= head &&
	    atomic_compare_exchange_strong(&stream->tail, &tail, slot.taken))
		tail = slot.taken;
	drain->nr_names = drain->writer.header.nr_names;
	drain->has_stop = slot.has_stop;
	drain->owner = handle->view->owner_pid ? (pid_t)handle->view->owner_pid : -1;
	pxt_drain_begin(drain, part, tail);
	return write_rest(handle, drain);
}

/* Writes to the log, unless the log is closed, or the file now contains another log. */
static int write_log(struct pxt_handle *handle, struct pxt_log_part *part, int fd)
{
	struct pxt_drain drain;
	size_t room = pxt_data_room(handle->view);
	int error;

	memset(&drain, 0, sizeof(drain));
	error = pxt_log_writer_resume(&drain.writer, fd, part->buffer);
	if (error)
		return error;
	if (drain.writer.header.is_closed ||
	    drain.writer.header.attr.created_ns !=
		    atomic_load(&handle->view->stream)->attr.created_ns)
		return 0;
	handle->buffer = mmap(NULL, room, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
			      0);
	if (handle->buffer == MAP_FAILED)
		return -ENOMEM;
	error = go_on(handle, &drain, part);
	munmap(handle->buffer, room);
	return error;
}

static bool claim_part(struct pxt_log_part *part)
{
	uint32_t before = atomic_load(&part->finisher);

	return (!before || pxt_process_is_dead((pid_t)before)) &&
	       atomic_compare_exchange_strong(&part->finisher, &before, (uint32_t)getpid());
}

/* Completes a log. A second attempt does not write the same records again. */
int pxt_finish(struct pxt_stream *stream, size_t bytes, struct pxt_names *names, int fd)
{
	struct pxt_handle handle;
	struct pxt_log_part *part;
	int error;

	memset(&handle, 0, sizeof(handle));
	handle.view = &handle.own_view;
	handle.names = names;
	if (pxt_view_set(handle.view, stream, bytes, stream->serial) < 0)
		return -EINVAL;
	part = pxt_log_part_of(handle.view);
	if (!part || atomic_load(&part->is_done) || !claim_part(part))
		return 0;
	pxt_close_stream(stream);
	error = write_log(&handle, part, fd);
	/* -EINVAL means that the file is not a log any more, and will not become one. */
	if (!error || error == -EINVAL)
		atomic_store(&part->is_done, 1);
	atomic_store(&part->finisher, 0);
	return error;
}

struct pxt_log_part *pxt_unfinished(struct pxt_stream *stream, size_t bytes)
{
	struct pxt_view view;
	struct pxt_log_part *part;

	memset(&view, 0, sizeof(view));
	if (bytes < PT_CELLS_OFFSET || pxt_view_set(&view, stream, bytes, stream->serial) < 0)
		return NULL;
	part = pxt_log_part_of(&view);
	return part && !atomic_load(&part->is_done) ? part : NULL;
}

void pxt_left_name(char name[64], unsigned int number, uint32_t serial)
{
	pxt_place_name(name, 'd', number, serial);
}

/*
 * Removes both files that the finished stream @stream may have: s-N, where N is @number, and
 * d-N-SERIAL. If s-N now belongs to another stream, s-N stays.
 */
void pxt_remove_finished(int place, unsigned int number, const struct pxt_stream *stream)
{
	size_t bytes = PT_CELLS_OFFSET;
	struct pxt_stream *there;
	char name[64];

	pxt_place_name(name, 's', number, 0);
	there = pxt_place_map(place, name, &bytes);
	if (there) {
		if (there->serial == stream->serial && there->owner_pid == stream->owner_pid &&
		    there->owner_start == stream->owner_start)
			unlinkat(place, name, 0);
		munmap(there, bytes);
	}
	pxt_left_name(name, number, stream->serial);
	unlinkat(place, name, 0);
	pxt_sweep(place);
}

/* --- the process that opens a log --- */

/* @kind: 's' or 'd'. Files are looked at if their names begin with this letter. */
struct opening {
	int place;
	int fd;
	char kind;
	struct stat st;
};

/*
 * Returns the longest time to wait for progress of the process that completes the log, or 0 when
 * no such process lives.
 */
static uint64_t patience_ns(const struct pxt_log_part *part)
{
	uint32_t finisher = atomic_load(&part->finisher);

	if (finisher && !pxt_process_is_dead((pid_t)finisher))
		return STUCK_NS;
	return pxt_process_is_alive((pid_t)atomic_load(&part->keeper_pid), part->keeper_start)
		       ? BEGIN_NS
		       : 0;
}

/* A number that changes while records are written to the log. */
static uint64_t progress_of(const struct pxt_log_part *part)
{
	const struct pxt_log_slot *slot = &part->slots[atomic_load(&part->which) & 1];

	return slot->begin + slot->pending + slot->taken;
}

/*
 * Waits while another process completes the log, but at most for WAIT_NS. The wait also ends when
 * the other process has made no progress for patience_ns().
 */
static void wait_for_keeper(const struct pxt_log_part *part)
{
	const struct timespec step = { 0, STEP_NS };
	uint64_t begin = pxt_clock_ns(CLOCK_MONOTONIC), now = begin, last = begin;
	uint64_t before = progress_of(part);

	while (!atomic_load(&part->is_done) && now - begin < WAIT_NS &&
	       now - last < patience_ns(part)) {
		uint64_t progress;

		nanosleep(&step, NULL);
		now = pxt_clock_ns(CLOCK_MONOTONIC);
		progress = progress_of(part);
		if (progress != before)
			last = now;
		before = progress;
	}
}

/* The log's descriptor may be read-only, so the file is opened a second time. */
static void finish_now(const struct opening *opening, struct pxt_stream *stream, size_t bytes)
{
	struct pxt_names *names;
	int fd = pxt_open_again(opening->fd);

	names = pxt_names_map(opening->place, stream->names_pid, stream->names_start);
	if (fd >= 0 && names)
		pxt_finish(stream, bytes, names, fd);
	if (fd >= 0)
		close(fd);
	if (names)
		munmap(names, sizeof(*names));
}

static void finish_stream(const struct opening *opening, unsigned int number,
			  struct pxt_stream *stream, size_t bytes)
{
	struct pxt_log_part *part = pxt_unfinished(stream, bytes);
	int lock;

	if (!part || part->dev != opening->st.st_dev || part->ino != opening->st.st_ino ||
	    !pxt_owner_is_gone(stream, part->mapped_at, part->mapped_bytes))
		return;
	wait_for_keeper(part);
	if (!atomic_load(&part->is_done))
		finish_now(opening, stream, bytes);
	if (!atomic_load(&part->is_done))
		return;
	lock = pxt_place_lock(opening->place);
	if (lock < 0)
		return;
	pxt_remove_finished(opening->place, number, stream);
	pxt_place_unlock(lock);
}

static void look_at_file(const char *name, void *argument)
{
	const struct opening *opening = argument;
	size_t bytes = PT_CELLS_OFFSET;
	struct pxt_stream *stream;

	if (name[0] != opening->kind || name[1] != '-')
		return;
	stream = pxt_place_map(opening->place, name, &bytes);
	if (!stream)
		return;
	finish_stream(opening, (unsigned int)strtoul(name + 2, NULL, 10), stream, bytes);
	munmap(stream, bytes);
}

void pxt_finish_file(int fd)
{
	struct opening opening = { .fd = fd };
	struct pxt_log log;

	if (fstat(fd, &opening.st) < 0 || pxt_log_open(&log, fd) < 0 || log.header.is_closed)
		return;
	opening.place = pxt_place_open_existing();
	if (opening.place < 0)
		return;
	/*
	 * A stream's file is renamed at most once, from s-N to d-N-SERIAL. The second pass finds a
	 * file that is renamed during the first pass.
	 */
	opening.kind = 's';
	pxt_list(opening.place, look_at_file, &opening);
	opening.kind = 'd';
	pxt_list(opening.place, look_at_file, &opening);
	close(opening.place);
}
