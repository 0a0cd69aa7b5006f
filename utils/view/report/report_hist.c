/* Distributions of times (see report_hist.h). */
#include "utils/view/report/report_hist.h"

#include "utils/pipeline/event.h"
#include "utils/view/texts.h"

#define BAR_WIDTH 40

bool hist_powers(const struct hist *hist, unsigned *first, unsigned *last)
{
	*first = 64;
	*last = 0;
	for (unsigned i = 0; i < 64; i++) {
		if (!hist_count_power(hist, i))
			continue;
		*first = MIN(*first, i);
		*last = i;
	}
	return *first < 64;
}

uint64_t hist_power_from(unsigned power)
{
	return power ? 1ULL << power : 0;
}

uint64_t hist_power_to(unsigned power)
{
	return power < 63 ? 2ULL << power : UINT64_MAX;
}

void report_put_time(uint64_t ns, enum color_mode color, struct sink *sink)
{
	sink_lit(sink, "  ");
	sink_time(sink, time_abs(ns), color);
}

void hist_put_rows(const struct hist *hist, enum color_mode color, struct sink *sink)
{
	uint64_t most = 0;
	unsigned first, last;

	if (!hist_powers(hist, &first, &last))
		return;
	for (unsigned i = first; i <= last; i++)
		most = MAX(most, hist_count_power(hist, i));
	for (unsigned i = first; i <= last; i++) {
		uint64_t nr = hist_count_power(hist, i);

		report_put_time(hist_power_from(i), color, sink);
		report_put_time(hist_power_to(i), color, sink);
		sink_putf(sink, "  %10llu  ", (unsigned long long)nr);
		/* The bar of a count above 0 has at least one character. */
		sink_fill(sink, '#', (nr * BAR_WIDTH + most - 1) / most);
		sink_lit(sink, "\n");
	}
}
