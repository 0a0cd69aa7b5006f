/* Calls that sys.monitoring (PEP 669) reports. Python has this module from 3.12 on. */
#ifndef UTRAIL_LIBMCOUNT_PYTHON_MONITORING_H
#define UTRAIL_LIBMCOUNT_PYTHON_MONITORING_H

#include <stdbool.h>

#include "libmcount/python/api.h"

/*
 * COLD, with the GIL. Listens to all calls in all threads of this interpreter. Audit hooks of the
 * program are told of the callbacks that the probe registers. Returns true, and does no more, when
 * the probe listens already. Returns false without sys.monitoring, or when both tool numbers for
 * which Python's documentation names no use (3 and 4) are taken. Also returns false when the
 * interpreter lacks a function or a type that the probe needs, or refuses the callbacks.
 */
bool monitoring_join(void);

#endif
