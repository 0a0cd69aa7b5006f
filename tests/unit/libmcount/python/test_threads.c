/*
 * The probe listens to all threads of a simulated interpreter, which has lists of threads. Each
 * thread has a profile function.
 */
#include "libmcount/python/threads.h"

#include "libmcount/python/calls.h"
#include "libmcount/python/codes.h"
#include "libmcount/python/monitoring.h"
#include "libmcount/python/own_profile.h"
#include "tests/unit/lib/unit.h"

struct py_api py;
struct py_codes python_codes;

#define THREADS 8

/* @next: the next older thread of the same interpreter */
static struct played {
	unsigned interpreter;
	uint64_t id;
	py_profile *function;
	struct played *next;
	unsigned nr_set;
} threads[THREADS];

static struct {
	void *before;
	struct played *newest; /* its list of threads */
} interpreters[2];
static struct played *running;
static unsigned nr_errors;
static bool can_monitor;
static unsigned nr_joined;
static unsigned nr_looks;

static struct py_interpreter *interpreter(struct py_thread *t)
{
	return (struct py_interpreter *)&interpreters[((struct played *)t)->interpreter];
}

static struct py_thread *thread(void)
{
	return (struct py_thread *)running;
}

static struct py_thread *first_thread(struct py_interpreter *in)
{
	return ((struct py_thread **)in)[1];
}

static struct py_thread *next_thread(struct py_thread *t)
{
	return (struct py_thread *)((struct played *)t)->next;
}

static uint64_t thread_id(struct py_thread *t)
{
	return ((struct played *)t)->id;
}

/* The probe marks its own setting, so that audit events of it are told from the program's. */
static void profile(py_profile *fn, struct py_object *self)
{
	assert_true(python_threads.is_setting);
	running->function = fn;
	running->nr_set++;
}

static int profile_other(struct py_thread *t, py_profile *fn, struct py_object *self)
{
	struct played *other = (struct played *)t;

	assert_true(python_threads.is_setting);
	if (other->id == 99)
		return -1;
	other->function = fn;
	other->nr_set++;
	return 0;
}

static void error_clear(void)
{
	nr_errors++;
}

int calls_take_event(struct py_object *self, struct py_frame *frame, int event,
		     struct py_object *arg)
{
	return 0;
}

static int theirs(struct py_object *self, struct py_frame *frame, int event, struct py_object *arg)
{
	return 0;
}

bool monitoring_join(void)
{
	assert_true(python_threads.is_setting);
	nr_joined += can_monitor;
	return can_monitor;
}

bool own_profile_is_free(struct py_thread *t)
{
	return !((struct played *)t)->function;
}

void own_profile_begin(void)
{
	assert_ptr_equal(running->function, calls_take_event);
}

void own_profile_look(void)
{
	nr_looks++;
}

static struct played *make_thread(unsigned nr, unsigned in, uint64_t id)
{
	struct played *t = &threads[nr];

	*t = (struct played){ .interpreter = in, .id = id, .next = interpreters[in].newest };
	return interpreters[in].newest = t;
}

static void begin(bool monitors, uint64_t first_id)
{
	py.interpreter = interpreter;
	py.thread = thread;
	py.first_thread = first_thread;
	py.next_thread = next_thread;
	py.thread_id = thread_id;
	py.profile = profile;
	py.profile_other = profile_other;
	py.error_clear = error_clear;
	python_threads = (struct python_threads){ 0 };
	python_codes.layout.first_thread = 0;
	interpreters[0].newest = interpreters[1].newest = NULL;
	can_monitor = monitors;
	nr_errors = nr_joined = nr_looks = 0;
	running = make_thread(0, 0, first_id);
}

TEST(this_thread_and_those_that_are_there)
{
	begin(false, 1);
	make_thread(1, 0, 2);
	make_thread(2, 0, 3)->function = theirs;
	threads_begin();
	assert_ptr_equal(threads[0].function, calls_take_event);
	assert_ptr_equal(threads[1].function, calls_take_event);
	assert_ptr_equal(threads[2].function, theirs);
	assert_int_equal(python_threads.newest_id, 3);
	assert_false(python_threads.is_setting);
	assert_false(python_threads.is_monitored);
}

TEST(new_threads_get_it_once)
{
	begin(false, 1);
	threads_begin();
	threads_look();
	assert_int_equal(threads[0].nr_set, 1);
	make_thread(1, 0, 5);
	make_thread(2, 0, 6);
	threads_look();
	assert_ptr_equal(threads[1].function, calls_take_event);
	assert_ptr_equal(threads[2].function, calls_take_event);
	assert_int_equal(threads[0].nr_set, 1);
	/*
	 * A thread has removed the function. The probe sets it again only when that thread looks.
	 */
	threads[1].function = NULL;
	make_thread(3, 0, 7);
	threads_look();
	assert_ptr_equal(threads[3].function, calls_take_event);
	assert_null(threads[1].function);
	assert_int_equal(threads[1].nr_set, 1);
	assert_int_equal(python_threads.newest_id, 7);
}

TEST(a_thread_that_refuses_is_left)
{
	begin(false, 1);
	threads_begin();
	make_thread(1, 0, 99);
	make_thread(2, 0, 100);
	threads_look();
	assert_int_equal(nr_errors, 1);
	assert_null(threads[1].function);
	assert_ptr_equal(threads[2].function, calls_take_event);
}

/*
 * Threads are not changed when hooks of the program would see it. A thread of another interpreter
 * must not be changed, either.
 */
TEST(others_are_not_touched_where_that_is_seen)
{
	begin(false, 1);
	threads_begin();
	python_threads.has_hooks = true;
	make_thread(1, 0, 2);
	threads_look();
	assert_null(threads[1].function);
	assert_ptr_equal(python_threads.newest, &threads[1]);
	python_threads.has_hooks = false;
	running = make_thread(2, 1, 1);
	make_thread(3, 0, 3);
	threads_look();
	assert_null(threads[3].function);
}

TEST(a_thread_sees_itself_once)
{
	begin(false, 1);
	threads_begin();
	running = make_thread(1, 1, 2);
	threads_see_this();
	assert_ptr_equal(threads[1].function, calls_take_event);
	threads[1].function = NULL;
	threads_see_this();
	assert_null(threads[1].function);
	/* A thread with the same number in another interpreter is another thread. */
	running = make_thread(2, 0, 2);
	threads_see_this();
	assert_ptr_equal(threads[2].function, calls_take_event);
	running = make_thread(3, 0, 4);
	running->function = theirs;
	threads_see_this();
	threads_see_this();
	assert_int_equal(nr_looks, 1);
	assert_ptr_equal(threads[3].function, theirs);
	running = make_thread(4, 0, 5);
	python_threads.has_hooks = true;
	threads_see_this();
	assert_null(threads[4].function);
	running = NULL;
	threads_see_this();
}

TEST(with_monitoring_no_thread_has_a_function)
{
	begin(true, 1);
	make_thread(1, 0, 2);
	threads_begin();
	assert_true(python_threads.is_monitored);
	assert_null(threads[0].function);
	assert_null(threads[1].function);
	assert_int_equal(nr_joined, 1);
	/* Each interpreter has tools of its own. */
	running = make_thread(2, 1, 3);
	threads_see_this();
	threads_see_this();
	assert_int_equal(nr_joined, 2);
	running = make_thread(3, 0, 4);
	threads_see_this();
	assert_int_equal(nr_joined, 2);
	assert_null(threads[3].function);
}

/* The list of threads is read without a call, if it is where the layout says. */
TEST(new_threads_are_seen_without_a_call)
{
	begin(false, 1);
	threads_begin();
	assert_false(threads_are_known());
	begin(false, 1);
	python_codes.layout.first_thread = 1;
	threads_begin();
	assert_true(threads_are_known());
	make_thread(1, 0, 2);
	assert_false(threads_are_known());
	threads_look();
	assert_true(threads_are_known());
	begin(false, 1);
	interpreters[0].before = &threads[3];
	interpreters[1].before = &threads[3];
	python_codes.layout.first_thread = 2;
	threads_begin();
	assert_false(threads_are_known());
}
