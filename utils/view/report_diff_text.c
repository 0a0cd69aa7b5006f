/* A comparison as a table, as csv and as JSON (see report_diff_rows.h). */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "utils/view/number.h"
#include "utils/view/report_diff_rows.h"
#include "utils/view/source.h"
#include "utils/view/texts.h"

#define NAME_UNDERLINE	20
#define COMPACT_WIDTH	11
/* From here on a change of a time stands out, and from here on it does so a little. */
#define LARGE_CHANGE_NS 100000
#define SMALL_CHANGE_NS 5000
#define LARGE_PERCENT	30
#define SMALL_PERCENT	3

static void put_colored(const struct report_diff *diff, int color, const char *text,
			struct sink *sink)
{
	if (color >= 0)
		sink_color_begin(sink, diff->config.color, color);
	sink_str(sink, text);
	if (color >= 0)
		sink_color_end(sink, diff->config.color);
}

/* -1: in no colour. */
static int color_of_change(double change, double small, double large)
{
	if (change >= large)
		return COLOR_RED;
	if (change >= small)
		return COLOR_MAGENTA;
	if (change <= -large)
		return COLOR_BLUE;
	return change <= -small ? COLOR_CYAN : -1;
}

static void put_time_value(const struct report_diff *diff, double ns, struct sink *sink)
{
	if (ns == 0)
		sink_lit(sink, "         -");
	else
		sink_done(sink, put_time_color(sink_room(sink, TIME_MAX_BYTES), fabs(ns),
					       diff->config.color));
}

/* "  +1.480 ms" */
static void put_time_change(const struct report_diff *diff, double change, struct sink *sink)
{
	char cell[TIME_MAX_BYTES + 1];
	char number[16];
	uint64_t ns = fabs(change);

	if (ns == 0) {
		sink_lit(sink, "       0 us");
		return;
	}
	*put_time(cell, ns) = '\0';

	size_t blanks = strspn(cell, " ");

	snprintf(number, sizeof(number), "%c%.*s", change < 0 ? '-' : '+', (int)(7 - blanks),
		 cell + blanks);
	sink_fill(sink, ' ', blanks);
	put_colored(diff, color_of_change(change, SMALL_CHANGE_NS, LARGE_CHANGE_NS), number, sink);
	sink_lit(sink, " ");
	/* The unit in its own colour. */
	char *end = put_time_color(cell, ns, diff->config.color);

	sink_put_raw(sink, cell + 8, end - cell - 8);
}

static void put_percent(const struct report_diff *diff, double base, double pair, int width,
			struct sink *sink)
{
	char text[32];
	double percent;

	if (!diff_percent(base, pair, &percent)) {
		sink_str_padded(sink, "N/A", -width);
		return;
	}
	snprintf(text, sizeof(text), "%+7.2f%%", percent);
	sink_fill(sink, ' ', width - 8);
	put_colored(diff, color_of_change(percent, SMALL_PERCENT, LARGE_PERCENT), text, sink);
}

static void put_time_cell(const struct report_diff *diff, double base, double pair,
			  struct sink *sink)
{
	if (!diff->is_compact) {
		put_time_value(diff, base, sink);
		sink_lit(sink, "  ");
		put_time_value(diff, pair, sink);
		sink_lit(sink, "  ");
	}
	if (diff->is_percent)
		put_percent(diff, base, pair, diff->is_compact ? COMPACT_WIDTH : 8, sink);
	else
		put_time_change(diff, trunc(pair) - trunc(base), sink);
}

static void put_count_cell(const struct report_diff *diff, double base, double pair,
			   struct sink *sink)
{
	char text[32];
	long long change = llround(pair) - llround(base);

	if (diff->is_compact)
		sink_lit(sink, "  ");
	else
		sink_putf(sink, "%10lld  %9lld  ", llround(base), llround(pair));
	snprintf(text, sizeof(text), "%+9lld", change);
	put_colored(diff, change > 0 ? COLOR_RED : change < 0 ? COLOR_BLUE : -1, text, sink);
}

static void put_deviation_cell(const struct report_diff *diff, double base, double pair,
			       struct sink *sink)
{
	if (!diff->is_compact)
		sink_putf(sink, "%9.2f%%  %9.2f%%  ", base, pair);
	sink_putf(sink, " %+7.2f%%pt", pair - base);
}

static void put_cell(const struct report_diff *diff, const struct diff_field *field,
		     const struct diff_row *row, struct sink *sink)
{
	double base = field->value(&row->base);
	double pair = field->value(&row->pair);

	switch (field->kind) {
	case FIELD_TIME:
		put_time_cell(diff, base, pair, sink);
		break;
	case FIELD_COUNT:
		put_count_cell(diff, base, pair, sink);
		break;
	case FIELD_DEVIATION:
		put_deviation_cell(diff, base, pair, sink);
		break;
	}
}

static int width_of(const struct report_diff *diff, const struct diff_field *field)
{
	if (diff->is_compact)
		return COMPACT_WIDTH;
	if (field->kind == FIELD_TIME && !diff->is_percent)
		return 35;
	return field->kind == FIELD_DEVIATION ? 35 : 32;
}

static void put_header(const struct report_diff *diff, struct sink *sink)
{
	char title[64];

	for (size_t i = 0; i < diff->columns.nr; i++) {
		const struct diff_field *field = &diff_fields[diff->columns.columns[i]];

		snprintf(title, sizeof(title), "%s%s", field->column.header,
			 diff->is_compact ? "" : " (diff)");
		sink_lit(sink, "   ");
		sink_str_padded(sink, title, -width_of(diff, field));
	}
	sink_lit(sink, "   Function");
	if (diff->config.shows_source)
		source_put_word(" [Source]", diff->config.color, sink);
	sink_lit(sink, "\n");
	for (size_t i = 0; i < diff->columns.nr; i++) {
		sink_lit(sink, "   ");
		sink_fill(sink, '=', width_of(diff, &diff_fields[diff->columns.columns[i]]));
	}
	sink_lit(sink, "   ");
	sink_fill(sink, '=', NAME_UNDERLINE);
	sink_lit(sink, "\n");
}

void report_diff_put_table(const struct report_diff *diff, const struct diff_row *rows, size_t nr,
			   struct sink *sink)
{
	put_header(diff, sink);
	for (size_t i = 0; i < nr; i++) {
		for (size_t k = 0; k < diff->columns.nr; k++) {
			sink_lit(sink, "   ");
			put_cell(diff, &diff_fields[diff->columns.columns[k]], &rows[i], sink);
		}
		sink_lit(sink, "   ");
		sink_func(sink, rows[i].func);
		if (diff->config.shows_source)
			source_put(rows[i].modules, rows[i].func, diff->config.color, " [", "]",
				   sink);
		sink_lit(sink, "\n");
	}
}

static void put_exact(const struct diff_field *field, double value, struct sink *sink)
{
	if (field->kind == FIELD_DEVIATION)
		sink_putf(sink, "%.2f", value);
	else
		sink_putf(sink, "%.0f", value);
}

void report_diff_put_csv(const struct report_diff *diff, const struct diff_row *rows, size_t nr,
			 struct sink *sink)
{
	sink->medium = MEDIUM_CSV;
	sink_lit(sink, "#");
	for (size_t k = 0; k < diff->columns.nr; k++) {
		const char *name = diff_fields[diff->columns.columns[k]].column.header;

		sink_str(sink, name);
		sink_lit(sink, " (base),");
		sink_str(sink, name);
		sink_lit(sink, " (pair),");
		sink_str(sink, name);
		sink_lit(sink, " (diff),");
	}
	sink_lit(sink, "Function\n");
	for (size_t i = 0; i < nr; i++) {
		for (size_t k = 0; k < diff->columns.nr; k++) {
			const struct diff_field *field = &diff_fields[diff->columns.columns[k]];
			double base = field->value(&rows[i].base);
			double pair = field->value(&rows[i].pair);

			put_exact(field, base, sink);
			sink_lit(sink, ",");
			put_exact(field, pair, sink);
			sink_lit(sink, ",");
			put_exact(field, pair - base, sink);
			sink_lit(sink, ",");
		}
		sink_func(sink, rows[i].func);
		sink_lit(sink, "\n");
	}
}

void report_diff_put_json(const struct report_diff *diff, const struct diff_row *rows, size_t nr,
			  struct sink *sink)
{
	sink->medium = MEDIUM_JSON;
	sink_lit(sink, "[");
	for (size_t i = 0; i < nr; i++) {
		sink_either(sink, i, ",\n{\"name\":\"", "\n{\"name\":\"");
		sink_func(sink, rows[i].func);
		sink_lit(sink, "\"");
		for (size_t k = 0; k < diff->columns.nr; k++) {
			const struct diff_field *field = &diff_fields[diff->columns.columns[k]];
			double base = field->value(&rows[i].base);
			double pair = field->value(&rows[i].pair);

			sink_lit(sink, ",\"");
			sink_str(sink, field->column.name);
			sink_lit(sink, "\":{\"base\":");
			put_exact(field, base, sink);
			sink_lit(sink, ",\"pair\":");
			put_exact(field, pair, sink);
			sink_lit(sink, ",\"diff\":");
			put_exact(field, pair - base, sink);
			sink_lit(sink, "}");
		}
		sink_lit(sink, "}");
	}
	sink_lit(sink, "\n]\n");
}
