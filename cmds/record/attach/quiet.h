/* Finds a thread of a process that can now be made to call functions of its C library. */
#ifndef UTRAIL_CMDS_RECORD_ATTACH_QUIET_H
#define UTRAIL_CMDS_RECORD_ATTACH_QUIET_H

#include "cmds/record/attach/maps.h"
#include "cmds/record/attach/world.h"

/*
 * Stop a thread that a call of dlopen(3) cannot disturb. It waits in the kernel for something to
 * come, or runs code that is neither the C library's, nor the dynamic linker's, nor another
 * allocator's. All other threads run. When after some seconds there was none at any look, -EBUSY.
 * @thread belongs to @w; NULL when none is stopped.
 */
int quiet_stop(struct world *w, const struct maps *maps, struct world_thread **thread,
	       struct uft_err *err);

/* A signal handler of the stopped thread has interrupted code at an address in [@start, @end). */
bool quiet_has_interrupted(const struct world *w, const struct maps *maps,
			   const struct world_thread *t, uint64_t start, uint64_t end);

/* The names that the files of C libraries, of dynamic linkers and of the probe begin with. */
#define QUIET_PROBE "libmcount.so"
extern const char *const quiet_probe_names[];
extern const char *const quiet_libc_names[];
extern const char *const quiet_linker_names[];

#endif
