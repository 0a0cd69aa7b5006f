/*
 * CPython 3.11 has a flag for signals. The probe lowers the flag while the main thread cannot
 * handle the signal, and at no other time. The interpreter is simulated, with its memory laid out
 * as in that version.
 */
#include "libmcount/python/breaker.h"

#include <pthread.h>
#include <string.h>

#include "libmcount/program/definition.h"
#include "libmcount/python/layout.h"
#include "libmcount/system/fault.h"
#include "tests/unit/lib/unit.h"

struct py_api py;
__thread uint8_t fault_state __attribute__((tls_model("initial-exec"))) = FAULT_UNKNOWN;
uint8_t fault_guarded = FAULT_GUARDED;

static struct {
	char before[48];
	void *interpreter;
	char before_main_thread[24];
	pthread_t main_thread;
	char before_holder[280];
	void *holder;
	int is_held;
} runtime;

static struct {
	char before[96];
	int limit;
	int flag;
	int drop;
	char before_raise[16];
	int raise;
} interpreter;

static struct played_thread {
	char before[152];
	pthread_t ident;
} main_state, other_state;

_Static_assert(offsetof(__typeof__(runtime), main_thread) == 80, "as in 3.11");
_Static_assert(offsetof(__typeof__(runtime), holder) == 368, "as in 3.11");
_Static_assert(offsetof(__typeof__(interpreter), raise) == 124, "as in 3.11");

static const char *version;
static bool has_runtime;
static bool is_gone; /* the memory of the thread that has the GIL cannot be read */
static bool may_replace;
static void (*after_handler)(void);

uint64_t definition_find_data(const char *name)
{
	assert_string_equal(name, "_PyRuntime");
	return has_runtime ? (uint64_t)&runtime : 0;
}

uint64_t fault_copy_careful(void *to, const void *from, uint64_t len)
{
	if (is_gone)
		return 0;
	memcpy(to, from, len);
	return len;
}

/* The probe calls this function when the thread has looked at its signal mask already. */
uint64_t arch_copy_guarded(void *to, const void *from, uint64_t len)
{
	return fault_copy_careful(to, from, len);
}

bool fault_call_after_handlers(void (*fn)(void))
{
	after_handler = may_replace ? fn : NULL;
	return may_replace;
}

static const char *tell_version(void)
{
	return version;
}

static struct py_thread *tell_thread(void)
{
	return (struct py_thread *)&main_state;
}

static struct py_interpreter *tell_interpreter(struct py_thread *t)
{
	return (struct py_interpreter *)&interpreter;
}

static int tell_limit(void)
{
	return 1000;
}

/* Simulate that the main thread has the GIL. */
static void setup(void)
{
	py.version = tell_version;
	py.thread = tell_thread;
	py.interpreter = tell_interpreter;
	py.recursion_limit = tell_limit;
	version = "3.11.2 (main)";
	has_runtime = true;
	is_gone = false;
	may_replace = true;
	after_handler = NULL;
	main_state.ident = pthread_self();
	other_state.ident = pthread_self() + 1;
	runtime.interpreter = &interpreter;
	runtime.main_thread = pthread_self();
	runtime.holder = &main_state;
	runtime.is_held = 1;
	memset(&interpreter, 0, sizeof(interpreter));
	interpreter.limit = 1000;
}

static void begin(void)
{
	setup();
	assert_true(breaker_begin());
	assert_non_null(after_handler);
}

/* Returns the flag after a handler has raised it. */
static int run_handler(void)
{
	interpreter.flag = 1;
	after_handler();
	return interpreter.flag;
}

TEST(another_thread_does_not_wait_for_a_signal_of_the_main_thread)
{
	begin();
	runtime.holder = &other_state;
	assert_int_equal(run_handler(), 0);
}

TEST(the_main_thread_sees_its_signal)
{
	begin();
	assert_int_equal(run_handler(), 1);
}

/*
 * The main thread was the last one that had the GIL, and no thread has it now. The next thread to
 * take it looks at all reasons for a stop.
 */
TEST(between_two_threads_the_flag_is_lowered)
{
	begin();
	runtime.is_held = 0;
	assert_int_equal(run_handler(), 0);
	runtime.holder = NULL;
	runtime.is_held = 1;
	assert_int_equal(run_handler(), 0);
}

TEST(other_reasons_keep_the_flag)
{
	begin();
	runtime.holder = &other_state;
	interpreter.drop = 1;
	assert_int_equal(run_handler(), 1);
	interpreter.drop = 0;
	interpreter.raise = 1;
	assert_int_equal(run_handler(), 1);
}

TEST(a_signal_of_another_thread_changes_nothing)
{
	begin();
	runtime.holder = &other_state;
	runtime.main_thread = pthread_self() + 2;
	assert_int_equal(run_handler(), 1);
}

TEST(a_thread_that_is_gone_has_the_gil_no_more)
{
	begin();
	runtime.holder = &other_state;
	is_gone = true;
	assert_int_equal(run_handler(), 0);
}

TEST(versions_that_go_on_need_nothing)
{
	static const char *const versions[] = { "3.9.18", "3.10.1", "3.12.1", "3.13.0", "3.14.0" };

	for (size_t i = 0; i < sizeof(versions) / sizeof(*versions); i++) {
		setup();
		version = versions[i];
		has_runtime = false;
		assert_true(breaker_begin());
		assert_null(after_handler);
	}
}

/* One wrong value is enough: the probe does not know this layout. */
TEST(an_unknown_3_11_has_no_profile_function)
{
	int words[] = { 2, -1, 0x7fffffff };

	setup();
	has_runtime = false;
	assert_false(breaker_begin());
	setup();
	runtime.interpreter = &other_state;
	assert_false(breaker_begin());
	setup();
	runtime.holder = &other_state;
	assert_false(breaker_begin());
	setup();
	runtime.is_held = 0;
	assert_false(breaker_begin());
	setup();
	main_state.ident++;
	assert_false(breaker_begin());
	setup();
	interpreter.limit = 1001;
	assert_false(breaker_begin());
	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++) {
		setup();
		interpreter.flag = words[i];
		assert_false(breaker_begin());
		setup();
		interpreter.drop = words[i];
		assert_false(breaker_begin());
	}
	setup();
	may_replace = false;
	assert_false(breaker_begin());
	assert_null(after_handler);
}

TEST_GROUP(NULL, NULL)
