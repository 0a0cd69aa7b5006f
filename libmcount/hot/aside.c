/* The aside keeps the records of a signal handler that interrupted a hook of the same thread. */
#include "libmcount/hot/aside.h"

#include <errno.h>

#include "libmcount/values/emit.h"
#include "libmcount/hot/frames.h"
#include "libmcount/hot/guard.h"
#include "libmcount/system/undo.h"
#include "libmcount/hot/planned_pass.h"
#include "libmcount/system/own_syscall.h"

/*
 * A signal handler may interrupt a hook. The handler's calls may touch neither the thread's frames
 * nor its ring. Instead, these calls use a second thread state, the aside. The "ring" of the aside
 * is a private buffer. When the interrupted hook ends, the hook moves the aside's records to the
 * thread's ring.
 *
 * An aside has no aside of its own. If a second handler interrupts a hook that uses the aside, the
 * calls of the second handler are counted as lost.
 */
#define ASIDE_BYTES (1U << 20) /* address space; a page takes memory only after it is written to */

/*
 * The progress of aside_flush(). A handler may jump out of aside_flush(); the next aside_flush()
 * goes on from the mark.
 *
 * @at: the record that aside_flush() moves to the thread's ring now. Earlier records are in the
 *      ring. NULL: no record was moved
 * @from: the write position of the ring before the record at @at is moved. If the ring has another
 *        write position now, the record at @at has been moved
 */
struct aside_mark {
	const char *at;
	uint64_t from;
};

/*
 * @first: the first record of this process. In a forked child, the records before @first belong to
 *         the parent process. The parent process moves these records to the ring of the parent
 *         process. NULL: all records are of this process
 * @marks: only the mark at index @mark counts. A new mark is written to the other element, and
 *         then one store changes @mark
 */
struct aside {
	struct ring ring;
	char *records;
	const char *volatile first;
	struct aside_mark marks[2];
	volatile uint32_t mark;
};
_Static_assert(sizeof(struct aside) <= RING_PAGE, "the records begin at the second page");

static struct aside *aside_memory(struct thread *aside)
{
	return container_of(aside->ring, struct aside, ring);
}

/* Clears the mark, so the next move of records begins with the first record. */
static void forget_mark(struct aside *aside)
{
	aside->marks[aside->mark].at = NULL;
}

static void aside_reset(struct thread *aside)
{
	aside->at = aside_memory(aside)->records;
	aside_memory(aside)->first = NULL;
	forget_mark(aside_memory(aside));
	aside->end = aside->at + ASIDE_BYTES;
	frames_reset(aside);
	cyg_forget(aside);
	if (aside->planned)
		planned_end(aside);
}

static void forget_counts(struct thread *aside)
{
	atomic_store(&aside->ring->lost, 0);
	atomic_store(&aside->ring->too_deep, 0);
}

void aside_forget(struct thread *t)
{
	if (!t->aside)
		return;
	aside_reset(t->aside);
	forget_counts(t->aside);
	t->aside->busy = 0;
}

void aside_after_fork(struct thread *t)
{
	struct thread *aside = t->aside;

	if (!aside)
		return;
	aside_memory(aside)->first = aside->at;
	forget_mark(aside_memory(aside));
	forget_counts(aside);
	if (aside->top == aside->frames)
		return;
	if (aside->planned)
		planned_note_written(aside);
	else
		aside->written = aside->top;
}

static void begin_aside(void *arg)
{
	struct thread *t = arg;
	struct thread *aside = thread_make_state();
	struct thread *none = NULL;
	char *memory;

	if (!aside)
		return;
	memory = undo_new_memory(RING_PAGE + ASIDE_BYTES);
	if (!memory)
		return; /* @aside stays in the list of states, but is never used */

	struct aside *l = (struct aside *)memory;

	l->records = memory + RING_PAGE;
	aside->ring = &l->ring;
	aside->is_aside = 1;
	aside->threshold_ns = t->threshold_ns;
	aside_reset(aside);
	/*
	 * A handler may interrupt this function and set t->aside first. In this case the exchange
	 * does not change t->aside.
	 */
	__atomic_compare_exchange_n(&t->aside, &none, aside, false, __ATOMIC_RELAXED,
				    __ATOMIC_RELAXED);
}

struct thread *aside_enter(struct thread *t)
{
	struct thread *aside = t->aside;

	if (t == &probe_idle_thread)
		return NULL;
	if (!aside) {
		slow_call(begin_aside, t);
		aside = t->aside;
	}
	if (!aside || aside->busy) {
		note_lost_inside(t, 2); /* the call's ENTRY and its EXIT */
		return NULL;
	}
	if (aside->top == aside->frames && aside->planned && t->planned)
		planned_begin_aside(aside, t);
	else if (aside->top == aside->frames)
		aside->limit = aside->frames + (t->limit > t->top ? t->limit - t->top - 1 : 0);
	aside->busy = 1;
	t->has_aside_records = 1;
	guard_barrier();
	return aside;
}

/*
 * Moves one record of the aside to the ring. The record's depth in the ring is its depth in the
 * aside plus the present depth of @t.
 */
static void move_record(struct thread *t, const struct record *r)
{
	unsigned level = t->planned ? t->planned->now.level + planned_open_calls(t)
				    : t->top - t->frames;
	unsigned depth = record_depth(r->data) + level;
	uint64_t data = record_data(record_type(r->data), depth, record_addr(r->data));

	/* Events have no depth of their own. */
	if (record_type(r->data) == RECORD_EVENT)
		data = record_data(RECORD_EVENT, 0, record_addr(r->data));

	/*
	 * Times in a ring never decrease. If the interrupted hook has written a later time than
	 * r->time_ns, the record gets the later time.
	 */
	if (r->time_ns > t->last_ns)
		t->last_ns = r->time_ns;
	if (!emit_from_aside(t, (const char *)r, t->last_ns, data))
		note_lost(t, 1);
}

static uint64_t ring_position(const struct thread *t)
{
	return (uint64_t)t->at + t->position;
}

static void set_mark(struct aside *aside, const char *at, uint64_t from)
{
	uint32_t other = !aside->mark;

	aside->marks[other] = (struct aside_mark){ at, from };
	guard_barrier();
	aside->mark = other;
	guard_barrier();
}

/*
 * Writes the ENTRYs that were held back for the calls that the handler has interrupted. These
 * ENTRYs are older than the aside's records, so they come first in the ring.
 */
static void write_held_back(struct thread *t)
{
	if (t->planned)
		planned_write_entries(t, t->top);
	else if (t->top > t->written)
		frames_write_entries(t, t->top);
}

/*
 * Returns @at, or aside->first if @at is before aside->first. In a forked child, the records before
 * aside->first belong to the parent.
 */
static const char *skip_parents(const struct aside *aside, const char *at)
{
	const char *first = aside->first;

	return at < first ? first : at;
}

/*
 * Used in a child that a handler has forked. The interrupted hook goes on in the child, and writes
 * to private memory instead of the parent's ring. No recorder reads the private memory. This
 * function makes the thread leave the private memory. The hook may have moved records of the aside
 * to the private memory. So this function also clears the aside's mark (struct aside_mark). Then
 * these records are moved again, this time to the child's own ring.
 */
static void leave_ring(struct thread *t)
{
	if (likely(!t->leaves_ring))
		return;
	if (t->aside)
		forget_mark(aside_memory(t->aside));
	guard_barrier();
	thread_leave_ring(t);
}

/*
 * Moves all records, including records that handlers add while this function runs. Returns the end
 * of the moved records.
 */
static const char *move_records(struct thread *t, struct aside *aside)
{
	const struct aside_mark *mark = &aside->marks[aside->mark];
	const char *at = mark->at ? mark->at : aside->records;

	if (mark->at && at < t->aside->at && ring_position(t) != mark->from)
		at += emit_aside_bytes(at);
	for (;;) {
		/*
		 * t->leaves_ring is set only in a child that a handler has forked. The child moves
		 * the records to a ring of its own, so this loop starts again at the first record.
		 */
		if (unlikely(t->leaves_ring)) {
			leave_ring(t);
			at = aside->records;
		}
		at = skip_parents(aside, at);
		if (at >= __atomic_load_n(&t->aside->at, __ATOMIC_RELAXED))
			break;
		write_held_back(t);
		/*
		 * Make room for the record before set_mark(). The mark stores the write position of
		 * the ring. After set_mark(), only the move of this record may change the write
		 * position.
		 */
		hot_reserve(t, emit_ring_bytes(at));
		/*
		 * If a handler has forked after skip_parents(), the record at @at may belong to the
		 * parent. In this case, the child calls skip_parents() again.
		 */
		if (unlikely(at < aside->first))
			continue;
		set_mark(aside, at, ring_position(t));
		move_record(t, (const struct record *)at);
		guard_barrier();
		at += emit_aside_bytes(at);
	}
	/*
	 * All records before @at are in the ring. If a handler jumps out of aside_flush() after
	 * this set_mark(), the next aside_flush() begins at @at.
	 */
	set_mark(aside, at, ring_position(t));
	return at;
}

bool aside_needs_quiet(const struct thread *t)
{
	const struct thread *aside = t->aside;

	return aside && aside->end - aside->at < ASIDE_BYTES / 2;
}

/* Makes the aside empty, unless a handler has added records after @at. */
static bool empty_at(struct thread *t, const char *at)
{
	struct thread *aside = t->aside;
	uint64_t mask;
	bool is_quiet = own_quiet_begin(&mask);
	bool is_done = aside->at == at;

	if (is_done) {
		t->has_aside_records = 0;
		aside_reset(aside);
	}
	if (is_quiet)
		own_quiet_end(mask);
	return is_done;
}

/*
 * This function does not use slow_call(), which saves the vector registers on the stack. A signal
 * handler may have too little stack for these registers. They need not be saved, because this
 * function makes system calls by libc's syscall(), which does not change vector registers.
 */
void aside_flush(struct thread *t)
{
	struct thread *aside;
	int saved = errno;
	const char *at;

	/*
	 * A thread without an aside has no records to move. A handler may make an aside after this
	 * test of t->aside. So t->aside is read again below.
	 */
	if (unlikely(!t->aside))
		t->has_aside_records = 0;
	guard_barrier();
	leave_ring(t);
	aside = t->aside;
	if (unlikely(!aside))
		return;
	/*
	 * A handler may add records, or fork, at any time. The loop runs once more if records
	 * remain, or if a forked child must still call leave_ring().
	 */
	do {
		leave_ring(t);
		at = move_records(t, aside_memory(aside));
	} while (!empty_at(t, at) || t->has_aside_records || t->leaves_ring);
	note_lost_inside(t, atomic_exchange(&aside->ring->lost, 0));
	if (t->ring)
		atomic_fetch_add(&t->ring->too_deep, atomic_exchange(&aside->ring->too_deep, 0));
	errno = saved;
}

void aside_give_up(struct thread *t)
{
	struct thread *aside = t->aside;

	leave_ring(t);
	if (!aside)
		return;
	planned_end_estimate(aside);
	/*
	 * If t->has_aside_records is 0, all records were moved. But the handler may have
	 * interrupted aside_flush() before aside_flush() emptied the aside. The handler now ends by
	 * longjmp(3), so the interrupted aside_flush() never goes on. The aside is emptied here.
	 */
	if (!t->has_aside_records) {
		aside_reset(aside);
		guard_barrier();
		aside->busy = 0;
		return;
	}
	guard_take(aside);
	frames_leave_inside(aside, INT64_MAX);
	guard_barrier();
	aside->busy = 0;
	aside_flush(t);
}
