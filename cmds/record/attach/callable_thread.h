/* Finds a thread of a process that can now be made to call functions of its C library. */
#ifndef UTRAIL_CMDS_RECORD_ATTACH_CALLABLE_THREAD_H
#define UTRAIL_CMDS_RECORD_ATTACH_CALLABLE_THREAD_H

#include "cmds/record/attach/maps.h"
#include "cmds/record/attach/attached.h"

/*
 * Stop a thread that a call of dlopen(3) cannot disturb. It waits in the kernel for something to
 * come, or runs code that is neither the C library's, nor the dynamic linker's, nor another
 * allocator's. All other threads run. When after some seconds there was none at any look, -EBUSY.
 * @thread belongs to @w; NULL when none is stopped.
 */
int callable_thread_stop(struct attached *w, const struct maps *maps,
			 struct attached_thread **thread, struct uft_err *err);

/* A signal handler of the stopped thread has interrupted code at an address in [@start, @end). */
bool callable_thread_has_interrupted(const struct attached *w, const struct maps *maps,
				     const struct attached_thread *t, uint64_t start, uint64_t end);

/* The names that the files of C libraries, of dynamic linkers and of the probe begin with. */
#define CALLABLE_THREAD_PROBE "libmcount.so"
extern const char *const callable_thread_probe_names[];
extern const char *const callable_thread_libc_names[];
extern const char *const callable_thread_linker_names[];

#endif
