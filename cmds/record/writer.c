/* Writers: take committed bytes from the rings and append them to <tid>.dat. */
#include "cmds/record/recorder.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "utils/base/fd.h"
#include "utils/format/record.h"

/* How old a committed record may get before it is in its file, when its segment does not fill up. */
#define FLUSH_INTERVAL_NS 100000000

struct writer_arg {
	struct recorder *rec;
	unsigned index;
};

static long futex(_Atomic uint32_t *word, int op, uint32_t value, const struct timespec *timeout)
{
	return syscall(SYS_futex, word, op, value, timeout, NULL, 0);
}

static void note_write_error(struct recorder *rec, int code)
{
	int none = 0;

	atomic_compare_exchange_strong(&rec->write_error, &none, code);
}

static int open_data_file(struct recorder *rec, int32_t tid)
{
	char name[32];

	snprintf(name, sizeof(name), "%d.dat", tid);
	return openat(rec->dir_fd, name, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
}

/*
 * Append to the task's file. On failure the file is cut back to what was whole before, the bytes
 * count as lost, and the program goes on: a full disk is no reason to stop it.
 */
static void append(struct recorder *rec, struct process *proc, struct ring *r,
		   struct ring_sink *sink, const void *data, size_t len)
{
	if (len == 0)
		return;
	if (sink->tid == 0) {
		/* Read once: it is the program's memory. */
		sink->tid = __atomic_load_n(&r->tid, __ATOMIC_RELAXED);
		if (sink->tid <= 0) {
			sink->tid = 0;
			atomic_fetch_add(&rec->records_lost, len / sizeof(struct record));
			return;
		}
		tasks_announce(rec, proc, sink->tid, r->start_ns);
	}

	int fd = sink->is_open ? sink->data_fd : open_data_file(rec, sink->tid);
	struct stat st = { 0 };
	int ret = fd < 0 ? -errno : 0;

	if (ret == 0) {
		ret = fd_write_all(fd, data, len);
		if (ret < 0 && fstat(fd, &st) == 0 && ftruncate(fd, st.st_size & ~15LL) < 0)
			ret = -errno;
	}
	if (ret < 0) {
		note_write_error(rec, ret);
		atomic_fetch_add(&rec->records_lost, len / sizeof(struct record));
	}
	/* Thousands of tasks may have more files than the process may hold open. */
	if (!sink->is_open && fd >= 0) {
		sink->is_open = fd < sysconf(_SC_OPEN_MAX) / 2;
		sink->data_fd = fd;
		if (!sink->is_open)
			close(fd);
	}
}

static void release_producer(struct ring *r)
{
	if (atomic_load(&r->waiting)) {
		atomic_fetch_add(&r->room, 1);
		futex(&r->room, FUTEX_WAKE, 1, NULL);
	}
}

/* How far the producer filled a segment that it has left. Any value may stand there. */
static uint32_t segment_used(const struct process *proc, const struct ring *r, uint64_t segment)
{
	uint32_t used = __atomic_load_n(&r->segment_used[segment], __ATOMIC_RELAXED);

	return used <= proc->segment_bytes && used % 8 == 0 ? used : 0;
}

/*
 * Take from one ring: whole segments always, the rest of the current one when @everything is
 * asked for. Returns the bytes taken. A head that cannot be one makes it nothing.
 */
static uint64_t drain_ring(struct recorder *rec, struct process *proc, uint32_t index,
			   bool everything)
{
	struct ring *r = process_ring(proc, index);
	struct ring_sink *sink = &proc->sinks[index];
	uint64_t data_bytes = (uint64_t)proc->nr_segments * proc->segment_bytes;
	uint64_t head = atomic_load_explicit(&r->head, memory_order_acquire);
	uint64_t taken = 0;

	if (head - sink->tail > data_bytes || head % 8 != 0)
		return 0;
	while (sink->tail < head) {
		uint64_t place = sink->tail % data_bytes;
		uint64_t in_segment = place % proc->segment_bytes;
		uint64_t segment_end = sink->tail - in_segment + proc->segment_bytes;
		uint64_t len;

		if (head >= segment_end) {
			uint32_t used = segment_used(proc, r, place / proc->segment_bytes);

			len = used > in_segment ? used - in_segment : 0;
		} else if (everything) {
			len = head - sink->tail;
		} else {
			break;
		}
		append(rec, proc, r, sink, ring_data(r) + place, len);
		taken += len;
		sink->tail = head >= segment_end ? segment_end : head;
		atomic_store_explicit(&r->tail, sink->tail, memory_order_release);
		release_producer(r);
	}
	return taken;
}

/* What the producer could not tell any more. */
static void append_last_lost(struct recorder *rec, struct process *proc, uint32_t index)
{
	struct ring *r = process_ring(proc, index);
	uint64_t lost = atomic_load(&r->lost);
	uint64_t told = atomic_load(&r->lost_told);

	atomic_fetch_add(&rec->records_lost, lost);
	if (lost > told && r->tid) {
		struct record record = { 0, record_data(RECORD_LOST, 0, lost - told) };

		append(rec, proc, r, &proc->sinks[index], &record, sizeof(record));
	}
}

/* The owner of ring @index is done with it: empty it and give it back. */
static void close_ring(struct recorder *rec, struct process *proc, uint32_t index)
{
	struct ring *r = process_ring(proc, index);
	struct ring_sink *sink = &proc->sinks[index];

	drain_ring(rec, proc, index, true);
	append_last_lost(rec, proc, index);
	if (sink->is_open)
		close(sink->data_fd);
	*sink = (struct ring_sink){ 0 };
	r->tid = 0;
	atomic_store(&r->head, 0);
	atomic_store(&r->tail, 0);
	atomic_store(&r->lost, 0);
	atomic_store(&r->lost_told, 0);
	atomic_store_explicit(&r->state, RING_FREE, memory_order_release);
}

static uint32_t rings_in_use(const struct process *proc)
{
	uint32_t high = atomic_load_explicit(&proc->arena->high_water, memory_order_acquire);

	return MIN(high, proc->nr_rings);
}

void writer_drain_all(struct recorder *rec, struct process *proc)
{
	for (uint32_t i = 0; i < rings_in_use(proc); i++) {
		if (atomic_load_explicit(&process_ring(proc, i)->state, memory_order_acquire) !=
		    RING_FREE)
			close_ring(rec, proc, i);
	}
	atomic_fetch_add(&rec->threads_untraced, atomic_load(&proc->arena->threads_untraced));
}

static uint64_t scan_process(struct recorder *rec, struct process *p, unsigned index,
			     bool everything)
{
	uint64_t taken = 0;

	for (uint32_t i = index; i < rings_in_use(p); i += rec->nr_writers) {
		switch (atomic_load_explicit(&process_ring(p, i)->state, memory_order_acquire)) {
		case RING_LIVE:
			taken += drain_ring(rec, p, i, everything);
			break;
		case RING_DONE:
			close_ring(rec, p, i);
			break;
		}
	}
	return taken;
}

/* One look at all rings of writer @index. Returns the bytes taken. */
static uint64_t scan(struct recorder *rec, unsigned index, bool everything)
{
	uint64_t taken = 0;

	pthread_rwlock_rdlock(&rec->live_lock);
	for (struct process *p = rec->live; p; p = p->next_live)
		taken += scan_process(rec, p, index, everything);
	pthread_rwlock_unlock(&rec->live_lock);
	return taken;
}

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000000ULL + ts.tv_nsec;
}

static void *writer_main(void *arg)
{
	struct writer_arg *w = arg;
	struct recorder *rec = w->rec;
	unsigned index = w->index;
	_Atomic uint32_t *wake = &rec->control->writers[index].wake;
	_Atomic uint32_t *sleeping = &rec->control->writers[index].sleeping;
	uint64_t last_flush = now_ns();

	free(w);
	while (!atomic_load(&rec->stopping)) {
		uint32_t seen = atomic_load(wake);
		uint64_t now = now_ns();
		bool flush = now - last_flush >= FLUSH_INTERVAL_NS;

		if (flush)
			last_flush = now;
		if (scan(rec, index, flush) > 0)
			continue;

		struct timespec timeout = { 0, FLUSH_INTERVAL_NS };

		/* Pairs with the producer: it adds to wake, then looks at sleeping. */
		atomic_store(sleeping, 1);
		futex(wake, FUTEX_WAIT, seen, &timeout);
		atomic_store(sleeping, 0);
	}
	return NULL;
}

static void make_realtime(pthread_t thread, unsigned priority)
{
	struct sched_param param = { .sched_priority = priority };

	/* Without the privilege the writer is an ordinary thread; cmd_record has said so. */
	pthread_setschedparam(thread, SCHED_FIFO, &param);
}

int writers_start(struct recorder *rec, struct uft_err *err)
{
	rec->nr_writers = rec->settings->nr_writers;
	rec->control->nr_writers = rec->nr_writers;
	rec->writers = calloc(rec->nr_writers, sizeof(*rec->writers));
	if (!rec->writers)
		return err_set_errno(err, -ENOMEM, "cannot start writer threads");

	for (unsigned i = 0; i < rec->nr_writers; i++) {
		struct writer_arg *w = malloc(sizeof(*w));

		if (!w)
			return err_set_errno(err, -ENOMEM, "cannot start writer threads");
		*w = (struct writer_arg){ rec, i };

		int ret = pthread_create(&rec->writers[i], NULL, writer_main, w);

		if (ret) {
			free(w);
			return err_set_errno(err, -ret, "cannot start writer thread");
		}
		if (rec->settings->rt_prio)
			make_realtime(rec->writers[i], rec->settings->rt_prio);
	}
	return 0;
}

void writers_stop(struct recorder *rec)
{
	atomic_store(&rec->stopping, true);
	for (unsigned i = 0; rec->writers && i < rec->nr_writers; i++) {
		if (!rec->writers[i])
			continue;
		atomic_fetch_add(&rec->control->writers[i].wake, 1);
		futex(&rec->control->writers[i].wake, FUTEX_WAKE, 1, NULL);
		pthread_join(rec->writers[i], NULL);
	}
	free(rec->writers);
	rec->writers = NULL;
}
