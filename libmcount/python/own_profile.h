/* The program's own profile functions. The probe's profile function calls them. */
#ifndef UTRAIL_LIBMCOUNT_PYTHON_OWN_PROFILE_H
#define UTRAIL_LIBMCOUNT_PYTHON_OWN_PROFILE_H

#include <stdbool.h>

#include "libmcount/python/api.h"

/* With the GIL: true when no profile function is set in @t, or when the probe cannot find out. */
bool own_profile_is_free(struct py_thread *t);

/*
 * COLD, with the GIL. Called once, while the probe's profile function is set in this thread. After
 * this call, the probe notices when the program sets a profile function.
 */
void own_profile_begin(void);

/*
 * COLD, with the GIL. Called when the program may have set or removed its own profile function in
 * this thread. Tries to set the probe's profile function, which calls the program's function, if
 * any.
 */
void own_profile_look(void);

#endif
