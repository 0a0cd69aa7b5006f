/* Calls of Python functions: the interpreter's events, and the frames made of them. */
#ifndef UTRAIL_LIBMCOUNT_PYTHON_CALLS_H
#define UTRAIL_LIBMCOUNT_PYTHON_CALLS_H

#include "libmcount/python/api.h"

/* COLD, with the GIL, once: make a place for us in code objects. False: there is none. */
bool calls_begin(void);

/* HOT, with the GIL: the interpreter's profile function of all threads. Always 0. */
int calls_take_event(struct py_object *self, struct py_frame *frame, int event,
		     struct py_object *arg);

/*
 * HOT, with the GIL: the same of sys.monitoring. A call of @code, which is about to run, or goes
 * on; that ends, or is interrupted: with what it returns or yields, or NULL.
 */
void calls_begin_code(struct py_object *code);
void calls_end_code(struct py_object *code, struct py_object *result);

/* HOT, with the GIL: of a function in C; and that ends. */
void calls_begin_native(const struct py_c_function *fn);
void calls_end_native(const struct py_method_def *def);

#endif
