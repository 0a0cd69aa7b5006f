/* Traced threads: their state, from the first call to the thread's end, and across fork. */
#include "libmcount/hot/probe.h"

#include <errno.h>
#include <limits.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "libmcount/system/arena.h"
#include "libmcount/system/fault.h"
#include "libmcount/values/declared.h"
#include "libmcount/hot/aside.h"
#include "libmcount/hot/frames.h"
#include "libmcount/system/undo.h"
#include "libmcount/system/modules.h"
#include "libmcount/system/own_syscall.h"
#include "libmcount/hot/stacks.h"
#include "libmcount/hot/state.h"
#include "libmcount/plan/plan_update.h"
#include "libmcount/values/counters.h"
#include "libmcount/system/session.h"
#include "libmcount/system/earlier_calls.h"

__thread struct thread *self __attribute__((tls_model("initial-exec")));

/* The guard (@busy) of this state is always set: a thread with this state records nothing. */
struct thread probe_idle_thread = { .busy = 1 };

_Atomic(struct thread *) probe_threads;

struct slow {
	void (*fn)(void *arg);
	void *arg;
};

static void keep_errno(void *arg)
{
	struct slow *s = arg;
	int saved = errno;

	s->fn(s->arg);
	errno = saved;
}

void slow_call(void (*fn)(void *), void *arg)
{
	struct slow s = { fn, arg };

	arch_call_preserving_vectors(keep_errno, &s);
}

/* True in a child that runs in its parent's memory, and so has the parent's rings. */
static bool is_child(void)
{
	return seal_allows(SYS_getpid) && own_syscall(SYS_getpid) != probe.pid;
}

void thread_claim_ring(struct thread *t)
{
	struct arena *a = probe.arena;
	struct ring *r = arena_claim_ring();

	if (!r) {
		/* t->at and t->end may still point to the ring of an ended thread. */
		t->ring = NULL;
		t->at = t->end = NULL;
		atomic_fetch_add(&a->threads_untraced, 1);
		return;
	}

	uint32_t high = atomic_load(&a->high_water);

	while (high <= r->index &&
	       !atomic_compare_exchange_weak(&a->high_water, &high, r->index + 1))
		;
	t->ring = r;
	t->at = t->end = NULL;
	t->position = 0;
	t->stalled_tail = 0;
	declared_forget_ring(t);
}

void thread_name_ring(struct thread *t)
{
	struct ring *r = t->ring;

	r->is_child = is_child();
	r->tid = t->is_made && !r->is_child ? RING_TID_STACK : own_syscall(SYS_gettid);
	r->start_ns = clock_kernel_ns();
	/* A writer that sees RING_LIVE also sees the members that are set above. */
	atomic_store_explicit(&r->state, RING_LIVE, memory_order_release);
}

void thread_take_ring(struct thread *t)
{
	thread_claim_ring(t);
	if (t->ring)
		thread_name_ring(t);
}

struct thread *thread_make_state(void)
{
	uint64_t frames = (uint64_t)probe.plan.max_stack + 2;
	struct thread *t = undo_new_memory(sizeof(*t) + frames * sizeof(struct frame));

	if (!t)
		return NULL;
	t->in_use = 1;
	t->frames[0].data = record_data(RECORD_ENTRY, RECORD_DEPTH_MAX, 0);
	t->frames[0].slot = t->last.slot = FRAME_ABOVE_ALL;
	if (probe.plan.flags & PLAN_SELECTIVE && !planned_make(t))
		return NULL; /* @t stays mapped: the process has no more memory anyway */
	frames_reset(t);
	state_begin(t);
	t->next = atomic_load(&probe_threads);
	while (!atomic_compare_exchange_weak(&probe_threads, &t->next, t))
		;
	return t;
}

/*
 * The number of states that no thread uses. The value may be wrong for a moment. Then a thread
 * searches in vain for such a state, or makes a new state although another state is free.
 */
static _Atomic int32_t nr_free_states;

/*
 * Takes a state that no thread uses, such as the state of an ended thread, or makes a new state.
 * Returns the state, or NULL when there is no memory.
 */
static struct thread *take_state(void)
{
	struct thread *t = atomic_load(&nr_free_states) ? atomic_load(&probe_threads) : NULL;

	for (; t; t = t->next) {
		uint32_t unused = 0;

		if (!atomic_compare_exchange_strong(&t->in_use, &unused, 1))
			continue;
		atomic_fetch_sub(&nr_free_states, 1);
		return t;
	}
	return thread_make_state();
}

static void release_state(struct thread *t)
{
	frames_reset(t);
	if (t->planned)
		planned_end(t);
	if (t->aside && t->aside->planned)
		planned_end(t->aside);
	if (t->is_aside) /* an aside (aside.h) always belongs to one thread state */
		return;
	atomic_store_explicit(&t->in_use, 0, memory_order_release);
	atomic_fetch_add(&nr_free_states, 1);
}

struct thread *thread_take_state(void)
{
	if (atomic_load(&probe.forked))
		session_report_fork(NULL);
	if (!probe.ready)
		return NULL;

	struct thread *t = take_state();

	if (!t)
		return NULL;
	t->busy = t->has_aside_records = 0;
	aside_forget(t);
	cyg_forget(t);
	t->end_rounds = 0;
	t->nr_python_calls = 0;
	t->limit = t->frames + MIN(probe.plan.depth, probe.plan.max_stack);
	t->threshold_ns = probe.plan.threshold_ns;
	t->is_narrow = false;
	state_begin(t);
	if (t->planned)
		planned_begin(t);
	/*
	 * With these zeros, the time of the next record comes from clock_refit(), which measures
	 * the CPU's counter against the kernel's clock.
	 */
	t->base_counter = t->refit_ticks = t->last_ns = t->fit_ns = 0;
	t->is_made = t->high = 0;
	t->frames[0].slot = FRAME_ABOVE_ALL;
	t->lender = NULL;
	t->leaves_ring = t->wants_ring = 0;
	/* The thread's first call will show where its stack is. */
	t->low = probe.follows_stacks ? INT64_MAX : 0;
	return t;
}

void thread_begin_again(void *arg)
{
	struct thread *t = arg;
	uint32_t unused = 0;

	if (!atomic_compare_exchange_strong(&t->in_use, &unused, 1))
		return;
	atomic_fetch_sub(&nr_free_states, 1);
	if (t->planned)
		planned_begin(t);
}

static void begin_thread(void *arg)
{
	struct thread **result = arg;
	struct thread *t;

	/* Until the state is ready, signal handlers and their calls are not recorded. */
	self = *result = &probe_idle_thread;
	t = thread_take_state();
	if (!t)
		return;
	thread_take_ring(t);
	if (!t->ring) {
		release_state(t);
		return;
	}
	earlier_calls_begin(t);
	if (probe.has_thread_key)
		pthread_setspecific(probe.thread_key, t);
	self = *result = t;
}

/*
 * True when the kernel forbids this thread to read the time stamp counter (PR_SET_TSC), or when
 * prctl(2) cannot get the setting. A new thread inherits the setting from its creator.
 */
static bool lacks_counter(void)
{
	int mode = PR_TSC_SIGSEGV;

	if (!atomic_load(&probe.may_lack_counter))
		return false;
	/* EINVAL: on this machine, the kernel cannot forbid reading the time stamp counter. */
	if (own_syscall(SYS_prctl, PR_GET_TSC, &mode, 0L, 0L, 0L) < 0)
		return errno != EINVAL;
	return mode == PR_TSC_SIGSEGV;
}

/* Signals are blocked: if a handler jumped out halfway, the thread would stay untraced for good. */
static void begin_without_signals(void *arg)
{
	uint64_t all = UINT64_MAX;
	uint64_t before;

	if (!seal_may_begin()) {
		struct thread **result = arg;

		self = *result = &probe_idle_thread;
		atomic_fetch_add(&probe.arena->threads_sealed, 1);
		return;
	}
	if (lacks_counter()) {
		struct thread **result = arg;

		self = *result = &probe_idle_thread;
		atomic_fetch_add(&probe.arena->threads_caged, 1);
		return;
	}
	undo_enter();
	own_syscall(SYS_rt_sigprocmask, SIG_SETMASK, &all, &before, sizeof(before));
	begin_thread(arg);
	own_syscall(SYS_rt_sigprocmask, SIG_SETMASK, &before, NULL, sizeof(before));
	undo_exit();
}

struct thread *thread_begin(void)
{
	struct thread *t;

	slow_call(begin_without_signals, &t);
	return t;
}

void thread_give_back(struct thread *t)
{
	uint64_t mask;
	/* Block signals: if a handler forked now, the child would give back its parent's ring. */
	bool is_quiet = own_quiet_begin(&mask);
	struct ring *r = t->ring;

	t->ring = NULL;
	t->lender = NULL;
	release_state(t);
	if (r) {
		atomic_store_explicit(&r->state, RING_DONE, memory_order_release);
		ring_wake_writer(r);
	}
	if (is_quiet)
		own_quiet_end(mask);
}

void thread_leave_alone(void)
{
	stacks_go_home();

	struct thread *t = self;

	if (!t || t == &probe_idle_thread)
		return;
	guard_take(t);
	frames_unhook(t);
	self = &probe_idle_thread;
	/* If this thread's parent has lent the state, the parent gives back the state (lend.h). */
	if (t->lender)
		return;
	thread_give_back(t);
	counters_end();
}

void thread_cut_off(_Atomic uint32_t *counter)
{
	struct thread *t = self;

	if (t == &probe_idle_thread || !probe.tracing)
		return;
	thread_leave_alone();
	/* thread_leave_alone() does not set self if this thread has made no call yet. */
	self = &probe_idle_thread;
	atomic_fetch_add(counter, 1);
}

void thread_before_sharing(uint64_t flags)
{
	if ((flags & CLONE_VM) && !(flags & (CLONE_VFORK | CLONE_SETTLS)) && probe.ready)
		thread_cut_off(&probe.arena->threads_shared);
}

void thread_before_cage(void)
{
	if (probe.ready)
		thread_cut_off(&probe.arena->threads_caged);
}

/*
 * COLD, the destructor of the thread's key. Destructors of other keys may still call traced
 * functions. libc calls destructors in several rounds. In each round but the last, this destructor
 * sets its key again, so that libc calls it in the next round.
 */
static void thread_end(void *arg)
{
	struct thread *t = arg;

	if (++t->end_rounds < PTHREAD_DESTRUCTOR_ITERATIONS) {
		pthread_setspecific(probe.thread_key, t);
		return;
	}
	undo_enter();
	thread_leave_alone();
	undo_exit();
}

/*
 * COLD, before fork(2). Counts the fork. If the parent ends before the child runs, the count tells
 * the recorder to wait for the child.
 */
void thread_before_fork(void)
{
	if (probe.ready || session_is_waiting())
		atomic_fetch_add(&probe.arena->forks.begun, 1);
}

void thread_leave_ring(struct thread *t)
{
	t->ring = NULL;
	t->at = t->end = NULL;
	declared_forget_ring(t);
	t->wants_ring = 1;
	/*
	 * If a signal handler jumps out of this function before the barrier, t->leaves_ring does
	 * not change. If t->leaves_ring is set, the next hook calls this function once more.
	 */
	guard_barrier();
	t->leaves_ring = 0;
}

/*
 * A signal handler may interrupt a hook of @t, and then call fork(). In the child, the hook
 * continues to write to the ring. So the ring becomes private memory, which no recorder reads.
 * Returns false when no hook was interrupted.
 *
 * This function sets has_aside_records. When guard_leave() finds has_aside_records set at the end
 * of the hook, the thread leaves the private ring. But guard_leave() may have read
 * has_aside_records already before the fork. Then the thread leaves the private ring only at the
 * end of its next hook, and the records of this next hook are lost.
 */
static bool keep_ring_for_hook(struct thread *t)
{
	struct thread *p = t->payloads;

	if (t->leaves_ring)
		return true;
	if (!t->busy || !t->ring)
		return false;
	arena_replace_ring(t->ring);
	if (p && p->ring)
		arena_replace_ring(p->ring);
	t->leaves_ring = 1;
	t->has_aside_records = 1;
	return true;
}

/*
 * In a child that is not recorded, detaches all threads from the parent's rings. After this, no
 * hook can write the EXIT of a call to a ring of the parent.
 */
static void leave_all_rings(void)
{
	for (struct thread *t = atomic_load(&probe_threads); t; t = t->next) {
		/* An aside (aside.h) has none of the parent's rings. */
		if (!t->is_aside && !(t == self && keep_ring_for_hook(t)))
			thread_leave_ring(t);
	}
}

/*
 * In a forked child, gives up @other, which is not the current state of this thread. Usually @other
 * belongs to another thread. But the fork may have interrupted a hook of this thread just before
 * the hook switched to @other. The hook continues in the child, uses @other, and must not write to
 * the parent's ring. Therefore other->ring becomes NULL.
 */
static void give_up_other(struct thread *other)
{
	if (!other->is_aside)
		thread_leave_ring(other);
	/* If this thread has lent the state, lend_end() will release the state. */
	if (!other->lender || other->lender != self)
		release_state(other);
}

void thread_after_fork(void)
{
	struct thread *t = self;

	fault_after_fork();
	/*
	 * If the parent was waiting for the recorder's message that starts the recording, this
	 * child will not get the message. So the child starts to record by itself.
	 */
	if (session_is_waiting())
		session_go();
	if (!probe.ready)
		return;
	if (!seal_may_talk()) {
		session_cut_off();
		leave_all_rings();
		return;
	}
	if (t)
		aside_after_fork(t);
	probe.parent_pid = probe.pid;
	probe.pid = getpid();
	probe.fork_ns = clock_kernel_ns();
	/*
	 * If the parent is in another pid namespace, getppid(2) returns 0 (pid_namespaces(7)). If
	 * probe.is_elsewhere was true in the parent, the arena belongs to an earlier ancestor in
	 * another pid namespace. In this case probe.is_elsewhere stays true.
	 */
	probe.is_elsewhere |= getppid() == 0;
	atomic_store(&probe.forked, FORK_PENDING);
	modules_after_fork();
	plan_update_after_fork();
	counters_after_fork();

	struct arena_forks *forks = &probe.arena->forks;
	uint32_t n = atomic_fetch_add(&forks->nr, 1);

	atomic_store(&forks->pids[n % ARENA_FORKS], probe.is_elsewhere ? -probe.pid : probe.pid);
	atomic_fetch_add(&forks->noted, 1);
	stacks_after_fork();
	for (struct thread *other = atomic_load(&probe_threads); other; other = other->next) {
		if (other != t && !(t && other == t->aside))
			give_up_other(other);
	}
	if (!t || t == &probe_idle_thread)
		return;

	/*
	 * The parent writes the ENTRYs of the calls that were open at the fork, including ENTRYs
	 * that -t held back. For these calls, the child writes nothing except EXITs.
	 */
	if (!keep_ring_for_hook(t))
		thread_leave_ring(t);
	t->lender = NULL;
	if (t->planned)
		planned_note_written(t);
	else
		t->written = t->top;
}

/*
 * The function that glibc's pthread_atfork() calls. A call of pthread_atfork() would link glibc's
 * code of pthread_atfork() statically into the probe. The dynamic linkers of other C libraries do
 * not accept the linked code, because its reference to __register_atfork() is not weak.
 */
extern int __register_atfork(void (*prepare)(void), void (*parent)(void), void (*child)(void),
			     void *dso) __attribute__((weak));
extern void *__dso_handle __attribute__((visibility("hidden")));

/* Removes the functions that pthread_atfork() has registered for a library (Itanium C++ ABI). */
extern void __cxa_finalize(void *dso) __attribute__((weak));

void thread_unregister(void)
{
	if (probe.has_thread_key)
		pthread_key_delete(probe.thread_key);
	probe.has_thread_key = false;
	if (__cxa_finalize)
		__cxa_finalize(&__dso_handle);
}

void thread_setup(void)
{
	probe.has_thread_key = pthread_key_create(&probe.thread_key, thread_end) == 0;
	if (__register_atfork)
		__register_atfork(thread_before_fork, NULL, thread_after_fork, &__dso_handle);
}
