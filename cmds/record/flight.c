/* Saving what flight recorder rings hold (see flight.h). */
#include "cmds/record/flight.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmds/record/recorder.h"
#include "utils/base/cleanup.h"
#include "utils/base/fd.h"
#include "utils/format/record.h"

#define NAME_SIZE 32

void flight_deinit(struct flight *flight)
{
	free(flight->files);
	*flight = (struct flight){ 0 };
}

/* An eighth of --max-size is for the scheduler's events, when there are any. */
#define EVENTS_SHARE 8

static uint64_t flight_task_bytes(const struct recorder *rec)
{
	uint64_t max = rec->settings->max_bytes;

	return rec->perf.nr_cpus ? max - max / EVENTS_SHARE : max;
}

uint64_t flight_perf_bytes(const struct recorder *rec)
{
	uint64_t share = rec->settings->max_bytes / EVENTS_SHARE / rec->perf.nr_cpus;

	return MIN(share, FLIGHT_PERF_BYTES_MAX);
}

static void forget_file(struct flight *flight, size_t i)
{
	flight->bytes -= flight->files[i].bytes;
	flight->nr--;
	memmove(&flight->files[i], &flight->files[i + 1],
		(flight->nr - i) * sizeof(*flight->files));
}

/* Note the newest file, and remove the oldest ones that --max-size has no room for beside it. */
static void note_file(struct recorder *rec, int32_t tid, uint64_t bytes)
{
	struct flight *flight = &rec->flight;

	for (size_t i = 0; i < flight->nr; i++) {
		if (flight->files[i].tid == tid) {
			forget_file(flight, i);
			break;
		}
	}
	while (flight->nr && flight->bytes + bytes > flight_task_bytes(rec)) {
		char name[NAME_SIZE];

		snprintf(name, sizeof(name), "%d.dat", flight->files[0].tid);
		unlinkat(rec->dir_fd, name, 0);
		forget_file(flight, 0);
	}
	if (flight->nr == flight->cap) {
		size_t cap = flight->cap ? flight->cap * 2 : 64;
		struct flight_file *files = reallocarray(flight->files, cap, sizeof(*files));

		if (!files)
			return; /* this one will not be counted */
		flight->files = files;
		flight->cap = cap;
	}
	flight->files[flight->nr++] = (struct flight_file){ tid, bytes };
	flight->bytes += bytes;
}

/*
 * One ring on its way to a file.
 *
 * @buffer: room for one segment
 * @bytes: in the file so far
 */
struct saving {
	const struct process *proc;
	struct ring *ring;
	int fd;
	char *buffer;
	uint64_t bytes;
};

/*
 * Copy the segment that begins at @position out of the ring. Returns its bytes; 0 when it was overwritten meanwhile, which only
 * a thread that runs on can do. @before: bytes of records that came ahead of it
 */
static uint64_t copy_segment(const struct saving *s, uint64_t position, uint64_t head,
			     uint64_t *before)
{
	const struct process *proc = s->proc;
	const struct ring *r = s->ring;
	uint64_t place = position / proc->segment_bytes % proc->nr_segments;
	uint64_t used = head - position;

	if (head >= position + proc->segment_bytes)
		used = __atomic_load_n(&r->segment_used[place], __ATOMIC_RELAXED);
	*before = __atomic_load_n(&r->segment_before[place], __ATOMIC_RELAXED);
	if (used > proc->segment_bytes || used % 8 != 0)
		return 0; /* the program has written there */
	memcpy(s->buffer, ring_data(s->ring) + place * proc->segment_bytes, used);
	/* Pairs with the fence in the producer's next_segment(). */
	atomic_thread_fence(memory_order_seq_cst);

	uint64_t lap_end = position + (uint64_t)proc->nr_segments * proc->segment_bytes;

	return atomic_load_explicit(&r->head, memory_order_acquire) < lap_end ? used : 0;
}

static int write_bytes(struct saving *s, const void *data, uint64_t len)
{
	int ret = fd_write_all(s->fd, data, len);

	if (ret == 0)
		s->bytes += len;
	return ret;
}

/* The first record of a file that does not go back to the beginning. */
static int write_lost(struct saving *s, uint64_t before)
{
	struct record lost = { 0, record_data(RECORD_LOST, 0, before / sizeof(lost)) };

	return before ? write_bytes(s, &lost, sizeof(lost)) : 0;
}

/* What is behind a segment that was overwritten is no more in one row with what came before it: start again there. */
static int start_again(struct saving *s)
{
	s->bytes = 0;
	return ftruncate(s->fd, 0) < 0 || lseek(s->fd, 0, SEEK_SET) < 0 ? -errno : 0;
}

/* Write the newest segments, of @budget bytes at most but one at least. */
static int write_segments(struct saving *s, uint64_t budget)
{
	uint64_t segment_bytes = s->proc->segment_bytes;
	uint64_t head = atomic_load_explicit(&s->ring->head, memory_order_acquire);
	uint64_t last = head - head % segment_bytes;
	uint64_t nr = MIN(budget / segment_bytes, (uint64_t)s->proc->nr_segments);
	uint64_t back = nr ? (nr - 1) * segment_bytes : 0;
	int ret = 0;

	for (uint64_t at = last - MIN(last, back); ret == 0 && at <= last; at += segment_bytes) {
		uint64_t before;
		uint64_t len = copy_segment(s, at, head, &before);

		if (len == 0)
			ret = start_again(s);
		else if (s->bytes == 0)
			ret = write_lost(s, before);
		if (ret == 0)
			ret = write_bytes(s, s->buffer, len);
	}
	return ret;
}

/* Under a name that no reader looks at; then it takes the place of the former file. */
static int save_ring(struct recorder *rec, struct saving *s, int32_t tid, uint64_t budget)
{
	char name[NAME_SIZE];
	char tmp[NAME_SIZE];

	snprintf(name, sizeof(name), "%d.dat", tid);
	snprintf(tmp, sizeof(tmp), ".%d.dat.tmp", tid);

	int fd cleanup_fd = openat(rec->dir_fd, tmp, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC,
				   0644);

	if (fd < 0)
		return -errno;
	s->fd = fd;

	int ret = write_segments(s, budget);

	if (ret < 0 || s->bytes == 0) {
		unlinkat(rec->dir_fd, tmp, 0);
		return ret;
	}
	note_file(rec, tid, s->bytes);
	return renameat(rec->dir_fd, tmp, rec->dir_fd, name) < 0 ? -errno : 0;
}

void flight_save_ring(struct recorder *rec, struct process *proc, uint32_t index, unsigned nr_tasks)
{
	struct ring *r = process_ring(proc, index);
	struct ring_sink *sink = &proc->sinks[index];
	/* Read once: it is the program's memory. */
	int32_t tid = __atomic_load_n(&r->tid, __ATOMIC_RELAXED);
	uint64_t budget = flight_task_bytes(rec) / nr_tasks;
	char *buffer cleanup_free = malloc(proc->segment_bytes);
	struct saving saving = { .proc = proc, .ring = r, .buffer = buffer };

	if (tid <= 0)
		return;
	pthread_mutex_lock(&rec->flight_lock);

	int ret = buffer ? save_ring(rec, &saving, tid, budget - MIN(budget, sizeof(struct record)))
			 : -ENOMEM;

	pthread_mutex_unlock(&rec->flight_lock);
	recorder_note_write_error(rec, ret);
	if (saving.bytes && sink->tid == 0) {
		sink->tid = tid;
		tasks_announce(rec, proc, tid, r->start_ns);
	}
}

static bool is_running(const struct process *proc, uint32_t index)
{
	return atomic_load_explicit(&process_ring(proc, index)->state, memory_order_acquire) ==
	       RING_LIVE;
}

unsigned flight_save_all(struct recorder *rec)
{
	unsigned nr = 0;

	/* Writers, which give rings back, stay away meanwhile. */
	pthread_rwlock_wrlock(&rec->live_lock);
	for (struct process *p = rec->live; p; p = p->next_live) {
		for (uint32_t i = 0; i < process_rings_in_use(p); i++)
			nr += is_running(p, i);
	}
	for (struct process *p = rec->live; p; p = p->next_live) {
		for (uint32_t i = 0; i < process_rings_in_use(p); i++) {
			if (is_running(p, i))
				flight_save_ring(rec, p, i, nr);
		}
	}
	pthread_rwlock_unlock(&rec->live_lock);
	return nr;
}
