/* Histograms of durations (see hist.h). */
#include "utils/view/report/hist.h"

#include <errno.h>
#include <stdlib.h>

#include "utils/base/compiler.h"

#define STEP_BITS 6
_Static_assert(1 << STEP_BITS == HIST_STEPS, "steps are bits of the value");
_Static_assert(HIST_POWERS == 64 - STEP_BITS + 1, "all values have a place");

void hist_deinit(struct hist *hist)
{
	for (size_t i = 0; i < HIST_POWERS; i++)
		free(hist->powers[i]);
	*hist = (struct hist){ 0 };
}

/* Find the place of @value: hist->powers[i][*@step]. Returns i, and sets *@step. */
static unsigned place_of(uint64_t value, unsigned *step)
{
	if (value < HIST_STEPS) {
		*step = value;
		return 0;
	}

	unsigned shift = 63 - __builtin_clzll(value) - STEP_BITS;

	*step = (value >> shift) - HIST_STEPS;
	return shift + 1;
}

static uint64_t *power_of(struct hist *hist, unsigned power)
{
	if (!hist->powers[power])
		hist->powers[power] = calloc(HIST_STEPS, sizeof(uint64_t));
	return hist->powers[power];
}

static void note_extremes(struct hist *hist, uint64_t min, uint64_t max)
{
	hist->min = hist->nr ? MIN(hist->min, min) : min;
	hist->max = hist->nr ? MAX(hist->max, max) : max;
}

int hist_add(struct hist *hist, uint64_t value)
{
	unsigned step;
	uint64_t *steps = power_of(hist, place_of(value, &step));

	if (!steps)
		return -ENOMEM;
	steps[step]++;
	note_extremes(hist, value, value);
	hist->nr++;
	return 0;
}

int hist_merge(struct hist *to, const struct hist *from)
{
	for (unsigned i = 0; i < HIST_POWERS; i++) {
		if (!from->powers[i])
			continue;

		uint64_t *steps = power_of(to, i);

		if (!steps)
			return -ENOMEM;
		for (unsigned k = 0; k < HIST_STEPS; k++)
			steps[k] += from->powers[i][k];
	}
	if (from->nr)
		note_extremes(to, from->min, from->max);
	to->nr += from->nr;
	return 0;
}

/* Returns the value in the middle of a step. */
static uint64_t value_of(unsigned power, unsigned step)
{
	if (power < 2)
		return power * HIST_STEPS + step;

	unsigned shift = power - 1;

	return ((uint64_t)(HIST_STEPS + step) << shift) + (1ULL << shift) / 2;
}

uint64_t hist_percentile(const struct hist *hist, unsigned permille)
{
	if (permille == 0 || permille == 1000)
		return permille ? hist->max : hist->min;

	/*
	 * This is nr * permille / 1000, rounded up. The product is not computed, because it may
	 * overflow.
	 */
	uint64_t rank = hist->nr / 1000 * permille + (hist->nr % 1000 * permille + 999) / 1000;
	uint64_t below = 0;

	for (unsigned i = 0; i < HIST_POWERS; i++) {
		for (unsigned k = 0; hist->powers[i] && k < HIST_STEPS; k++) {
			below += hist->powers[i][k];
			if (below >= rank && below)
				return MIN(MAX(value_of(i, k), hist->min), hist->max);
		}
	}
	return 0;
}

uint64_t hist_count_power(const struct hist *hist, unsigned power)
{
	unsigned first = power < STEP_BITS ? (power ? 1U << power : 0) : 0;
	unsigned end = power < STEP_BITS ? 2U << power : HIST_STEPS;
	const uint64_t *steps = hist->powers[power < STEP_BITS ? 0 : power - STEP_BITS + 1];
	uint64_t nr = 0;

	for (unsigned k = first; steps && k < end; k++)
		nr += steps[k];
	return nr;
}
