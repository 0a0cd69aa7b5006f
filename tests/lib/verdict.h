/* Runs the codec on one packet by itself, and returns its verdict. */
#ifndef UTRAIL_TESTS_VERDICT_H
#define UTRAIL_TESTS_VERDICT_H

#include <stddef.h>

#include "utils/format/probe/control.h"

static inline unsigned verdict_take(void *context, const void *message, size_t len)
{
	return CONTROL_OVER;
}

/* The packet is checked by a table with one shape only. */
static inline enum control_verdict control_check(const struct control_shape *shape,
						 const void *packet, size_t len)
{
	const struct control_row row = { shape, CONTROL_IN(1), verdict_take };
	const struct control_table table = { &row, 1 };
	unsigned state = 1;

	return control_take(&table, &state, NULL, packet, len);
}

#endif
