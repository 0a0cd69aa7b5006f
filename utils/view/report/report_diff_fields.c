/* The values that a comparison of functions can show (see report_diff_rows.h). */
#include <math.h>

#include "utils/view/report/report_diff_rows.h"

#define PERCENT_MAX 999.99

/* Define a function that returns @value for one side of the comparison. */
#define VALUE_OF(id, value)                                                            \
	static double id##_of(const struct side *side, const struct diff_field *field) \
	{                                                                              \
		return value;                                                          \
	}

/* Up to 2^53, a double has all digits of a sum. In nanoseconds, this is 104 days. */
VALUE_OF(total, (double)(int64_t)side->stats.total_ns / side->nr_runs)
VALUE_OF(self, (double)(int64_t)side->stats.self_ns / side->nr_runs)
VALUE_OF(calls, (double)side->stats.calls / side->nr_runs)
VALUE_OF(size, side->size)
VALUE_OF(total_avg, time_stats_avg(&side->stats.total, side->stats.calls))
VALUE_OF(total_min, side->stats.total.min_ns)
VALUE_OF(total_max, side->stats.total.max_ns)
VALUE_OF(self_avg, time_stats_avg(&side->stats.self, side->stats.calls))
VALUE_OF(self_min, side->stats.self.min_ns)
VALUE_OF(self_max, side->stats.self.max_ns)
VALUE_OF(total_stdv, time_stats_stdv(&side->stats.total, side->stats.calls))
VALUE_OF(self_stdv, time_stats_stdv(&side->stats.self, side->stats.calls))

/* The value of a counter that was not read is unknown, not zero. */
static double counter_of(const struct side *side, const struct diff_field *field)
{
	const struct counter_side *counter = &side->counters[field->counter];

	return counter->calls ? (double)counter->sum / side->nr_runs : NAN;
}

static double counter_per_call_of(const struct side *side, const struct diff_field *field)
{
	const struct counter_side *counter = &side->counters[field->counter];

	return counter->calls ? (double)counter->sum / counter->calls : NAN;
}

const struct diff_field diff_counter_fields[2] = {
	{ .kind = FIELD_COUNT, .value = counter_of },
	{ .kind = FIELD_MEAN, .value = counter_per_call_of },
};

const struct diff_field diff_fields[DIFF_FIELDS] = {
	{ { "total", NULL, "Total time", true }, FIELD_TIME, total_of },
	{ { "total-avg", NULL, "Total avg" }, FIELD_TIME, total_avg_of, true },
	{ { "total-min", NULL, "Total min" }, FIELD_TIME, total_min_of, true },
	{ { "total-max", NULL, "Total max" }, FIELD_TIME, total_max_of, true },
	{ { "self", NULL, "Self time", true }, FIELD_TIME, self_of },
	{ { "self-avg", NULL, "Self avg" }, FIELD_TIME, self_avg_of, true },
	{ { "self-min", NULL, "Self min" }, FIELD_TIME, self_min_of, true },
	{ { "self-max", NULL, "Self max" }, FIELD_TIME, self_max_of, true },
	{ { "call", NULL, "Calls", true }, FIELD_COUNT, calls_of },
	{ { "size", NULL, "Size" }, FIELD_COUNT, size_of },
	{ { "total-stdv", NULL, "Total stdv" }, FIELD_DEVIATION, total_stdv_of, true },
	{ { "self-stdv", NULL, "Self stdv" }, FIELD_DEVIATION, self_stdv_of, true },
	{ { "counters", NULL, "", true }, FIELD_COUNTERS },
};

bool diff_percent(double base, double pair, double *percent)
{
	*percent = 0;
	if (base == 0 || pair == 0 || isnan(base) || isnan(pair))
		return false;
	*percent = (pair - base) * 100 / fabs(base);
	*percent = MIN(MAX(*percent, -PERCENT_MAX), PERCENT_MAX);
	return true;
}
