/* "There is no recording": what to do about it, and which directories near by hold one. */
#ifndef UTRAIL_CMDS_NEAR_DATA_H
#define UTRAIL_CMDS_NEAR_DATA_H

#include <stdbool.h>

#include "utils/base/err.h"

/*
 * Append to @err, which says that the directory @wanted is not there. @is_default: nobody has asked
 * for that one.
 */
void near_data_add(const char *wanted, bool is_default, struct uft_err *err);

#endif
