/* Distributions of times, as views show them. Private to utils/view/report/report*.c. */
#ifndef UTRAIL_VIEW_REPORT_HIST_H
#define UTRAIL_VIEW_REPORT_HIST_H

#include "utils/base/color.h"
#include "utils/view/report/hist.h"
#include "utils/base/sink.h"

/*
 * Times with their numbers, exactly; @hist knows them to less than one percent. Starts as { 0 },
 * ends with times_deinit().
 */
struct times {
	uint64_t min_ns;
	uint64_t max_ns;
	struct hist hist;
};

int times_add(struct times *times, uint64_t ns);
void times_deinit(struct times *times);

/*
 * The time at or below which @permille of a thousand are; 0 and 1000 are the least and the most. 0
 * when there is none.
 */
uint64_t times_percentile(const struct times *times, unsigned permille);

/* The first and the last power of two that has any; false when none has. */
bool hist_powers(const struct hist *hist, unsigned *first, unsigned *last);

/* The bounds of a power of two. */
uint64_t hist_power_from(unsigned power);
uint64_t hist_power_to(unsigned power);

/*
 * Write a line for each power of two from the first to the last one in use: from, up to, count, a
 * bar. No output without values.
 */
void hist_put_rows(const struct hist *hist, enum color_mode color, struct sink *sink);

#endif
