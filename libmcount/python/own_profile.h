/* The program's own profile functions: they work as without the probe, and ours works, too. */
#ifndef UTRAIL_LIBMCOUNT_PYTHON_OWN_PROFILE_H
#define UTRAIL_LIBMCOUNT_PYTHON_OWN_PROFILE_H

#include <stdbool.h>

#include "libmcount/python/api.h"

/* With the GIL: true when no profile function is set in @t, or that is unknown. */
bool own_profile_is_free(struct py_thread *t);

/* COLD, with the GIL, once, as long as our own function is set in this thread. */
void own_profile_begin(void);

/*
 * COLD, with the GIL: the program may have set its function in this thread, or removed it. Ours is
 * called before it from here on.
 */
void own_profile_look(void);

#endif
