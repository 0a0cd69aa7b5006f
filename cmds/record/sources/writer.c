/* The writers, which take committed bytes from the rings (see writer.h). */
#include "cmds/record/sources/writer.h"

#include <errno.h>
#include <linux/futex.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "cmds/record/base/rights.h"
#include "cmds/record/sources/datafile.h"
#include "utils/base/cleanup.h"
#include "utils/base/containers/order.h"
#include "utils/format/record.h"

/*
 * Once in each interval, a writer stores all committed records in the files, including the records
 * of segments that are not full. The interval is FLUSH_INTERVAL_NS until a reader follows the
 * recording, and FOLLOWED_INTERVAL_NS from then on.
 */
#define FLUSH_INTERVAL_NS    100000000
#define FOLLOWED_INTERVAL_NS 40000000
/*
 * A seccomp(2) filter may forbid futex(2). A program with such a filter cannot wake a writer, and
 * loses records when a ring is full. So while a program with any seccomp(2) filter runs, each
 * writer looks at the rings at least this often.
 */
#define SEALED_INTERVAL_NS   1000000
/*
 * A thread may lose the CPU for this long between reading the clock for a record and committing the
 * record.
 */
#define COMMIT_SLACK_NS	     20000000

struct writer_arg {
	struct writers *writers;
	unsigned index;
};

static long sys_futex(_Atomic uint32_t *word, int op, uint32_t value,
		      const struct timespec *timeout)
{
	return syscall(SYS_futex, word, op, value, timeout, NULL, 0);
}

static void release_producer(struct ring *r)
{
	if (atomic_load(&r->waiting)) {
		atomic_fetch_add(&r->room, 1);
		sys_futex(&r->room, FUTEX_WAKE, 1, NULL);
	}
}

/*
 * Returns the number of bytes that the records fill in a segment. Call this function only for a
 * segment that the producer has left. Returns 0 when the program has written an invalid value.
 */
static uint32_t segment_used(const struct process *proc, const struct ring *r, uint64_t segment)
{
	uint32_t used = __atomic_load_n(&r->segment_used[segment], __ATOMIC_RELAXED);

	return used <= proc->segment_bytes && used % 8 == 0 ? used : 0;
}

/*
 * One of the rings of a task.
 *
 * @of: the first ring of the task, which has the tid of the task
 * @tail: the member of @sink that stores the tail of @ring
 * @append: writes bytes of @ring, from several segments at once
 */
struct draining {
	struct ring *ring;
	struct ring *of;
	struct ring_sink *sink;
	uint64_t *tail;
	void (*append)(struct writers *writers, struct process *proc, struct ring *r,
		       struct ring_sink *sink, const struct iovec *parts, int nr);
};

/*
 * Set @part to the bytes of a segment that begin at @from. Returns the start of the next segment.
 * If @head is before the end of the segment, the producer has not finished the segment. In this
 * case:
 *
 * - With @everything, @part ends at @head. Returns @head.
 * - Without @everything, @part is empty. Returns @from.
 */
static uint64_t look_at_segment(const struct process *proc, struct ring *r, uint64_t from,
				uint64_t head, bool everything, struct iovec *part)
{
	uint64_t place = from % ((uint64_t)proc->nr_segments * proc->segment_bytes);
	uint64_t in_segment = place % proc->segment_bytes;
	uint64_t segment_end = from - in_segment + proc->segment_bytes;
	uint32_t used;

	*part = (struct iovec){ ring_data(r) + place, 0 };
	if (head < segment_end) {
		part->iov_len = everything ? head - from : 0;
		return everything ? head : from;
	}
	used = segment_used(proc, r, place / proc->segment_bytes);
	part->iov_len = used > in_segment ? used - in_segment : 0;
	return segment_end;
}

/*
 * The maximum number of segments in one write. Larger writes are faster, but a write of more than
 * half of a ring would make a producer wait.
 *
 * With --max-size a write has one segment. Before a write, store_may_take() counts the uncompressed
 * bytes of the write. With a larger write, this count could exceed the limit although the
 * compressed bytes would fit.
 */
static int parts_at_a_time(const struct writers *writers, const struct process *proc)
{
	if (writers->store->max_bytes)
		return 1;
	return MIN(MAX((int)proc->nr_segments / 2, 1), SINK_PARTS_MAX);
}

/*
 * Take whole segments from one ring. With @everything, also take the rest of the current segment.
 * Returns the number of bytes. If the head is invalid, nothing is taken.
 */
static uint64_t drain_segments(struct writers *writers, struct process *proc,
			       const struct draining *d, bool everything)
{
	struct ring *r = d->ring;
	uint64_t data_bytes = (uint64_t)proc->nr_segments * proc->segment_bytes;
	uint64_t head = atomic_load_explicit(&r->head, memory_order_acquire);
	const int most = parts_at_a_time(writers, proc);
	uint64_t taken = 0;

	if (head - *d->tail > data_bytes || head % 8 != 0)
		return 0;
	for (;;) {
		struct iovec parts[SINK_PARTS_MAX];
		uint64_t end = *d->tail;
		int nr = 0;

		while (end < head && nr < most) {
			uint64_t next = look_at_segment(proc, r, end, head, everything, &parts[nr]);

			if (next == end)
				break;
			end = next;
			nr += parts[nr].iov_len > 0;
		}
		if (end == *d->tail)
			return taken;
		d->append(writers, proc, d->of, d->sink, parts, nr);
		taken += iovec_bytes(parts, nr);
		*d->tail = end;
		atomic_store_explicit(&r->tail, end, memory_order_release);
		release_producer(r);
	}
}

/*
 * Take the bytes of both rings of a task: first the records, and then the payloads. A producer
 * commits a payload before the payload's record. So if @everything is true, the payload of each
 * taken record is taken by the same call.
 */
static uint64_t drain_ring(struct writers *writers, struct process *proc, uint32_t index,
			   bool everything)
{
	struct ring *r = process_ring(proc, index);
	struct ring_sink *sink = &proc->sinks[index];
	const struct draining records = { r, r, sink, &sink->records.tail, sink_append };
	uint64_t taken = drain_segments(writers, proc, &records, everything);
	struct ring *second = process_payloads(proc, index);
	const struct draining payloads = { second, r, sink, &sink->payloads.tail,
					   sink_append_payloads };

	return second ? taken + drain_segments(writers, proc, &payloads, everything) : taken;
}

/* Make the ring free for any thread of its process. */
static void free_ring(struct ring *r)
{
	r->tid = 0;
	r->is_child = 0;
	r->segment_before[0] = 0;
	atomic_store(&r->head, 0);
	atomic_store(&r->tail, 0);
	atomic_store(&r->lost, 0);
	atomic_store(&r->lost_told, 0);
	atomic_store(&r->lost_inside, 0);
	atomic_store(&r->too_deep, 0);
	atomic_store(&r->payloads, 0);
	atomic_store_explicit(&r->state, RING_FREE, memory_order_release);
}

/*
 * Save the content of ring @index, and make the ring free for other threads. Before the call, the
 * ring's owner must have stopped using the ring.
 *
 * @nr_tasks: the number of tasks whose rings are closed at the same time
 */
static void close_ring(struct writers *writers, struct process *proc, uint32_t index,
		       unsigned nr_tasks)
{
	struct ring *r = process_ring(proc, index);
	struct ring_sink *sink = &proc->sinks[index];

	if (writers->settings->flight_bytes)
		flight_save_ring(writers, proc, index, nr_tasks);
	else
		drain_ring(writers, proc, index, true);
	sink_finish(writers, proc, r, sink);

	struct ring *second = process_payloads(proc, index);

	/* A second ring without the state RING_PAYLOADS belongs to another task. */
	if (second && atomic_load(&second->state) == RING_PAYLOADS)
		free_ring(second);
	free_ring(r);
}

static enum ring_state state_of(const struct process *proc, uint32_t index)
{
	return atomic_load_explicit(&process_ring(proc, index)->state, memory_order_acquire);
}

/*
 * True when ring @index has the records of a task. The task's ring of payloads is read together
 * with this ring.
 */
static bool is_of_task(const struct process *proc, uint32_t index)
{
	enum ring_state state = state_of(proc, index);

	return state != RING_FREE && state != RING_PAYLOADS;
}

/* A ring whose thread has ended. */
struct ended_ring {
	uint64_t start_ns;
	uint32_t index;
};

_Static_assert(offsetof(struct ended_ring, start_ns) == 0, "ordered by order_u64()");

/*
 * Close the rings of ended threads. The function looks only at ring @first, and at every @step-th
 * ring after ring @first. In a flight recording, saving a ring may delete the files that were saved
 * first. So the rings are closed in the order in which their threads began: the files of the
 * earliest threads are deleted first.
 */
static void close_ended_rings(struct writers *writers, struct process *proc, uint32_t first,
			      uint32_t step)
{
	uint32_t high = process_rings_in_use(proc);
	struct ended_ring *ended cleanup_free = calloc(high / step + 1, sizeof(*ended));
	size_t nr = 0;

	for (uint32_t i = first; ended && i < high; i += step) {
		if (state_of(proc, i) == RING_DONE)
			ended[nr++] = (struct ended_ring){ process_ring(proc, i)->start_ns, i };
	}
	if (nr)
		qsort(ended, nr, sizeof(*ended), order_u64);
	for (size_t i = 0; i < nr; i++)
		close_ring(writers, proc, ended[i].index, 1);
}

void writer_drain_all(struct writers *writers, struct process *proc)
{
	unsigned nr = 0;

	close_ended_rings(writers, proc, 0, 1);
	for (uint32_t i = 0; i < process_rings_in_use(proc); i++)
		nr += is_of_task(proc, i);
	for (uint32_t i = 0; i < process_rings_in_use(proc); i++) {
		if (is_of_task(proc, i))
			close_ring(writers, proc, i, nr);
	}
	atomic_fetch_add(&writers->threads_untraced, atomic_load(&proc->arena->threads_untraced));
}

static bool is_of_child(const struct process *proc, uint32_t index, pid_t pid)
{
	const struct ring *r = process_ring(proc, index);

	return is_of_task(proc, index) && r->is_child && r->tid == pid;
}

void writer_drain_child(struct writers *writers, pid_t pid)
{
	if (writers->settings->flight_bytes)
		return;
	/*
	 * If this thread has taken the rights of the child's user, these rights are paused here.
	 * The recorder's own rights are needed to write the records.
	 */
	struct rights paused cleanup_rights_pause = rights_pause();

	/* No writer looks at any ring while this lock is held. */
	pthread_rwlock_wrlock(&writers->processes->live_lock);
	for (struct process *p = writers->processes->live; p; p = p->next_live) {
		for (uint32_t i = 0; i < process_rings_in_use(p); i++) {
			if (is_of_child(p, i, pid))
				drain_ring(writers, p, i, true);
		}
	}
	pthread_rwlock_unlock(&writers->processes->live_lock);
}

static uint64_t scan_process(struct writers *writers, struct process *p, unsigned index,
			     bool everything)
{
	uint64_t taken = 0;
	bool has_ended = false;

	notes_obey(writers->processes, p);
	for (uint32_t i = index; i < process_rings_in_use(p); i += writers->nr) {
		enum ring_state state = state_of(p, i);

		has_ended |= state == RING_DONE;
		if (state == RING_LIVE && !writers->settings->flight_bytes)
			taken += drain_ring(writers, p, i, everything);
	}
	if (has_ended)
		close_ended_rings(writers, p, index, writers->nr);
	return taken;
}

uint64_t writer_look(struct writers *writers, unsigned index, bool everything)
{
	uint64_t taken = 0;
	bool has_sealed = false;

	pthread_rwlock_rdlock(&writers->processes->live_lock);
	for (struct process *p = writers->processes->live; p; p = p->next_live) {
		taken += scan_process(writers, p, index, everything);
		has_sealed |= atomic_load(&p->arena->seals) != 0;
	}
	pthread_rwlock_unlock(&writers->processes->live_lock);
	atomic_store_explicit(&writers->has_sealed, has_sealed, memory_order_relaxed);
	return taken;
}

/* Read all rings of writer @index, and publish the time up to which its files are complete. */
static uint64_t flush_all(struct writers *writers, unsigned index)
{
	uint64_t begun_ns = settings_now_ns(writers->settings);
	uint64_t taken = writer_look(writers, index, true);

	/*
	 * The files now have all records that were committed to this writer's rings before
	 * begun_ns. This store publishes begun_ns, and pairs with writers_complete_ns().
	 */
	atomic_store(&writers->flushed_ns[index], begun_ns);
	return taken;
}

uint64_t writers_complete_ns(const struct writers *writers)
{
	uint64_t complete_ns = UINT64_MAX;

	for (unsigned i = 0; i < writers->nr; i++)
		complete_ns = MIN(complete_ns, atomic_load(&writers->flushed_ns[i]));
	return complete_ns > COMMIT_SLACK_NS ? complete_ns - COMMIT_SLACK_NS : 0;
}

static void sum_ring(const struct process *proc, uint32_t index, struct writers_sum *sum)
{
	const struct ring *r = process_ring(proc, index);
	uint64_t head = atomic_load_explicit(&r->head, memory_order_relaxed);

	sum->lost += atomic_load_explicit(&r->lost, memory_order_relaxed);
	sum->ring_bytes += MIN(head, (uint64_t)proc->nr_segments * proc->segment_bytes);
	sum->nr_rings++;
}

/* No lock is needed, because only the calling thread adds and removes processes. */
void writers_sum(const struct writers *writers, struct writers_sum *sum)
{
	*sum = (struct writers_sum){
		.calls = atomic_load_explicit(&writers->calls, memory_order_relaxed),
		.bytes = atomic_load(&writers->store->taken),
		.lost = atomic_load(&writers->records_lost),
	};
	for (const struct process *p = writers->processes->live; p; p = p->next_live) {
		for (uint32_t i = 0; i < process_rings_in_use(p); i++) {
			if (is_of_task(p, i))
				sum_ring(p, i, sum);
		}
	}
}

static void *writer_main(void *arg)
{
	struct writer_arg *w = arg;
	struct writers *writers = w->writers;
	unsigned index = w->index;
	_Atomic uint32_t *wake = &writers->control->writers[index].wake;
	_Atomic uint32_t *sleeping = &writers->control->writers[index].sleeping;
	uint64_t last_flush = clock_now_ns(CLOCK_MONOTONIC);

	free(w);
	while (!atomic_load(&writers->stopping)) {
		uint32_t seen = atomic_load(wake);
		uint64_t now = clock_now_ns(CLOCK_MONOTONIC);
		bool is_followed = atomic_load_explicit(&writers->is_followed,
							memory_order_relaxed);
		long interval_ns = is_followed ? FOLLOWED_INTERVAL_NS : FLUSH_INTERVAL_NS;
		bool flush = now - last_flush >= (uint64_t)interval_ns;

		if (flush)
			last_flush = now;
		if ((flush ? flush_all(writers, index) : writer_look(writers, index, false)) > 0)
			continue;

		/*
		 * The timeout counts from @last_flush. So processes that wake this thread do not
		 * delay the next flush.
		 */
		struct timespec timeout = { 0, interval_ns - (long)(now - last_flush) };

		if (atomic_load_explicit(&writers->has_sealed, memory_order_relaxed))
			timeout.tv_nsec = MIN(timeout.tv_nsec, (long)SEALED_INTERVAL_NS);

		/*
		 * This store pairs with ring_wake_writer() in the producer. Either the producer
		 * sees that this thread sleeps, or this thread sees the producer's records.
		 */
		atomic_store(sleeping, 1);
		if (writer_look(writers, index, false) == 0)
			sys_futex(wake, FUTEX_WAIT, seen, &timeout);
		atomic_store(sleeping, 0);
	}
	return NULL;
}

static void make_realtime(pthread_t thread, unsigned priority)
{
	struct sched_param param = { .sched_priority = priority };

	/*
	 * The kernel may refuse a real-time priority (see sched(7)). In this case the writer stays
	 * an ordinary thread, and no message is shown.
	 */
	pthread_setschedparam(thread, SCHED_FIFO, &param);
}

int writers_start(struct writers *writers, struct uft_err *err)
{
	writers->nr = writers->settings->nr_writers;
	writers->control->nr_writers = writers->nr;
	writers->threads = calloc(writers->nr, sizeof(*writers->threads));
	writers->flushed_ns = calloc(writers->nr, sizeof(*writers->flushed_ns));
	if (!writers->threads || !writers->flushed_ns)
		return err_set_errno(err, -ENOMEM, "cannot start writer threads");

	for (unsigned i = 0; i < writers->nr; i++) {
		struct writer_arg *w = malloc(sizeof(*w));

		if (!w)
			return err_set_errno(err, -ENOMEM, "cannot start writer threads");
		*w = (struct writer_arg){ writers, i };

		int ret = pthread_create(&writers->threads[i], NULL, writer_main, w);

		if (ret) {
			free(w);
			return err_set_errno(err, -ret, "cannot start writer thread");
		}
		if (writers->settings->rt_prio)
			make_realtime(writers->threads[i], writers->settings->rt_prio);
	}
	return 0;
}

void writers_stop(struct writers *writers)
{
	atomic_store(&writers->stopping, true);
	for (unsigned i = 0; writers->threads && i < writers->nr; i++) {
		if (!writers->threads[i])
			continue;
		atomic_fetch_add(&writers->control->writers[i].wake, 1);
		sys_futex(&writers->control->writers[i].wake, FUTEX_WAKE, 1, NULL);
		pthread_join(writers->threads[i], NULL);
	}
	free(writers->threads);
	writers->threads = NULL;
}

void writers_deinit(struct writers *writers)
{
	free(writers->flushed_ns);
	flight_deinit(&writers->flight);
}
