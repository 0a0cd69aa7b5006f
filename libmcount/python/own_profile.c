/*
 * The program's own profile functions (see own_profile.h). A thread has one profile function of C,
 * and one object for it; that of sys.setprofile() calls the object. We put ours in the place of the
 * function, leave the object, and call the program's function after ours.
 */
#include "libmcount/python/own_profile.h"

#include <string.h>

#include "libmcount/python/calls.h"
#include "libmcount/python/threads.h"
#include "utils/base/compiler.h"

/*
 * The place of the profile function in a thread's state, which differs between versions: found by
 * looking for ours. 0: it was not found
 */
static size_t profile_place;

#define STATE_BYTES 256

static py_profile **profile_of(struct py_thread *t)
{
	return (py_profile **)((char *)t + profile_place);
}

/*
 * Functions that come after ours, by the thread of Python's: this one of the system may run those
 * of several interpreters.
 *
 * @skips: the end of sys.setprofile() itself, which the program would not see without us
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

static int take_both(struct py_object *object, struct py_frame *frame, int event,
		     struct py_object *arg)
{
	struct after *b = after_of(py.thread());

	calls_take_event(object, frame, event, arg);
	if (!b || !b->function)
		return 0;
	if (b->skips && event != PY_C_CALL && event != PY_CALL) {
		b->skips = false;
		return 0;
	}
	return b->function(object, frame, event, arg);
}

static void put_ours_before(struct py_thread *t, py_profile *function, bool skips)
{
	struct after *b = after_of(t);

	if (!b)
		b = after_of(NULL);
	/* Too many interpreters: the program's goes first. */
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
	else
		threads_join_this();
}

/*
 * Calls of sys.setprofile() that this thread is in: the former object goes, which may run code of
 * its own, and that may set another one, in vain. Meanwhile nothing is set.
 */
static __thread unsigned nr_setting __attribute__((tls_model("initial-exec")));

void own_profile_look(void)
{
	if (!nr_setting)
		look_at_thread(/* skips= */ false);
}

/* --- sys.setprofile() --- */

static py_function *set_profile;

/* In its place. */
static struct py_object *set_and_look(struct py_object *self, struct py_object *arg)
{
	struct py_object *result;

	nr_setting++;
	result = set_profile(self, arg);
	nr_setting--;
	if (result && !nr_setting)
		look_at_thread(/* skips= */ true);
	return result;
}

/* It takes one argument. */
#define METH_O 8

static void replace_set_profile(void)
{
	struct py_object *o = py.sys_object("setprofile");
	struct py_method_def *def = o ? (struct py_method_def *)((struct py_c_function *)o)->def
				      : NULL;

	if (!def || set_profile || def->flags != METH_O || strcmp(def->name, "setprofile") != 0)
		return;
	set_profile = def->function;
	def->function = set_and_look;
}

void own_profile_begin(void)
{
	char *state = (char *)py.thread();

	for (size_t at = 0; at < STATE_BYTES && !profile_place; at += sizeof(void *)) {
		if (*(py_profile **)(state + at) == calls_take_event)
			profile_place = at;
	}
	if (profile_place)
		replace_set_profile();
}
