/* Finds and stops a thread that can safely call functions of the C library for the recorder. */
#ifndef UTRAIL_CMDS_RECORD_ATTACH_CALLABLE_THREAD_H
#define UTRAIL_CMDS_RECORD_ATTACH_CALLABLE_THREAD_H

#include "cmds/record/attach/maps.h"
#include "cmds/record/attach/attached.h"

/*
 * Stop a thread that can call dlopen(3) without a deadlock. Such a thread waits for an event, or
 * runs code that is neither in the C library, nor in the dynamic linker, nor in a module with an
 * allocator. Returns 0, -EBUSY after some seconds without success, or another negative errno.
 *
 * @thread: gets the stopped thread, or NULL when no thread is stopped. The thread belongs to @w
 */
int callable_thread_stop(struct attached *w, const struct maps *maps,
			 struct attached_thread **thread, struct uft_err *err);

/* True when a signal handler of the stopped thread has interrupted code in [@start, @end). */
bool callable_thread_has_interrupted(const struct attached *w, const struct maps *maps,
				     const struct attached_thread *t, uint64_t start, uint64_t end);

/*
 * The prefixes of the file names of C libraries, of thread libraries (before glibc 2.34), of
 * dynamic linkers and of the probe.
 */
#define CALLABLE_THREAD_PROBE "libmcount.so"
extern const char *const callable_thread_probe_names[];
extern const char *const callable_thread_libc_names[];
extern const char *const callable_thread_threads_names[];
extern const char *const callable_thread_linker_names[];

#endif
