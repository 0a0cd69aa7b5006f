/* Allocates and changes the state that a thread has under a plan (see planned.h). */
#include "libmcount/hot/planned_private.h"

#include "libmcount/hot/frames.h"
#include "libmcount/hot/hot.h"
#include "libmcount/system/undo.h"
#include "libmcount/system/own_syscall.h"

struct planned_place planned_no_calls[PLANNED_CALLS];

void planned_take_reading(void *arg)
{
	struct take_reading *take = arg;

	reads_take(take->what, take->out);
}

void planned_make_readings(void *arg)
{
	struct planned *p = arg;
	uint64_t frames = (uint64_t)probe.plan.max_stack + 2;

	p->readings = undo_new_memory(frames * sizeof(*p->readings));
}

void planned_make_args(void *arg)
{
	struct planned *p = arg;
	uint64_t bytes = MIN((probe.plan.max_stack + 1ULL) * CAPTURE_MAX_BYTES + CAPTURE_ROOM,
			     (uint64_t)UINT32_MAX);

	p->args = undo_new_memory(bytes);
	p->args_bytes = p->args ? bytes : 0;
}

uint64_t planned_own_return(const struct frame *f)
{
	while (f->ret == (uint64_t)arch_return_trampoline && f[-1].slot == f->slot)
		f--;
	return f->ret;
}

/*
 * Never changes the slot of @f. If this slot has the trampoline's address, the return of @f still
 * leads to the trampoline.
 */
void planned_show_returns(struct thread *t, const struct frame *f, bool shows)
{
	const uint64_t ours = (uint64_t)arch_return_trampoline;

	for (struct frame *g = t->frames + 1; g < f; g++) {
		uint64_t *slot = (uint64_t *)g->slot;
		uint64_t own = planned_own_return(g);

		if (g->slot != f->slot && !(g->slot & FRAME_EXPLICIT) &&
		    *slot == (shows ? ours : own))
			*slot = shows ? own : ours;
	}
}

void planned_begin_estimate(struct thread *t)
{
	uint64_t last_ns = t->last_ns;

	if (t->planned)
		t->planned->estimate_ns = last_ns + (hot_clock(t) - last_ns) / 2;
}

void planned_end_estimate(struct thread *t)
{
	if (t->planned)
		t->planned->estimate_ns = 0;
}

bool planned_make(struct thread *t)
{
	uint64_t frames = (uint64_t)probe.plan.max_stack + 2;
	struct planned *p = undo_new_memory(sizeof(*p) + frames * sizeof(struct planned_frame));

	if (!p)
		return false;
	/*
	 * frames[0] belongs to no call. With this flag, frames[0] looks like the frame of a caller
	 * whose ENTRY was written. So the ENTRY of an outermost call never waits for another ENTRY.
	 */
	p->frames[0].flags = PLANNED_WRITTEN;
	__atomic_store_n(&t->planned, p, __ATOMIC_RELEASE);
	return true;
}

/* --- plans --- */

static struct selection selection_of(const struct live_plan *plan)
{
	return (struct selection){
		.threshold_ns = plan->settings.threshold_ns,
		.size = plan->settings.size_filter,
		.depth = MIN(plan->settings.depth, (uint32_t)UINT16_MAX),
	};
}

/* Returns the flags of @rule, without those that depend on the arguments of a call. */
static uint32_t without_conditions(const struct plan_rule *rule)
{
	return rule->flags & PLAN_COND ? rule->flags & ~PLANNED_CONDITIONAL : rule->flags;
}

/*
 * Changes @s as if the open call of @addr had been entered under @plan. The call's arguments are
 * gone. So if a rule has conditions on arguments, its PLAN_FILTER and PLAN_NOTRACE have no effect.
 */
static void replay_call(struct selection *s, const struct live_plan *plan, uint64_t addr,
			uint16_t flags)
{
	const struct live_func *func = plans_find(plan, addr);
	const struct plan_rule *rule = func ? func->rule : NULL;
	uint32_t actions = rule ? without_conditions(rule) : 0;

	if (actions & PLAN_NOTRACE)
		s->out++;
	if (actions & PLAN_FILTER) {
		s->in++;
		s->depth = MIN(plan->settings.depth, (uint32_t)UINT16_MAX);
	}
	if (rule)
		planned_limit(s, rule);
	if (flags & PLANNED_RECORD) {
		s->level++;
		s->depth -= s->depth != 0;
	}
}

/*
 * @s is the selection around a call of @addr, whose arguments are not known. Turns @s into the
 * selection inside of that call. True when the call would be recorded.
 */
static bool would_record(const struct planned *p, struct selection *s, uint64_t addr)
{
	const struct live_func *func = plans_find(p->plan, addr);
	const struct plan_rule *rule = func ? func->rule : NULL;
	uint32_t flags = rule ? without_conditions(rule) : 0;

	return !s->out && planned_judge(p, s, func, rule, flags, false) == PLANNED_IS_RECORD;
}

bool planned_would_record(const struct thread *t, uint64_t addr)
{
	const struct planned *p = t->planned;
	struct selection s = p->now;

	/*
	 * A recorded call takes one level of depth. But p->now.depth is not reduced by recorded
	 * calls inside of the frame p->open_base. So subtract the number of these calls.
	 */
	if (p->open_base)
		s.depth -= MIN(s.depth, planned_open_calls(t));
	return p->plan && probe_is_recording() && would_record(p, &s, addr);
}

void planned_push_unseen(struct thread *t, uint64_t slot, uint64_t ret, uint64_t addr)
{
	struct planned *p = t->planned;
	struct selection next = p->now;
	bool is_recorded = would_record(p, &next, addr);

	planned_push(t, planned_next_frame(t), slot, ret,
		     record_data(RECORD_ENTRY, p->now.level, addr) | FRAME_UNSEEN, 0, NULL,
		     is_recorded ? PLANNED_RECORD | PLANNED_WRITTEN : 0);
	p->now = next;
	state_select(t);
}

static struct selection redo_frames(struct thread *t, const struct live_plan *plan)
{
	struct selection s = selection_of(plan);

	for (struct frame *f = t->frames + 1; f <= t->top; f++) {
		struct planned_frame *pf = planned_frame_of(t, f);

		pf->before = s;
		replay_call(&s, plan, frame_addr(f), pf->flags);
	}
	return s;
}

void planned_close(struct thread *t)
{
	struct planned *p = t->planned;
	struct selection now = p->now;

	now.out = 0;
	if (p->is_ready)
		now.in = 0;
	for (struct frame *f = p->open_base + 1; f <= t->top; f++) {
		struct planned_frame *pf = planned_frame_of(t, f);

		if (pf->open.began_ns != f->time_ns)
			pf->result = NULL;
		pf->before = now;
		pf->args_len = 0;
		pf->args_at = p->args_top;
		pf->flags = 0;
		if (p->is_ready)
			now.in = 1;
		if (f->time_ns == OPEN_OUT) {
			now.out++;
		} else if (f->time_ns != OPEN_TOO_DEEP) {
			pf->flags = PLANNED_RECORD | PLANNED_WRITTEN;
			now.depth--;
			now.level++;
		}
	}
	/*
	 * If a signal handler leaves this function by longjmp() before p->now is stored, p->now
	 * does not count the frames of the loop above. When the next frame ends, p->now becomes
	 * the @before of this frame, so p->now is right again.
	 */
	guard_barrier();
	state_set(t, p, THREAD_OPEN, THREAD_JUDGED);
	guard_barrier();
	p->open_base = NULL;
	guard_barrier();
	p->now = now;
	state_select(t);
}

static void forget_known(struct planned *p)
{
	for (unsigned i = 0; i < PLANNED_KNOWN; i++)
		p->known[i].addr = 0;
}

/*
 * Sets the word to 0, but only if needed: a store to an unused page makes the kernel allocate the
 * page.
 */
static void forget_word(uint64_t *word)
{
	if (__atomic_load_n(word, __ATOMIC_RELAXED))
		__atomic_store_n(word, 0, __ATOMIC_RELAXED);
}

static void forget_table(struct planned_place *table)
{
	for (unsigned i = 0; i < PLANNED_CALLS; i++) {
		forget_word(&table[i].call);
		forget_word(&table[i].alone);
	}
}

static void forget_calls(struct planned *p)
{
	if (!__atomic_load_n(&p->has_noted, __ATOMIC_RELAXED))
		return;
	forget_table(p->skip_outside);
	forget_table(p->skip_out);
	forget_table(p->pass);
}

void planned_forget_calls(void)
{
	for (struct thread *t = atomic_load(&probe_threads); t; t = t->next) {
		struct planned *p = __atomic_load_n(&t->planned, __ATOMIC_ACQUIRE);

		if (p)
			forget_calls(p);
	}
}

static bool watches_same(const struct live_plan *a, const struct live_plan *b)
{
	bool same = a && a->nr_watches == b->nr_watches;

	for (uint32_t i = 0; same && i < b->nr_watches; i++)
		same = a->watches[i].addr == b->watches[i].addr &&
		       a->watches[i].bytes == b->watches[i].bytes;
	return same;
}

/*
 * Sets the members that depend on the plan. The caller stores planned.plan afterwards, so that
 * these members are valid when the thread has the plan.
 */
static void prepare_plan(struct planned *p, const struct live_plan *plan)
{
	uint32_t flags = plan->settings.flags;

	if (!watches_same(p->plan, plan))
		p->watched.has_seen = false;
	p->has_filter = flags & PLAN_OPT_IN_FILTER;
	p->has_caller = flags & PLAN_OPT_IN_CALLER;
	p->has_location = flags & PLAN_OPT_IN_LOCATION;
	p->has_left_out = flags & PLAN_LEAVES_OUT;
	p->has_watch = plan->nr_watches || (flags & PLAN_WATCH_CPU);
	p->has_steps |= plan->nr_steps != 0;
	p->has_opted_in = false;
	p->depth = MIN(plan->settings.depth, (uint32_t)UINT16_MAX);
	p->depth_counts = p->depth < probe.plan.max_stack || plan->has_depths;
	p->serial = plan->serial;
	p->era = plan->era;
}

/*
 * This thread stores @taking before it checks probe.live. plans.c stores probe.live before it looks
 * at @taking. So either this thread sees the new plan, or plans.c sees that the old one is needed.
 */
void planned_take_up(struct thread *t)
{
	struct planned *p = t->planned;
	const struct live_plan *plan;

	/*
	 * An aside has the calls that a signal handler makes (hot/aside.h). These calls are judged
	 * by the same plan as the calls that the handler has interrupted.
	 */
	if (t->is_aside && p->plan)
		return;
	planned_settle(t);
	do {
		plan = __atomic_load_n(&probe.live, __ATOMIC_ACQUIRE);
		__atomic_store_n(&p->taking, plan, __ATOMIC_RELAXED);
		__atomic_thread_fence(__ATOMIC_SEQ_CST);
	} while (plan != __atomic_load_n(&probe.live, __ATOMIC_ACQUIRE));

	/*
	 * If the new plan has the same era as p->plan (live_plan.era), the new plan only adds
	 * functions, and p->now stays right. redo_frames() would be less exact: it cannot check
	 * conditions on the arguments of open calls, because these arguments are gone.
	 */
	struct selection now = p->era == plan->era ? p->now : redo_frames(t, plan);

	forget_known(p);
	forget_calls(p);
	p->now = now;
	guard_barrier();
	prepare_plan(p, plan);
	p->is_simple = !(probe.plan.flags & PLAN_ESTIMATE) && !p->has_watch && !p->has_location &&
		       !t->is_aside;
	state_select(t);
	/* After this store, only open frames may still need the former plan. */
	__atomic_store_n(&p->plan, plan, __ATOMIC_RELEASE);
	__atomic_store_n(&p->taking, NULL, __ATOMIC_RELEASE);
}

/*
 * A thread stores a plan first in @taking and then in @plan. After planned_take_up() has stored a
 * newer plan in @plan, only frames may still need the older plan. This function checks @taking,
 * @plan and the frames in this order. A plan passes through these places in the same order, so the
 * checks do not miss a plan that moves meanwhile. The last frame checked is the frame above
 * thread.top: after a thread has popped a frame, the thread still uses the frame's data for a
 * moment.
 */
bool planned_needs(const struct thread *t, const struct live_plan *plan, const void *end)
{
	const struct planned *p = __atomic_load_n(&t->planned, __ATOMIC_ACQUIRE);

	if (!p)
		return false;
	if (__atomic_load_n(&p->taking, __ATOMIC_ACQUIRE) == plan ||
	    __atomic_load_n(&p->plan, __ATOMIC_ACQUIRE) == plan)
		return true;

	uint64_t top = __atomic_load_n(&t->top, __ATOMIC_ACQUIRE) - t->frames;

	for (uint64_t i = 1; i <= top + 1; i++) {
		const void *result = __atomic_load_n(&p->frames[i].result, __ATOMIC_RELAXED);

		if (result >= (const void *)plan && result < end)
			return true;
	}
	return false;
}

void planned_end(struct thread *t)
{
	struct planned *p = t->planned;

	/*
	 * In a forked child, @t may belong to a thread of the parent that was in a hook during the
	 * fork. The hook may have set the members that are cleared here.
	 */
	p->estimate_ns = 0;
	p->frames[1].result = NULL;
	__atomic_store_n(&p->taking, NULL, __ATOMIC_RELEASE);
	__atomic_store_n(&p->plan, NULL, __ATOMIC_RELEASE);
}

void planned_begin(struct thread *t)
{
	t->limit = t->frames + probe.plan.max_stack;
	t->planned->args_top = 0;
	t->planned->open_base = NULL;
	t->planned->era = 0;
	t->planned->watched.has_seen = false;
	planned_take_up(t);
}

void planned_begin_aside(struct thread *aside, const struct thread *t)
{
	struct planned *p = aside->planned;
	const struct planned *of = t->planned;

	aside->limit = aside->frames + probe.plan.max_stack;
	p->args_top = 0;
	/*
	 * The plan of @t stays mapped while a hook of @t is interrupted. An earlier signal handler
	 * may have left the address of another plan in p->plan. The other plan may be unmapped
	 * already, so this function must not read the other plan.
	 */
	if (p->serial != of->serial) {
		p->plan = NULL;
		forget_known(p);
		if (of->plan)
			prepare_plan(p, of->plan);
	}
	__atomic_store_n(&p->plan, of->plan, __ATOMIC_RELAXED);
	p->now = of->now;
	p->now.depth -= planned_open_calls(t);
	p->now.level = 0;
}

/* Signals are blocked: no handler may find a half-made struct planned. */
static void begin_late(void *arg)
{
	struct thread *t = arg;
	uint64_t mask;
	bool is_quiet = own_quiet_begin(&mask);

	if (planned_make(t)) {
		for (struct frame *f = t->top; f > t->frames; f--) {
			planned_frame_of(t, f)->flags = f <= t->written
								? PLANNED_RECORD | PLANNED_WRITTEN
								: PLANNED_RECORD;
		}
		t->limit = t->frames + probe.plan.max_stack;
		state_begin(t);
		planned_take_up(t);
	}
	if (is_quiet)
		own_quiet_end(mask);
}

bool planned_begin_late(struct thread *t)
{
	/* Tracing may have ended after the thread was made. */
	if (!probe.tracing)
		return false;
	slow_call(begin_late, t);
	return t->planned != NULL;
}

void planned_note_written(struct thread *t)
{
	planned_settle(t);
	for (struct frame *f = t->top; f > t->frames; f--)
		planned_frame_of(t, f)->flags |= PLANNED_WRITTEN;
}

void planned_copy(struct thread *to, struct thread *from)
{
	const struct planned *of = from->planned;
	struct planned *p = to->planned;

	if (of)
		planned_settle(from);
	for (int64_t i = to->top - to->frames; i > 0; i--) {
		p->frames[i] = (struct planned_frame){ .flags = PLANNED_RECORD };
		if (of)
			p->frames[i].before = of->frames[i].before;
		if (of)
			p->frames[i].flags = of->frames[i].flags & (PLANNED_RECORD | PLANNED_OFF |
								    PLANNED_KEEP | PLANNED_CALLER);
		p->frames[i].flags |= PLANNED_WRITTEN;
	}
	p->now = of && of->era == p->era ? of->now : redo_frames(to, p->plan);
	state_select(to);
}
