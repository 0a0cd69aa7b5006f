/* The calls that are open at a place of a compact file, without reading all that is ahead of it. */
#ifndef UTRAIL_PIPELINE_SEEK_OPENED_H
#define UTRAIL_PIPELINE_SEEK_OPENED_H

#include <stdbool.h>

#include "utils/pipeline/recording/opened.h"
#include "utils/pipeline/sources/src_user.h"

/*
 * Make @opened, which is all zero, as if opened_note() had had all events of @src that are ahead of
 * where it is: at the first byte of a compact block. Each block tells how many calls are open all
 * through it, so only those are read in which one of the open calls was entered.
 *
 * False: the names take a look at too many blocks, some are damaged, the task begins within calls,
 * the file is not compact, or memory is short. Then @opened is all zero, and @src is as it was.
 */
bool seek_opened(const struct src_user *src, struct opened *opened);

#endif
