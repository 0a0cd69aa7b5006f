/* View: the columns in front of a call tree (see graph.h). */
#include "utils/view/graph/graph_columns.h"

#include <string.h>

#include "utils/view/values/number.h"
#include "utils/view/source_line.h"
#include "utils/view/texts.h"

static void put_ns(uint64_t ns, enum color_mode color, struct sink *sink)
{
	sink_time(sink, time_abs(ns), color);
}

static void put_total(const struct graph_row *row, enum color_mode color, struct sink *sink)
{
	put_ns(row->node->total_ns, color, sink);
}

static void put_self(const struct graph_row *row, enum color_mode color, struct sink *sink)
{
	put_ns(row->node->self_ns, color, sink);
}

static void put_addr(const struct graph_row *row, enum color_mode color, struct sink *sink)
{
	sink_done(sink, put_hex(sink_room(sink, 32), row->node->addr, 12));
}

static uint64_t average(uint64_t sum_ns, uint64_t calls)
{
	return calls ? time_abs(sum_ns) / calls : 0;
}

static void put_total_avg(const struct graph_row *row, enum color_mode color, struct sink *sink)
{
	put_ns(average(row->node->total_ns, row->node->calls), color, sink);
}

static void put_self_avg(const struct graph_row *row, enum color_mode color, struct sink *sink)
{
	put_ns(average(row->node->self_ns, row->node->calls), color, sink);
}

/* True for the row of the whole program. The run of the program counts as one call. */
static bool is_program(const struct graph_row *row)
{
	return !row->node->parent;
}

/* Returns the details of a row. If no call of the row has returned, all details are 0. */
static const struct tree_details *details_of(const struct graph_row *row)
{
	static const struct tree_details none;
	const struct tree_details *details = row->node->details;

	return details && details->total_min_ns != UINT64_MAX ? details : &none;
}

static void put_total_max(const struct graph_row *row, enum color_mode color, struct sink *sink)
{
	put_ns(is_program(row) ? row->node->total_ns : details_of(row)->total_max_ns, color, sink);
}

static void put_total_min(const struct graph_row *row, enum color_mode color, struct sink *sink)
{
	put_ns(is_program(row) ? row->node->total_ns : details_of(row)->total_min_ns, color, sink);
}

static void put_self_max(const struct graph_row *row, enum color_mode color, struct sink *sink)
{
	put_ns(details_of(row)->self_max_ns, color, sink);
}

static void put_self_min(const struct graph_row *row, enum color_mode color, struct sink *sink)
{
	put_ns(details_of(row)->self_min_ns, color, sink);
}

static const struct graph_column func_columns[] = {
	{ { "total-time", "total", "TOTAL TIME", true }, put_total },
	{ { "self-time", "self", " SELF TIME" }, put_self },
	{ { "address", "addr", "   ADDRESS  " }, put_addr },
	{ { "total-avg", NULL, " TOTAL AVG" }, put_total_avg },
	{ { "total-max", NULL, " TOTAL MAX" }, put_total_max, true },
	{ { "total-min", NULL, " TOTAL MIN" }, put_total_min, true },
	{ { "self-avg", NULL, "  SELF AVG" }, put_self_avg },
	{ { "self-max", NULL, "  SELF MAX" }, put_self_max, true },
	{ { "self-min", NULL, "  SELF MIN" }, put_self_min, true },
};

const struct graph_table graph_func_table = {
	.columns = func_columns,
	.nr = ARRAY_SIZE(func_columns),
	.name_header = "FUNCTION",
};

static void put_task_total(const struct graph_row *row, enum color_mode color, struct sink *sink)
{
	put_ns(row->times->last_ns - row->times->first_ns, color, sink);
}

static void put_task_self(const struct graph_row *row, enum color_mode color, struct sink *sink)
{
	put_ns(row->times->last_ns - row->times->first_ns - row->times->waited_ns, color, sink);
}

static void put_tid(const struct graph_row *row, enum color_mode color, struct sink *sink)
{
	sink_putf(sink, "[%7d]", row->task->tid);
}

static const struct graph_column task_columns[] = {
	{ { "total-time", "total", "TOTAL TIME", true }, put_task_total },
	{ { "self-time", "self", " SELF TIME", true }, put_task_self },
	{ { "tid", NULL, "   TID   ", true }, put_tid },
};

const struct graph_table graph_task_table = {
	.columns = task_columns,
	.nr = ARRAY_SIZE(task_columns),
	.name_header = "TASK NAME",
};

const struct graph_table *graph_table_of(const struct graph *graph)
{
	return graph->config.is_by_task ? &graph_task_table : &graph_func_table;
}

static void put_title(const struct graph *graph, size_t index, struct sink *sink)
{
	sink_str(sink, graph_table_of(graph)->columns[graph->columns.columns[index]].column.header);
}

void graph_put_titles(const struct graph *graph, struct sink *sink)
{
	for (size_t i = 0; i < graph->columns.nr; i++) {
		sink_lit(sink, "  ");
		put_title(graph, i, sink);
	}
}

void graph_put_header(const struct graph *graph, struct sink *sink)
{
	const struct graph_table *table = graph_table_of(graph);

	if (graph->columns.nr == 0)
		return;
	sink_lit(sink, "#");
	for (size_t i = 0; i < graph->columns.nr; i++) {
		sink_either(sink, i, "  ", " ");
		put_title(graph, i, sink);
	}
	sink_lit(sink, "   ");
	sink_str(sink, table->name_header);
	if (graph->config.source && !graph->config.is_by_task)
		source_line_put_word(" [SOURCE]", graph->config.color, sink);
	sink_lit(sink, "\n");
}

void graph_put_fields(const struct graph *graph, const struct graph_row *row, struct sink *sink)
{
	const struct graph_table *table = graph_table_of(graph);

	for (size_t i = 0; i < graph->columns.nr; i++) {
		const struct graph_column *column = &table->columns[graph->columns.columns[i]];

		sink_lit(sink, "  ");
		if (row)
			column->put(row, graph->config.color, sink);
		else
			sink_fill(sink, ' ', strlen(column->column.header));
	}
}

void graph_put_cells(const struct graph *graph, const struct graph_row *row, struct sink *sink)
{
	graph_put_fields(graph, row, sink);
	if (graph->columns.nr)
		sink_lit(sink, " : ");
}
