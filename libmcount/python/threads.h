/* Makes Python threads report their calls to the probe. */
#ifndef UTRAIL_LIBMCOUNT_PYTHON_THREADS_H
#define UTRAIL_LIBMCOUNT_PYTHON_THREADS_H

#include "libmcount/python/api.h"
#include "utils/base/compiler.h"

/*
 * @main: the interpreter that began first. Other interpreters may begin and end
 * @newest: the thread that threads_join_new() found at the head of the thread list of @main
 * @newest_id: the highest number of a thread that threads_join_new() has found. Python gives a
 *             higher number to each new thread
 * @has_hooks: the program has audit hooks, which run when a profile function is set. If true, the
 *             probe sets no further profile functions
 * @is_monitored: sys.monitoring reports the calls, and the probe sets no profile functions
 * @is_setting: the probe is setting a profile function, or is registering as a tool of
 *              sys.monitoring
 * @first: the place in @main at which Python stores a pointer to the first thread of @main. NULL:
 *         the place is unknown
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
 * COLD, with the GIL. Called once. Makes the threads of the calling thread's interpreter report
 * their calls: the threads that the interpreter has now, and the threads that begin later.
 */
void threads_begin(void);

/*
 * COLD, with the GIL. The two functions act on the calling thread. threads_join_this() makes this
 * thread report its calls. threads_see_this() does the same if the probe has not seen this thread
 * before. With @has_hooks, or if the probe has already seen this thread, threads_see_this() does
 * nothing.
 */
void threads_join_this(void);
void threads_see_this(void);

/*
 * COLD, with the GIL. Sets the probe's profile function for each new thread of the interpreter
 * @main. The thread then reports its calls. A thread with a profile function of its own is left
 * out. With @has_hooks, or if the calling thread belongs to another interpreter, no profile
 * function is set.
 */
void threads_join_new(void);

/* HOT, with the GIL. Calls no function. True when the interpreter @main has no new thread. */
static inline bool threads_are_known(void)
{
	return python_threads.first && *python_threads.first == python_threads.newest;
}

/*
 * Called with the GIL, at the return from a function that may have started a thread. Makes new
 * threads report their calls. At this moment, a new thread has not run Python code, so no call of
 * the new thread is missed.
 */
static inline void threads_look(void)
{
	if (unlikely(py.first_thread(python_threads.main) != python_threads.newest))
		threads_join_new();
}

#endif
