/*
 * Sizes of streams, logs and events in attributes. The functions that get these sizes are in
 * attr.c.
 */
#include "posix/posix.h"

#include <errno.h>

/*
 * Accepts any size from 1 to PT_SIZE_MAX. If @size is too small for a stream, a stream with these
 * attributes gets the minimum size.
 */
int posix_trace_attr_setstreamsize(trace_attr_t *attr, size_t size)
{
	if (!pxt_attr_of(attr) || !size || size > PT_SIZE_MAX)
		return EINVAL;
	pxt_attr_of(attr)->stream_size = size;
	return 0;
}

int posix_trace_attr_setlogsize(trace_attr_t *attr, size_t size)
{
	if (!pxt_attr_of(attr) || !size || size > SIZE_MAX / 4)
		return EINVAL;
	pxt_attr_of(attr)->log_size = size;
	return 0;
}

int posix_trace_attr_setmaxdatasize(trace_attr_t *attr, size_t size)
{
	if (!pxt_attr_of(attr) || size > PT_DATA_MAX)
		return EINVAL;
	pxt_attr_of(attr)->max_data = size;
	return 0;
}

/*
 * Store in *@size the number of bytes that one event's record takes in a stream. A stream has room
 * for several events if the stream's size is at least the sum of these numbers.
 */
int posix_trace_attr_getmaxsystemeventsize(const trace_attr_t *restrict attr, size_t *restrict size)
{
	if (!pxt_attr_of(attr) || !size)
		return EINVAL;
	*size = (size_t)pxt_cells_of(PT_SYSTEM_DATA) * PT_CELL_BYTES;
	return 0;
}

int posix_trace_attr_getmaxusereventsize(const trace_attr_t *restrict attr, size_t data_len,
					 size_t *restrict size)
{
	const struct pxt_attr *own = pxt_attr_of(attr);

	if (!own || !size)
		return EINVAL;
	if (data_len > own->max_data)
		data_len = (size_t)own->max_data;
	*size = (size_t)pxt_cells_of((uint32_t)data_len) * PT_CELL_BYTES;
	return 0;
}
