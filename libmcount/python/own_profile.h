/* The program's own profile functions: they go on as without us, and so do we. */
#ifndef UTRAIL_LIBMCOUNT_PYTHON_OWN_PROFILE_H
#define UTRAIL_LIBMCOUNT_PYTHON_OWN_PROFILE_H

/* COLD, with the GIL, once, after our own function was set in this thread. */
void own_profile_begin(void);

/*
 * COLD, with the GIL: the program may have set its function in this thread, or taken it out. Ours
 * is in front of it from here on.
 */
void own_profile_look(void);

#endif
