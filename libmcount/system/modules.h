/* Reports the modules of the process to the recorder. */
#ifndef UTRAIL_LIBMCOUNT_MODULES_H
#define UTRAIL_LIBMCOUNT_MODULES_H

#include <stdbool.h>
#include <stdint.h>

#include "libmcount/system/channel.h"

/*
 * COLD. Sends a MODULE packet for each module that was not reported yet. Returns false on failure.
 */
bool modules_report_all(struct channel *ch);

/* COLD. Report new modules after a dlopen() that began at @begin_ns. */
void modules_after_dlopen(uint64_t begin_ns);

/* COLD. Free the list of reported modules. */
void modules_drop(void);

/* COLD, in a forked child. Reinitializes module_lock (module_lock.h) and plans.lock (plans.c). */
void modules_after_fork(void);

/*
 * COLD. Called at the start and after each dlopen. Looks for a Python interpreter. Returns true
 * when this call has found an interpreter. This function is defined in libmcount/python.
 */
bool modules_look_for_python(void);

#endif
