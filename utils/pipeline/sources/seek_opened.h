/* Finds the calls that are open at a place of a compact file without reading all before it. */
#ifndef UTRAIL_PIPELINE_SEEK_OPENED_H
#define UTRAIL_PIPELINE_SEEK_OPENED_H

#include <stdbool.h>

#include "utils/pipeline/recording/opened.h"
#include "utils/pipeline/sources/src_user.h"

/*
 * The position of @src is the first byte of a compact block. Fill in @opened, which is all zero, as
 * if opened_note() had got all events before that position. Each block tells how many calls are
 * open all through it, so only blocks in which an open call was entered are read.
 *
 * False, with @opened all zero: too many blocks would be needed, a block is damaged, the task
 * begins within calls, the file is not compact, or memory is short.
 */
bool seek_opened(const struct src_user *src, struct opened *opened);

#endif
