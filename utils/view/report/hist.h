/* Histograms of durations in limited memory, and their percentiles. */
#ifndef UTRAIL_VIEW_HIST_H
#define UTRAIL_VIEW_HIST_H

#include <stddef.h>
#include <stdint.h>

/*
 * The range from each power of two to the next one has HIST_STEPS steps of equal width. A value is
 * read as the middle of its step, with an error of less than one percent. Ranges without values
 * take no memory.
 */
#define HIST_STEPS  64
#define HIST_POWERS 59

/*
 * Starts as { 0 }, ends with hist_deinit().
 *
 * @powers: for each power of two, the number of values in each of its steps, or NULL; @powers[0]
 *         has a step for each value below HIST_STEPS
 * @min, @max: exact; valid when @nr is not 0
 */
struct hist {
	uint64_t *powers[HIST_POWERS];
	uint64_t nr;
	uint64_t min;
	uint64_t max;
};

void hist_deinit(struct hist *hist);

/* Returns 0 or -ENOMEM. */
int hist_add(struct hist *hist, uint64_t value);
int hist_merge(struct hist *to, const struct hist *from);

/*
 * Estimates a percentile by nearest rank. The exact percentile is the smallest value v such that at
 * least @permille / 1000 of all values are <= v. The result differs from v by less than one
 * percent. Returns 0 if there are no values.
 *
 * @permille: 999 for 99.9 %; 0 for the exact minimum; 1000 for the exact maximum
 */
uint64_t hist_percentile(const struct hist *hist, unsigned permille);

/* Returns the number of values in [2^@power, 2^(@power + 1)); @power 0 is [0, 2). */
uint64_t hist_count_power(const struct hist *hist, unsigned power);

#endif
