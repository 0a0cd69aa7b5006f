/* Makes room for records in a ring: begins segments, waits for the writer, counts lost records. */
#include "libmcount/hot/probe.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "libmcount/hot/aside.h"
#include "libmcount/hot/hot.h"
#include "libmcount/system/channel.h"
#include "libmcount/system/own_syscall.h"

/*
 * When the ring is full, the thread waits for the writer. If the recorder is stopped, or idle for
 * WAIT_NS, records are dropped and counted until there is room. If the recorder has ended, the
 * recording ends.
 */
#define WAIT_STEP_NS 10000000
#define LOOK_NS	     1000000000ULL /* the time between two checks of the recorder's state */
#define WAIT_NS	     30000000000ULL

/*
 * The longest time that one step adds to the waiting time. If thread and recorder were stopped
 * together, a step takes long although the recorder is not stuck.
 */
#define STEP_MAX_NS 100000000ULL

/*
 * Records never fill the last SEGMENT_RESERVE bytes of a segment. So a new record never moves the
 * ring's head to the end of a segment. The head gets there only when the thread goes on in the next
 * segment. In this case segment_used[] is valid for the segment that the thread has left.
 */
#define SEGMENT_RESERVE sizeof(struct record)

static long raw_futex(const _Atomic uint32_t *word, int op, uint32_t value,
		      const struct timespec *timeout)
{
	return own_syscall(SYS_futex, word, op, value, timeout, NULL, 0);
}

void ring_wake_writer(struct ring *r)
{
	uint32_t writer = r->index % probe.nr_writers;

	/*
	 * This thread stores the ring's head before it loads @sleeping. The writer stores @sleeping
	 * before it checks the heads again. Because of the fences between these steps, at least one
	 * of the two threads sees the store of the other thread.
	 */
	atomic_thread_fence(memory_order_seq_cst);
	if (atomic_load(&probe.control->writers[writer].sleeping))
		raw_futex(&probe.control->writers[writer].wake, FUTEX_WAKE, 1, NULL);
}

/* True when the segment of @r that begins at @position is free for records. */
static bool has_room(const struct ring *r, uint64_t position)
{
	uint64_t data_bytes = (uint64_t)probe.arena->nr_segments * probe.arena->segment_bytes;
	uint64_t tail = atomic_load_explicit(&r->tail, memory_order_acquire);

	return position + probe.arena->segment_bytes - tail <= data_bytes;
}

/*
 * True when at least half of the ring is full. In this case the thread wakes the writer. A wake-up
 * at each segment would cost too much. Without a wake-up, the writer checks the ring at intervals.
 */
static bool wants_writer(const struct ring *r, uint64_t position)
{
	uint64_t tail = atomic_load_explicit(&r->tail, memory_order_relaxed);

	return position - tail >=
	       (uint64_t)probe.arena->nr_segments * probe.arena->segment_bytes / 2;
}

/*
 * HOT. True when the last wait was in vain and the tail has not moved since then. In this case a
 * record is dropped at once, at little cost.
 */
static bool has_stalled(const struct thread *t)
{
	return t->stalled_tail && t->ring &&
	       t->stalled_tail == atomic_load_explicit(&t->ring->tail, memory_order_relaxed) + 1;
}

/*
 * Returns the state of a recorder that has no pid in this process' pid namespace: 0 when the
 * recorder has ended, else '?'.
 */
static char state_elsewhere(void)
{
	uint64_t mask;
	/*
	 * No signal handler may run in this block. A handler that calls longjmp() would leave a
	 * file open.
	 */
	bool is_quiet = own_quiet_begin(&mask);
	char state = seal_may_talk() && channel_recorder_has_ended() ? 0 : '?';

	if (is_quiet)
		own_quiet_end(mask);
	return state;
}

/*
 * Returns the state letter of the recorder's process (proc_pid_stat(5)), 0 when there is no such
 * process, or '?' when its state cannot be read.
 */
static char recorder_state(void)
{
	if (!probe.recorder_here)
		return state_elsewhere();

	char path[32];
	char stat[512];
	int fd;
	ssize_t len;
	const char *end;

	snprintf(path, sizeof(path), "/proc/%d/stat", probe.recorder_here);
	fd = seal_allows_file() ? syscall(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC, 0) : -1;
	if (fd < 0)
		return own_syscall(SYS_kill, probe.recorder_here, 0) < 0 && errno == ESRCH ? 0
											   : '?';
	len = own_syscall(SYS_read, fd, stat, sizeof(stat) - 1);
	own_syscall(SYS_close, fd);
	stat[len > 0 ? len : 0] = '\0';
	/* The state follows the name, which is in parentheses and may have any characters. */
	end = strrchr(stat, ')');
	return end && end[1] == ' ' ? end[2] : '?';
}

/*
 * Called when a thread has waited for a while, and the recorder has taken nothing. True when the
 * thread should wait longer. Stops tracing if the recorder has ended.
 */
static bool is_worth_waiting(void)
{
	char state = recorder_state();

	/*
	 * If the recorder has ended, it will not come back. Ending the recording saves the program
	 * the work of the hooks.
	 */
	if (state == 0 || state == 'Z' || state == 'X')
		probe_stop();
	return probe.tracing && state != 'T' && state != 't';
}

/*
 * Reads a clock that cannot be set. libc reads it without a system call, which a filter might
 * forbid.
 */
static uint64_t monotonic_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000000ULL + ts.tv_nsec;
}

/*
 * Sleeps until there is room, but at most for one step. Returns the time that the sleep took, or
 * STEP_MAX_NS if it took longer.
 */
static uint64_t wait_a_step(struct thread *t, uint64_t position)
{
	struct ring *r = t->ring;
	uint64_t before_ns = monotonic_ns();
	uint32_t room = atomic_load(&r->room);
	struct timespec step = { 0, WAIT_STEP_NS };
	uint64_t mask;
	bool is_masked = aside_needs_quiet(t) && own_quiet_begin(&mask);

	atomic_store(&r->waiting, 1);
	if (!has_room(r, position))
		raw_futex(&r->room, FUTEX_WAIT, room, &step);
	atomic_store(&r->waiting, 0);
	if (is_masked)
		own_quiet_end(mask);

	uint64_t took_ns = monotonic_ns() - before_ns;

	return MIN(took_ns, STEP_MAX_NS);
}

static bool wait_for_room(struct thread *t, uint64_t position)
{
	struct ring *r = t->ring;
	uint64_t tail = atomic_load_explicit(&r->tail, memory_order_acquire);
	uint64_t look_ns = LOOK_NS;

	for (uint64_t idle_ns = 0; idle_ns < WAIT_NS;) {
		uint64_t took_ns = wait_a_step(t, position);
		uint64_t now = atomic_load_explicit(&r->tail, memory_order_acquire);

		if (has_room(r, position))
			return true;
		if (now != tail) {
			tail = now;
			idle_ns = 0;
			look_ns = LOOK_NS;
			continue;
		}
		idle_ns += took_ns;
		/* The writer may have gone to sleep just after the last wake-up. */
		ring_wake_writer(r);
		if (idle_ns < look_ns)
			continue;
		if (!is_worth_waiting())
			break;
		look_ns += LOOK_NS;
	}
	t->stalled_tail = tail + 1;
	return false;
}

/*
 * Called when the ring is full. If the thread may wait, waits for the writer to make room. Returns
 * true when the ring has room. Otherwise records must be dropped.
 */
static bool get_room(struct thread *t, uint64_t position)
{
	ring_wake_writer(t->ring);
	/*
	 * If the program has forbidden itself futex(2), the thread cannot wait, and records are
	 * lost.
	 */
	if (!(probe.plan.flags & PLAN_DROP) && seal_allows(SYS_futex))
		return wait_for_room(t, position);
	t->stalled_tail = atomic_load_explicit(&t->ring->tail, memory_order_acquire) + 1;
	return false;
}

/*
 * Flight recording: called before the thread moves the ring's head from @head to @next. If @next is
 * in a new segment, sets segment_before[] of this segment to the number of bytes of all earlier
 * records.
 */
static void note_bytes_before(struct ring *r, uint64_t head, uint64_t next)
{
	uint64_t segment_bytes = probe.arena->segment_bytes;
	uint64_t nr = probe.arena->nr_segments;
	uint64_t from = head / segment_bytes;
	uint64_t to = next / segment_bytes;

	if (from != to)
		r->segment_before[to % nr] = r->segment_before[from % nr] +
					     r->segment_used[from % nr];
}

/* Makes the next record begin at @position. Records may follow up to the end of the segment. */
static void use_segment(struct thread *t, uint64_t position)
{
	struct ring *r = t->ring;
	uint64_t segment_bytes = probe.arena->segment_bytes;
	uint64_t data_bytes = probe.arena->nr_segments * segment_bytes;
	char *at = ring_data(r) + position % data_bytes;
	char *end = at - position % segment_bytes + segment_bytes - SEGMENT_RESERVE;

	t->position = position - (uint64_t)at;
	guard_barrier();
	t->at = at;
	t->end = end;
}

/*
 * Publishes all records, since a handler may have jumped out of hot_commit() before the store to
 * the head. Returns the ring's head.
 */
static uint64_t publish_head(struct thread *t)
{
	uint64_t head = atomic_load_explicit(&t->ring->head, memory_order_relaxed);

	if (t->at) {
		head = (uint64_t)t->at + t->position;
		atomic_store_explicit(&t->ring->head, head, memory_order_release);
	}
	return head;
}

/*
 * If one of @at and @end is NULL, sets the other pointer to NULL. Two NULL pointers mean that there
 * is no room for a record.
 */
void ring_settle(struct thread *t)
{
	if (!t->at || !t->end)
		t->at = t->end = NULL;
}

/*
 * Makes room for @len bytes in the segment of the head, or else in the next segment. Returns false
 * when the next segment does not become free. A signal handler may interrupt this function at any
 * point and call longjmp(), even while @at and @end are NULL. In this case, only the ring's head
 * tells the position of the next record.
 */
static bool next_segment(struct thread *t, uint32_t len)
{
	struct ring *r = t->ring;
	uint64_t segment_bytes = probe.arena->segment_bytes;
	uint64_t head = publish_head(t);
	uint64_t used = head % segment_bytes;
	uint64_t next = head;

	guard_barrier();
	t->end = t->at = NULL;
	guard_barrier();
	if (used + len > segment_bytes - SEGMENT_RESERVE) {
		r->segment_used[head / segment_bytes % probe.arena->nr_segments] = used;
		next = head - used + segment_bytes;
	}
	if (probe.plan.flags & PLAN_FLIGHT)
		note_bytes_before(r, head, next);
	else if (!has_room(r, next - next % segment_bytes) && !get_room(t, next))
		return false;
	/* This store also publishes segment_used[] and segment_before[]. */
	atomic_store_explicit(&r->head, next, memory_order_release);
	/*
	 * Flight recording: the next records overwrite old records, which the writer may be copying
	 * at this moment. A writer that sees a new record must also see the new head.
	 */
	atomic_thread_fence(memory_order_seq_cst);
	use_segment(t, next);
	if (!(probe.plan.flags & PLAN_FLIGHT) && wants_writer(r, next))
		ring_wake_writer(r);
	return true;
}

void note_lost(struct thread *t, uint32_t count)
{
	if (t->ring)
		add_alone(&t->ring->lost, count);
}

void note_lost_inside(struct thread *t, uint32_t count)
{
	note_lost(t, count);
	if (t->ring)
		add_alone(&t->ring->lost_inside, count);
}

/* The number of lost records that no LOST record has reported. */
static uint64_t count_untold(const struct ring *r)
{
	return atomic_load_explicit(&r->lost, memory_order_relaxed) -
	       atomic_load_explicit(&r->lost_told, memory_order_relaxed);
}

static void put_lost(struct thread *t, uint64_t untold)
{
	char *end = put_record(t->at, 0, record_data(RECORD_LOST, 0, untold));

	/*
	 * put_record() may touch a new page of the ring. If there is no memory for this page, the
	 * kernel may end the process in put_record(). In this case @lost_told has not changed,
	 * and the recorder reports the lost records.
	 */
	guard_barrier();
	add_alone(&t->ring->lost_told, untold);
	hot_commit(t, end);
}

struct make_room {
	struct thread *t;
	uint32_t len;
	bool done;
};

static void make_room(void *arg)
{
	struct make_room *m = arg;
	struct thread *t = m->t;

	if (unlikely(probe.is_finished || atomic_load(&probe.control->finished))) {
		probe_stop();
		t->ring = NULL;
		t->at = t->end = NULL;
		return;
	}
	if (unlikely(t->leaves_ring))
		thread_leave_ring(t);
	/*
	 * In a forked child, session_report_fork() reports the child. If another thread is already
	 * reporting the child, session_report_fork() waits for the end of that report. After the
	 * report, @t gets a ring in the child's arena.
	 */
	if (unlikely(atomic_load(&probe.forked)) || unlikely(t->wants_ring)) {
		t->wants_ring = 0;
		session_report_fork(t);
	}
	if (!t->ring || m->len > probe.arena->segment_bytes - 2 * SEGMENT_RESERVE)
		return;

	/* A LOST record, if needed, comes before the next record. Both get room here. */
	uint64_t untold = count_untold(t->ring);

	if (!next_segment(t, m->len + (untold ? sizeof(struct record) : 0)))
		return;
	if (untold)
		put_lost(t, untold);
	m->done = true;
}

bool ring_make_room(struct thread *t, uint32_t len)
{
	/*
	 * An aside keeps the records of a signal handler that interrupted a hook (aside.h). The
	 * same thread empties the aside, after the handler. So a wait in the handler makes no room.
	 */
	if (t->is_aside || has_stalled(t))
		return false;

	struct make_room m = { t, len, false };

	slow_call(make_room, &m);
	return m.done;
}
