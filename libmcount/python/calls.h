/* Calls of Python functions: the interpreter's events, and the frames made of them. */
#ifndef UTRAIL_LIBMCOUNT_PYTHON_CALLS_H
#define UTRAIL_LIBMCOUNT_PYTHON_CALLS_H

#include <stdbool.h>

#include "libmcount/python/api.h"

/* COLD, with the GIL, once: make a place for us in code objects. False: there is none. */
bool calls_begin(void);

/* HOT, with the GIL: the interpreter's profile function of all threads. Always 0. */
int calls_take_event(struct py_object *self, struct py_frame *frame, int event,
		     struct py_object *arg);

/*
 * With the GIL: events of sys.monitoring, except the common cases (calls_fast.h).
 * calls_begin_code(): a call of @code is about to run, or to go on. calls_end_code(): it ends, or
 * is interrupted, with the object that it returns or yields, or NULL. False: this place in the code
 * need not tell of its calls any more.
 */
bool calls_begin_code(struct py_object *code);
bool calls_end_code(struct py_object *code, struct py_object *result);

/* With the GIL: @code calls a function in C; and that function ends. */
bool calls_begin_native(const struct py_c_function *fn, struct py_object *code);
void calls_end_native(const struct py_method_def *def, struct py_object *code);

/* With the GIL: clear the guard, which the fast path of an event has left set. */
void calls_unguard(void);

#endif
