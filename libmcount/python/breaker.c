/* The flag that stops CPython's threads (see breaker.h). */
#include "libmcount/python/breaker.h"

#include <stddef.h>
#include <stdint.h>

#include "libmcount/python/layout.h"
#include "libmcount/program/definition.h"
#include "libmcount/system/fault.h"
#include "utils/base/compiler.h"

/*
 * Offsets in bytes, which are the same in all releases of Python 3.11 for machines of 64 bits. The
 * structs are _PyRuntime (internal/pycore_runtime.h), PyInterpreterState (internal/pycore_interp.h)
 * and PyThreadState (cpython/pystate.h).
 *
 * @RUNTIME_INTERPRETER: the main interpreter
 * @RUNTIME_MAIN_THREAD: pthread_self(3) of the main thread
 * @THREAD_IDENT: pthread_self(3) of the thread that the PyThreadState describes
 * @RUNTIME_HOLDER: the thread that has the GIL, or had it last
 * @RUNTIME_IS_HELD: not 0 while a thread has the GIL
 * @INTERPRETER_LIMIT: the value that Py_GetRecursionLimit() returns
 * @INTERPRETER_FLAG: the flag (breaker.h). There are three reasons to raise the flag: a signal,
 *                    @INTERPRETER_DROP and @INTERPRETER_RAISE
 * @INTERPRETER_DROP: not 0 when a thread waits for the GIL
 * @INTERPRETER_RAISE: not 0 when a thread is to raise an exception
 */
enum {
	RUNTIME_INTERPRETER = 48,
	RUNTIME_MAIN_THREAD = 80,
	RUNTIME_HOLDER = 368,
	RUNTIME_IS_HELD = 376,
	INTERPRETER_LIMIT = 96,
	INTERPRETER_FLAG = 100,
	INTERPRETER_DROP = 104,
	INTERPRETER_RAISE = 124,
	THREAD_IDENT = 152,
};

static char *runtime;
static char *interpreter;

static uint64_t word_at(const char *object, size_t place)
{
	return __atomic_load_n((const uint64_t *)(object + place), __ATOMIC_SEQ_CST);
}

static int int_at(const char *object, size_t place)
{
	return __atomic_load_n((const int *)(object + place), __ATOMIC_SEQ_CST);
}

static void set_flag(int value)
{
	__atomic_store_n((int *)(interpreter + INTERPRETER_FLAG), value, __ATOMIC_SEQ_CST);
}

static uint64_t this_thread(void)
{
	return (uint64_t)__builtin_thread_pointer();
}

/*
 * True when this thread has the GIL. The thread that had the GIL last may have ended, and the
 * memory of that thread's PyThreadState may be unmapped. So fault_copy() reads the PyThreadState.
 */
static bool has_gil(void)
{
	const char *holder = (const char *)word_at(runtime, RUNTIME_HOLDER);
	uint64_t ident;

	return int_at(runtime, RUNTIME_IS_HELD) && holder &&
	       fault_copy(&ident, holder + THREAD_IDENT, sizeof(ident)) == sizeof(ident) &&
	       ident == this_thread();
}

/*
 * Called after the program's signal handler. If CPython's flag (breaker.h) is raised, and this
 * thread is the main thread and lacks the GIL, lowers the flag. Then reads @INTERPRETER_DROP and
 * @INTERPRETER_RAISE, which are the reasons to raise the flag without a signal. If one of them is
 * not 0, raises the flag again.
 *
 * Other threads set @INTERPRETER_DROP or @INTERPRETER_RAISE before they raise the flag. If this
 * function read the two values before lowering the flag, the function could miss a new value.
 */
static void lower_after_handler(void)
{
	if (word_at(runtime, RUNTIME_MAIN_THREAD) != this_thread() ||
	    !int_at(interpreter, INTERPRETER_FLAG) || has_gil())
		return;
	set_flag(0);
	if (int_at(interpreter, INTERPRETER_DROP) || int_at(interpreter, INTERPRETER_RAISE))
		set_flag(1);
}

/* True if the offsets lead to the values that are expected. This thread must have the GIL. */
static bool are_places_right(const struct py_thread *thread)
{
	int flag = int_at(interpreter, INTERPRETER_FLAG);
	int drop = int_at(interpreter, INTERPRETER_DROP);

	return word_at(runtime, RUNTIME_HOLDER) == (uint64_t)thread &&
	       int_at(runtime, RUNTIME_IS_HELD) == 1 &&
	       word_at((const char *)thread, THREAD_IDENT) == this_thread() &&
	       int_at(interpreter, INTERPRETER_LIMIT) == py.recursion_limit() &&
	       (flag == 0 || flag == 1) && (drop == 0 || drop == 1);
}

bool breaker_begin(void)
{
	if (layout_find().minor != 11)
		return true;
	runtime = (char *)definition_find_data("_PyRuntime");
	if (!runtime)
		return false;
	interpreter = (char *)word_at(runtime, RUNTIME_INTERPRETER);
	if (interpreter != (char *)py.interpreter(py.thread()) || !are_places_right(py.thread()))
		return false;
	return fault_call_after_handlers(lower_after_handler);
}
