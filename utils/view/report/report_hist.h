/* Distributions of times, as views show them. Private to utils/view/report/report*.c. */
#ifndef UTRAIL_VIEW_REPORT_HIST_H
#define UTRAIL_VIEW_REPORT_HIST_H

#include "utils/base/color.h"
#include "utils/view/report/hist.h"
#include "utils/base/sink.h"

/* Write a duration after two blanks. */
void report_put_time(uint64_t ns, enum color_mode color, struct sink *sink);

/*
 * Find the first and the last power for which hist_count_power() is not 0. Returns false if there
 * are no values.
 */
bool hist_powers(const struct hist *hist, unsigned *first, unsigned *last);

/* Return the lower (from) and the upper (to) bound of the values that hist_count_power() counts. */
uint64_t hist_power_from(unsigned power);
uint64_t hist_power_to(unsigned power);

/*
 * Write a line for each power of two, from the first to the last that hist_powers() finds. A line
 * has the lower bound, the upper bound, the count, and a bar.
 */
void hist_put_rows(const struct hist *hist, enum color_mode color, struct sink *sink);

#endif
