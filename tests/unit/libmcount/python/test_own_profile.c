/*
 * Profile functions of the program get the same events as without the probe, and the probe gets all
 * events. The interpreter is simulated: each thread has one profile function, and one object for
 * it.
 */
#include "libmcount/python/own_profile.h"

#include <string.h>

#include "libmcount/python/calls.h"
#include "libmcount/python/threads.h"
#include "tests/unit/lib/unit.h"

#define PLACE	10 /* place of the profile function in a thread's state, in words */
#define THREADS 6

struct py_api py;
struct python_threads python_threads;

static void *states[THREADS][40];
static unsigned current;

static unsigned nr_ours, nr_theirs;
static struct py_object *their_object;

static struct py_object object, other;
static struct py_method_def setprofile_def, all_def;
static struct py_c_function setprofile, all_threads;

static struct py_thread *thread(void)
{
	return (struct py_thread *)states[current];
}

static void *function(void)
{
	return states[current][PLACE];
}

int calls_take_event(struct py_object *self, struct py_frame *frame, int event,
		     struct py_object *arg)
{
	nr_ours++;
	return 0;
}

void threads_join_this(void)
{
	states[current][PLACE] = calls_take_event;
}

static int theirs(struct py_object *self, struct py_frame *frame, int event, struct py_object *arg)
{
	nr_theirs++;
	their_object = self;
	return -7;
}

static int theirs_too(struct py_object *self, struct py_frame *frame, int event,
		      struct py_object *arg)
{
	return theirs(self, frame, event, arg);
}

/* The interpreter's sys.setprofile(). */
static py_profile *wanted;
static bool fails, looks;

static struct py_object *set(struct py_object *self, struct py_object *arg)
{
	if (fails)
		return NULL;
	states[current][PLACE] = wanted;
	if (looks) {
		own_profile_look();
		assert_ptr_equal(function(), wanted);
	}
	return &object;
}

static struct py_object *sys_object(const char *name)
{
	if (strcmp(name, "setprofile") == 0)
		return (struct py_object *)&setprofile;
	return strcmp(name, "_setprofileallthreads") == 0 ? (struct py_object *)&all_threads : NULL;
}

/*
 * The program calls sys.setprofile(). The interpreter then tells the end of this call to the
 * profile function, if there is one.
 */
static struct py_object *program_sets(py_profile *fn)
{
	struct py_object *result;
	py_profile *now;

	wanted = fn;
	result = setprofile_def.function(NULL, &object);
	now = (py_profile *)function();
	if (now)
		now(&other, NULL, PY_C_RETURN, (struct py_object *)&setprofile);
	return result;
}

/* Send an event of the program. Returns the result that the interpreter gets. */
static int tell(void)
{
	struct py_c_function any = { .def = &(struct py_method_def){ .name = "any" } };
	py_profile *now = (py_profile *)function();

	return now(&other, NULL, PY_C_RETURN, (struct py_object *)&any);
}

static int setup(void **state)
{
	memset(states, 0, sizeof(states));
	current = 0;
	py.thread = thread;
	py.sys_object = sys_object;
	setprofile_def = (struct py_method_def){ "setprofile", set, 8, NULL };
	all_def = (struct py_method_def){ "_setprofileallthreads", set, 8, NULL };
	setprofile.def = &setprofile_def;
	all_threads.def = &all_def;
	/* Another word of the state must not be taken for the profile function. */
	states[0][PLACE] = calls_take_event;
	states[0][3] = theirs;
	own_profile_begin();
	assert_ptr_not_equal(setprofile_def.function, set);
	return 0;
}

static void begin(void)
{
	nr_ours = nr_theirs = 0;
	fails = false;
	python_threads = (struct python_threads){ 0 };
	states[current][PLACE] = calls_take_event;
}

TEST(both_get_all_events)
{
	begin();
	assert_ptr_equal(program_sets(theirs), &object);
	/* The program's new function does not get the end of sys.setprofile() itself. */
	assert_int_equal(nr_theirs, 0);
	assert_int_equal(tell(), -7);
	assert_int_equal(nr_theirs, 1);
	assert_ptr_equal(their_object, &other);
	assert_int_equal(nr_ours, 2);

	/*
	 * A second function replaces the first one, and gets the end of sys.setprofile(), as it
	 * does without the probe.
	 */
	program_sets(theirs_too);
	assert_int_equal(nr_theirs, 2);
	tell();
	assert_int_equal(nr_theirs, 3);

	program_sets(NULL);
	assert_ptr_equal(function(), calls_take_event);
	assert_int_equal(tell(), 0);
	assert_int_equal(nr_theirs, 3);
}

TEST(the_next_event_is_theirs_if_it_is_another)
{
	begin();
	wanted = theirs;
	setprofile_def.function(NULL, &object);
	assert_int_equal(tell(), -7);
	assert_int_equal(nr_theirs, 1);
}

TEST(a_setter_that_fails_changes_nothing)
{
	begin();
	fails = true;
	assert_null(program_sets(theirs));
	assert_ptr_equal(function(), calls_take_event);
	assert_int_equal(nr_theirs, 0);
}

/*
 * cProfile sets its function in C, without sys.setprofile(). So the probe finds the function only
 * when it looks at the threads.
 */
TEST(a_function_that_c_code_has_set)
{
	begin();
	states[0][PLACE] = theirs;
	own_profile_look();
	assert_int_equal(tell(), -7);
	assert_int_equal(nr_ours, 1);
	assert_int_equal(nr_theirs, 1);
	own_profile_look();
	tell();
	assert_int_equal(nr_theirs, 2);
	states[0][PLACE] = NULL;
	own_profile_look();
	assert_ptr_equal(function(), calls_take_event);
}

/* The probe sets no function, since audit hooks of the program would see that. */
TEST(with_hooks_of_the_program_none_is_set)
{
	begin();
	states[0][PLACE] = NULL;
	python_threads.has_hooks = true;
	own_profile_look();
	assert_null(function());
}

/* Code that runs while a function is being set may make the probe look at the threads. */
TEST(nothing_is_set_while_one_is_being_set)
{
	begin();
	looks = true;
	program_sets(theirs);
	looks = false;
	tell();
	assert_int_equal(nr_theirs, 1);
	assert_int_equal(nr_ours, 2);
	program_sets(NULL);
}

TEST(each_thread_has_its_own)
{
	begin();
	for (current = 0; current < THREADS; current++) {
		states[current][PLACE] = NULL;
		assert_true(own_profile_is_free(thread()));
		states[current][PLACE] = theirs;
		assert_false(own_profile_is_free(thread()));
		own_profile_look();
		nr_ours = nr_theirs = 0;
		tell();
		assert_int_equal(nr_theirs, 1);
		/*
		 * The probe's function can run before those of four Python threads. In a fifth
		 * thread, the program's function runs alone.
		 */
		assert_int_equal(nr_ours, current < 4);
	}
	current = 0;
}

/*
 * With sys.monitoring the probe needs no profile function. It only hides the end of
 * sys.setprofile() from the program's function.
 */
TEST(with_monitoring_only_the_end_of_setting_is_hidden)
{
	begin();
	python_threads.is_monitored = true;
	states[0][PLACE] = NULL;
	program_sets(theirs);
	assert_int_equal(nr_theirs, 0);
	assert_ptr_equal(function(), theirs);
	tell();
	assert_int_equal(nr_theirs, 1);
	assert_int_equal(nr_ours, 0);
	program_sets(theirs_too);
	assert_int_equal(nr_theirs, 2);
	program_sets(NULL);
	assert_null(function());
	/* If another event comes next, the program's function gets it. */
	wanted = theirs;
	setprofile_def.function(NULL, &object);
	assert_int_equal(tell(), -7);
	assert_int_equal(nr_theirs, 3);
	assert_ptr_equal(function(), theirs);
}

TEST_GROUP(setup, NULL)
