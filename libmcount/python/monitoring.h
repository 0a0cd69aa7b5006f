/* Calls that sys.monitoring (PEP 669) reports. Python has this module from 3.12 on. */
#ifndef UTRAIL_LIBMCOUNT_PYTHON_MONITORING_H
#define UTRAIL_LIBMCOUNT_PYTHON_MONITORING_H

#include <stdbool.h>

#include "libmcount/python/api.h"

/*
 * COLD, with the GIL. Listens to all calls in all threads of this interpreter. When the probe
 * registers its callbacks, Python calls the audit hooks of the program. Returns true when the probe
 * has begun to listen, or was already listening before the call.
 *
 * Returns false without sys.monitoring, or when the tool numbers 3 and 4 are both taken. Python's
 * documentation names no use for these two numbers. Returns false when the interpreter lacks a
 * function, type or constant that the probe needs, or when the interpreter refuses the callbacks.
 */
bool monitoring_join(void);

#endif
