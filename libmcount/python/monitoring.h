/* Events of calls by sys.monitoring (PEP 669), which Python has from 3.12 on. */
#ifndef UTRAIL_LIBMCOUNT_PYTHON_MONITORING_H
#define UTRAIL_LIBMCOUNT_PYTHON_MONITORING_H

#include <stdbool.h>

#include "libmcount/python/api.h"

/*
 * COLD, with the GIL: hear of all calls in this interpreter, in all of its threads, unless we do
 * already. False: the interpreter has no sys.monitoring, or no room for one more tool. Audit hooks
 * of the program see this.
 */
bool monitoring_join(void);

#endif
