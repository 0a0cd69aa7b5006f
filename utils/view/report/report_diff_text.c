/* A comparison as a table, as csv and as JSON (see report_diff_rows.h). */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "utils/view/values/number.h"
#include "utils/view/report/report_diff_rows.h"
#include "utils/view/source_line.h"
#include "utils/view/texts.h"

#define NAME_UNDERLINE	20
#define COMPACT_WIDTH	11
#define MEAN_DIGITS	2
#define TITLE_BYTES	(COUNTER_NAME_BYTES + 32)
/*
 * Changes of at least LARGE_... are red or blue. Other changes of at least SMALL_... are magenta or
 * cyan.
 */
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

/* Returns an enum color, or -1 for no colour. */
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
		sink_time(sink, fabs(ns), diff->config.color);
}

/*
 * Write a change such as "+1.480 ms" between two recordings, `base` and `pair`. With colours, a
 * plus means that `pair` has the longer time. Without colours, a plus means that `base` has the
 * longer time. Scripts read the text without colours, and expect the signs of uftrace (see
 * report_diff_sign_text()).
 */
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

	bool is_minus = (change < 0) != (diff->config.color == COLOR_MODE_OFF);

	snprintf(number, sizeof(number), "%c%.*s", is_minus ? '-' : '+', (int)(7 - blanks),
		 cell + blanks);
	sink_fill(sink, ' ', blanks);
	put_colored(diff, color_of_change(change, SMALL_CHANGE_NS, LARGE_CHANGE_NS), number, sink);
	sink_lit(sink, " ");
	/* put_time_color() writes the unit in colour. */
	char *end = put_time_color(cell, ns, diff->config.color);

	sink_put_raw(sink, cell + 8, end - cell - 8);
}

static void put_percent(const struct report_diff *diff, double base, double pair, int width,
			struct sink *sink)
{
	char text[32];
	double percent;

	if (!diff_percent(base, pair, &percent)) {
		/* "N/A" ends in the column of the last digit. A blank replaces the percent sign. */
		sink_str_padded(sink, "N/A", 1 - width);
		sink_lit(sink, " ");
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

const char *report_diff_sign_text(const struct report_diff *diff)
{
	if (diff->is_percent || diff->config.color != COLOR_MODE_OFF)
		return "time: + is longer in diff, - is longer in base";
	return "time: + is longer in base, - is longer in diff";
}

/* @digits: the number of digits after the point */
static void put_count_cell(const struct report_diff *diff, double base, double pair, int digits,
			   struct sink *sink)
{
	double change;
	char text[64];

	if (!digits) {
		base = round(base);
		pair = round(pair);
	}
	change = pair - base;
	if (diff->is_compact)
		sink_lit(sink, "  ");
	else
		sink_putf(sink, "%10.*f  %9.*f  ", digits, base, digits, pair);
	snprintf(text, sizeof(text), "%+9.*f", digits, change);
	put_colored(diff, change > 0 ? COLOR_RED : change < 0 ? COLOR_BLUE : -1, text, sink);
}

/* Write the cell of a counter that is missing on one side or on both sides. */
static void put_missing(const struct report_diff *diff, const struct diff_field *field, double base,
			double pair, struct sink *sink)
{
	const double values[] = { base, pair };

	for (size_t i = 0; !diff->is_compact && i < ARRAY_SIZE(values); i++) {
		int width = i ? 9 : 10;

		if (isnan(values[i]))
			sink_fill(sink, ' ', width + 2);
		else
			sink_putf(sink, "%*.*f  ", width,
				  field->kind == FIELD_MEAN ? MEAN_DIGITS : 0, values[i]);
	}
	sink_str_padded(sink, isnan(base) && isnan(pair) ? "" : "N/A",
			diff->is_compact ? -COMPACT_WIDTH : -9);
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
	double base = field->value(&row->base, field);
	double pair = field->value(&row->pair, field);

	if (isnan(base) || isnan(pair)) {
		put_missing(diff, field, base, pair, sink);
		return;
	}
	switch (field->kind) {
	case FIELD_TIME:
		put_time_cell(diff, base, pair, sink);
		break;
	case FIELD_COUNT:
		put_count_cell(diff, base, pair, 0, sink);
		break;
	case FIELD_DEVIATION:
		put_deviation_cell(diff, base, pair, sink);
		break;
	case FIELD_MEAN:
		put_count_cell(diff, base, pair, MEAN_DIGITS, sink);
		break;
	case FIELD_COUNTERS:
		break;
	}
}

/*
 * A counter's average has only the title "per call", because it follows the counter's own column.
 */
static void put_title(const struct report_diff *diff, const struct diff_field *field,
		      char title[static TITLE_BYTES])
{
	snprintf(title, TITLE_BYTES, "%s%s",
		 field->kind == FIELD_MEAN ? "per call" : field->column.header,
		 diff->is_compact ? "" : " (diff)");
}

/* Returns the width of the field's cells. */
static int cell_width_of(const struct report_diff *diff, const struct diff_field *field)
{
	if (diff->is_compact)
		return COMPACT_WIDTH;
	if (field->kind == FIELD_TIME && !diff->is_percent)
		return 35;
	return field->kind == FIELD_DEVIATION ? 35 : 32;
}

/* Returns the width of the column. The title may be wider than the cells of the column. */
static int width_of(const struct report_diff *diff, const struct diff_field *field)
{
	char title[TITLE_BYTES];

	put_title(diff, field, title);
	return MAX((int)strlen(title), cell_width_of(diff, field));
}

static void put_header(const struct diff_table *table, struct sink *sink)
{
	const struct report_diff *diff = table->diff;
	char title[TITLE_BYTES];

	for (size_t i = 0; i < table->nr_fields; i++) {
		const struct diff_field *field = &table->fields[i];

		put_title(diff, field, title);
		sink_lit(sink, "   ");
		sink_str_padded(sink, title, -width_of(diff, field));
	}
	sink_lit(sink, "   Function");
	if (diff->config.shows_source)
		source_line_put_word(" [Source]", diff->config.color, sink);
	sink_lit(sink, "\n");
	for (size_t i = 0; i < table->nr_fields; i++) {
		sink_lit(sink, "   ");
		sink_fill(sink, '=', width_of(diff, &table->fields[i]));
	}
	sink_lit(sink, "   ");
	sink_fill(sink, '=', NAME_UNDERLINE);
	sink_lit(sink, "\n");
}

void report_diff_put_table(const struct diff_table *table, const struct diff_row *rows, size_t nr,
			   struct sink *sink)
{
	const struct report_diff *diff = table->diff;

	put_header(table, sink);
	for (size_t i = 0; i < nr; i++) {
		for (size_t k = 0; k < table->nr_fields; k++) {
			const struct diff_field *field = &table->fields[k];

			sink_lit(sink, "   ");
			sink_fill(sink, ' ', width_of(diff, field) - cell_width_of(diff, field));
			put_cell(diff, field, &rows[i], sink);
		}
		sink_lit(sink, "   ");
		sink_func(sink, rows[i].func);
		if (diff->config.shows_source)
			source_line_put(rows[i].modules, rows[i].func, diff->config.color, " [",
					"]", sink);
		sink_lit(sink, "\n");
	}
}

/* @none: the text for an unknown value */
static void put_exact(const struct diff_field *field, double value, const char *none,
		      struct sink *sink)
{
	if (isnan(value))
		sink_str(sink, none);
	else if (field->kind == FIELD_DEVIATION || field->kind == FIELD_MEAN)
		sink_putf(sink, "%.2f", value);
	else
		sink_putf(sink, "%.0f", value);
}

void report_diff_put_csv(const struct diff_table *table, const struct diff_row *rows, size_t nr,
			 struct sink *sink)
{
	sink->medium = MEDIUM_CSV;
	sink_lit(sink, "#");
	for (size_t k = 0; k < table->nr_fields; k++) {
		const char *name = table->fields[k].column.header;

		sink_str(sink, name);
		sink_lit(sink, " (base),");
		sink_str(sink, name);
		sink_lit(sink, " (pair),");
		sink_str(sink, name);
		sink_lit(sink, " (diff),");
	}
	sink_lit(sink, "Function\n");
	for (size_t i = 0; i < nr; i++) {
		for (size_t k = 0; k < table->nr_fields; k++) {
			const struct diff_field *field = &table->fields[k];
			double base = field->value(&rows[i].base, field);
			double pair = field->value(&rows[i].pair, field);

			put_exact(field, base, "", sink);
			sink_lit(sink, ",");
			put_exact(field, pair, "", sink);
			sink_lit(sink, ",");
			put_exact(field, pair - base, "", sink);
			sink_lit(sink, ",");
		}
		sink_func(sink, rows[i].func);
		sink_lit(sink, "\n");
	}
}

void report_diff_put_json(const struct diff_table *table, const struct diff_row *rows, size_t nr,
			  struct sink *sink)
{
	sink->medium = MEDIUM_JSON;
	sink_lit(sink, "[");
	for (size_t i = 0; i < nr; i++) {
		sink_either(sink, i, ",\n{\"name\":\"", "\n{\"name\":\"");
		sink_func(sink, rows[i].func);
		sink_lit(sink, "\"");
		for (size_t k = 0; k < table->nr_fields; k++) {
			const struct diff_field *field = &table->fields[k];
			double base = field->value(&rows[i].base, field);
			double pair = field->value(&rows[i].pair, field);

			sink_lit(sink, ",\"");
			sink_str(sink, field->column.name);
			sink_lit(sink, "\":{\"base\":");
			put_exact(field, base, "null", sink);
			sink_lit(sink, ",\"pair\":");
			put_exact(field, pair, "null", sink);
			sink_lit(sink, ",\"diff\":");
			put_exact(field, pair - base, "null", sink);
			sink_lit(sink, "}");
		}
		sink_lit(sink, "}");
	}
	sink_lit(sink, "\n]\n");
}
