/*
 * Keys by which the pipeline merges the events of all tasks in the order of time. A lane reads
 * the events of one task (pipeline.h). A key consists of the time of a lane's next event and the
 * lane's index.
 */
#ifndef UTRAIL_PIPELINE_MERGE_KEY_H
#define UTRAIL_PIPELINE_MERGE_KEY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "utils/base/compiler.h"

/*
 * The time of a lane without events. The top bit stays free for the sign of a difference, so times
 * are limited to 292 years.
 */
#define MERGE_KEY_END (UINT64_MAX / 2)

#ifdef __SIZEOF_INT128__

/*
 * The time is in the upper half, the lane's index in the lower half. One comparison orders by time,
 * then by lane. Lines of extern.dat come after the last lane.
 */
typedef unsigned __int128 merge_key_t;

static inline merge_key_t merge_key_of(uint64_t time_ns, size_t index)
{
	return (merge_key_t)MIN(time_ns, MERGE_KEY_END) << 64 | index;
}

static inline uint64_t merge_key_time(merge_key_t head)
{
	return head >> 64;
}

static inline size_t merge_key_index(merge_key_t head)
{
	return (uint64_t)head;
}

static inline bool merge_key_is_before(merge_key_t a, merge_key_t b)
{
	return a < b;
}

/*
 * HOT: find the smaller of two neighbours, without a branch. @is_second: 1 when the second one is
 * smaller.
 */
static inline merge_key_t merge_key_first(const merge_key_t pair[2], size_t *is_second)
{
	/* Each bit of the mask is the sign of the difference. */
	merge_key_t mask = (merge_key_t)((__int128)(pair[1] - pair[0]) >> 127);

	*is_second = (size_t)mask & 1;
	return pair[0] ^ ((pair[0] ^ pair[1]) & mask);
}

#else /* 32-bit machines have no numbers of 128 bits. */

typedef struct {
	uint64_t time_ns;
	size_t index;
} merge_key_t;

static inline merge_key_t merge_key_of(uint64_t time_ns, size_t index)
{
	return (merge_key_t){ MIN(time_ns, MERGE_KEY_END), index };
}

static inline uint64_t merge_key_time(merge_key_t head)
{
	return head.time_ns;
}

static inline size_t merge_key_index(merge_key_t head)
{
	return head.index;
}

static inline bool merge_key_is_before(merge_key_t a, merge_key_t b)
{
	return a.time_ns != b.time_ns ? a.time_ns < b.time_ns : a.index < b.index;
}

static inline merge_key_t merge_key_first(const merge_key_t pair[2], size_t *is_second)
{
	*is_second = merge_key_is_before(pair[1], pair[0]);
	return pair[*is_second];
}

#endif

static inline merge_key_t merge_key_min(merge_key_t a, merge_key_t b)
{
	return merge_key_is_before(b, a) ? b : a;
}

#endif
