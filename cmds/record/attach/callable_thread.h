/* Finds a thread of a process that can be made to call functions of its C library now. */
#ifndef UTRAIL_CMDS_RECORD_ATTACH_CALLABLE_THREAD_H
#define UTRAIL_CMDS_RECORD_ATTACH_CALLABLE_THREAD_H

#include "cmds/record/attach/maps.h"
#include "cmds/record/attach/attached.h"

/*
 * Stop a thread that can call dlopen(3) without a deadlock: one that waits for an event, or runs
 * code outside of the C library, the dynamic linker and other allocators. Returns -EBUSY after some
 * seconds without success.
 *
 * @thread: belongs to @w; NULL when none is stopped
 */
int callable_thread_stop(struct attached *w, const struct maps *maps,
			 struct attached_thread **thread, struct uft_err *err);

/*
 * True when a signal handler of the stopped thread has interrupted code at an address in [@start,
 * @end).
 */
bool callable_thread_has_interrupted(const struct attached *w, const struct maps *maps,
				     const struct attached_thread *t, uint64_t start, uint64_t end);

/* The beginnings of the file names of C libraries, of dynamic linkers and of the probe. */
#define CALLABLE_THREAD_PROBE "libmcount.so"
extern const char *const callable_thread_probe_names[];
extern const char *const callable_thread_libc_names[];
extern const char *const callable_thread_linker_names[];

#endif
