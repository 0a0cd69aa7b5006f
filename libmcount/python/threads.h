/* Makes the probe listen to Python threads. */
#ifndef UTRAIL_LIBMCOUNT_PYTHON_THREADS_H
#define UTRAIL_LIBMCOUNT_PYTHON_THREADS_H

#include "libmcount/python/api.h"
#include "utils/base/compiler.h"

/*
 * @main: the interpreter that began first; others come and go
 * @newest: the first thread of the list of @main at the last look
 * @newest_id: the highest number of a thread that threads_join_new() has met; numbers only grow
 * @has_hooks: the program has audit hooks, which run when a profile function is set. So the probe
 *             sets no more profile functions
 * @is_monitored: the probe listens by sys.monitoring, and sets no profile functions
 * @is_setting: the probe is setting a profile function or a tool
 * @first: points to the pointer to the first thread in @main; NULL: it is not known
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

/* COLD, with the GIL, once. Listens to all threads of this interpreter, and to later ones. */
void threads_begin(void);

/* COLD, with the GIL: listen to this thread. threads_see_this() does so once for a thread. */
void threads_join_this(void);
void threads_see_this(void);

/* COLD, with the GIL: listen to new threads of the main interpreter. */
void threads_join_new(void);

/* HOT, with the GIL. Calls no function. True when the interpreter @main has no new thread. */
static inline bool threads_are_known(void)
{
	return python_threads.first && *python_threads.first == python_threads.newest;
}

/*
 * With the GIL, at the end of a function that may have made a thread: listen to new threads. No
 * call is missed, since a thread that Python has just made has not run yet.
 */
static inline void threads_look(void)
{
	if (unlikely(py.first_thread(python_threads.main) != python_threads.newest))
		threads_join_new();
}

#endif
