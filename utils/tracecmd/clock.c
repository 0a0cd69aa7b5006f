/* Times of the records of a trace.dat (see tracedat.h). */
#include <string.h>

#include "utils/base/compiler.h"
#include "utils/tracecmd/parts.h"

/* The largest time. The sum of two times does not overflow. */
#define TIME_MAX ((uint64_t)INT64_MAX >> 1)

/* Returns @raw * @mult >> @shift, or TIME_MAX if that might overflow. @shift is at most 32. */
static uint64_t scale_raw_time(uint64_t raw, uint32_t mult, uint32_t shift)
{
	uint64_t low = ((raw & UINT32_MAX) * mult) >> shift;
	uint64_t high = (raw >> 32) * mult;

	if (high > TIME_MAX >> (32 - shift))
		return TIME_MAX;
	return (high << (32 - shift)) + low;
}

uint64_t tracedat_time_ns(const struct tracedat *file, uint64_t raw)
{
	uint64_t time = MIN(raw, TIME_MAX);

	if (file->offset < 0)
		time -= MIN(time, (uint64_t)-file->offset);
	else
		time += MIN((uint64_t)file->offset, TIME_MAX - time);
	return MIN(file->has_tsc ? scale_raw_time(time, file->tsc_mult, file->tsc_shift) : time,
		   TIME_MAX);
}

/*
 * The clocks of Linux that do not count nanoseconds (Documentation/trace/ftrace.rst,
 * "trace_clock").
 */
static const char *const other_clocks[] = { "counter", "uptime", "x86-tsc", "ppc-tb", "s390-tod" };

bool tracedat_clock_is_time(const struct tracedat *file, const char *name)
{
	if (file->has_tsc && strcmp(name, "x86-tsc") == 0)
		return true;
	for (size_t i = 0; i < ARRAY_SIZE(other_clocks); i++) {
		if (strcmp(name, other_clocks[i]) == 0)
			return false;
	}
	return true;
}

void tracedat_chosen_clock(const char *list, char clock[static TRACEDAT_NAME_MAX])
{
	const char *from = strchr(list, '[');
	size_t len = from ? strcspn(from + 1, "]") : 0;

	if (!len || len >= TRACEDAT_NAME_MAX || from[1 + len] != ']')
		return;
	memcpy(clock, from + 1, len);
	clock[len] = '\0';
}
