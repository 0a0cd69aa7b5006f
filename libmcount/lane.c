/* The lane: where calls of a signal handler go that interrupted a hook of the same thread. */
#include <errno.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "libmcount/emit.h"
#include "libmcount/frames.h"
#include "libmcount/guard.h"

/*
 * A hook that is interrupted half-way must find everything as it left it, so the handler's calls may touch neither the
 * thread's frames nor its ring. They get a thread state of their own, with the same code working on it: the lane, whose
 * "ring" is a private buffer. When the interrupted hook is done, it moves the lane's records to the ring. The
 * handler is over by then, so the lane's frames are, too; unless it has jumped out, see lane_give_up().
 *
 * A handler that interrupts a hook of a handler that interrupted a hook is counted as lost.
 */
#define LANE_BYTES (1U << 20) /* address space; a page is memory when it is written to */

/*
 * How far lane_flush() has come. A handler may jump out of it at any point; then it begins again, and must not move anything twice.
 *
 * @at: records before it are in the ring of the thread; that at it, too, if the ring has gone on from @from. NULL: none is
 */
struct lane_mark {
	const char *at;
	uint64_t from;
};

/* @marks: that of index @mark counts, so that one store changes it */
struct lane {
	struct ring ring;
	char *records;
	struct lane_mark marks[2];
	volatile uint32_t mark;
};

static struct lane *lane_memory(struct thread *lane)
{
	return container_of(lane->ring, struct lane, ring);
}

static void lane_reset(struct thread *lane)
{
	lane->at = lane_memory(lane)->records;
	lane_memory(lane)->marks[lane_memory(lane)->mark].at = NULL;
	lane->end = lane->at + LANE_BYTES;
	frames_reset(lane);
	cyg_forget(lane);
	if (lane->planned)
		planned_end(lane);
}

struct begin_lane {
	struct thread *t;
	struct thread *lane;
};

static void begin_lane(void *arg)
{
	struct begin_lane *b = arg;
	struct thread *lane = thread_make_state();
	char *memory;

	if (!lane)
		return;
	memory = (char *)syscall(SYS_mmap, NULL, RING_PAGE + LANE_BYTES, PROT_READ | PROT_WRITE,
				 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (memory == MAP_FAILED)
		return; /* the state stays in the list, empty */

	struct lane *l = (struct lane *)memory;

	l->records = memory + RING_PAGE;
	lane->ring = &l->ring;
	lane->is_lane = 1;
	lane->threshold_ns = b->t->threshold_ns;
	lane_reset(lane);
	b->t->lane = b->lane = lane;
}

struct thread *lane_enter(struct thread *t)
{
	struct thread *lane = t->lane;

	if (t == &probe_idle_thread)
		return NULL;
	if (!lane) {
		struct begin_lane b = { .t = t };

		/* Should the handler's own handler come here meanwhile, one of the two lanes stays unused. */
		slow_call(begin_lane, &b);
		lane = b.lane;
	}
	if (!lane || lane->busy) {
		note_lost_inside(t, 2); /* its ENTRY and its EXIT */
		return NULL;
	}
	if (lane->top == lane->frames && lane->planned && t->planned)
		planned_begin_lane(lane, t);
	else if (lane->top == lane->frames)
		lane->limit = lane->frames + (t->limit > t->top ? t->limit - t->top - 1 : 0);
	lane->busy = 1;
	t->has_lane_records = 1;
	guard_barrier();
	return lane;
}

/* One record of the lane, at the depth where the interrupted hook left its thread. */
static void move_record(struct thread *t, const struct record *r)
{
	unsigned level = t->planned ? t->planned->now.level : t->top - t->frames;
	unsigned depth = record_depth(r->data) + level;
	uint64_t data = record_data(record_type(r->data), depth, record_addr(r->data));

	/* Events have no depth of their own. */
	if (record_type(r->data) == RECORD_EVENT)
		data = record_data(RECORD_EVENT, 0, record_addr(r->data));

	/* The interrupted hook may have read its clock after the handler did. */
	if (r->time_ns > t->last_ns)
		t->last_ns = r->time_ns;
	if (!emit_from_lane(t, (const char *)r, t->last_ns, data))
		note_lost(t, 1);
}

static uint64_t ring_position(const struct thread *t)
{
	return (uint64_t)t->at + t->position;
}

static void set_mark(struct lane *lane, const char *at, uint64_t from)
{
	uint32_t other = !lane->mark;

	lane->marks[other] = (struct lane_mark){ at, from };
	guard_barrier();
	lane->mark = other;
	guard_barrier();
}

/* Until all is moved, with what handlers add meanwhile. */
static const char *move_records(struct thread *t, struct lane *lane)
{
	const struct lane_mark *mark = &lane->marks[lane->mark];
	const char *at = mark->at ? mark->at : lane->records;

	if (mark->at && at < t->lane->at && ring_position(t) != mark->from)
		at += emit_lane_bytes(at);
	while (at < __atomic_load_n(&t->lane->at, __ATOMIC_RELAXED)) {
		set_mark(lane, at, ring_position(t));
		move_record(t, (const struct record *)at);
		guard_barrier();
		at += emit_lane_bytes(at);
	}
	/* Should this begin again, it begins here. */
	set_mark(lane, at, ring_position(t));
	return at;
}

bool lane_quiet_begin(uint64_t *mask)
{
	uint64_t all = UINT64_MAX;

	return syscall(SYS_rt_sigprocmask, SIG_SETMASK, &all, mask, sizeof(all)) == 0;
}

void lane_quiet_end(uint64_t mask)
{
	syscall(SYS_rt_sigprocmask, SIG_SETMASK, &mask, NULL, sizeof(mask));
}

bool lane_needs_quiet(const struct thread *t)
{
	const struct thread *lane = t->lane;

	return lane && lane->end - lane->at < LANE_BYTES / 2;
}

/* The lane is empty from its beginning on, if nobody has added anything to what was moved. */
static bool empty_at(struct thread *t, const char *at)
{
	struct thread *lane = t->lane;
	uint64_t mask;
	bool is_quiet = lane_quiet_begin(&mask);
	bool is_done = lane->at == at;

	if (is_done) {
		t->has_lane_records = 0;
		lane_reset(lane);
	}
	if (is_quiet)
		lane_quiet_end(mask);
	return is_done;
}

/* Without slow_call(), for which a handler's stack may be too small: libc's syscall() touches no vector register. */
void lane_flush(struct thread *t)
{
	struct thread *lane = t->lane;
	int saved = errno;

	if (lane->at > lane_memory(lane)->records && t->planned)
		planned_write_entries(t, t->top);
	else if (lane->at > lane_memory(lane)->records && t->top > t->written)
		frames_write_entries(t, t->top);
	/* Handlers that had to wait for empty_at() have come by then. */
	while (!empty_at(t, move_records(t, lane_memory(lane))) || t->has_lane_records)
		;
	note_lost_inside(t, atomic_exchange(&lane->ring->lost, 0));
	errno = saved;
}

void lane_give_up(struct thread *t)
{
	struct thread *lane = t->lane;

	if (!lane)
		return;
	/* It may have interrupted lane_flush() when all was moved; then nobody else makes the lane free. */
	if (!t->has_lane_records) {
		lane_reset(lane);
		guard_barrier();
		lane->busy = 0;
		return;
	}
	lane->busy = 1;
	guard_barrier();
	frames_leave_inside(lane, INT64_MAX);
	guard_barrier();
	lane->busy = 0;
	lane_flush(t);
}
