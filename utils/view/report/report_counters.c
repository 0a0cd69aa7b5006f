/* The columns of counters in a report (see report_counters.h). */
#include "utils/view/report/report_counters.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "utils/pipeline/kinds/event_kinds.h"

#define PER_CALL     "per call"
#define NUMBER_WIDTH 10

static const struct counter_sums *sums_of(const struct report_row *row, size_t index)
{
	const struct counter_sums *sums = row->stats->counters;

	return sums && sums->calls[index] ? sums : NULL;
}

static double per_call(const struct counter_sums *sums, size_t index)
{
	return (double)sums->sums[index] / sums->calls[index];
}

static void put_right(const char *text, unsigned width, struct sink *sink)
{
	size_t len = strlen(text);

	sink_fill(sink, ' ', len < width ? width - len : 0);
	sink_str(sink, text);
}

static void put_header(const struct report_layout *layout, struct sink *sink)
{
	for (size_t i = 0; i < layout->counters->nr; i++) {
		sink_either(sink, i, "  ", "");
		put_right(layout->counters->list[i].name, layout->counters->list[i].width, sink);
		sink_lit(sink, "  ");
		put_right(PER_CALL, NUMBER_WIDTH, sink);
	}
}

static void put_underline(const struct report_layout *layout, struct sink *sink)
{
	for (size_t i = 0; i < layout->counters->nr; i++) {
		sink_either(sink, i, "  ", "");
		sink_fill(sink, '=', layout->counters->list[i].width);
		sink_lit(sink, "  ");
		sink_fill(sink, '=', NUMBER_WIDTH);
	}
}

static void put_csv_header(const struct report_layout *layout, struct sink *sink)
{
	for (size_t i = 0; i < layout->counters->nr; i++) {
		const char *name = layout->counters->list[i].name;

		sink_either(sink, i, ",", "");
		sink_str(sink, name);
		sink_lit(sink, ",");
		sink_str(sink, name);
		sink_lit(sink, " " PER_CALL);
	}
}

/* The cell of a counter that was not read is empty. */
void report_put_counters(const struct report_row *row, const struct report_layout *layout,
			 struct sink *sink)
{
	for (size_t i = 0; i < layout->counters->nr; i++) {
		const struct report_counter *counter = &layout->counters->list[i];
		const struct counter_sums *sums = sums_of(row, counter->index);

		sink_either(sink, i, "  ", "");
		if (sums)
			sink_putf(sink, "%*llu  %*.2f", (int)counter->width,
				  (unsigned long long)sums->sums[counter->index], NUMBER_WIDTH,
				  per_call(sums, counter->index));
		else
			sink_fill(sink, ' ', counter->width + 2 + NUMBER_WIDTH);
	}
}

void report_put_csv_counters(const struct report_row *row, const struct report_layout *layout,
			     struct sink *sink)
{
	for (size_t i = 0; i < layout->counters->nr; i++) {
		size_t index = layout->counters->list[i].index;
		const struct counter_sums *sums = sums_of(row, index);

		sink_either(sink, i, ",", "");
		if (sums)
			sink_putf(sink, "%llu,%.2f", (unsigned long long)sums->sums[index],
				  per_call(sums, index));
		else
			sink_lit(sink, ",");
	}
}

static void put_json(const struct report_row *row, const struct report_layout *layout,
		     struct sink *sink)
{
	for (size_t i = 0; i < layout->counters->nr; i++) {
		const struct report_counter *counter = &layout->counters->list[i];
		const struct counter_sums *sums = sums_of(row, counter->index);

		if (!sums)
			continue;
		sink_lit(sink, ",\"");
		sink_str(sink, counter->name);
		sink_putf(sink, "\":%llu,\"", (unsigned long long)sums->sums[counter->index]);
		sink_str(sink, counter->name);
		sink_putf(sink, "-per-call\":%.2f", per_call(sums, counter->index));
	}
}

const struct report_cells report_counter_cells = { put_header, put_underline, put_csv_header,
						   put_json };

static int add_counter(void *self, const struct event_kind *kind)
{
	struct report_counters *counters = self;
	size_t index;
	const char *name = event_kind_counter(kind, &index);

	if (!name || counters->nr == COUNTERS_MAX)
		return 0;

	struct report_counter *counter = &counters->list[counters->nr];

	counter->name = strdup(name);
	if (!counter->name)
		return -ENOMEM;
	counter->index = index;
	counter->width = MAX(strlen(name), (size_t)NUMBER_WIDTH);
	counters->nr++;
	return 0;
}

static const struct report_counter *find_counter(const struct report_counters *counters,
						 const char *name)
{
	for (size_t i = 0; i < counters->nr; i++) {
		if (strcmp(counters->list[i].name, name) == 0)
			return &counters->list[i];
	}
	return NULL;
}

static int check_keys(const struct report *report, struct uft_err *err)
{
	for (size_t i = 0; i < report->key_counters.nr; i++) {
		const char *name = report->key_counters.list[i].name;

		if (!find_counter(&report->counters, name))
			return err_set(err, -ERR_USAGE,
				       "sort key '%s': the recording does not have that counter",
				       name);
	}
	return 0;
}

static void leave_out_column(struct report *report)
{
	const struct report_table *table = report_table_of(&report->config);

	for (size_t i = 0; i < table->nr_columns; i++) {
		if (table->columns[i].cells == &report_counter_cells)
			columns_remove(&report->columns, i);
	}
}

int report_counters_find(struct report *report, const struct trace_data *data, struct uft_err *err)
{
	struct event_kinds kinds = { 0 };
	int ret = event_kinds_load(&kinds, data, err);

	if (ret < 0)
		return ret;
	ret = event_kinds_each(&kinds, add_counter, &report->counters);
	event_kinds_deinit(&kinds);
	if (ret < 0)
		return err_set_errno(err, ret, "cannot show counters");
	if (!report->counters.nr)
		leave_out_column(report);
	return check_keys(report, err);
}

void report_counters_deinit(struct report_counters *counters)
{
	for (size_t i = 0; i < counters->nr; i++)
		free(counters->list[i].name);
	counters->nr = 0;
}

int report_compare_counters(const struct report *report, size_t key, const struct report_row *x,
			    const struct report_row *y)
{
	const char *name = report->key_counters.list[key].name;
	size_t index = find_counter(&report->counters, name)->index;
	const struct counter_sums *a = sums_of(x, index);
	const struct counter_sums *b = sums_of(y, index);
	uint64_t more = a ? a->sums[index] : 0;
	uint64_t less = b ? b->sums[index] : 0;

	return more > less ? -1 : more < less;
}
