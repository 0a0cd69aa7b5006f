/* The time of a lane's next event and the lane, as one number that the merge by time compares. */
#ifndef UTRAIL_TRACE_HEAD_H
#define UTRAIL_TRACE_HEAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "utils/base/compiler.h"

/*
 * A lane without events. The top bit stays free for the sign of a difference; 292 years are enough
 * for times.
 */
#define HEAD_END (UINT64_MAX / 2)

#ifdef __SIZEOF_INT128__

/*
 * The time above the lane: so one comparison orders by time and, on a tie, by lane. The external
 * events come after all lanes.
 */
typedef unsigned __int128 head_t;

static inline head_t head_of(uint64_t time_ns, size_t index)
{
	return (head_t)MIN(time_ns, HEAD_END) << 64 | index;
}

static inline uint64_t head_time(head_t head)
{
	return head >> 64;
}

static inline size_t head_index(head_t head)
{
	return (uint64_t)head;
}

static inline bool head_is_before(head_t a, head_t b)
{
	return a < b;
}

/* HOT: the first of two neighbours, without a branch; @is_second: 1 when it is the second one. */
static inline head_t head_first(const head_t pair[2], size_t *is_second)
{
	/* All ones: the sign of the difference. */
	head_t mask = (head_t)((__int128)(pair[1] - pair[0]) >> 127);

	*is_second = (size_t)mask & 1;
	return pair[0] ^ ((pair[0] ^ pair[1]) & mask);
}

#else /* 32-bit machines have no numbers of that size. */

typedef struct {
	uint64_t time_ns;
	size_t index;
} head_t;

static inline head_t head_of(uint64_t time_ns, size_t index)
{
	return (head_t){ MIN(time_ns, HEAD_END), index };
}

static inline uint64_t head_time(head_t head)
{
	return head.time_ns;
}

static inline size_t head_index(head_t head)
{
	return head.index;
}

static inline bool head_is_before(head_t a, head_t b)
{
	return a.time_ns != b.time_ns ? a.time_ns < b.time_ns : a.index < b.index;
}

static inline head_t head_first(const head_t pair[2], size_t *is_second)
{
	*is_second = head_is_before(pair[1], pair[0]);
	return pair[*is_second];
}

#endif

static inline head_t head_min(head_t a, head_t b)
{
	return head_is_before(b, a) ? b : a;
}

#endif
