/*
 * The probe's whole state: one struct per process, one per thread, and the rules for hot functions.
 */
#ifndef UTRAIL_LIBMCOUNT_PROBE_H
#define UTRAIL_LIBMCOUNT_PROBE_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "arch/arch.h"
#include "utils/base/compiler.h"
#include "utils/format/probe/capture.h"
#include "utils/format/probe/control.h"
#include "utils/format/probe/plan.h"
#include "utils/format/record.h"
#include "utils/format/probe/ring.h"

/*
 * Words that head a function's comment:
 *
 *   HOT   runs on every call of the traced program. No block, no allocation, no lock, no libc, no
 *         errno, no vector register. See doc/internals/hot-path.md.
 *   SLOW  entered from a hot function, rarely, through slow_call(): vector registers and errno are
 *         saved around it. May make system calls; may not allocate from malloc, take libc's locks
 *         or fail.
 *   COLD  start, fork, dlopen, thread end: an ordinary function in an ordinary context.
 */

/*
 * One call that was entered and not yet left.
 *
 * @slot: address of the return slot, which identifies the frame. Frames of -finstrument-functions,
 *        whose slot is not known, carry the stack pointer at the call of the enter hook, with
 *        FRAME_EXPLICIT.
 * @ret: the return address that the slot held. FRAME_EXPLICIT: as the compiler states it. With
 * FRAME_KEPT where nothing was replaced
 * @data: the data word of the ENTRY record
 * @time_ns: when it was entered
 */
#define FRAME_EXPLICIT 1 /* in @slot: it ends by a call of the exit hook, nothing was replaced */
/*
 * in @data: it was open before the recording began, has no ENTRY, and nothing was replaced:
 * unseen.h
 */
#define FRAME_UNSEEN   (1ULL << 63)
/*
 * in @ret: nothing was replaced (callers.h). The call is over when its slot has another value, or a
 * call lies further out
 */
#define FRAME_KEPT     (1ULL << 63)

/* In @slot: of no stack. Unwind expressions compare signed. */
#define FRAME_ABOVE_ALL INT64_MAX

struct frame {
	uint64_t slot;
	uint64_t ret;
	uint64_t data;
	uint64_t time_ns;
};

/*
 * One traced thread. The first two cache lines hold all that a call needs.
 *
 * @busy: the guard: set while a hook of this thread runs. A call seen while it is set (a signal
 *        handler that interrupted the hook) goes to the aside (aside.c).
 * @at, @end: where the next record goes in the current segment, and the segment's end; both NULL
 *        when there is no segment (new thread, forked child, no room): the slow path decides
 * @top: the innermost open frame. Slots fall from frame to frame (equal ones are tail calls);
 *       frames[0] is a sentinel whose slot is above everything, or, when @is_made, above all of
 *       that stack
 * @fast_limit, @fast_base: frames of the stubs' own fast paths (arch/<isa>/fast_stubs.S): they push
 *                          one only upon a frame below @fast_limit, and pop only one above
 *                          @fast_base. They and the four below are what state.h makes of the state
 * @drop_limit: the stubs leave a call alone upon that frame, and upon those above it; looked at
 *              only where the call is none of @fast_limit's
 * @admitted: the place of the frame with which the thread becomes open, when its function is opted
 *            in by a rule that says no more (planned_pass.h): the stubs push and pop it. NULL:
 *            there is none such
 * @held_limit: and push one whose ENTRY is held back (-t) upon a frame below this one; then all
 *              frames are below it or at it, and their returns are the stubs', too. NULL: there are
 *              none such
 * @limit: the frame that may not be passed: the smaller of -D and --max-stack
 * @written: the innermost frame whose ENTRY is in the ring. All frames below it are, too. Means
 *           nothing when there is @planned: that one knows
 * @position: @at + @position is the ring position of @at
 */
struct thread {
	uint16_t busy;
	uint16_t has_aside_records; /* the aside has something for the ring */
	uint32_t cyg_skipped;	    /* open -finstrument-functions calls without a frame */
	char *at;
	char *end;
	struct frame *top;
	struct frame *fast_limit;
	struct frame *fast_base;
	struct frame *written;
	struct ring *ring;

	/*
	 * The clock: ns = base_ns + ((counter - base_counter) * mult >> 32), never below last_ns.
	 */
	uint64_t base_counter;
	uint64_t base_ns;
	uint64_t mult;	      /* ns per tick, 32 fractional bits */
	uint64_t refit_ticks; /* distance from the base that requires a new fit; 0: always */
	uint64_t last_ns;
	uint64_t position;
	uint64_t low; /* a slot below it may be on another stack (stacks.h); 0: not checked */
	struct thread *next; /* in probe_threads */
	struct frame *limit;
	struct frame *drop_limit;
	struct frame *held_limit;
	struct frame *admitted;
	uint64_t alone_slot; /* of a call that the stubs left alone, see stubs.S */
	uint64_t threshold_ns;
	uint64_t fit_ns;       /* length of the next interval between two fits of the clock */
	struct frame *cut;     /* the call whose own calls were too deep, */
	uint64_t cut_ns;       /* and its beginning: another call may have that frame by now */
	uint64_t high;	       /* the highest slot that was seen; with @low */
	struct thread *home;   /* when @is_made: the own state of the thread that runs on that stack
			        */
	struct thread *around; /* when @is_exact: it was taken up from there */
	uint64_t stalled_tail; /* the ring's tail + 1 when a wait for room was in vain; 0: never */
	uint32_t end_rounds;   /* how often the thread-end destructor was called */
	struct thread *aside;  /* NULL until the first signal needs it */
	struct planned *planned;	   /* NULL when all calls are alike; see planned.h */
	const struct planned_place *calls; /* what the stubs know of calls: see planned.h */
	uint32_t is_aside;
	uint32_t is_made; /* a stack that the program has made: not a thread's own one */
	/* when @is_made: @low and @high are as the program has stated (stacks_take_up()) */
	uint32_t is_exact;
	_Atomic uint32_t is_parked; /* when @is_made: no thread runs it */
	_Atomic uint32_t in_use;    /* 0: its thread has ended; another may take it over */
	/* Open -finstrument-functions calls that were left alone, within @top: see cygprof.c. */
	uint32_t cyg_again; /* of the function of @top, by filters */
	uint32_t cyg_deep;  /* the same, for want of room: of @cyg_skipped */
	struct thread
		*payloads; /* writes payloads of events: see declared.h. NULL until there are any */
	uint32_t has_no_payloads; /* there was no second ring */
	uint32_t is_narrow;	  /* see frames_narrow() */
	/* of the parent of a child that runs in its memory: lend.h. NULL for all others */
	struct thread *lender;
	/* open Python calls, for libmcount/python/calls_fast.h; NULL until there are any */
	uint64_t *python_calls;
	uint32_t nr_python_calls;
	struct frame last; /* above everything: where a made stack ends too early for a loop */
	struct frame frames[];
};
_Static_assert(offsetof(struct thread, frames) ==
		       offsetof(struct thread, last) + sizeof(struct frame),
	       "the frame in front of frames[0]");

/* All open -finstrument-functions calls of @t have frames, as far as is known. */
static inline void cyg_forget(struct thread *t)
{
	t->cyg_skipped = t->cyg_again = t->cyg_deep = 0;
}

/*
 * The stubs, and the trampoline's call frame information, find members of both structs by the
 * offsets that offsets.c writes.
 */
_Static_assert(__builtin_offsetof(struct thread, base_counter) == 64, "hot line one ends here");
_Static_assert(__builtin_offsetof(struct thread, low) < 128, "hot lines are two");

/*
 * One library call of the program that goes through us.
 *
 * @target: where the GOT slot led before: the function, or the code that makes the dynamic linker
 *          find it. Then the linker stores the function here (libcall.c), at any moment.
 * @flags: enum plan_call, and CALL_OF_...
 * @unbound: what @target was before that
 * @function: that it is bound to, or will be, as far as is known; 0: that is not known
 * @behind: the function that ours stands in front of, if @function is one of ours
 * @hook: CALL_OF_PATCHED: a byte of the function, which is @unpatched when its hook is not there
 */
struct call_site {
	uint64_t target;
	uint64_t addr;
	uint64_t flags;
	uint64_t unbound;
	uint64_t function;
	uint64_t behind;
	const uint8_t *hook;
	uint8_t unpatched;
};

#define CALL_OF_PATCHED (1ULL << 32) /* the function has a hook of its own */
#define CALL_OF_UNKNOWN (1ULL << 33) /* that is looked up once the call is bound */

struct live_plan;

/*
 * The process.
 *
 * @ready: a recorder is there and the hooks may work. Stored last (release), loaded first.
 * @plain: all calls are recorded alike, so that the common case is one test
 * @tracing: there is anything to record at all
 * @news: non-zero: the recorder has news, see steer.h
 * @is_on: the triggers trace_on and trace_off switch it
 * @live: the plan in force, see plans.h; NULL before the first one
 * @plan: its settings. The settings that a later plan may change count for threads from
 *        planned.plan on, and here for `plain` calls
 * @forked: enum fork_state; a forked child reports itself when it has its first record, so that
 *          children that only exec cost nothing
 *
 * No descriptor is kept: a program may close or replace any of them. Later messages connect again.
 *
 * The states, in the order in which a process goes through them; @is_on counts in the third only:
 *
 *	!ready				no recorder, or it is not known yet: hooks do nothing
 *	ready, tracing, plain		each call is recorded
 *	ready, tracing, !plain		rules say which calls are recorded, while @is_on
 *	ready, !tracing			--trace=off without rules, or the end: the recorder is gone,
 *	               			or the recording is finished
 *
 * The other flags say what this process is like.
 */
enum fork_state {
	FORK_NONE = 0,
	FORK_PENDING = 1,
	FORK_REPORTING = 2,
};

struct probe {
	bool ready;
	bool plain;
	bool tracing; /* the stubs read this byte and the next one at once */
	bool is_on;
	bool has_counter; /* the clock is the CPU's counter */
	bool has_thread_key;
	bool follows_stacks; /* see stacks.h */
	_Atomic uint32_t forked;
	pid_t pid;
	struct live_plan *live;
	struct call_site *calls; /* by index; see libcall.c */
	struct plan plan;

	const struct control_page *control;
	const _Atomic uint32_t *news;
	uint32_t nr_writers; /* of @control, at the beginning */
	bool is_finished;    /* this process has requested it; others may see it later */
	/* its header, always at this address; the rest is mapped as needed, see arena.h */
	struct arena *arena;

	uint64_t fork_ns; /* in a child: when the fork returned */
	pid_t parent_pid;
	/* it was put into a process that ran already, and is to leave it: undo.h */
	bool is_attached;
	bool is_elsewhere; /* in another pid namespace than the process with @arena */
	pthread_key_t thread_key;
	char address[CONTROL_ADDRESS_SIZE]; /* of the recorder: see control.h */
	uint8_t secret[CONTROL_SECRET_BYTES];
	uint8_t token
		[CONTROL_SECRET_BYTES]; /* of the last WELCOME; a forked child has its parent's */
};

extern struct probe probe;

/* HOT: @tracing and @is_on, by one load as in the stubs. */
static inline bool probe_is_recording(void)
{
	uint16_t both;

	_Static_assert(__builtin_offsetof(struct probe, is_on) ==
			       __builtin_offsetof(struct probe, tracing) + 1,
		       "known to the stubs");
	__builtin_memcpy(&both, (const char *)&probe + __builtin_offsetof(struct probe, tracing),
			 sizeof(both));
	return both == 0x101;
}

/* HOT: @ready, @plain, @tracing and @is_on. */
static inline bool probe_is_alike(void)
{
	uint32_t all;

	_Static_assert(__builtin_offsetof(struct probe, is_on) ==
			       __builtin_offsetof(struct probe, ready) + 3,
		       "they are one word");
	__builtin_memcpy(&all, &probe, sizeof(all));
	return all == 0x1010101;
}

/*
 * The stubs look at thread->calls before anything else. In a steerable process it is
 * arena.may_skip: see steer.h.
 */
extern bool probe_skips __attribute__((visibility("hidden")));

/*
 * All thread states, newest first. Unwinders walk this list at any moment, in any thread, so a
 * state is never freed. When its thread ends it becomes empty, and the next new thread takes it.
 */
extern _Atomic(struct thread *) probe_threads;

/*
 * This thread's state; NULL until its first call. A thread that is not traced (any more) points to
 * probe_idle_thread, whose @busy is always set, so that hooks leave at once.
 */
extern __thread struct thread *self __attribute__((tls_model("initial-exec")));
extern struct thread probe_idle_thread;

/* HOT, called by the entry stubs. @slot: the return slot. True when it was replaced. */
uint32_t probe_entry(uint64_t *slot, uint64_t addr, const struct arch_regs *regs);

/*
 * HOT. The same for this thread's state, with the guard set: it is not a case for the stub's fast
 * path.
 */
uint32_t probe_entry_guarded(uint64_t *slot, uint64_t addr, const struct arch_regs *regs);

/*
 * HOT. The same for a call that the stub has found in no table (thread->calls), or that is not for
 * its fast path.
 */
uint32_t probe_entry_looked_up(uint64_t *slot, uint64_t addr, const struct arch_regs *regs);

/*
 * HOT. Same for a stub that found @slot through the frame pointer. A function that aligned its
 * stack has a copy of its return address there; then @other is the true slot; otherwise @other is
 * any value.
 */
uint32_t probe_entry_framed(uint64_t *slot, uint64_t addr, const struct arch_regs *regs,
			    uint64_t *other);

/* The largest distance between the two: the alignment and the copy. */
#define REALIGN_MAX 4096

/*
 * HOT, called by the stubs' fast paths instead of clearing the guard, when a signal handler has
 * left records in the aside.
 */
void probe_leave(void);

/*
 * HOT, called by the return trampoline. @slot: of the frame that has returned. Returns the address
 * where it goes on.
 */
uint64_t probe_exit(uint64_t slot, const struct arch_regs *regs);
/* HOT. The same with the guard set, as for a call. */
uint64_t probe_exit_guarded(uint64_t slot, const struct arch_regs *regs);

/*
 * The rest of a library call: the address of its function, and whether the return slot was
 * replaced.
 */
struct libcall {
	uint64_t target;
	uint64_t replaced;
};

/* HOT, called by arch_libcall. @slot: the return slot; @index: the call site. */
struct libcall probe_libcall(uint64_t *slot, uint64_t index, struct arch_regs *regs);

/*
 * COLD. The setjmp(3) with buffer @env in the innermost function of @t returns once more, with
 * stack pointer @sp; the guard is set.
 */
void entry_setjmp_returns(struct thread *t, uint64_t env, uint64_t sp, uint64_t value);

/*
 * HOT, called by arch_point. The program passes a place with event @event, with stack pointer @sp:
 * the event goes into the ring, and so do the calls around it.
 */
void probe_point(uint32_t event, uint64_t sp);

/* The same with arguments, called by arch_point_args. */
struct arch_point;
void probe_point_args(const struct arch_point *point);

/*
 * HOT, called by the stubs of XRay's sleds (xray.c): a function with return slot @slot begins, or
 * ends. At an exit sled @regs has its return values; before a jump to another function @regs is
 * NULL.
 */
void probe_xray_entry(uint64_t *slot, uint64_t addr, const struct arch_regs *regs);
void probe_xray_exit(uint64_t slot, const struct arch_regs *regs);

/*
 * Call a SLOW function from a HOT one. @fn gets @arg; results go through the struct that @arg
 * points to.
 */
void slow_call(void (*fn)(void *), void *arg);

/* Any context. @count records of @t could not be written; the ring's next LOST record tells. */
void note_lost(struct thread *t, uint32_t count);

/* The same for calls during a hook for which the aside had no room. */
void note_lost_inside(struct thread *t, uint32_t count);

/*
 * HOT. Returns this thread's state, made when it has none; probe_idle_thread when it is not to be
 * traced.
 */
struct thread *thread_begin(void);

/* Any context. Nothing is to be recorded any more. */
void probe_stop(void);

/*
 * Any context. The same for all processes of the recording: `finish`. Waits a moment until the
 * recorder has done it.
 */
void probe_finish(void);

/* SLOW. A state with empty frames, in the list; NULL without memory. */
struct thread *thread_make_state(void);

/* COLD. From here on this thread is not traced any more; open frames return by themselves. */
void thread_leave_alone(void);

/*
 * COLD. The same, in the middle of the program: the recorder is told by @counter, one of the
 * arena's.
 */
void thread_cut_off(_Atomic uint32_t *counter);

/*
 * COLD. A clone(2) with CLONE_VM and without thread-local storage of its own follows: two threads
 * that run at the same time will share one state, so calls of the two cannot be told apart.
 */
void thread_before_sharing(uint64_t flags);

/* COLD. Strict seccomp and the like: hooks would kill the program from here on. */
void thread_before_cage(void);

/* COLD, called by the stub of syscall(3) for numbers that make children: decide about the child. */
enum probe_child {
	PROBE_CHILD_NONE = 0,	/* nothing */
	PROBE_CHILD_FORKED = 1, /* it is to call thread_after_fork() */
	PROBE_CHILD_LENT = 2,	/* it returns in our memory, on our stack: see lend.h */
};
uint32_t probe_syscall(long number, uint64_t first, uint64_t second, uint64_t third);

/* COLD. The program is about to make this call. */
void prctl_before(int option, unsigned long first, unsigned long second);

/* COLD, from the same stub: errno for the negative @result. -1 */
long probe_syscall_failed(long result);

/*
 * SLOW. A state that is ready for records, but has no ring yet; NULL without memory. It is the self
 * of no thread.
 */
struct thread *thread_take_state(void);

/*
 * SLOW. The state's records are complete, and its frames are not used any more: other threads may
 * have it.
 */
void thread_give_back(struct thread *t);

/*
 * SLOW. Give @t a ring of the process' arena; without one its records are neither written nor
 * counted.
 */
void thread_take_ring(struct thread *t);

/*
 * SLOW. The same in two steps: claim a ring for @t, and later put the caller's task id on it. Not
 * while self is another thread's.
 */
void thread_claim_ring(struct thread *t);
void thread_name_ring(struct thread *t);

/* COLD. Before a fork; and in the child, which has only this thread. */
void thread_before_fork(void);
void thread_after_fork(void);

/* COLD. Make the probe see threads end and processes fork. */
void thread_setup(void);

/* COLD. Threads that end are not seen any more; forks are, as long as this module is there. */
void thread_forget_ends(void);

/*
 * SLOW, in a forked child: report it and get an arena of its own. One thread does so; others wait
 * for it.
 */
void session_report_fork(struct thread *t);

/*
 * SLOW. Make room for @len bytes in a segment. False when there is none: the caller counts the
 * loss.
 */
bool ring_make_room(struct thread *t, uint32_t len);

/*
 * COLD. A handler has left a hook of @t for good, perhaps within ring_make_room(): undo a half-done
 * change.
 */
void ring_settle(struct thread *t);

/*
 * COLD. Lead the @nr library calls in @sites through us. Calls for which that is not possible stay
 * as they are.
 * @finds: what they call is asked for, where the dynamic linker has not done so yet
 */
void libcall_hook(const struct plan_call_site *sites, uint32_t nr, bool finds);

/*
 * COLD, after functions were patched: library calls of these are recorded once, by the function's
 * own hook (calls_patched.h).
 */
void libcall_find_patched(void);

/* COLD. A module may be about to go. */
void libcall_before_dlclose(void);

/* SLOW. True when library calls that are known by @addr have frames. */
bool libcall_has_frames(uint64_t addr);

/* SLOW or COLD. There is something to take from @r. */
void ring_wake_writer(struct ring *r);

/* SLOW. Read the clock and fit the counter's scale anew. Returns the present time. */
uint64_t clock_refit(struct thread *t);

/* COLD. Choose the clock for this process as the plan says. */
void clock_setup(void);

/* Any context but hot. The recording's clock, read from the kernel. */
uint64_t clock_kernel_ns(void);

#endif
