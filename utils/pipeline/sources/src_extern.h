/* Source of events: extern.dat, to which a user writes lines with timestamps. */
#ifndef UTRAIL_PIPELINE_SRC_EXTERN_H
#define UTRAIL_PIPELINE_SRC_EXTERN_H

#include "utils/pipeline/sources/source.h"

/*
 * The number of lines that are kept for sorting. A new line is shown at once if a line with a later
 * time has already been shown.
 */
#define EXTERN_HELD_MAX 4096

/*
 * Open extern.dat as a source. *@out gets the source, which is on the heap. If the recording has no
 * extern.dat, *@out becomes NULL. An invalid line causes -EINVAL, here or in read().
 */
int src_extern_open(const struct trace_data *data, struct source **out, struct uft_err *err);

#endif
