/* Python threads (see threads.h). */
#include "libmcount/python/threads.h"

#include "libmcount/python/calls.h"
#include "libmcount/python/codes.h"
#include "libmcount/python/monitoring.h"
#include "libmcount/python/own_profile.h"

struct python_threads python_threads;

/*
 * note_seen() stores the number and the interpreter of the Python thread that runs on this thread.
 * The number is 0 if this thread has not called note_seen() yet.
 */
static __thread uint64_t seen_id __attribute__((tls_model("initial-exec")));
static __thread struct py_interpreter *seen_in __attribute__((tls_model("initial-exec")));

static void note_seen(struct py_thread *t)
{
	seen_id = py.thread_id(t);
	seen_in = py.interpreter(t);
}

static bool join_monitoring(void)
{
	bool has_joined;

	python_threads.is_setting = true;
	has_joined = monitoring_join();
	python_threads.is_setting = false;
	return has_joined;
}

static void set_profile(py_profile *fn)
{
	python_threads.is_setting = true;
	py.profile(fn, NULL);
	python_threads.is_setting = false;
}

void threads_join_this(void)
{
	note_seen(py.thread());
	set_profile(calls_take_event);
}

void threads_see_this(void)
{
	struct py_thread *t = py.thread();

	if (!t || python_threads.has_hooks ||
	    (py.thread_id(t) == seen_id && py.interpreter(t) == seen_in))
		return;
	if (python_threads.is_monitored) {
		note_seen(t);
		if (seen_in != python_threads.main)
			join_monitoring();
	} else if (own_profile_is_free(t)) {
		threads_join_this();
	} else {
		note_seen(t);
		own_profile_look();
	}
}

/*
 * Finds the pointer to an interpreter's first thread, at the offset that the layout gives. The
 * pointer is used only if it leads to the thread that py.first_thread() returns.
 */
static void find_first(void)
{
	unsigned place = python_codes.layout.first_thread;
	struct py_thread *const *first = (struct py_thread *const *)python_threads.main + place;

	if (place && *first == py.first_thread(python_threads.main))
		python_threads.first = first;
}

void threads_begin(void)
{
	struct py_thread *t = py.thread();

	python_threads.main = py.interpreter(t);
	find_first();
	python_threads.is_monitored = join_monitoring();
	threads_join_this();
	own_profile_begin();
	/*
	 * With sys.monitoring, the profile function was set only so that own_profile_begin() could
	 * find the place where Python stores the profile function.
	 */
	if (python_threads.is_monitored)
		set_profile(NULL);
	else
		threads_join_new();
}

void threads_join_new(void)
{
	struct py_thread *newest = py.first_thread(python_threads.main);
	uint64_t highest = python_threads.newest_id;

	python_threads.newest = newest;
	if (python_threads.has_hooks || py.interpreter(py.thread()) != python_threads.main)
		return;
	python_threads.is_setting = true;
	for (struct py_thread *t = newest; t; t = py.next_thread(t)) {
		uint64_t id = py.thread_id(t);

		if (id <= python_threads.newest_id)
			continue;
		if (id > highest)
			highest = id;
		/* A thread that has a profile function of its own is left to threads_see_this(). */
		if (!own_profile_is_free(t))
			continue;
		if (py.profile_other(t, calls_take_event, NULL) < 0)
			py.error_clear();
	}
	python_threads.is_setting = false;
	python_threads.newest_id = highest;
}
