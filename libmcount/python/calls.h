/* Calls of Python's functions: what the interpreter tells, and the frames made of it. */
#ifndef UTRAIL_LIBMCOUNT_PYTHON_CALLS_H
#define UTRAIL_LIBMCOUNT_PYTHON_CALLS_H

#include "libmcount/python/api.h"

/* COLD, with the GIL, once: make a place for us in code objects. False: there is none. */
bool calls_begin(void);

/* HOT, with the GIL: the interpreter's profile function of all threads. Always 0. */
int calls_take_event(struct py_object *self, struct py_frame *frame, int event,
		     struct py_object *arg);

#endif
