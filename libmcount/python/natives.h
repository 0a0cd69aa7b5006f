/* Functions that are written in C, and the facts about them. */
#ifndef UTRAIL_LIBMCOUNT_PYTHON_NATIVES_H
#define UTRAIL_LIBMCOUNT_PYTHON_NATIVES_H

#include "libmcount/python/names.h"

/* With the GIL: the facts about @fn; the recorder is asked once. */
name_facts natives_facts(const struct py_c_function *fn);

#endif
