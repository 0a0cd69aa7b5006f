/* The contents of containers of the C++ library: the part of a capture program that is a box. */
#ifndef UTRAIL_LIBMCOUNT_CAPTURE_BOX_H
#define UTRAIL_LIBMCOUNT_CAPTURE_BOX_H

#include "utils/format/probe/capture.h"

/*
 * HOT: fill the @bytes at @to as the @nr_steps at @steps say, from the object at @object. All
 * memory is read guarded. A cyclic or torn container is read as far as the steps allow; elements
 * beyond the box are left out.
 *   signal-safety   as fault_copy()
 */
void capture_box(const struct box_step *steps, uint32_t nr_steps, uint64_t object, uint8_t *to,
		 uint32_t bytes);

#endif
