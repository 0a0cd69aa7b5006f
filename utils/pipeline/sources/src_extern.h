/* Source of events: extern.dat, lines with timestamps written by a user. */
#ifndef UTRAIL_PIPELINE_SRC_EXTERN_H
#define UTRAIL_PIPELINE_SRC_EXTERN_H

#include "utils/pipeline/sources/source.h"

/*
 * Lines may be in any order if they are few: so many of them are kept for sorting. A later one is
 * shown at once.
 */
#define EXTERN_HELD_MAX 4096

/*
 * A source of no task, of the heap; NULL when there is no file. -EINVAL, here or in read(), names
 * the invalid line.
 */
int src_extern_open(const struct trace_data *data, struct source **out, struct uft_err *err);

#endif
