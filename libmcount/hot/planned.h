/*
 * Calls that are not all treated alike. Each function may have a rule, and each thread has a filter
 * state that the rules change.
 */
#ifndef UTRAIL_LIBMCOUNT_PLANNED_H
#define UTRAIL_LIBMCOUNT_PLANNED_H

#include "libmcount/plan/live_plan.h"
#include "libmcount/hot/probe.h"

struct reading;

/*
 * The meaning of rules is in doc/facts/language.md, "Which calls are kept". A call has a frame if
 * the call is recorded, or if the return of the call must undo the effects of a rule.
 */

/*
 * The filter state of a thread. The state decides about the thread's next call, and may change when
 * a call begins. The state before this change is called "the selection around the call", and is
 * kept in the frame of the call. The state after this change is called "the selection inside of the
 * call", and decides about the calls that the call makes.
 *
 * @threshold_ns: a call is kept if it takes longer than this
 * @size: a call is kept if its function has this many bytes or more
 * @in, @out: the numbers of open calls of functions with PLAN_FILTER, and with PLAN_NOTRACE
 * @depth: the number of levels that may still be recorded
 * @level: the number of recorded calls that are open
 */
struct selection {
	uint64_t threshold_ns;
	uint32_t size;
	uint16_t in;
	uint16_t out;
	uint16_t depth;
	uint16_t level;
	uint32_t pad;
};

enum planned_flags {
	PLANNED_RECORD = 1U << 0,  /* the call is recorded */
	PLANNED_WRITTEN = 1U << 1, /* the call's ENTRY was written, maybe by the parent process */
	PLANNED_OFF = 1U << 2,	/* the call began while recording was off: it never has an ENTRY */
	PLANNED_KEEP = 1U << 3, /* PLAN_TRACE */
	PLANNED_CALLER = 1U << 4,   /* PLAN_CALLER */
	PLANNED_READ = 1U << 5,	    /* at the entry, the values for PLAN_READ were read */
	PLANNED_RECOVER = 1U << 6,  /* PLAN_RECOVER */
	PLANNED_CALLSITE = 1U << 7, /* PLAN_CALLSITE */
};

/*
 * Data of a frame that was passed to state_keep_back(). The stubs do not pop such a frame.
 * planned_frame.open contains this struct while the thread is open or barred (planned_pass.h). In
 * other states of the thread, planned_frame.before uses the same memory.
 *
 * @began_ns: the value that frame.time_ns had when planned_frame.result was stored. If
 *            frame.time_ns has another value now, planned_frame.result belongs to an earlier frame
 *            with the same index
 * @outer: the value of thread->fast_base before this frame
 */
struct open_frame {
	uint64_t began_ns;
	struct frame *outer;
};

/*
 * Additional data of a frame: planned.frames[i] belongs to thread->frames[i]. The plan may be
 * replaced before the frame ends. So this struct has all facts from the plan that are needed at the
 * end of the frame.
 *
 * @result: live_func.result of the function, or NULL when there are no registers to capture from.
 *          The plan that contains @result stays mapped until the frame has ended
 * @read: with PLANNED_READ: the value of plan_rule.read
 * @args_at: the top of planned.args before this frame
 * @args_len: the number of bytes that the frame's arguments take in planned.args. Valid until the
 *            frame's ENTRY is written
 */
struct planned_frame {
	union {
		struct selection before;
		struct open_frame open;
	};
	const struct capture_step *result;
	uint16_t flags; /* enum planned_flags */
	uint16_t args_len;
	uint32_t args_at;
	uint32_t read;
	uint32_t pad;
};

/*
 * A cached result of looking up a function by its address. Because of the cache, the cost of a call
 * does not depend on the number of functions.
 */
struct planned_known {
	uint64_t addr;
	const struct live_func *func; /* NULL: the plan does not list the function */
};
#define PLANNED_KNOWN 1024

/*
 * An entry of a table of functions. When a function in the table is called, the probe need not look
 * up the function's rule. The stubs look for each called function in such a table. thread->calls
 * points to the table for the thread's state, and is never NULL. The list below has, for each
 * table, the name, the state in which the table is used, and the functions in the table:
 *
 *   planned.skip_out       An open call is opted out: all functions.
 *   planned.skip_outside   No open call is opted in: functions that the plan does not list. Also
 *                          functions whose rule has only the flag PLAN_FILTER, and whose arguments
 *                          and results are not captured.
 *   planned.pass           The thread is open (planned_pass.h): functions for which
 *                          planned_may_pass() is true, and functions that are left out
 *                          (PLAN_LEFT_OUT).
 *   planned_no_calls       Any other state: no functions. C code decides about each call.
 *
 * Each table starts empty. C code adds a function to a table at the function's first call. In an
 * empty entry, @call and @alone are 0.
 *
 * @call: the address of a function. A call to the function is recorded as if there were no plan.
 *        The address is negated if the call changes the thread from ready to open. planned_pass.h
 *        explains these two states
 * @alone: the address of a function. A call to the function gets no frame and no record
 */
struct planned_place {
	uint64_t call;
	uint64_t alone;
};
#define PLANNED_PLACE_BYTES 16
#define PLANNED_CALLS	    8192
_Static_assert(sizeof(struct planned_place) == PLANNED_PLACE_BYTES, "known to the stubs");

/*
 * This table stays empty. It is not `const`, since a `const` table of zeros would take space in the
 * file.
 */
extern struct planned_place planned_no_calls[PLANNED_CALLS] __attribute__((visibility("hidden")));

static inline uint32_t planned_place_of(uint64_t addr)
{
	return addr / PLANNED_PLACE_BYTES % PLANNED_CALLS;
}

/*
 * The state of the option -W in one thread. @cpu and @values are from the thread's last call of
 * watch_look().
 */
struct watch_state {
	bool has_seen;
	uint32_t cpu;
	uint64_t values[PLAN_WATCHES_MAX];
};

/*
 * The state of one thread under a plan; struct thread points to it.
 *
 * @plan: the plan that decides about the thread's calls. The thread has read @plan from probe.live.
 *        A plan stays mapped while any thread has the plan as @plan or @taking, or while a frame
 *        needs the plan
 * @serial, @era: live_plan.serial and live_plan.era of @plan. @era is 0 when @now belongs to no
 *                plan
 * @taking: the plan that planned_take_up() is about to store in @plan, otherwise NULL
 * @is_simple: planned_fast.h may be used, because PLAN_ESTIMATE and PLAN_OPT_IN_LOCATION are not
 *             set, @has_watch is false, and the thread is not an aside (aside.h)
 * @has_filter, @has_caller, @has_location: the plan has PLAN_OPT_IN_FILTER, PLAN_OPT_IN_CALLER or
 *                                          PLAN_OPT_IN_LOCATION. With such a flag, a call is
 *                                          recorded only if a rule permits the call
 *                                          (utils/format/probe/plan.h)
 * @has_left_out: there is a rule with PLAN_LEFT_OUT
 * @depth_counts: calls may be nested deeper than the plan's limit of depth, so each change of
 *                @now.depth matters
 * @has_watch: the plan watches values or the CPU number (-W)
 * @has_noted: the table @skip_outside, @skip_out or @pass has an entry, or once had one
 * @has_opted_in: the thread has called a function whose rule has PLAN_FILTER as its only flag, and
 *                whose values are not captured. A call to such a function can open a ready thread
 * @has_steps: an entered call may have values to capture at its end
 * @depth: the plan's limit of depth
 * @open_base: in an open, ready or barred thread (planned_pass.h): the innermost frame with a
 *             struct planned_frame. In any other thread: NULL
 * @is_ready: planned_open() chose THREAD_READY, and not THREAD_OPEN. The first frame that is pushed
 *            above @open_base opens the thread. thread->admitted is the place of this frame
 * @readings: the values that were read at the entry of each frame; NULL until the first values are
 *            read
 * @estimate_ns: for PLAN_ESTIMATE and FRAME_KEPT: the end time of calls whose returns were not seen
 *               (planned_begin_estimate()). 0: calls end at the present time
 * @args: payloads of ENTRYs that are not written yet; NULL until there is a payload. Unused pages
 *        take no memory
 */
struct planned {
	struct selection now;
	const struct live_plan *plan;
	const struct live_plan *taking;
	uint64_t serial;
	uint64_t era;
	bool is_simple;
	bool has_filter;
	bool has_caller;
	bool has_location;
	bool has_left_out;
	bool depth_counts;
	bool has_watch;
	bool has_steps;
	bool has_noted;
	bool has_opted_in;
	uint16_t depth;
	uint64_t estimate_ns;
	struct frame *open_base;
	bool is_ready;
	struct reading *readings;
	struct watch_state watched;
	uint8_t *args;
	uint32_t args_top;
	uint32_t args_bytes;
	struct planned_known known[PLANNED_KNOWN];
	struct planned_place skip_outside[PLANNED_CALLS];
	struct planned_place skip_out[PLANNED_CALLS];
	struct planned_place pass[PLANNED_CALLS];
	struct planned_frame frames[];
};

/* True when the plan that the thread knows is the one in force. */
static inline bool planned_is_current(const struct planned *p)
{
	return likely(p->plan == __atomic_load_n(&probe.live, __ATOMIC_RELAXED));
}

/*
 * HOT: decides by the plan whether the call with return slot @slot is recorded. Returns 1 when the
 * return address was replaced, else 0.
 */
uint32_t planned_enter(struct thread *t, uint64_t *slot, uint64_t addr,
		       const struct arch_regs *regs);

/*
 * HOT: true when a call needs no frame, for one of these reasons:
 * - An open call is opted out.
 * - The plan has PLAN_OPT_IN_FILTER, no open call is opted in, and the plan does not list the
 *   called function.
 *
 * If the result is true, the function was added to a table (struct planned_place), so that the
 * stubs skip later calls of the function.
 */
bool planned_is_unwanted(struct thread *t, uint64_t addr);

/*
 * HOT: true when a call in an open thread is deeper than the limit, and the called function has no
 * rule. The thread stays open. If no arguments and no results of the function are captured, adds
 * the function to planned.pass, so that the stubs handle later calls of the function.
 */
bool planned_is_too_deep(struct thread *t, uint64_t addr);

/*
 * HOT: true when the called function is left out. In an open thread, adds the function to
 * planned.pass, so that the stubs skip later calls of the function.
 */
bool planned_is_left_out(struct thread *t, uint64_t addr);

/*
 * HOT: enters a call of a function that was compiled with -finstrument-functions, or of a function
 * that Python calls. Called only when planned_is_unwanted() is false. Returns false when the thread
 * has no room for another frame, or when the thread has no struct planned and cannot get one.
 *
 * @regs: registers to capture values from; NULL: nothing is captured
 */
bool planned_enter_explicit(struct thread *t, uint64_t sp, uint64_t ret, uint64_t addr,
			    const struct arch_regs *regs);

/*
 * HOT: enters a call of a function with XRay sleds. A sled at the end of the function reports the
 * return.
 *
 * @slot: the return slot of the call. The return address in this slot is not replaced
 */
void planned_enter_announced(struct thread *t, const uint64_t *slot, uint64_t addr,
			     const struct arch_regs *regs);

/*
 * HOT: records a call whose return cannot be seen. The ENTRY and the EXIT of the call have the same
 * time.
 *
 * @result: registers with the return values, or NULL
 */
void planned_instant(struct thread *t, const uint64_t *slot, uint64_t addr,
		     const struct arch_regs *regs, const struct arch_regs *result);

/* True when a call of @addr would be recorded if there were room for its frame. */
bool planned_would_record(const struct thread *t, uint64_t addr);

/*
 * SLOW. Pushes a frame with FRAME_UNSEEN, for a call that has begun earlier. Decides about the call
 * as if the plan had been in force when the call began.
 */
void planned_push_unseen(struct thread *t, uint64_t slot, uint64_t ret, uint64_t addr);

/*
 * WARM. Ends the innermost frame, which has FRAME_UNSEEN. The time of the return is unknown, so the
 * EXIT gets the present time.
 */
void planned_leave_unseen(struct thread *t);

/*
 * WARM. Ends the innermost frame, which has FRAME_KEPT. The EXIT gets an estimated time
 * (planned_begin_estimate()).
 */
void planned_leave_kept(struct thread *t);

/* HOT: does the work of frames_leave_top() for a thread with a struct planned. */
void planned_leave_top(struct thread *t, const struct arch_regs *regs);

/*
 * HOT, for PLAN_ESTIMATE and FRAME_KEPT. Some returns are not seen. Later, for example when a new
 * call begins, the probe finds that earlier calls have returned. The EXITs of these calls get an
 * estimated time, halfway between the thread's last record and the present time. The probe calls
 * planned_begin_estimate() before it ends the frames of these calls, and planned_end_estimate()
 * afterwards.
 */
void planned_begin_estimate(struct thread *t);
void planned_end_estimate(struct thread *t);

/* WARM. True when the ENTRY of the innermost call has been written. */
bool planned_is_top_written(struct thread *t);

/* HOT: for each frame up to and including @f, writes the ENTRY if the ENTRY was held back. */
void planned_write_entries(struct thread *t, struct frame *f);

/*
 * HOT: settles a thread that is open, ready or barred. Each frame above planned.open_base gets its
 * struct planned_frame, and planned.now becomes the selection inside of the innermost call.
 */
void planned_close(struct thread *t);

/* SLOW. Makes a struct planned for @t. Returns false when there is no memory. */
bool planned_make(struct thread *t);

/*
 * WARM. Switches @t to the plan in force, which then decides about the next calls of @t. Open calls
 * keep the flags and the captures that an earlier plan gave them. planned.now gets the value that
 * follows from the plan in force and from the open calls.
 */
void planned_take_up(struct thread *t);

/*
 * WARM. Makes a struct planned for a thread that has none, because PLAN_SELECTIVE was not set when
 * the thread began. Returns false when tracing has ended, or when there is no memory.
 */
bool planned_begin_late(struct thread *t);

/*
 * True when @t needs the plan in the memory [@plan, @end): this plan is planned.plan or
 * planned.taking of @t, or an open call of @t needs data of this plan. Any thread may call this
 * function.
 */
bool planned_needs(const struct thread *t, const struct live_plan *plan, const void *end);

/*
 * SLOW. @to has the same frames as @from. Copies the data of these frames to @to. planned.now of
 * @to becomes the selection inside of the innermost open call. All frames of @to count as written.
 * So only @from writes the ENTRYs that were held back.
 */
void planned_copy(struct thread *to, struct thread *from);

/*
 * WARM. Called when @t has no open calls. Gives up the plan of @t. After this, @t has no plan until
 * planned_begin() or planned_begin_aside() is called.
 */
void planned_end(struct thread *t);

/* SLOW. Called when a thread begins to use the state @t. */
void planned_begin(struct thread *t);

/*
 * WARM. Gives @aside (aside.h) the plan and the selection of @t. Called when a signal handler has
 * interrupted a hook of @t, and the handler makes its first call.
 */
void planned_begin_aside(struct thread *aside, const struct thread *t);

/*
 * COLD. Called after a new plan has replaced the plan in force. Empties the tables of functions
 * (struct planned_place) of all threads.
 */
void planned_forget_calls(void);

/*
 * COLD, in a forked child. Marks open calls as written, since the parent's file has their ENTRYs.
 */
void planned_note_written(struct thread *t);

#endif
