/* Makes Python threads report their calls to the probe. */
#ifndef UTRAIL_LIBMCOUNT_PYTHON_THREADS_H
#define UTRAIL_LIBMCOUNT_PYTHON_THREADS_H

#include "libmcount/python/api.h"
#include "utils/base/compiler.h"

/*
 * @main: the interpreter that began first. Other interpreters may begin and end
 * @newest: the thread that threads_join_new() found at the head of the list of @main
 * @newest_id: the highest number of a thread that threads_join_new() has found. Python gives a
 *             higher number to each new thread
 * @has_hooks: the program has audit hooks, which run when a profile function is set. If true, the
 *             probe sets no further profile functions
 * @is_monitored: sys.monitoring reports the calls, and the probe sets no profile functions
 * @is_setting: the probe is setting a profile function or a tool
 * @first: the address of the pointer to the first thread in @main; NULL: the address is unknown
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

/*
 * COLD, with the GIL, once. All threads of this interpreter, present and future, then report their
 * calls.
 */
void threads_begin(void);

/*
 * COLD, with the GIL. threads_join_this() makes this thread report its calls. threads_see_this()
 * has the same effect for a thread that the probe sees for the first time, and no effect otherwise.
 */
void threads_join_this(void);
void threads_see_this(void);

/* COLD, with the GIL: make new threads of the main interpreter report their calls. */
void threads_join_new(void);

/* HOT, with the GIL. Calls no function. True when the interpreter @main has no new thread. */
static inline bool threads_are_known(void)
{
	return python_threads.first && *python_threads.first == python_threads.newest;
}

/*
 * Called with the GIL, at the end of a function that may have made a thread. Makes new threads
 * report their calls. No call is missed, because a new thread has not run Python code at this time.
 */
static inline void threads_look(void)
{
	if (unlikely(py.first_thread(python_threads.main) != python_threads.newest))
		threads_join_new();
}

#endif
