/* Distributions of times, as views show them. Private to utils/view/report/report*.c. */
#ifndef UTRAIL_VIEW_REPORT_HIST_H
#define UTRAIL_VIEW_REPORT_HIST_H

#include "utils/base/color.h"
#include "utils/view/report/hist.h"
#include "utils/base/sink.h"

/*
 * The distribution of times. Sums are exact; times in @hist are known to less than one percent.
 * Starts as { 0 }, ends with times_deinit().
 */
struct times {
	uint64_t min_ns;
	uint64_t max_ns;
	struct hist hist;
};

int times_add(struct times *times, uint64_t ns);
void times_deinit(struct times *times);

/*
 * Returns the smallest time such that @permille of a thousand times are not above it, or 0 without
 * times. @permille: 0 is for the minimum, 1000 for the maximum
 */
uint64_t times_percentile(const struct times *times, unsigned permille);

/* Find the first and the last power of two with values. Returns false without values. */
bool hist_powers(const struct hist *hist, unsigned *first, unsigned *last);

/* Returns the lower or the upper bound of the values that hist_count_power() counts. */
uint64_t hist_power_from(unsigned power);
uint64_t hist_power_to(unsigned power);

/*
 * Write a line for each power of two, from the first to the last that has values: lower bound,
 * upper bound, count, bar.
 */
void hist_put_rows(const struct hist *hist, enum color_mode color, struct sink *sink);

#endif
