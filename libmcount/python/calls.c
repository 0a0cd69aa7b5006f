/* Calls of Python's functions (see calls.h). */
#include "libmcount/python/calls.h"

#include <sys/mman.h>
#include <sys/syscall.h>

#include "libmcount/hot/frames.h"
#include "libmcount/hot/planned_open.h"
#include "libmcount/python/calls_fast.h"
#include "libmcount/python/threads.h"
#include "libmcount/python/values.h"
#include "libmcount/system/own_syscall.h"
#include "libmcount/system/undo.h"

/*
 * In the struct frame of a Python call, FRAME_EXPLICIT is set. From Python 3.11 on, nested Python
 * calls may share a stack pointer. So the struct frame has a key in place of the return address, to
 * identify the call. For a function in C, the key is the function's definition. For a function in
 * Python, the key is the code object if the probe uses sys.monitoring, and the frame object of
 * Python otherwise.
 *
 * frame.slot of a Python call depends on the next outer frame (slot_inside()). If the outer frame
 * has FRAME_EXPLICIT, both frames have the same frame.slot. So nested Python calls have the same
 * frame.slot. If the outer frame does not have FRAME_EXPLICIT, frame.slot of the Python call is 1
 * less than frame.slot of the outer frame.
 *
 * When a traced C function without FRAME_EXPLICIT returns, the probe ends all calls whose slots are
 * lower than the slot of this function. The Python calls inside the C function are among the ended
 * calls.
 */

/* --- records --- */

static bool enter_alike(struct thread *t, uint64_t slot, uint64_t key, uint64_t addr)
{
	if (likely(fast_push_alike(t, slot, key, addr)) || fast_push(t, slot, key, addr))
		return true;
	if (unlikely(t->top >= t->limit)) {
		note_too_deep(t);
		return false;
	}
	return frame_push(t, slot, key, addr);
}

NOINLINE static bool enter_valued(struct thread *t, uint64_t slot, uint64_t key, uint64_t addr,
				  const struct valued_call *valued)
{
	struct capture_text texts[CALLABLE_ARGS_MAX + 1];
	const struct arch_regs regs = arch_regs_of((uint64_t)texts, 0, (uint64_t)texts);

	values_of_call(valued, texts);
	return planned_enter_explicit(t, slot, key, addr, &regs);
}

/*
 * True when the call gets no frame under the plan. The reasons are those of planned_is_unwanted(),
 * planned_is_left_out() and planned_is_too_deep(). planned_leaves_out() finds a reason that is
 * already known from an earlier call.
 */
static inline bool is_left_out(struct thread *t, uint64_t addr)
{
	return planned_leaves_out(t, addr) || planned_is_unwanted(t, addr) ||
	       planned_is_left_out(t, addr) || planned_is_too_deep(t, addr);
}

/* @valued: the call if some of its values are recorded, else NULL */
static bool enter_planned(struct thread *t, uint64_t slot, uint64_t key, uint64_t addr,
			  const struct valued_call *valued)
{
	if (likely(t->planned) && is_left_out(t, addr))
		return false;
	if (unlikely(valued))
		return enter_valued(t, slot, key, addr, valued);
	return planned_enter_explicit(t, slot, key, addr, NULL);
}

/* Records that a call begins. Returns true when the call has got a frame. */
static bool record_enter(struct thread *t, uint64_t key, uint64_t addr,
			 const struct valued_call *valued)
{
	uint64_t slot;
	bool has_frame;

	guard_take(t);
	slot = slot_inside(t->top);
	if (likely(probe.plain) && !t->planned)
		has_frame = enter_alike(t, slot, key, addr);
	else
		has_frame = enter_planned(t, slot, key, addr, valued);
	guard_leave_fast(t);
	return has_frame;
}

/*
 * Called when the list of open calls is full. Runs note_too_deep() if the new call would be
 * recorded with more room in the list.
 */
NOINLINE static void count_unkept(struct thread *t, uint64_t addr)
{
	guard_take(t);
	if (probe.plain && !t->planned)
		note_too_deep(t);
	else if ((t->planned || planned_begin_late(t)) && !is_left_out(t, addr) &&
		 planned_would_record(t, addr))
		note_too_deep(t);
	guard_leave_fast(t);
}

/* Records the end of a call. The call must have a struct frame. */
static void record_leave(struct thread *t, uint64_t key)
{
	guard_take(t);
	if (unlikely(t->top->ret != key) || unlikely(!(t->top->slot & FRAME_EXPLICIT)))
		frames_leave_explicit(t, key);
	else if (unlikely(!fast_pop_alike(t)))
		frames_leave_top(t, NULL);
	guard_leave_fast(t);
}

/* Records the end and the @result of a call. The call must have a struct frame. */
NOINLINE static void record_valued_leave(struct thread *t, uint64_t key, struct py_object *result)
{
	struct capture_text text;
	const struct arch_regs regs = arch_regs_of((uint64_t)&text, 0, (uint64_t)&text);

	guard_take(t);
	if (t->top->ret != key || !(t->top->slot & FRAME_EXPLICIT)) {
		frames_leave_explicit(t, key);
	} else {
		values_of_result(result, &text);
		frames_leave_top(t, &regs);
	}
	guard_leave_fast(t);
}

/* --- open calls --- */

/*
 * leave_call() looks for the ending call among at most this many innermost open calls. The ending
 * call may not be the innermost: while a profile function of the program is set, the probe may miss
 * the ends of inner calls. These inner calls then stay in the list of open calls.
 */
#define LOOK_BACK 64U

static void make_calls(void *arg)
{
	struct thread *t = arg;
	size_t bytes = (CALLS_MAX + 1) * sizeof(uint64_t);
	uint64_t *calls = (uint64_t *)own_syscall(SYS_mmap, NULL, bytes, PROT_READ | PROT_WRITE,
						  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1,
						  0L);

	if (calls == MAP_FAILED)
		return;
	undo_note_memory(calls, bytes);
	t->python_calls = calls + 1;
}

/* Returns the state of this thread, or NULL when the event is to be ignored. */
static struct thread *thread_for_event(void)
{
	struct thread *t = self;

	if (unlikely(!t)) {
		if (!__atomic_load_n(&probe.ready, __ATOMIC_ACQUIRE))
			return NULL;
		t = thread_begin();
	}
	if (unlikely(t->busy) || unlikely(!probe.tracing))
		return NULL;
	if (unlikely(!t->python_calls))
		make_calls(t);
	return likely(t->python_calls) ? t : NULL;
}

/* True when t->python_calls has the innermost open call, or no call is open. */
static bool is_innermost_kept(const struct thread *t)
{
	return likely(t->nr_python_calls <= CALLS_MAX);
}

/*
 * True when a new call comes from one of the program's own functions. May be called only if
 * is_innermost_kept(@t) is true.
 */
static bool is_called_by_own(const struct thread *t)
{
	uint32_t nr = t->nr_python_calls;

	/*
	 * If no call is open, the caller is __main__ or, before __main__ begins, the
	 * interpreter.
	 */
	return nr ? t->python_calls[nr - 1] & CALL_IS_OWN : names_have_main;
}

/*
 * True when the frame around @frame runs one of the program's own functions. A function in C has no
 * frame, so the frame around @frame belongs to the nearest outer Python function.
 *
 * @frame: NULL: the running frame
 */
NOINLINE static bool is_inside_own_frame(struct py_frame *frame)
{
	struct py_frame *inner = frame ? frame : py.frame();
	struct py_frame *outer = inner && py.frame_back ? py.frame_back(inner) : NULL;
	bool is_own = outer && (codes_facts(codes_of_frame(outer)) & NAME_OWN);

	if (outer)
		py.let_go((struct py_object *)outer);
	else
		py.error_clear();
	return is_own;
}

/*
 * Python libraries are treated like C libraries. Calls of the program's own functions are recorded.
 * A call of a library's function is recorded only when one of the program's own functions makes the
 * call, and never with --no-libcall.
 */
static bool is_recorded(const struct thread *t, name_facts facts, struct py_frame *frame)
{
	if ((facts & NAME_OWN) || !python_codes.inherited)
		return facts & NAME_OWN;
	return is_innermost_kept(t) ? is_called_by_own(t) : is_inside_own_frame(frame);
}

/*
 * HOT: add a call to the open calls of @t, and record the beginning of the call.
 *
 * @addr: the address that names the function in records, or 0 if the call is not recorded
 * @bits: the flags of the call
 */
static void enter_call(struct thread *t, uint64_t key, uint64_t addr, uint64_t bits,
		       const struct valued_call *valued)
{
	if (likely(t->nr_python_calls < CALLS_MAX)) {
		if (addr && record_enter(t, key, addr, valued))
			bits |= CALL_HAS_FRAME;
		t->python_calls[t->nr_python_calls] = key | bits;
	} else if (addr) {
		count_unkept(t, addr);
	}
	t->nr_python_calls++;
}

/* @result: NULL if the call has none */
static void leave_call(struct thread *t, uint64_t key, struct py_object *result)
{
	uint32_t nr = t->nr_python_calls;
	uint32_t least = nr > LOOK_BACK ? nr - LOOK_BACK : 0;
	uint64_t outermost = 0;

	if (unlikely(nr > CALLS_MAX)) {
		t->nr_python_calls--;
		return;
	}
	while (nr > least) {
		uint64_t call = t->python_calls[--nr];

		if (call & CALL_HAS_FRAME)
			outermost = call & ~CALL_BITS;
		if (likely((call & ~CALL_BITS) == key)) {
			t->nr_python_calls = nr;
			if (unlikely(call & CALL_HAS_RESULT) && result && outermost == key)
				record_valued_leave(t, key, result);
			else if (outermost)
				record_leave(t, outermost);
			return;
		}
	}
}

static bool is_innermost(const struct thread *t, uint64_t key)
{
	return is_innermost_kept(t) && (*fast_innermost(t) & ~CALL_BITS) == key;
}

/* --- events --- */

bool calls_begin(void)
{
	values_begin();
	python_codes.inherited = probe.plan.flags & PLAN_NO_LIBCALLS ? 0 : NAME_OWN;
	return codes_begin();
}

NOINLINE static name_facts look_at(struct py_object *code)
{
	return codes_look(code, py.interpreter(py.thread()) == python_threads.main);
}

NOINLINE static void enter_valued_call(struct thread *t, const struct valued_call *valued,
				       uint64_t key, uint64_t addr, uint64_t bits)
{
	struct valued_call found = *valued;
	bool can_be_had = values_can_be_had();

	if (!found.frame)
		found.frame = py.frame();
	if (!found.frame) {
		py.error_clear();
		can_be_had = false;
	}
	if (can_be_had && (valued->values & CALLABLE_RESULT))
		bits |= CALL_HAS_RESULT;
	enter_call(t, key, addr, bits, can_be_had ? &found : NULL);
}

/*
 * Handles the beginning of a call of @code with key @key. @frame may be NULL. Returns false when
 * the call is neither recorded nor counted as open.
 */
static bool enter_code(struct thread *t, struct py_object *code, uint64_t key,
		       struct py_frame *frame)
{
	name_facts facts = codes_facts(code);
	uint64_t bits;
	bool has_record;

	if (unlikely(!facts))
		facts = look_at(code);
	if (fast_leaves_alone(code, false))
		return false;
	has_record = is_recorded(t, facts, frame);
	if (unlikely(has_record && !(facts & NAME_ASKED)))
		facts = codes_ask_recorder(code, facts);
	bits = facts & NAME_OWN ? CALL_IS_OWN : 0;
	if (unlikely(has_record && name_values(facts)))
		enter_valued_call(t, &(struct valued_call){ frame, code, name_values(facts) }, key,
				  name_address(facts), bits);
	else
		enter_call(t, key, has_record ? name_address(facts) : 0, bits, NULL);
	return true;
}

/*
 * Handles the end of a call of @code with key @key. Returns false when the call was neither
 * recorded nor counted as open.
 */
static bool leave_code(struct thread *t, struct py_object *code, uint64_t key,
		       struct py_object *result)
{
	if (!is_innermost(t, key) && fast_leaves_alone(code, false))
		return false;
	leave_call(t, key, result);
	return true;
}

/*
 * Handles the beginning of a call of a function in C. Returns false when the call is neither
 * recorded nor counted as open. The key of the call is the address of the function's PyMethodDef. A
 * function object cannot be the key: from Python 3.12 on, the event of a call and the event of its
 * return may have different function objects.
 */
static bool enter_native(struct thread *t, const struct py_c_function *fn, struct py_object *code)
{
	bool is_by_own = is_innermost_kept(t) ? is_called_by_own(t) : codes_facts(code) & NAME_OWN;
	uint64_t addr;

	if (!(is_by_own && python_codes.inherited) && fast_leaves_alone(code, true))
		return false;
	addr = is_by_own ? name_address(natives_facts(fn)) : 0;
	/* Calls by this C function count as calls by its caller. */
	enter_call(t, (uint64_t)fn->def, addr, is_by_own ? CALL_IS_OWN : 0, NULL);
	return true;
}

static void leave_native(struct thread *t, const struct py_method_def *def, struct py_object *code)
{
	if (is_innermost(t, (uint64_t)def) || !fast_leaves_alone(code, true))
		leave_call(t, (uint64_t)def, NULL);
}

/* Handles the events that are not common. */
NOINLINE static int take_slowly(struct py_frame *frame, int event, struct py_object *arg)
{
	struct thread *t = thread_for_event();
	const struct py_c_function *fn = (const struct py_c_function *)arg;

	if (unlikely(!t))
		return 0;
	switch (event) {
	case PY_CALL:
		enter_code(t, codes_of_frame(frame), (uint64_t)frame, frame);
		break;
	case PY_C_CALL:
		enter_native(t, fn, codes_of_frame(frame));
		break;
	case PY_RETURN:
		leave_code(t, codes_of_frame(frame), (uint64_t)frame, arg);
		break;
	case PY_C_RETURN:
	case PY_C_EXCEPTION:
		leave_native(t, fn->def, codes_of_frame(frame));
		threads_look();
		break;
	}
	return 0;
}

NOINLINE static int take_guarded(struct py_frame *frame, int event, struct py_object *arg)
{
	calls_unguard();
	return take_slowly(frame, event, arg);
}

NOINLINE static int end_event(void)
{
	calls_unguard();
	return 0;
}

static inline enum fast_call take_fast(struct py_frame *frame, int event, struct py_object *arg)
{
	const struct py_c_function *fn = (const struct py_c_function *)arg;

	switch (event) {
	case PY_CALL:
		return likely(python_codes.reads_frames)
			       ? fast_begin_code(codes_of_frame(frame), (uint64_t)frame)
			       : FAST_NOT;
	case PY_C_CALL:
		return fast_begin_native(fn->def);
	case PY_RETURN:
		return fast_end((uint64_t)frame);
	case PY_C_RETURN:
		return likely(threads_are_known()) ? fast_end((uint64_t)fn->def) : FAST_NOT;
	default:
		return FAST_NOT;
	}
}

int calls_take_event(struct py_object *object, struct py_frame *frame, int event,
		     struct py_object *arg)
{
	switch (take_fast(frame, event, arg)) {
	case FAST_DONE:
		return 0;
	case FAST_ASIDE:
		return end_event();
	case FAST_GUARDED:
		return take_guarded(frame, event, arg);
	case FAST_OTHER:
		if (likely(python_codes.reads_frames) &&
		    fast_leaves_alone(codes_of_frame(frame), event >= PY_C_CALL))
			return 0;
		break;
	case FAST_NOT:
		break;
	}
	return take_slowly(frame, event, arg);
}

void calls_unguard(void)
{
	guard_leave(self);
}

bool calls_begin_code(struct py_object *code)
{
	struct thread *t = thread_for_event();

	return !t || enter_code(t, code, (uint64_t)code, NULL);
}

bool calls_end_code(struct py_object *code, struct py_object *result)
{
	struct thread *t = thread_for_event();

	return !t || leave_code(t, code, (uint64_t)code, result);
}

bool calls_begin_native(const struct py_c_function *fn, struct py_object *code)
{
	struct thread *t = thread_for_event();

	return !t || enter_native(t, fn, code);
}

void calls_end_native(const struct py_method_def *def, struct py_object *code)
{
	struct thread *t = thread_for_event();

	if (likely(t))
		leave_native(t, def, code);
}
