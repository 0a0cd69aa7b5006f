/*
 * Finds the calls that are open at a position in a compact file. Reads only some of the blocks
 * before the position.
 */
#ifndef UTRAIL_PIPELINE_SEEK_OPENED_H
#define UTRAIL_PIPELINE_SEEK_OPENED_H

#include <stdbool.h>

#include "utils/pipeline/recording/opened.h"
#include "utils/pipeline/sources/src_user.h"

/*
 * Fill in @opened as if opened_note() had got all events before the position of @src. The position
 * is the first byte of a compact block. The function reads
 * - the first records of the task,
 * - the blocks before the position, going backwards, until a block with calls is found, and
 * - for each call that is open at the position, the block in which the call was entered.
 *
 * @opened: must be all zero; is still all zero when the result is false
 *
 * Returns false if too many blocks would be needed, if a block is damaged, if calls were open when
 * the task began, if the file is not compact, or if memory is short.
 */
bool seek_opened(const struct src_user *src, struct opened *opened);

#endif
