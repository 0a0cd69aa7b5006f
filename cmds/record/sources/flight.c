/* Saves the rings of a flight recorder (see flight.h). */
#include "cmds/record/sources/flight.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmds/record/sources/writer.h"
#include "utils/base/cleanup.h"
#include "utils/base/containers/vec.h"
#include "utils/format/datadir.h"
#include "utils/format/record.h"

#define NAME_SIZE 32

/*
 * task.txt is written again only after the removal of at least this number of files. The new
 * task.txt does not have the tasks of the removed files.
 */
#define FLIGHT_GONE_MAX 1000

void flight_init(struct flight *flight)
{
	*flight = (struct flight){ 0 };
	pthread_mutex_init(&flight->lock, NULL);
}

void flight_deinit(struct flight *flight)
{
	free(flight->files);
	pthread_mutex_destroy(&flight->lock);
	*flight = (struct flight){ 0 };
}

static void forget_file(struct flight *flight, size_t i)
{
	flight->bytes -= flight->files[i].bytes;
	flight->nr--;
	memmove(&flight->files[i], &flight->files[i + 1],
		(flight->nr - i) * sizeof(*flight->files));
}

/*
 * Note the newest file, and remove the oldest files until all files together fit into --max-size.
 */
static void note_file(struct writers *writers, int32_t tid, uint64_t bytes)
{
	struct flight *flight = &writers->flight;

	for (size_t i = 0; i < flight->nr; i++) {
		if (flight->files[i].tid == tid) {
			forget_file(flight, i);
			break;
		}
	}
	while (flight->nr && flight->bytes + bytes > sources_left_bytes(writers->sources)) {
		char name[NAME_SIZE];

		snprintf(name, sizeof(name), "%d.dat", flight->files[0].tid);
		store_remove(writers->store, name);
		snprintf(name, sizeof(name), "%d" DATADIR_EVENT_DATA_SUFFIX, flight->files[0].tid);
		store_remove(writers->store, name);
		forget_file(flight, 0);
		flight->nr_gone++;
	}

	struct flight_file *files = vec_room(flight->files, flight->nr, &flight->cap,
					     sizeof(*files));

	if (!files)
		return; /* this file is not counted */
	flight->files = files;
	files[flight->nr++] = (struct flight_file){ tid, bytes };
	flight->bytes += bytes;
}

/*
 * A ring that is being saved. The ring is copied first, because a running thread may overwrite the
 * ring while the file is being written.
 *
 * @room: memory of @room_bytes. The last @bytes of this memory contain the copy of the newest
 *        segments, in order
 * @before: the number of bytes of all records that are older than the copy
 * @is_damaged: the program has overwritten the fill levels of segments, so no further attempt to
 *              copy the ring can succeed
 */
struct saving {
	struct process *proc;
	struct ring *ring;
	char *room;
	uint64_t room_bytes;
	uint64_t bytes;
	uint64_t before;
	bool is_damaged;
};

static char *copy_of(const struct saving *s)
{
	return s->room + s->room_bytes - s->bytes;
}

/*
 * The maximum number of attempts to copy a ring while its thread overwrites it. A second attempt is
 * rare. It is needed if the copying thread has lost the CPU.
 */
#define COPY_ATTEMPTS 100

static uint64_t merge_key_of(const struct saving *s)
{
	return atomic_load_explicit(&s->ring->head, memory_order_acquire);
}

/*
 * Copy the segment at @position into s->room, directly before the newer segments that were already
 * copied. Returns false when the segment is damaged, or was overwritten meanwhile. A thread
 * overwrites its oldest segment first. So if a segment was overwritten, no older segment is left.
 */
static bool copy_segment(struct saving *s, uint64_t position, uint64_t head)
{
	const struct process *proc = s->proc;
	const struct ring *r = s->ring;
	uint64_t place = position / proc->segment_bytes % proc->nr_segments;
	uint64_t lap_end = position + (uint64_t)proc->nr_segments * proc->segment_bytes;
	uint64_t used = head - position;

	if (head >= position + proc->segment_bytes)
		used = __atomic_load_n(&r->segment_used[place], __ATOMIC_RELAXED);
	if (used > proc->segment_bytes || used % 8 != 0) {
		s->is_damaged = true;
		return false;
	}
	memcpy(copy_of(s) - used, ring_data(s->ring) + place * proc->segment_bytes, used);
	/* Pairs with the fence in the producer's next_segment(). */
	atomic_thread_fence(memory_order_seq_cst);
	if (merge_key_of(s) >= lap_end)
		return false;
	s->bytes += used;
	return true;
}

/*
 * Returns the number of segments of a ring that fit in @budget bytes. If no segment fits, the
 * result is 1.
 */
static uint64_t nr_segments_within(const struct process *proc, uint64_t budget)
{
	uint64_t nr = MIN(budget / proc->segment_bytes, (uint64_t)proc->nr_segments);

	return MAX(nr, 1UL);
}

/* Copies segments, from the newest back to @first. Returns the number of copied segments. */
static uint64_t copy_newest(struct saving *s, uint64_t head, uint64_t first)
{
	uint64_t segment_bytes = s->proc->segment_bytes;
	uint64_t newest = head - head % segment_bytes;
	uint64_t place = newest / segment_bytes % s->proc->nr_segments;
	/*
	 * Only the newest segment has a reliable segment_before[]. The value of an older segment is
	 * overwritten when the thread is about to use that segment for new records.
	 */
	uint64_t before = __atomic_load_n(&s->ring->segment_before[place], __ATOMIC_RELAXED);
	uint64_t nr = 0;

	s->bytes = 0;
	if (!copy_segment(s, newest, head) ||
	    merge_key_of(s) >= newest + (s->proc->nr_segments - 1) * segment_bytes)
		return 0;
	before += s->bytes;
	for (uint64_t at = newest; ++nr, at > first; at -= segment_bytes) {
		if (!copy_segment(s, at - segment_bytes, head))
			break;
	}
	s->before = before - MIN(before, s->bytes);
	return nr;
}

/*
 * Copy the newest segments that fit @budget. If an attempt copies less than half of these segments,
 * another attempt follows. Returns 0 when the last attempt has copied at least one segment. Returns
 * 0 for a damaged ring, even if no segment was copied. Otherwise returns -EAGAIN.
 */
static int copy_segments(struct saving *s, uint64_t budget)
{
	uint64_t segment_bytes = s->proc->segment_bytes;
	uint64_t back = (nr_segments_within(s->proc, budget) - 1) * segment_bytes;
	uint64_t nr = 0;

	for (int attempt = 0; attempt < COPY_ATTEMPTS; attempt++) {
		uint64_t head = merge_key_of(s);
		uint64_t newest = head - head % segment_bytes;
		uint64_t first = newest - MIN(newest, back);

		s->bytes = 0;
		/*
		 * If @head is above INT64_MAX, the program has overwritten the ring's head, because
		 * no thread writes so many bytes.
		 */
		if (head > INT64_MAX)
			return 0;
		nr = copy_newest(s, head, first);
		if (2 * nr > (newest - first) / segment_bytes || s->is_damaged)
			return 0;
	}
	return nr ? 0 : -EAGAIN;
}

/* Copies the ring into @s->room, which the caller frees. */
static int copy_ring(struct saving *s, uint64_t budget)
{
	s->room_bytes = nr_segments_within(s->proc, budget) * s->proc->segment_bytes;
	s->room = malloc(s->room_bytes);
	return s->room ? copy_segments(s, budget) : -ENOMEM;
}

/*
 * Writes a LOST record for the records that are older than the copy, and then writes the copy.
 *
 * @bytes_beside: the size of the task's payload file
 */
static int save_copy(struct writers *writers, const struct saving *s, int32_t tid,
		     uint64_t bytes_beside)
{
	struct record lost = { 0, record_data(RECORD_LOST, 0, s->before / sizeof(lost)) };
	const struct iovec parts[] = {
		{ &lost, s->before ? sizeof(lost) : 0 },
		{ copy_of(s), s->bytes },
	};
	char name[NAME_SIZE];

	snprintf(name, sizeof(name), "%d.dat", tid);

	int ret = store_publish_parts(writers->store, name, parts, ARRAY_SIZE(parts), NULL);

	if (ret == 0)
		note_file(writers, tid, parts[0].iov_len + parts[1].iov_len + bytes_beside);
	return ret;
}

/* Writes the payloads. Readers skip a payload that has no record any more. */
static int save_payloads(struct writers *writers, struct saving *s, int32_t tid, uint64_t budget)
{
	int ret = copy_ring(s, budget);
	char name[NAME_SIZE];

	if (ret < 0 || s->bytes == 0)
		return ret;

	const struct iovec part = { copy_of(s), s->bytes };

	snprintf(name, sizeof(name), "%d" DATADIR_EVENT_DATA_SUFFIX, tid);
	return store_publish_parts(writers->store, name, &part, 1, NULL);
}

/*
 * Save a task. Its line in task.txt comes first, because readers need the line to find the records.
 *
 * @beside: the task's ring of payloads, if the task has one. The payloads get half of @budget
 * @is_child: vfork(2) has made the task, and the task has no probe of its own
 */
static int save_task(struct writers *writers, struct saving *s, struct saving *beside,
		     struct ring_sink *sink, int32_t tid, bool is_child, uint64_t budget)
{
	uint64_t share = beside->ring ? budget / 2 : budget;
	int ret = copy_ring(s, share - MIN(share, sizeof(struct record)));

	if (ret < 0 || s->bytes == 0)
		return ret;
	if (sink->tid == 0 || tasks_is_forgotten(writers->tasks, tid)) {
		sink->tid = tid;
		if (is_child)
			tasks_announce_child(writers->tasks, s->proc, tid, s->ring->start_ns);
		else
			tasks_announce(writers->tasks, s->proc, tid, s->ring->start_ns);
	}
	/*
	 * The records were copied above, and the payloads are copied now. A thread writes a payload
	 * before its record, so the payload of each copied record was already written.
	 */
	if (beside->ring)
		store_note_error(writers->store, save_payloads(writers, beside, tid, share));
	return save_copy(writers, s, tid, beside->bytes);
}

/*
 * Returns the tids of the tasks whose files were not removed. The caller removes the lines of all
 * other tasks from task.txt, and frees the list. Returns NULL when too few files were removed, or
 * when memory is short.
 */
static int32_t *tids_to_keep(struct writers *writers, size_t *nr)
{
	struct flight *flight = &writers->flight;
	int32_t *tids = NULL;

	*nr = flight->nr;
	if (flight->nr_gone >= MAX(flight->nr, (size_t)FLIGHT_GONE_MAX))
		tids = malloc((flight->nr + 1) * sizeof(*tids));
	if (!tids)
		return NULL;
	for (size_t i = 0; i < flight->nr; i++)
		tids[i] = flight->files[i].tid;
	flight->nr_gone = 0;
	return tids;
}

void flight_save_ring(struct writers *writers, struct process *proc, uint32_t index,
		      unsigned nr_tasks)
{
	struct ring *r = process_ring(proc, index);
	struct ring_sink *sink = &proc->sinks[index];
	/* The program can change @r at any time, so each value is read only once. */
	int32_t said = __atomic_load_n(&r->tid, __ATOMIC_RELAXED);
	bool is_child = __atomic_load_n(&r->is_child, __ATOMIC_RELAXED);
	int32_t tid = sink->tid	 ? sink->tid
		      : is_child ? tasks_claim_child(writers->tasks, proc, said)
				 : tasks_claim(writers->tasks, proc, said);
	/*
	 * If this task got its ring after the caller counted the rings, @nr_tasks does not include
	 * this task. In this case @nr_tasks may be 0.
	 */
	uint64_t budget = sources_left_bytes(writers->sources) / MAX(nr_tasks, 1U);
	struct saving saving = { .proc = proc, .ring = r };
	struct saving beside = { .proc = proc, .ring = process_payloads(proc, index) };

	if (!tid)
		return;
	pthread_mutex_lock(&writers->flight.lock);

	int ret = save_task(writers, &saving, &beside, sink, tid, is_child, budget);

	size_t nr_kept;
	int32_t *kept cleanup_free = tids_to_keep(writers, &nr_kept);

	/*
	 * If the task has no records, task.txt gets no line for the task. The id @tid is released,
	 * and the next save of the task claims an id again.
	 */
	if (!sink->tid)
		tasks_release(writers->tasks, tid);
	/*
	 * @kept is still complete: while this writer holds the lock, no other writer can add a
	 * file.
	 */
	if (kept)
		tasks_clear(writers->tasks, kept, nr_kept);
	pthread_mutex_unlock(&writers->flight.lock);
	free(saving.room);
	free(beside.room);
	store_note_error(writers->store, ret);
}

static bool is_running(const struct process *proc, uint32_t index)
{
	return atomic_load_explicit(&process_ring(proc, index)->state, memory_order_acquire) ==
	       RING_LIVE;
}

unsigned flight_save_all(struct writers *writers)
{
	unsigned nr = 0;

	/*
	 * Without this lock, a writer could free the ring of an ended thread, and a new thread
	 * could get the ring during the save.
	 */
	pthread_rwlock_wrlock(&writers->processes->live_lock);
	for (struct process *p = writers->processes->live; p; p = p->next_live) {
		for (uint32_t i = 0; i < process_rings_in_use(p); i++)
			nr += is_running(p, i);
	}
	for (struct process *p = writers->processes->live; p; p = p->next_live) {
		for (uint32_t i = 0; i < process_rings_in_use(p); i++) {
			if (is_running(p, i))
				flight_save_ring(writers, p, i, nr);
		}
	}
	pthread_rwlock_unlock(&writers->processes->live_lock);
	return nr;
}
