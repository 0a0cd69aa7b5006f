/* Threads of Python's that are not listened to yet. */
#ifndef UTRAIL_LIBMCOUNT_PYTHON_THREADS_H
#define UTRAIL_LIBMCOUNT_PYTHON_THREADS_H

#include "libmcount/python/api.h"
#include "utils/base/compiler.h"

/*
 * @main: the interpreter that began first; others come and go
 * @newest: its latest known thread, which is the first of its list
 * @newest_id: the highest number of a thread that is listened to. Numbers only grow.
 * @has_hooks: the program has audit hooks of its own. They run when a profile function is set: they
 *             may print that, forbid it, or let other threads run, and end. So none is set any more
 * @is_monitored: there is sys.monitoring: then nothing else is set
 * @is_setting: a profile function is set by us, and not by the program
 * @first: the place of the first thread in the list of @main; NULL: it is not known
 */
struct python_threads {
	struct py_interpreter *main;
	struct py_thread *newest;
	uint64_t newest_id;
	bool has_hooks;
	bool is_monitored;
	bool is_setting;
	struct py_thread *const *first;
};

extern struct python_threads python_threads;

/* COLD, with the GIL, once: listen to this thread, and to later ones. */
void threads_begin(void);

/*
 * COLD, with the GIL: listen to this thread from now on; the second only if it is not listened to
 * yet.
 */
void threads_join_this(void);
void threads_see_this(void);

/* COLD, with the GIL: listen to new threads of the main interpreter. */
void threads_join_new(void);

/* HOT, with the GIL, and without a call: @main has no new thread. False: it may have one. */
static inline bool threads_are_known(void)
{
	return python_threads.first && *python_threads.first == python_threads.newest;
}

/*
 * With the GIL, at the end of a function that may have made a thread. The thread has not run yet,
 * if Python has made it.
 */
static inline void threads_look(void)
{
	if (unlikely(py.first_thread(python_threads.main) != python_threads.newest))
		threads_join_new();
}

#endif
