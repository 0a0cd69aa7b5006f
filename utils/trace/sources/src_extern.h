/* Source of events: extern.dat, lines with timestamps that a user made. */
#ifndef UTRAIL_TRACE_SRC_EXTERN_H
#define UTRAIL_TRACE_SRC_EXTERN_H

#include "utils/trace/sources/source.h"

/*
 * Lines may stand in any order if they are few: so many of them are held to be sorted. One that is
 * later still is shown when it comes.
 */
#define EXTERN_HELD_MAX 4096

/*
 * A source of no task, of the heap; NULL when there is no file. -EINVAL, here or in read(), names
 * the line that cannot be read.
 */
int src_extern_open(const struct trace_data *data, struct source **out, struct uft_err *err);

#endif
