/*
 * The probe's whole state: one struct per process, and one struct per thread. This file also has
 * the rules for hot functions.
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
 * Words at the beginning of a function's comment:
 *
 *   HOT   runs on every call of the traced program. Does not wait or allocate memory, and uses no
 *         lock, no libc, no errno and no vector register. See doc/internals/hot-path.md.
 *   WARM  runs on some calls of the traced program, under the same rules.
 *   SLOW  runs rarely. HOT and WARM functions call it by slow_call(), which saves vector registers
 *         and errno. May make system calls. Must not use malloc(3), take libc's locks or fail.
 *   COLD  runs at start, fork, dlopen or thread end: an ordinary function in an ordinary context.
 */

/*
 * A call that was entered and has not returned yet.
 *
 * @slot: the address of the return slot. With FRAME_EXPLICIT: 1 + the stack pointer at the call of
 *        the enter hook, 1 + the address of the return slot (XRay), or a number that is made for
 *        the frame (Python, lend.c)
 * @ret: the return address from the slot. With -finstrument-functions: the address that the enter
 *       hook gets as its argument @caller. In a Python call: a key (libmcount/python/calls.c)
 * @data: the data word of the ENTRY record
 * @time_ns: the time of the entry; OPEN_OUT or OPEN_TOO_DEEP in some frames without an ENTRY
 */
/* in @slot: the probe has not replaced the return address. The exit hook ends the frame */
#define FRAME_EXPLICIT 1
/*
 * in @data: the call was open before the recording began. It has no ENTRY, and its return address
 * was not replaced (earlier_calls.h)
 */
#define FRAME_UNSEEN   (1ULL << 63)
/*
 * in @ret: the return address was not replaced (callers.h). The call has returned when its slot has
 * another value, or when a new call has a slot at a higher address
 */
#define FRAME_KEPT     (1ULL << 63)

/*
 * A value of @slot that is above all stacks. The value is positive, since the expressions in unwind
 * information compare signed numbers.
 */
#define FRAME_ABOVE_ALL INT64_MAX

struct frame {
	uint64_t slot;
	uint64_t ret;
	uint64_t data;
	uint64_t time_ns;
};

/*
 * One traced thread. The first two cache lines hold all that a call of an ALIKE thread (state.h)
 * needs.
 *
 * @busy: the guard: set while a hook of this thread runs. If a signal handler interrupts the hook,
 *        the records of the handler go to the aside (aside.c)
 * @at, @end: the place of the next record in a segment of the ring, and the end of this segment.
 *            NULL while the thread has no segment
 * @top: the innermost open frame. Each frame has a lower slot than its caller, or the same slot
 *       (tail calls). The sentinel frames[0] has a higher slot than all open calls
 * @fast_limit: the stubs' fast paths push a frame only while @top is below this frame. state.h sets
 *              all limits
 * @fast_base: the stubs' fast paths pop a frame only while @top is above this frame
 * @drop_limit: if @fast_limit forbids a push, and @top is at or above @drop_limit, the stubs let a
 *              call pass without a frame and without a record
 * @admitted: NULL, or the place of a frame. When the thread becomes READY, this is the place of the
 *            next frame. The call that gets this frame changes the thread's state to OPEN
 *            (planned_pass.h). @admitted then stays set until the thread is settled (state.h)
 * @held_limit: with -t: the stubs push frames up to @held_limit, and hold back the ENTRYs of these
 *              frames. C code pushes and pops the frames above @held_limit. NULL: the stubs hold
 *              back no ENTRY
 * @limit: no frame is pushed above @limit. The number of frames up to @limit is the smaller of -D
 *         and --max-stack; with @planned, the number is --max-stack
 * @written: the innermost frame whose ENTRY is in the ring. Not used if @planned is not NULL: see
 *           PLANNED_WRITTEN
 * @position: a position in the ring (ring.h) minus an address. The sum of @position and @at is the
 *            position of the next record
 */
struct thread {
	uint16_t busy;
	/* 1: the aside of this thread (aside.h) may have records, or @leaves_ring is set */
	uint16_t has_aside_records;
	uint32_t cyg_skipped; /* -finstrument-functions: open calls that got no frame */
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
	uint64_t mult; /* ns per tick, 32 fractional bits */
	/*
	 * the clock needs no new fit (clock_refit()) for this number of ticks after @base_counter;
	 * 0: each reading needs a new fit
	 */
	uint64_t refit_ticks;
	uint64_t last_ns;
	uint64_t position;
	/*
	 * slots below @low may be on another stack (stacks.h). If @low is 0, the probe does not
	 * check which stack a slot is on
	 */
	uint64_t low;
	struct thread *next; /* in probe_threads */
	struct frame *limit;
	struct frame *drop_limit;
	struct frame *held_limit;
	struct frame *admitted;
	uint64_t alone_slot; /* the return slot of a call that the stubs left alone, see stubs.S */
	uint64_t threshold_ns;
	/* the time in ns from the last fit of the clock to the next fit (clock_refit()) */
	uint64_t fit_ns;
	struct frame *cut; /* the call whose nested calls were too deep; see @cut_ns */
	uint64_t cut_ns;   /* time_ns of the frame @cut; a reused frame has another time */
	uint64_t high;	   /* the highest known slot of this stack (stacks.h); 0: none is known */
	/*
	 * @home is used only if @is_made is 1. The thread that last switched to this stack has a
	 * stack of its own. @home is the state of that own stack.
	 */
	struct thread *home;
	/*
	 * If @is_exact is 1: the state of the stack from which the thread switched to this stack.
	 * If @is_exact is 0, @around is not used.
	 */
	struct thread *around;
	/*
	 * 1 + the tail that the ring had at the last time when the ring was full; 0: the ring was
	 * never full
	 */
	uint64_t stalled_tail;
	uint32_t end_rounds; /* how often the thread-end destructor was called */
	/*
	 * the state for the records of signal handlers that interrupt a hook of this thread
	 * (aside.h). NULL until such a handler first makes a call or records an event
	 */
	struct thread *aside;
	struct planned *planned;	   /* NULL: no rules decide about calls (planned.h) */
	const struct planned_place *calls; /* the stubs look up each called function here */
	uint32_t is_aside;
	/* 1: state of a stack that the program has made; 0: state of a thread's own stack */
	uint32_t is_made;
	/*
	 * 1 if the program has made this stack, and has stated the bounds of this stack
	 * (stacks_take_up()); 0 otherwise
	 */
	uint32_t is_exact;
	/* 1: no thread runs on this stack. While @is_made is 0, @is_parked is not used. */
	_Atomic uint32_t is_parked;
	_Atomic uint32_t in_use; /* 0: the state is free for another thread or stack */
	/*
	 * -finstrument-functions: @cyg_again and @cyg_deep count open calls without a frame
	 * (cygprof.c). A call of a function F is counted only if another call of F has the frame
	 * @top when the counted call begins.
	 */
	uint32_t cyg_again; /* number of counted calls that filters exclude */
	uint32_t cyg_deep;  /* number of counted calls that @cyg_skipped also counts */
	/* the state for writing payloads of events (declared.h); NULL before the first payload */
	struct thread *payloads;
	/* 1: the thread found no free ring for @payloads, or no memory */
	uint32_t has_no_payloads;
	uint32_t is_narrow; /* see frames_narrow() */
	/*
	 * in a child that runs in its parent's memory (lend.h): the state of the parent's thread
	 * that has made the child. NULL in other threads
	 */
	struct thread *lender;
	/*
	 * 1: this process is a child. A signal handler had interrupted a hook of this thread when
	 * the handler forked the child. Until this hook ends, @ring is private memory of the child
	 */
	uint32_t leaves_ring;
	/* in a forked child: at its first record, the thread gets a ring in the child's arena */
	uint32_t wants_ring;
	/* the open Python calls (libmcount/python/calls_fast.h); NULL before the first such call */
	uint64_t *python_calls;
	uint32_t nr_python_calls;
	/*
	 * last.slot is FRAME_ABOVE_ALL. So a search for a frame, from @top outwards, ends here if
	 * no frame in @frames fits
	 */
	struct frame last;
	struct frame frames[];
};
_Static_assert(offsetof(struct thread, frames) ==
		       offsetof(struct thread, last) + sizeof(struct frame),
	       "the frame in front of frames[0]");

/* Forgets the open -finstrument-functions calls of @t that have no frame. */
static inline void cyg_forget(struct thread *t)
{
	t->cyg_skipped = t->cyg_again = t->cyg_deep = 0;
}

/*
 * The stubs, and the trampoline's call frame information, find members of struct thread and struct
 * frame by the offsets from offsets.c.
 */
_Static_assert(__builtin_offsetof(struct thread, base_counter) == 64, "hot line one ends here");
_Static_assert(__builtin_offsetof(struct thread, low) < 128, "hot lines are two");

/*
 * One library call of the program that goes through a stub.
 *
 * @target: the address from the GOT slot: the function, or code that makes the dynamic linker find
 *          it. The linker may store the function's address here at any moment (libcall.c)
 * @flags: enum plan_call, and CALL_OF_...
 * @unbound: the first value of @target
 * @function: the function to which the call is bound, or will be bound; 0: unknown
 * @behind: if @function is the probe's own: the function that the call would reach without the
 *          probe; 0: none is known
 * @hook: with CALL_OF_PATCHED: the address of a byte of the function. The byte has the value
 *        @unpatched while the hook is not in place
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

#define CALL_OF_PATCHED (1ULL << 32) /* the called function has a hook of its own */
/* the call was not bound, so the probe does not know yet whether its function has a hook */
#define CALL_OF_UNKNOWN (1ULL << 33)

struct live_plan;

/*
 * The process. The program may close or replace any descriptor. So the probe keeps only the
 * descriptors of performance counters open, and makes a new connection for each message to the
 * recorder.
 *
 * @ready: 1: a recorder is there; 0: the hooks do nothing. Stored last (release), loaded first
 * @plain: all calls are recorded alike
 * @tracing: recording is possible in this process (see the states below)
 * @news: non-zero: the recorder has news, see plan_update.h
 * @is_on: recording is on; triggers, signals (--signal) and plans switch it
 * @live: the plan in force, see plans.h; NULL before the first plan
 * @plan: starts as the settings of the first plan. Each later plan changes only the flags, the
 *        signals and the generation. While @plain is set, the limits -D and -t come from @plan.
 *        While @plain is not set, these limits come from planned.plan
 * @forked: enum fork_state. A forked child reports itself with its first record
 *
 * The states, in the order in which a process enters them; @is_on matters only in the third state:
 *
 *	!ready				the probe has no recorder: hooks do nothing
 *	ready, tracing, plain		each call is recorded
 *	ready, tracing, !plain		rules say which calls are recorded, while @is_on
 *	ready, !tracing			--trace=off without rules, or the recording has ended
 */
enum fork_state {
	FORK_NONE = 0,
	FORK_PENDING = 1,
	FORK_REPORTING = 2,
};

struct probe {
	bool ready;
	bool plain;
	bool tracing; /* the stubs read this byte and @is_on by one load */
	bool is_on;
	bool has_counter; /* the clock is the CPU's counter */
	bool has_thread_key;
	bool follows_stacks; /* see stacks.h */
	_Atomic uint32_t forked;
	pid_t pid;
	struct live_plan *live;
	/* an array of all sites of library calls. A stub has the index of its site (libcall.c) */
	struct call_site *calls;
	struct plan plan;

	const struct control_page *control;
	const _Atomic uint32_t *news;
	/* a copy of control->nr_writers, made when the shared memory was mapped */
	uint32_t nr_writers;
	bool is_finished; /* this process has asked to end the recording of all processes */
	/*
	 * the arena's header. The header of a new arena gets the same address. arena.c maps other
	 * parts of an arena when they are needed
	 */
	struct arena *arena;

	uint64_t fork_ns; /* in a forked child: the time at which the fork returned */
	pid_t parent_pid;
	/* the probe was put into a running process, and will leave it again (undo.h) */
	bool is_attached;
	/* this process and the owner of @arena are in different pid namespaces */
	bool is_elsewhere;
	/* a thread may have forbidden itself to read the CPU's counter (PR_SET_TSC) */
	_Atomic bool may_lack_counter;
	pthread_key_t thread_key;
	char address[CONTROL_ADDRESS_SIZE]; /* the recorder's address: see control.h */
	uint8_t secret[CONTROL_SECRET_BYTES];
	uint8_t token
		[CONTROL_SECRET_BYTES]; /* the token of the last WELCOME; in a forked child without
					 * a WELCOME of its own: the parent's token */
	/* the recorder's pid in the pid namespace of this process; 0: no pid in this namespace */
	pid_t recorder_here;
};

extern struct probe probe;

/* HOT: true when @tracing and @is_on are set. One load instruction reads both members. */
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

/* HOT: true when all calls are recorded alike: @ready, @plain, @tracing and @is_on are set. */
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
 * True while the stubs may skip calls that they find in thread->calls. With PLAN_STEERABLE, the
 * probe maps the arena's header a second time, and arena.may_skip is then this variable. So the
 * recorder can clear the variable (plan_update.h).
 */
extern bool probe_skips __attribute__((visibility("hidden")));

/*
 * All thread states, newest first. Unwinders may walk this list at any moment, so no state is
 * freed. A new thread gets the state of a thread that has ended.
 */
extern _Atomic(struct thread *) probe_threads;

/*
 * This thread's state; NULL until the thread's first call. If the thread is not traced, self points
 * to probe_idle_thread, and the guard @busy of that state is always set.
 */
extern __thread struct thread *self __attribute__((tls_model("initial-exec")));
extern struct thread probe_idle_thread;

/*
 * HOT, called by the entry stubs when a call of @addr begins. Returns 1 if probe_entry() has
 * replaced the return address, or else 0.
 *
 * @slot: the return slot: the word on the stack that contains the return address of the call
 */
uint32_t probe_entry(uint64_t *slot, uint64_t addr, const struct arch_regs *regs);

/*
 * HOT. Does the work of probe_entry() for a call that the stub's fast path does not handle. The
 * stub has already set the guard of this thread's state.
 */
uint32_t probe_entry_guarded(uint64_t *slot, uint64_t addr, const struct arch_regs *regs);

/*
 * HOT. Like probe_entry_guarded(), but the caller has not set the guard. A stub calls this
 * function, for example, when the program's call is not in thread->calls.
 */
uint32_t probe_entry_looked_up(uint64_t *slot, uint64_t addr, const struct arch_regs *regs);

/*
 * HOT. Does the work of probe_entry() for a stub that has found @slot by the frame pointer.
 *
 * @slot: the return slot, or a copy of it if the function has aligned its stack
 * @other: the return slot if @slot is a copy; any value otherwise
 */
uint32_t probe_entry_framed(uint64_t *slot, uint64_t addr, const struct arch_regs *regs,
			    uint64_t *other);

/*
 * The largest distance between a return slot and its copy. The distance is the padding that aligns
 * the stack, plus the size of the copy.
 */
#define REALIGN_MAX 4096

/*
 * HOT, called by the stubs' fast paths when a signal handler has left records in the aside
 * (aside.h). Moves these records to the ring, and clears the guard.
 */
void probe_leave(void);

/*
 * HOT, called by the return trampoline. Returns the address at which the program continues.
 *
 * @slot: the return slot of the call that has just returned
 */
uint64_t probe_exit(uint64_t slot, const struct arch_regs *regs);
/* HOT. Does the work of probe_exit() when the stub has already set the guard. */
uint64_t probe_exit_guarded(uint64_t slot, const struct arch_regs *regs);

/*
 * @target: the address at which the call continues
 * @replaced: 1 when the return address was replaced
 */
struct libcall {
	uint64_t target;
	uint64_t replaced;
};

/*
 * HOT, called by arch_libcall.
 *
 * @slot: the return slot
 * @index: the call site
 */
struct libcall probe_libcall(uint64_t *slot, uint64_t index, struct arch_regs *regs);

/*
 * COLD. Called when a call of setjmp(3) with buffer @env returns again, with stack pointer @sp. The
 * innermost function of @t has made that call. The guard is set.
 */
void entry_setjmp_returns(struct thread *t, uint64_t env, uint64_t sp, uint64_t value);

/*
 * HOT, called by arch_point when the program, with stack pointer @sp, reaches the place of @event.
 * Writes the ENTRYs that were held back, and after them the event.
 */
void probe_point(uint32_t event, uint64_t sp);

/* HOT, called by arch_point_args. Does the work of probe_point() for an event with arguments. */
struct arch_point;
void probe_point_args(const struct arch_point *point);

/*
 * HOT, called by the stubs of XRay's sleds (xray.c) when a function begins or ends.
 *
 * @slot: the function's return slot
 * @regs: the registers with the arguments or the return values. NULL: the function ends by a jump
 *        to another function (tail call)
 */
void probe_xray_entry(uint64_t *slot, uint64_t addr, const struct arch_regs *regs);
void probe_xray_exit(uint64_t slot, const struct arch_regs *regs);

/*
 * Calls a SLOW function from a HOT one. @fn gets @arg. Results go through the struct that @arg
 * points to.
 */
void slow_call(void (*fn)(void *), void *arg);

/*
 * Any context. Adds @count to the counter of lost records of @t (ring.lost). The next LOST record
 * in the ring reports all losses that no earlier LOST record has reported. Does nothing if @t has
 * no ring.
 */
void note_lost(struct thread *t, uint32_t count);

/*
 * Any context. Called when the aside (aside.h) could not hold @count records of a signal handler.
 * Adds @count to the lost records of @t, as note_lost() does, and to ring.lost_inside.
 */
void note_lost_inside(struct thread *t, uint32_t count);

/*
 * HOT. Makes the state of this thread, which has none yet. Returns probe_idle_thread when the
 * thread is not to be traced.
 */
struct thread *thread_begin(void);

/* Any context. Ends the recording in this process. Nothing is recorded any more. */
void probe_stop(void);

/*
 * Any context. Ends the recording in this process, and asks the recorder to end the recording of
 * all processes (action `finish`). Then waits for the end of the recording for 100 ms at most.
 */
void probe_finish(void);

/*
 * SLOW. Makes a state with empty frames, and adds it to the list probe_threads. Returns NULL when
 * there is no memory.
 */
struct thread *thread_make_state(void);

/* COLD. Stops tracing this thread. Its open frames get their own return addresses back. */
void thread_leave_alone(void);

/*
 * COLD. Like thread_leave_alone(), but also stops tracing if this thread has made no call yet. Adds
 * 1 to @counter, which the recorder reads in the arena. Does nothing if tracing of this thread was
 * stopped before, or if probe.tracing is not set.
 */
void thread_cut_off(_Atomic uint32_t *counter);

/*
 * COLD. Called before a clone(2) with @flags. Stops tracing this thread if @flags has CLONE_VM, but
 * neither CLONE_SETTLS nor CLONE_VFORK: the new thread would share the state of this thread while
 * both threads run.
 */
void thread_before_sharing(uint64_t flags);

/*
 * COLD. Stops tracing this thread. Called before strict seccomp and the like, under which the hooks
 * would kill the program.
 */
void thread_before_cage(void);

/*
 * COLD, called by the stub of syscall(3) before a system call that makes a child, and before
 * prctl(2) and seccomp(2). Prepares the probe for that system call, and returns the work that the
 * child needs.
 */
enum probe_child {
	PROBE_CHILD_NONE = 0,	/* nothing */
	PROBE_CHILD_FORKED = 1, /* the child calls thread_after_fork() */
	PROBE_CHILD_LENT = 2,	/* the child uses its parent's memory and stack (lend.h) */
};
uint32_t probe_syscall(long number, uint64_t first, uint64_t second, uint64_t third);

/*
 * COLD. Called before a prctl(2) with these arguments. If this system call may forbid operations
 * that the hooks need, prepares the probe for the system call.
 */
void prctl_before(int option, unsigned long first, unsigned long second);

/* COLD, called by the stub of syscall(3). Sets errno from the negative @result and returns -1. */
long probe_syscall_failed(long result);

/*
 * SLOW. Returns a state that is ready for records, but has no ring yet. No thread uses the state
 * yet (see the variable self). Returns NULL when there is no memory or the process is not traced.
 */
struct thread *thread_take_state(void);

/*
 * SLOW. Frees the state @t, so that another thread can take the state. Before the call, @t must
 * have written its last record, and nothing may use the frames of @t any more.
 */
void thread_give_back(struct thread *t);

/*
 * SLOW, in a forked child. Takes the state @arg again, which thread_after_fork() has given up. The
 * caller has already set self to @arg.
 */
void thread_begin_again(void *arg);

/*
 * SLOW. Gives @t a ring of the process' arena. When no ring is free, the records of @t are neither
 * written nor counted.
 */
void thread_take_ring(struct thread *t);

/*
 * SLOW. The two steps of thread_take_ring(). thread_claim_ring() claims a ring for @t.
 * thread_name_ring() stores the caller's task id, or RING_TID_STACK, in this ring. Call neither
 * function while the variable self points to the state of another thread.
 */
void thread_claim_ring(struct thread *t);
void thread_name_ring(struct thread *t);

/*
 * COLD. thread_before_fork() counts a fork in the arena, for the recorder. The child calls
 * thread_after_fork(), which notes the child's pid in the arena. The child has only one thread, so
 * thread_after_fork() frees the states of the other threads.
 */
void thread_before_fork(void);
void thread_after_fork(void);

/* SLOW, in a forked child. Takes the parent's rings away from @t, and resets t->leaves_ring. */
void thread_leave_ring(struct thread *t);

/* COLD. From now on, the probe notices when a thread ends, and when the process forks. */
void thread_setup(void);

/* COLD. Undoes thread_setup(): the probe no longer notices the end of a thread, or a fork. */
void thread_unregister(void);

/*
 * SLOW, in a forked child. Reports the child to the recorder, and gets an arena for the child. If
 * another thread of the child is already reporting, waits until that thread is done.
 */
void session_report_fork(struct thread *t);

/*
 * WARM. Makes room for @len bytes in a segment. Returns false if no room is left. In this case the
 * caller counts the records that are lost.
 */
bool ring_make_room(struct thread *t, uint32_t len);

/*
 * COLD. Called when a signal handler has interrupted a hook of @t, and jumps out of the hook. The
 * hook never continues, so ring_make_room() may have changed only one of t->at and t->end. Repairs
 * these two pointers.
 */
void ring_settle(struct thread *t);

/*
 * COLD. Leads the library calls of the @nr elements of @sites through the stubs, if possible.
 *
 * @finds: true: looks up the functions of calls that the dynamic linker has not bound yet; false:
 *         these functions stay unknown (call_site.function)
 */
void libcall_hook(const struct plan_call_site *sites, uint32_t nr, bool finds);

/*
 * COLD. Called after functions were patched. Finds the call sites that call a patched function.
 * Later calls from such a site are recorded only once: by the hook of the function, and not by the
 * stub of the site (calls_patched.h). A site is skipped if it has a flag of enum plan_call
 * other than PLAN_CALL_NO_RETURN_HOOK. The stub of a skipped site handles calls as before.
 */
void libcall_find_patched(void);

/*
 * COLD. Called before dlclose(3), which may unload a module with patched functions. For each
 * unbound call site with the flag CALL_OF_PATCHED, replaces the flag by CALL_OF_UNKNOWN, and sets
 * call_site.function to 0: later, the linker may bind the call to another function.
 */
void libcall_before_dlclose(void);

/*
 * SLOW. In records, @addr stands for a library function (plan_call_site.addr). True when the probe
 * makes frames for calls of this function.
 */
bool libcall_has_frames(uint64_t addr);

/* SLOW or COLD. Tells the writer that @r has records to take. */
void ring_wake_writer(struct ring *r);

/*
 * WARM. Returns the present time of the kernel's clock in ns. If the recording's clock is the CPU's
 * counter, also fits the scale of the counter to the kernel's clock.
 */
uint64_t clock_refit(struct thread *t);

/* COLD. Prepares the clock that the plan of this process has chosen (plan.clock). */
void clock_setup(void);

/* Any context except HOT. Returns the time in ns of the kernel's clock with id plan.clock_id. */
uint64_t clock_kernel_ns(void);

#endif
