/* The table of utils/spec/args/autoargs.h. */
#ifndef UTRAIL_SPEC_AUTOARGS_TABLE_H
#define UTRAIL_SPEC_AUTOARGS_TABLE_H

#include "utils/spec/args/autoargs.h"

/* Sorted by name, in the order of strcmp(3). */
extern const struct autoargs autoargs_table[];
extern const size_t autoargs_table_nr;

/* Definitions in the format of utils/spec/args/enumdef.h. */
extern const char *const autoargs_enums[];
extern const size_t autoargs_enums_nr;

#endif
