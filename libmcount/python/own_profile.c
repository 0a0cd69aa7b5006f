/*
 * The program's own profile functions (own_profile.h). In each thread, Python calls one C function
 * for profile events, and passes one object to that function. The probe replaces the C function,
 * but not the object. The probe's function calls the program's function after its own work.
 */
#include "libmcount/python/own_profile.h"

#include <string.h>

#include "libmcount/python/calls.h"
#include "libmcount/python/threads.h"
#include "utils/base/compiler.h"

/*
 * The offset of the profile function in a thread's state. The offset differs between versions of
 * Python, so the probe searches the state for the address of the probe's own function. 0: the
 * search has found nothing
 */
static size_t profile_place;

#define STATE_BYTES 256

static py_profile **profile_of(struct py_thread *t)
{
	return (py_profile **)((char *)t + profile_place);
}

bool own_profile_is_free(struct py_thread *t)
{
	return !profile_place || !*profile_of(t);
}

/*
 * The profile function that the program has set in one Python thread. A system thread may run
 * several Python threads, one for each interpreter. So each system thread has an array, after[],
 * with room for AFTER_MAX Python threads.
 *
 * @skips: @function must not get the next event if this event is the return of sys.setprofile().
 *         The program does not expect this event
 */
#define AFTER_MAX 4

struct after {
	struct py_thread *thread;
	py_profile *function;
	bool skips;
};

static __thread struct after after[AFTER_MAX] __attribute__((tls_model("initial-exec")));

static struct after *after_of(struct py_thread *t)
{
	for (size_t i = 0; i < AFTER_MAX; i++) {
		if (after[i].thread == t)
			return &after[i];
	}
	return NULL;
}

static bool ends_setting(int event, const struct py_object *arg);

static int take_both(struct py_object *object, struct py_frame *frame, int event,
		     struct py_object *arg)
{
	struct after *b = after_of(py.thread());

	calls_take_event(object, frame, event, arg);
	if (!b || !b->function)
		return 0;
	if (unlikely(b->skips)) {
		b->skips = false;
		if (ends_setting(event, arg))
			return 0;
	}
	return b->function(object, frame, event, arg);
}

static void put_ours_before(struct py_thread *t, py_profile *function, bool skips)
{
	struct after *b = after_of(t);

	if (!b)
		b = after_of(NULL);
	/*
	 * Other interpreters may have taken all of after[]. In this interpreter, the program's
	 * profile function then runs without the probe's function.
	 */
	if (!b)
		return;
	*b = (struct after){ t, function, skips };
	*profile_of(t) = take_both;
}

static void look_at_thread(bool skips)
{
	struct py_thread *t = py.thread();
	py_profile *now = profile_place ? *profile_of(t) : NULL;
	struct after *b = after_of(t);

	if (!profile_place || now == calls_take_event || now == take_both)
		return;
	if (b)
		*b = (struct after){ NULL };
	if (now)
		put_ours_before(t, now, skips);
	else if (!python_threads.has_hooks)
		threads_join_this();
}

/*
 * The number of calls of sys.setprofile() that this thread is in. Such a call may run code of the
 * program. While the number is not 0, the probe sets no profile function.
 */
static __thread unsigned nr_setting __attribute__((tls_model("initial-exec")));

void own_profile_look(void)
{
	if (!nr_setting)
		look_at_thread(/* skips= */ false);
}

/* --- sys.setprofile() --- */

/*
 * The probe's versions of the functions of sys that set a profile function. Each takes one argument
 * (METH_O). Python has sys._setprofileallthreads() since 3.12.
 */
static py_function set_one_and_look, set_all_and_look;

static struct setter {
	const char *name;
	py_function *ours;
	py_function *own;
} setters[] = {
	{ "setprofile", set_one_and_look, NULL },
	{ "_setprofileallthreads", set_all_and_look, NULL },
};

static bool ends_setting(int event, const struct py_object *arg)
{
	const struct py_c_function *fn = (const struct py_c_function *)arg;

	return event == PY_C_RETURN &&
	       (fn->def->function == set_one_and_look || fn->def->function == set_all_and_look);
}

/*
 * True when the program has set a profile function. If a call of sys.setprofile() replaces this
 * function, the program expects that the new function gets the return of that call as an event.
 */
static bool has_own(void)
{
	py_profile *now = *profile_of(py.thread());

	return now && now != calls_take_event;
}

/*
 * The program's profile function, while skip_end() stands in its place. At the next event,
 * skip_end() puts the program's function back. If this event is the end of sys.setprofile(), the
 * program's function does not get the event.
 */
static __thread py_profile *skipping __attribute__((tls_model("initial-exec")));

static int skip_end(struct py_object *object, struct py_frame *frame, int event,
		    struct py_object *arg)
{
	py_profile **place = profile_of(py.thread());

	if (*place == skip_end)
		*place = skipping;
	return ends_setting(event, arg) ? 0 : skipping(object, frame, event, arg);
}

static void skip_next_end(void)
{
	py_profile **place = profile_of(py.thread());

	if (!*place || *place == skip_end)
		return;
	skipping = *place;
	*place = skip_end;
}

static void look_after_setting(bool replaces)
{
	if (!python_threads.is_monitored)
		look_at_thread(/* skips= */ !replaces);
	else if (!replaces)
		skip_next_end();
}

static struct py_object *set_and_look(py_function *set, struct py_object *self,
				      struct py_object *arg)
{
	bool replaces = has_own();
	struct py_object *result;

	nr_setting++;
	result = set(self, arg);
	nr_setting--;
	if (result && !nr_setting)
		look_after_setting(replaces);
	return result;
}

static struct py_object *set_one_and_look(struct py_object *self, struct py_object *arg)
{
	return set_and_look(setters[0].own, self, arg);
}

static struct py_object *set_all_and_look(struct py_object *self, struct py_object *arg)
{
	return set_and_look(setters[1].own, self, arg);
}

static void replace_setter(struct setter *s)
{
	struct py_object *o = py.sys_object(s->name);
	struct py_method_def *def = o ? (struct py_method_def *)((struct py_c_function *)o)->def
				      : NULL;

	if (!def || s->own || def->flags != METH_O || strcmp(def->name, s->name) != 0)
		return;
	s->own = def->function;
	def->function = s->ours;
}

static void find_place(void)
{
	char *state = (char *)py.thread();

	for (size_t at = 0; at < STATE_BYTES && !profile_place; at += sizeof(void *)) {
		if (*(py_profile **)(state + at) == calls_take_event)
			profile_place = at;
	}
}

void own_profile_begin(void)
{
	find_place();
	for (size_t i = 0; profile_place && i < ARRAY_SIZE(setters); i++)
		replace_setter(&setters[i]);
}
