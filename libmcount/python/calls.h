/* Makes frames from the calls that the interpreter reports. */
#ifndef UTRAIL_LIBMCOUNT_PYTHON_CALLS_H
#define UTRAIL_LIBMCOUNT_PYTHON_CALLS_H

#include <stdbool.h>

#include "libmcount/python/api.h"

/*
 * COLD, with the GIL, once. Prepares for reading values, and calls codes_begin(). Returns what
 * codes_begin() returns.
 */
bool calls_begin(void);

/* HOT, with the GIL: the profile function of all threads. Always returns 0. */
int calls_take_event(struct py_object *self, struct py_frame *frame, int event,
		     struct py_object *arg);

/*
 * Called with the GIL, for events of sys.monitoring that calls_fast.h does not handle.
 * calls_begin_code(): a call of @code begins or goes on. calls_end_code(): a call of @code ends or
 * yields. Both return false if the interpreter need not report this event again for the same
 * instruction of @code.
 *
 * @result: the returned or yielded object, or NULL
 */
bool calls_begin_code(struct py_object *code);
bool calls_end_code(struct py_object *code, struct py_object *result);

/*
 * Called with the GIL, when @code calls a function in C, and when this call has ended.
 * calls_begin_native() returns false if the interpreter need not report events at this place of
 * @code again.
 */
bool calls_begin_native(const struct py_c_function *fn, struct py_object *code);
void calls_end_native(const struct py_method_def *def, struct py_object *code);

/*
 * Clears the thread's guard (hot/guard.h). Call this function with the GIL, if the fast path of an
 * event has returned FAST_GUARDED or FAST_ASIDE (calls_fast.h).
 */
void calls_unguard(void);

#endif
