/* Tables of the columns and sort keys of `utrail report` (see report_columns.h). */
#include "utils/view/report/report_columns.h"

#include <stdio.h>
#include <string.h>

#include "utils/view/values/number.h"
#include "utils/view/report/report_counters.h"
#include "utils/view/texts.h"

#define CPU_LIST_MIN 8
#define CPU_LIST_MAX 20

static void put_ns(uint64_t ns, const struct report_layout *layout, struct sink *sink)
{
	sink_time(sink, time_abs(ns), layout->color);
}

static void put_number(uint64_t v, unsigned width, struct sink *sink)
{
	char *to = sink_room(sink, CELL_MAX_BYTES);

	sink_done(sink, put_dec(to, v, width));
}

/* Define the functions of a column: cell, csv text, and order of rows (largest first). */
#define TIME_COLUMN(id, value)                                                                 \
	static void put_##id(const struct report_row *row, const struct report_layout *layout, \
			     struct sink *sink)                                                \
	{                                                                                      \
		put_ns(value, layout, sink);                                                   \
	}                                                                                      \
	static void csv_##id(const struct report_row *row, const struct report_layout *layout, \
			     struct sink *sink)                                                \
	{                                                                                      \
		put_number(time_abs(value), 0, sink);                                          \
	}                                                                                      \
	COMPARE_BY(id, value)

#define NUMBER_COLUMN(id, value)                                                               \
	static void put_##id(const struct report_row *row, const struct report_layout *layout, \
			     struct sink *sink)                                                \
	{                                                                                      \
		put_number(value, 10, sink);                                                   \
	}                                                                                      \
	static void csv_##id(const struct report_row *row, const struct report_layout *layout, \
			     struct sink *sink)                                                \
	{                                                                                      \
		put_number(value, 0, sink);                                                    \
	}                                                                                      \
	COMPARE_BY(id, value)

#define STDV_COLUMN(id, value)                                                                 \
	static void put_##id(const struct report_row *row, const struct report_layout *layout, \
			     struct sink *sink)                                                \
	{                                                                                      \
		sink_putf(sink, "%9.2f%%", value);                                             \
	}                                                                                      \
	static void csv_##id(const struct report_row *row, const struct report_layout *layout, \
			     struct sink *sink)                                                \
	{                                                                                      \
		sink_putf(sink, "%.2f", value);                                                \
	}                                                                                      \
	COMPARE_BY(id, value)

/* As in uftrace, the csv output does not remove the leading blanks of a timestamp. */
#define STAMP_COLUMN(id, value)                                                                \
	static void put_##id(const struct report_row *row, const struct report_layout *layout, \
			     struct sink *sink)                                                \
	{                                                                                      \
		char *to = sink_room(sink, CELL_MAX_BYTES);                                    \
                                                                                               \
		sink_done(sink, put_timestamp(to, value));                                     \
	}                                                                                      \
	COMPARE_BY(id, value)

#define COMPARE_BY(id, value)                                                           \
	static int compare_##id(const struct report_row *x, const struct report_row *y) \
	{                                                                               \
		const struct report_row *row = x;                                       \
		__typeof__(value) a = value;                                            \
                                                                                        \
		row = y;                                                                \
                                                                                        \
		__typeof__(value) b = value;                                            \
                                                                                        \
		return a > b ? -1 : a < b;                                              \
	}

TIME_COLUMN(total, row->stats->total_ns)
TIME_COLUMN(total_avg, time_stats_avg(&row->stats->total, row->stats->calls))
TIME_COLUMN(total_min, row->stats->total.min_ns)
TIME_COLUMN(total_max, row->stats->total.max_ns)
TIME_COLUMN(self, row->stats->self_ns)
TIME_COLUMN(self_avg, time_stats_avg(&row->stats->self, row->stats->calls))
TIME_COLUMN(self_min, row->stats->self.min_ns)
TIME_COLUMN(self_max, row->stats->self.max_ns)
NUMBER_COLUMN(call, row->stats->calls)
NUMBER_COLUMN(size, row->func->sym ? row->func->sym->size : 0)
STDV_COLUMN(total_stdv, time_stats_stdv(&row->stats->total, row->stats->calls))
STDV_COLUMN(self_stdv, time_stats_stdv(&row->stats->self, row->stats->calls))
static uint64_t percentile(const struct call_stats *stats, unsigned permille)
{
	return stats->hist ? hist_percentile(stats->hist, permille) : 0;
}

TIME_COLUMN(p50, percentile(row->stats, 500))
TIME_COLUMN(p90, percentile(row->stats, 900))
TIME_COLUMN(p99, percentile(row->stats, 990))
TIME_COLUMN(p99_9, percentile(row->stats, 999))
STAMP_COLUMN(total_min_ts, row->stats->total.min_at_ns)
STAMP_COLUMN(total_max_ts, row->stats->total.max_at_ns)
STAMP_COLUMN(self_min_ts, row->stats->self.min_at_ns)
STAMP_COLUMN(self_max_ts, row->stats->self.max_at_ns)

TIME_COLUMN(task_total, row->task_stats->total_ns)
TIME_COLUMN(task_self, row->task_stats->total_ns - row->task_stats->sched_ns)
NUMBER_COLUMN(task_calls, row->task_stats->calls)

static int compare_func(const struct report_row *x, const struct report_row *y)
{
	return strcmp(x->func->name, y->func->name);
}

static void put_func_name(const struct report_row *row, struct sink *sink)
{
	sink_func(sink, row->func);
}

static unsigned count_cpus(const struct call_stats *stats)
{
	unsigned nr = 0;

	for (size_t i = 0; stats->cpus && i < CPU_WORDS; i++)
		nr += __builtin_popcountll(stats->cpus[i]);
	return nr;
}

static bool has_cpu(const struct call_stats *stats, unsigned cpu)
{
	return stats->cpus && cpu < CPU_WORDS * 64 && stats->cpus[cpu / 64] >> cpu % 64 & 1;
}

/* Write the text centred. If the number of blanks is odd, there is one more on the right. */
static void put_centred(const char *text, unsigned width, struct sink *sink)
{
	unsigned len = strlen(text);
	unsigned blanks = len < width ? width - len : 0;

	sink_fill(sink, ' ', blanks / 2);
	sink_str(sink, text);
	sink_fill(sink, ' ', blanks - blanks / 2);
}

static void csv_cpu_count(const struct report_row *row, const struct report_layout *layout,
			  struct sink *sink)
{
	put_number(count_cpus(row->stats), 0, sink);
}

static void put_cpu_count(const struct report_row *row, const struct report_layout *layout,
			  struct sink *sink)
{
	char text[16];

	snprintf(text, sizeof(text), "%u", count_cpus(row->stats));
	put_centred(text, strlen("CPU Count"), sink);
}

/*
 * Write eight hexadecimal digits for each group of 32 CPUs. The group with the highest CPU numbers
 * comes first.
 */
static void make_mask(const struct call_stats *stats, const struct report_layout *layout,
		      char text[static CPU_WORDS * 16 + 1])
{
	char *to = text;

	*to = '\0';
	for (unsigned group = layout->nr_mask_groups; group-- > 0;) {
		uint64_t word = stats->cpus ? stats->cpus[group / 2] : 0;

		to += sprintf(to, "%08x", (uint32_t)(word >> (group % 2 * 32)));
	}
}

static void csv_cpu_mask(const struct report_row *row, const struct report_layout *layout,
			 struct sink *sink)
{
	char text[CPU_WORDS * 16 + 1];

	make_mask(row->stats, layout, text);
	sink_str(sink, text);
}

static void put_cpu_mask(const struct report_row *row, const struct report_layout *layout,
			 struct sink *sink)
{
	char text[CPU_WORDS * 16 + 1];

	make_mask(row->stats, layout, text);
	put_centred(text, layout->nr_mask_groups * 8, sink);
}

/*
 * Write the numbers of the CPUs: "0-3/5" means the CPUs 0 to 3, and CPU 5. A text of more than
 * CPU_LIST_MAX characters is cut, and ends with "...".
 */
static void make_list(const struct call_stats *stats, char text[static CPU_LIST_MAX + 1])
{
	char whole[CPU_LIST_MAX + 16] = "";
	size_t len = 0;

	for (unsigned cpu = 0; cpu < CPU_WORDS * 64 && len <= CPU_LIST_MAX; cpu++) {
		unsigned last = cpu;

		if (!has_cpu(stats, cpu))
			continue;
		while (has_cpu(stats, last + 1))
			last++;
		len += sprintf(whole + len, len ? "/%u" : "%u", cpu);
		if (last > cpu && len <= CPU_LIST_MAX)
			len += sprintf(whole + len, "-%u", last);
		cpu = last;
	}
	if (len > CPU_LIST_MAX)
		strcpy(whole + CPU_LIST_MAX - 3, "...");
	strcpy(text, whole);
}

static void csv_cpu_list(const struct report_row *row, const struct report_layout *layout,
			 struct sink *sink)
{
	char text[CPU_LIST_MAX + 1];

	make_list(row->stats, text);
	sink_str(sink, text);
}

static void put_cpu_list(const struct report_row *row, const struct report_layout *layout,
			 struct sink *sink)
{
	char text[CPU_LIST_MAX + 1];

	make_list(row->stats, text);
	put_centred(text, layout->cpu_list_width, sink);
}

#define DETAILS REPORT_NEEDS_DETAILS
#define CPUS	REPORT_NEEDS_CPUS
#define HIST	REPORT_NEEDS_HIST

static const struct report_column func_columns[] = {
	{ { "total", NULL, "Total time", true }, put_total, csv_total },
	{ { "total-avg", NULL, " Total avg" }, put_total_avg, csv_total_avg, DETAILS },
	{ { "total-min", NULL, " Total min" }, put_total_min, csv_total_min, DETAILS },
	{ { "total-max", NULL, " Total max" }, put_total_max, csv_total_max, DETAILS },
	{ { "self", NULL, " Self time", true }, put_self, csv_self },
	{ { "self-avg", NULL, "  Self avg" }, put_self_avg, csv_self_avg, DETAILS },
	{ { "self-min", NULL, "  Self min" }, put_self_min, csv_self_min, DETAILS },
	{ { "self-max", NULL, "  Self max" }, put_self_max, csv_self_max, DETAILS },
	{ { "call", NULL, "     Calls", true }, put_call, csv_call },
	{ { "size", NULL, "      Size" }, put_size, csv_size },
	{ { "total-stdv", NULL, "Total stdv" }, put_total_stdv, csv_total_stdv, DETAILS },
	{ { "self-stdv", NULL, " Self stdv" }, put_self_stdv, csv_self_stdv, DETAILS },
	{ { "total-min-ts", NULL, "      Total min ts" },
	  put_total_min_ts,
	  put_total_min_ts,
	  DETAILS },
	{ { "total-max-ts", NULL, "      Total max ts" },
	  put_total_max_ts,
	  put_total_max_ts,
	  DETAILS },
	{ { "self-min-ts", NULL, "       Self min ts" },
	  put_self_min_ts,
	  put_self_min_ts,
	  DETAILS },
	{ { "self-max-ts", NULL, "       Self max ts" },
	  put_self_max_ts,
	  put_self_max_ts,
	  DETAILS },
	{ { "cpu-count", NULL, "CPU Count" }, put_cpu_count, csv_cpu_count, CPUS },
	{ { "cpu-mask", NULL, "CPU MASK" }, put_cpu_mask, csv_cpu_mask, CPUS, .is_text = true },
	{ { "cpu-list", NULL, "CPU LIST" }, put_cpu_list, csv_cpu_list, CPUS, .is_text = true },
	{ { "p50", NULL, "       p50" }, put_p50, csv_p50, HIST },
	{ { "p90", NULL, "       p90" }, put_p90, csv_p90, HIST },
	{ { "p99", NULL, "       p99" }, put_p99, csv_p99, HIST },
	{ { "p99.9", NULL, "     p99.9" }, put_p99_9, csv_p99_9, HIST },
	{ { "counters", NULL, "", true },
	  report_put_counters,
	  report_put_csv_counters,
	  .cells = &report_counter_cells },
};

static const struct report_key func_keys[] = {
	{ "total", compare_total },
	{ "total_avg", compare_total_avg, "avg", NULL, DETAILS },
	{ "total_min", compare_total_min, "min", NULL, DETAILS },
	{ "total_max", compare_total_max, "max", NULL, DETAILS },
	{ "self", compare_self },
	{ "self_avg", compare_self_avg, NULL, "avg", DETAILS },
	{ "self_min", compare_self_min, NULL, "min", DETAILS },
	{ "self_max", compare_self_max, NULL, "max", DETAILS },
	{ "call", compare_call },
	{ "func", compare_func },
	{ "size", compare_size },
	{ "total_stdv", compare_total_stdv, "stdv", NULL, DETAILS },
	{ "self_stdv", compare_self_stdv, NULL, "stdv", DETAILS },
	{ "total_min_ts", compare_total_min_ts, NULL, NULL, DETAILS },
	{ "total_max_ts", compare_total_max_ts, NULL, NULL, DETAILS },
	{ "self_min_ts", compare_self_min_ts, NULL, NULL, DETAILS },
	{ "self_max_ts", compare_self_max_ts, NULL, NULL, DETAILS },
	{ "p50", compare_p50, NULL, NULL, HIST },
	{ "p90", compare_p90, NULL, NULL, HIST },
	{ "p99", compare_p99, NULL, NULL, HIST },
	{ "p99.9", compare_p99_9, NULL, NULL, HIST },
};

const struct report_table report_func_table = {
	.columns = func_columns,
	.nr_columns = ARRAY_SIZE(func_columns),
	.keys = func_keys,
	.nr_keys = ARRAY_SIZE(func_keys),
	.compare_last = compare_func,
	.name_header = "Function",
	.name_key = "name",
	.put_name = put_func_name,
	.put_csv_name = put_func_name,
};

static void put_tid(const struct report_row *row, const struct report_layout *layout,
		    struct sink *sink)
{
	sink_putf(sink, "%7d", row->task->tid);
}

static int compare_tid(const struct report_row *x, const struct report_row *y)
{
	return x->task->tid < y->task->tid ? -1 : x->task->tid > y->task->tid;
}

static const char *last_name(const struct task *task)
{
	return task_name_at(task, UINT64_MAX);
}

static int compare_task_name(const struct report_row *x, const struct report_row *y)
{
	return strcmp(last_name(x->task), last_name(y->task));
}

static void put_task_name(const struct report_row *row, struct sink *sink)
{
	sink_str_padded(sink, last_name(row->task), 16);
}

static void csv_task_name(const struct report_row *row, struct sink *sink)
{
	sink_str(sink, last_name(row->task));
}

static const struct report_column task_columns[] = {
	{ { "total", NULL, "Total time", true }, put_task_total, csv_task_total },
	{ { "self", NULL, " Self time", true }, put_task_self, csv_task_self },
	{ { "tid", NULL, "  TID  ", true }, put_tid, put_tid },
	{ { "func", NULL, " Num funcs", true }, put_task_calls, csv_task_calls },
};

static const struct report_key task_keys[] = {
	{ "total", compare_task_total }, { "self", compare_task_self },
	{ "func", compare_task_calls },	 { "tid", compare_tid },
	{ "name", compare_task_name },
};

const struct report_table report_task_table = {
	.columns = task_columns,
	.nr_columns = ARRAY_SIZE(task_columns),
	.keys = task_keys,
	.nr_keys = ARRAY_SIZE(task_keys),
	.compare_last = compare_tid,
	.name_header = "Task name",
	.name_key = "task",
	.put_name = put_task_name,
	.put_csv_name = csv_task_name,
};

void report_measure(const struct report_row *rows, size_t nr, struct report_layout *layout)
{
	layout->nr_mask_groups = 1;
	layout->cpu_list_width = CPU_LIST_MIN;
	for (size_t i = 0; i < nr; i++) {
		char list[CPU_LIST_MAX + 1];

		if (!rows[i].stats || !rows[i].stats->cpus)
			continue;
		for (unsigned cpu = 0; cpu < CPU_WORDS * 64; cpu++) {
			if (has_cpu(rows[i].stats, cpu))
				layout->nr_mask_groups = MAX(layout->nr_mask_groups, cpu / 32 + 1);
		}
		make_list(rows[i].stats, list);
		layout->cpu_list_width = MAX(layout->cpu_list_width, (unsigned)strlen(list));
	}
}

unsigned report_column_width(const struct report_column *column, const struct report_layout *layout)
{
	if (column->put == put_cpu_mask)
		return layout->nr_mask_groups * 8;
	if (column->put == put_cpu_list)
		return layout->cpu_list_width;
	return strlen(column->column.header);
}

void report_put_header_cell(const struct report_column *column, const struct report_layout *layout,
			    struct sink *sink)
{
	put_centred(column->column.header, report_column_width(column, layout), sink);
}
