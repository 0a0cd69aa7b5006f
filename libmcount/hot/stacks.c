/* Stacks that the program has made (see stacks.h). */
#include "libmcount/hot/stacks.h"

#include <signal.h>
#include <sys/syscall.h>

#include "libmcount/hot/frames.h"
#include "libmcount/hot/guard.h"
#include "libmcount/program/interpose.h"
#include "libmcount/system/own_syscall.h"
#include "utils/base/compiler.h"

/*
 * The assumed bounds of a stack, in bytes from the slot of the outermost recorded call. The upper
 * bound is SLACK bytes above this slot. The lower bound is below this slot: by OWN_REACH bytes if
 * the stack is a thread's own stack, and by MADE_REACH bytes if the program has made the stack.
 * goes_on() moves bounds that have proved too narrow.
 */
#define OWN_REACH  (1UL << 20)
#define MADE_REACH (1UL << 16)
#define SLACK	   2048
#define FAR	   (64UL << 20)
#define MADE_MAX   4096
#define PAGE	   4096UL

static _Atomic uint32_t nr_made;

/*
 * The bounds of this thread's alternate signal stack (sigaltstack(2)). Calls on the alternate stack
 * count as calls on the stack of the interrupted code.
 */
static __thread uint64_t alternate_low __attribute__((tls_model("initial-exec")));
static __thread uint64_t alternate_high __attribute__((tls_model("initial-exec")));

EXPORTED int sigaltstack(const stack_t *restrict ss, stack_t *restrict old)
{
	static void *next;
	int (*fn)(const stack_t *, stack_t *) = interposed(&next, "sigaltstack");
	int ret;

	if (!fn)
		return interpose_fail();
	ret = fn(ss, old);
	if (ret == 0 && ss) {
		bool is_off = ss->ss_flags & SS_DISABLE;

		alternate_low = is_off ? 0 : (uint64_t)ss->ss_sp;
		alternate_high = is_off ? 0 : (uint64_t)ss->ss_sp + ss->ss_size;
	}
	return ret;
}

static bool is_alternate(uint64_t slot)
{
	return slot >= alternate_low && slot < alternate_high;
}

/*
 * True when @low and @high are at most FAR bytes apart, and all memory between them is readable.
 * Any two stacks that were allocated by the system are separated by a gap or an unreadable page.
 */
static bool is_contiguous(uint64_t low, uint64_t high)
{
	if (high - low > FAR)
		return false;
	/*
	 * own_is_readable() needs rt_sigprocmask(2). If this system call is forbidden, @low and
	 * @high count as being on one stack.
	 */
	if (!seal_allows(SYS_rt_sigprocmask))
		return true;
	for (uint64_t page = low & ~(PAGE - 1); page <= high; page += PAGE) {
		if (!own_is_readable(page))
			return false;
	}
	return true;
}

/*
 * Sets the bounds of a thread's own stack by the slot of the thread's outermost call. The slot lies
 * on that stack.
 */
static void adopt_own_stack(struct thread *t, uint64_t slot)
{
	t->high = t->top > t->frames ? t->frames[1].slot : slot;
	t->low = t->high > OWN_REACH ? t->high - OWN_REACH : 1;
}

static bool is_in_range(const struct thread *t, uint64_t slot)
{
	return slot >= t->low && slot <= t->high + SLACK;
}

/*
 * True when @slot is the slot of the thread's first call, and lies on the thread's own stack. For
 * the main thread, and when gettid(2) is forbidden, the stack of @slot is not checked. The own
 * stack of any other thread ends where pthread_self() points.
 */
static bool begins_at_home(const struct thread *t, uint64_t slot)
{
	uint64_t end = (uint64_t)pthread_self();

	if (t->is_made || t->high)
		return false;
	return !seal_allows(SYS_gettid) || own_syscall(SYS_gettid) == probe.pid ||
	       (slot < end && is_contiguous(slot, end));
}

static void bound_by_neighbours(struct thread *t)
{
	for (struct thread *o = atomic_load(&probe_threads); o; o = o->next) {
		if (o == t || !o->is_made || o->is_exact)
			continue;
		if (o->high < t->high && o->high >= t->low)
			t->low = o->high + 1;
		if (o->high > t->high && o->low <= t->high)
			o->low = t->high + 1;
	}
}

/*
 * True when @slot lies on the stack of @t, but outside of the known bounds. In this case, this
 * function has extended the bounds.
 */
static bool goes_on(struct thread *t, uint64_t slot)
{
	if (!t->high) {
		adopt_own_stack(t, slot);
		return true;
	}
	if (t->is_exact)
		return false;
	if (t->is_made) {
		uint64_t inner = t->top > t->frames ? t->top->slot : t->low;

		if (slot >= t->low || inner - slot >= MADE_REACH)
			return false;
		t->low = slot - MADE_REACH;
		bound_by_neighbours(t);
		return slot >= t->low;
	}
	if (slot < t->low ? !is_contiguous(slot, t->low) : !is_contiguous(t->high, slot))
		return false;
	if (slot < t->low)
		t->low = slot > OWN_REACH ? slot - OWN_REACH : 1;
	t->high = MAX(t->high, slot);
	return true;
}

/* Takes over a stack on which no thread runs. Returns false when another thread was faster. */
static bool take_parked_stack(struct thread *t)
{
	uint32_t parked = 1;

	return atomic_compare_exchange_strong(&t->is_parked, &parked, 0);
}

static struct thread *find_parked(uint64_t slot)
{
	for (struct thread *o = atomic_load(&probe_threads); o; o = o->next) {
		if (o->is_made && !o->is_exact && is_in_range(o, slot) && take_parked_stack(o))
			return o;
	}
	return NULL;
}

/*
 * Returns the former stack: the stack that the thread left when the thread switched to the stack of
 * @t. Returns NULL if the program has not made the former stack, if @slot does not lie on the
 * former stack, or if a thread runs on the former stack.
 */
static struct thread *find_around(struct thread *t, uint64_t slot)
{
	struct thread *o = t->around;

	return o && o->is_made && is_in_range(o, slot) && take_parked_stack(o) ? o : NULL;
}

/*
 * Sets the end of the stack of @t. A call above @end is on another stack. The probe notices such a
 * call even when @t has no open call, for example after a context has ended and libc has switched
 * to the context's uc_link.
 */
static void end_at(struct thread *t, uint64_t end)
{
	/* No other slot equals the sentinel's slot: other slots are multiples of 8, or odd. */
	t->frames[0].slot = end | 4;
}

static void forget_stack(struct thread *t)
{
	t->is_made = t->is_exact = 0;
	t->low = t->high = 0;
	t->frames[0].slot = FRAME_ABOVE_ALL;
}

static void retire(struct thread *t)
{
	forget_stack(t);
	thread_give_back(t);
	atomic_fetch_sub(&nr_made, 1);
}

/*
 * Frees the states of stacks that have no open calls. The program may already have freed these
 * stacks.
 */
static void retire_idle_ones(void)
{
	for (struct thread *o = atomic_load(&probe_threads); o; o = o->next) {
		if (o->is_made && o->top == o->frames && take_parked_stack(o))
			retire(o);
	}
}

static struct thread *take_made_state(void)
{
	struct thread *t = thread_take_state();

	if (!t)
		return NULL;
	t->is_parked = 0;
	t->is_made = 1;
	atomic_fetch_add(&nr_made, 1);
	thread_take_ring(t);
	if (!t->ring) {
		retire(t);
		return NULL;
	}
	return t;
}

/*
 * Makes the state of a stack, without bounds. The caller then sets the bounds. Returns NULL when
 * there are too many stacks, or no ring is free.
 */
static struct thread *make_unbound(void)
{
	if (atomic_load(&nr_made) >= MADE_MAX)
		retire_idle_ones();
	if (atomic_load(&nr_made) >= MADE_MAX)
		return NULL;

	uint64_t mask;
	/*
	 * Block signals. If a signal handler forked now, the child could return from the handler
	 * to this code. The child would then take one of its parent's rings.
	 */
	bool is_quiet = own_quiet_begin(&mask);
	struct thread *t = take_made_state();

	if (is_quiet)
		own_quiet_end(mask);
	return t;
}

static struct thread *make_stack(uint64_t slot)
{
	struct thread *t = make_unbound();

	if (t) {
		t->high = slot;
		t->low = slot - MADE_REACH;
		end_at(t, slot + SLACK);
		bound_by_neighbours(t);
	}
	return t;
}

/*
 * True when @t is the stack of a child that runs in its parent's memory, for example of a child
 * that posix_spawn(3) has made. The parent waits until the child has left that stack.
 */
static bool is_of_child(const struct thread *t)
{
	return t->is_made && t->ring && t->ring->is_child;
}

static void switch_to(struct thread *from, struct thread *to)
{
	if (from->has_aside_records)
		aside_flush(from);
	to->home = from->is_made ? from->home : from;
	guard_take(to);
	self = to;
	guard_barrier();
	/*
	 * If a signal handler forked before the store to `self`, the child has freed the state @to.
	 * In this case the child takes @to again.
	 */
	if (unlikely(!atomic_load(&to->in_use)))
		slow_call(thread_begin_again, to);
	from->busy = 0;
	if (is_of_child(from))
		retire(from);
	else if (from->is_made)
		atomic_store(&from->is_parked, 1);
}

struct search {
	struct thread *from;
	uint64_t slot;
	bool may_make;
	struct thread *found;
};

static void search(void *arg)
{
	struct search *s = arg;
	struct thread *t = s->from;
	struct thread *home = t->is_made ? t->home : NULL;

	s->found = t;
	if (is_alternate(s->slot) || is_alternate(t->top->slot))
		return;
	if (begins_at_home(t, s->slot)) {
		adopt_own_stack(t, s->slot);
		return;
	}

	struct thread *to = t->is_exact ? find_around(t, s->slot) : find_parked(s->slot);

	if (!to && goes_on(t, s->slot))
		return;
	if (!to && home && (is_in_range(home, s->slot) || goes_on(home, s->slot)))
		to = home;
	if (!to && s->may_make)
		to = make_stack(s->slot);
	/* If no state is found or made, the slot counts as a slot on the stack of @t. */
	if (!to)
		return;
	switch_to(t, to);
	s->found = to;
}

/*
 * Sets probe.follows_stacks if the new slot and the slot of the innermost frame lie on different
 * stacks. Ignores slots on the alternate signal stack.
 */
static void notice_switch(void *arg)
{
	struct search *s = arg;
	struct thread *t = s->from;

	if (is_alternate(t->top->slot) || is_alternate(s->slot) ||
	    is_contiguous(t->top->slot, s->slot))
		return;
	probe.follows_stacks = true;
	adopt_own_stack(t, s->slot);
}

static void look_for_switch(struct thread *t, uint64_t slot)
{
	struct search s = { .from = t, .slot = slot };

	if (t->top > t->frames && t->top->slot < slot && (slot ^ t->top->slot) >= PAGE)
		slow_call(notice_switch, &s);
}

struct thread *stacks_enter(struct thread *t, uint64_t slot)
{
	struct search s = { t, slot, true, t };

	if (t->is_aside || t->lender || (probe.plan.flags & PLAN_ESTIMATE))
		return t;
	if (!probe.follows_stacks) {
		look_for_switch(t, slot);
		return t;
	}
	if (!t->low)
		adopt_own_stack(t, slot);
	if (!is_in_range(t, slot))
		slow_call(search, &s);
	return s.found;
}

struct thread *stacks_find(struct thread *t, uint64_t sp)
{
	struct search s = { t, sp, false, t };

	if (probe.follows_stacks && !t->is_aside && !t->lender && t->low && !is_in_range(t, sp))
		slow_call(search, &s);
	return s.found;
}

struct taking {
	struct thread *from;
	uint64_t sp;
	uint64_t low;
	uint64_t high;
	struct thread *to;
};

static bool lies_in(const struct taking *k, uint64_t address)
{
	return address >= k->low && address < k->high;
}

/*
 * True when the stack [k->low, k->high), which the program has announced, is a piece of the stack
 * of @t, for example an array in the frame of an open call. If the innermost call of @t lies in
 * [k->low, k->high), the result is false: these bounds are wrong, or are the bounds of the whole
 * stack of @t.
 */
static bool is_within(struct thread *t, const struct taking *k)
{
	if (lies_in(k, t->top->slot))
		return false;
	return (k->low >= t->low && k->low <= t->high) ||
	       (!t->is_made && k->low - t->high < OWN_REACH && goes_on(t, k->low));
}

static struct thread *find_exact(uint64_t low)
{
	for (struct thread *o = atomic_load(&probe_threads); o; o = o->next) {
		if (o->is_made && o->is_exact && o->low == low && take_parked_stack(o))
			return o;
	}
	return NULL;
}

static struct thread *make_exact(const struct taking *k)
{
	struct thread *t = make_unbound();

	if (t) {
		t->is_exact = 1;
		t->low = k->low;
		t->high = k->high - SLACK; /* is_in_range() adds SLACK to thread.high */
		end_at(t, k->high);
	}
	return t;
}

static void take_up(void *arg)
{
	struct taking *k = arg;
	struct thread *t = k->from;
	struct thread *home = t->is_made ? t->home : t;
	struct thread *to = NULL;

	if (t->is_exact && t->low == k->low)
		return;
	if (k->high - k->low > SLACK && lies_in(k, k->sp) &&
	    (is_within(t, k) || is_within(home, k))) {
		to = find_exact(k->low);
		to = to ? to : make_exact(k);
		if (to)
			to->around = t;
	} else if (t->is_exact && !is_in_range(t, k->sp)) {
		to = find_around(t, k->sp);
		to = to || !is_in_range(home, k->sp) ? to : home;
	}
	if (!to)
		return;
	probe.follows_stacks = true;
	switch_to(t, to);
	k->to = to;
}

void stacks_take_up(uint64_t sp, uint64_t low, uint64_t bytes)
{
	struct thread *t = self;
	struct taking k = { t, sp, low, low + bytes, t };

	if (!t || t == &probe_idle_thread || t->busy || t->lender || !t->ring ||
	    (probe.plan.flags & PLAN_ESTIMATE))
		return;
	guard_take(t);
	if (!t->high)
		adopt_own_stack(t, (uint64_t)__builtin_frame_address(0));
	slow_call(take_up, &k);
	/* Calls with slots below @sp are from an earlier use of this stack. */
	if (k.to->is_exact)
		frames_leave_inside(k.to, sp);
	guard_leave(k.to);
}

static bool has_frame(const struct thread *t, uint64_t slot)
{
	const struct frame *f = t->top;

	while (f->slot < slot)
		f--; /* stops at thread.last, whose slot is FRAME_ABOVE_ALL */
	return f->slot == slot;
}

struct thread *stacks_return(struct thread *t, uint64_t slot)
{
	if (t->is_aside || t->lender)
		return t;
	if (!probe.follows_stacks)
		look_for_switch(t, slot);
	if (!probe.follows_stacks || has_frame(t, slot))
		return t;

	struct thread *home = t->is_made ? t->home : NULL;
	struct thread *to = home && has_frame(home, slot) ? home : NULL;

	for (struct thread *o = atomic_load(&probe_threads); !to && o; o = o->next) {
		if (o->is_made && has_frame(o, slot) && take_parked_stack(o))
			to = o;
	}
	if (!to)
		return t;
	switch_to(t, to);
	return to;
}

void stacks_go_home(void)
{
	struct thread *t = self;

	if (!t || !t->is_made)
		return;
	self = t->home;
	guard_barrier();
	atomic_store(&t->is_parked, 1);
}

void stacks_after_fork(void)
{
	for (struct thread *o = atomic_load(&probe_threads); o; o = o->next) {
		bool is_home = self && self->is_made && self->home == o;

		if (o == self || !(o->is_made || is_home))
			continue;
		frames_restore(o);
		forget_stack(o);
	}
	if (self && self->is_made) {
		self->is_made = self->is_exact = 0;
		self->frames[0].slot = FRAME_ABOVE_ALL;
		self->home = NULL;
	}
	atomic_store(&nr_made, 0);
}
