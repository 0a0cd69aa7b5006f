/* View: what changed between recordings (see report_diff.h). */
#include "utils/view/report_diff.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "utils/view/number.h"
#include "utils/view/texts.h"

#define NAME_UNDERLINE	20
#define COMPACT_WIDTH	11
#define PERCENT_MAX	999.99
/* From here on a change of a time stands out, and from here on it does so a little. */
#define LARGE_CHANGE_NS 100000
#define SMALL_CHANGE_NS 5000
#define LARGE_PERCENT	30
#define SMALL_PERCENT	3

/* A function in one recording, or in several together. */
struct side {
	struct call_stats stats;
	uint64_t size;
	unsigned nr_runs;
};

struct diff_row {
	const struct func *func;
	struct side base;
	struct side pair;
};

enum field_kind {
	FIELD_TIME,
	FIELD_COUNT,
	FIELD_DEVIATION,
};

struct diff_field {
	struct column column;
	enum field_kind kind;
	double (*value)(const struct side *side);
	bool needs_details;
};

/* Sums fit into a double well enough: what is shown has six digits. */
static double total_of(const struct side *side)
{
	return (double)(int64_t)side->stats.total_ns / side->nr_runs;
}

static double self_of(const struct side *side)
{
	return (double)(int64_t)side->stats.self_ns / side->nr_runs;
}

static double calls_of(const struct side *side)
{
	return (double)side->stats.calls / side->nr_runs;
}

static double size_of(const struct side *side)
{
	return side->size;
}

static double total_avg_of(const struct side *side)
{
	return time_stats_avg(&side->stats.total, side->stats.calls);
}

static double total_min_of(const struct side *side)
{
	return side->stats.total.min_ns;
}

static double total_max_of(const struct side *side)
{
	return side->stats.total.max_ns;
}

static double self_avg_of(const struct side *side)
{
	return time_stats_avg(&side->stats.self, side->stats.calls);
}

static double self_min_of(const struct side *side)
{
	return side->stats.self.min_ns;
}

static double self_max_of(const struct side *side)
{
	return side->stats.self.max_ns;
}

static double total_stdv_of(const struct side *side)
{
	return time_stats_stdv(&side->stats.total, side->stats.calls);
}

static double self_stdv_of(const struct side *side)
{
	return time_stats_stdv(&side->stats.self, side->stats.calls);
}

static const struct diff_field fields[] = {
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
};

/* A key that is no field: the name. */
#define KEY_FUNC ARRAY_SIZE(fields)

static bool is_word(const char *word, size_t len, const char *name)
{
	return strlen(name) == len && memcmp(word, name, len) == 0;
}

static int add_policy(struct report_diff *diff, const char *word, size_t len, struct uft_err *err)
{
	bool is_on = len < 3 || memcmp(word, "no-", 3) != 0;
	const char *name = is_on ? word : word + 3;
	size_t rest = is_on ? len : len - 3;

	if (is_word(name, rest, "abs"))
		diff->is_absolute = is_on;
	else if (is_word(name, rest, "percent"))
		diff->is_percent = is_on;
	else if (is_word(name, rest, "compact"))
		diff->is_compact = is_on;
	else if (is_word(word, len, "full"))
		diff->is_compact = false;
	else
		return err_set(err, -ERR_USAGE,
			       "unknown diff policy '%.*s': expected some of abs, no-abs, "
			       "percent, no-percent, compact, full",
			       (int)len, word);
	return 0;
}

/* The short names of --avg-total and --avg-self. */
static const char *family_of(const struct report_diff *diff, const char *word, size_t len)
{
	static const char *const names[][3] = {
		{ "avg", "total-avg", "self-avg" },
		{ "min", "total-min", "self-min" },
		{ "max", "total-max", "self-max" },
		{ "stdv", "total-stdv", "self-stdv" },
	};

	for (size_t i = 0; diff->config.average && i < ARRAY_SIZE(names); i++) {
		if (is_word(word, len, names[i][0]))
			return names[i][diff->config.average == REPORT_AVERAGE_SELF ? 2 : 1];
	}
	return NULL;
}

static bool is_key(const char *word, size_t len, const char *name)
{
	if (strlen(name) != len)
		return false;
	for (size_t i = 0; i < len; i++) {
		if ((word[i] == '_' ? '-' : word[i]) != name[i])
			return false;
	}
	return true;
}

static int add_key(struct report_diff *diff, const char *word, size_t len, struct uft_err *err)
{
	const char *family = family_of(diff, word, len);
	struct strbuf known cleanup_strbuf = { 0 };
	size_t key = 0;

	while (key < ARRAY_SIZE(fields) && !is_key(word, len, fields[key].column.name) &&
	       !(family && strcmp(fields[key].column.name, family) == 0))
		key++;
	if (key < ARRAY_SIZE(fields) || is_word(word, len, "func")) {
		if (diff->nr_keys < DIFF_KEYS_MAX)
			diff->keys[diff->nr_keys++] = key;
		return 0;
	}
	for (size_t i = 0; i < ARRAY_SIZE(fields); i++)
		strbuf_addf(&known, "%s, ", fields[i].column.name);
	return err_set(err, -ERR_USAGE, "unknown sort key '%.*s': expected some of %sfunc",
		       (int)len, word, strbuf_str(&known));
}

static int for_each_word(struct report_diff *diff, const char *text,
			 int (*add)(struct report_diff *diff, const char *word, size_t len,
				    struct uft_err *err),
			 struct uft_err *err)
{
	for (const char *at = text; at;) {
		size_t len = strcspn(at, ",");
		int ret = add(diff, at, len, err);

		if (ret < 0)
			return ret;
		at = at[len] ? at + len + 1 : NULL;
	}
	return 0;
}

int report_diff_init(struct report_diff *diff, const struct diff_config *config,
		     struct uft_err *err)
{
	static const char *const families[] = {
		[REPORT_AVERAGE_TOTAL] = "total-avg,total-min,total-max,total-stdv",
		[REPORT_AVERAGE_SELF] = "self-avg,self-min,self-max,self-stdv",
	};
	const char *keys = config->sort_keys;
	const char *chosen = config->average ? families[config->average] : config->fields;

	*diff = (struct report_diff){ .config = *config, .is_absolute = true, .is_compact = true };
	if (!keys)
		keys = config->average ? "avg" : "total";

	int ret = columns_choose(fields, ARRAY_SIZE(fields), sizeof(*fields), chosen,
				 &diff->columns, err);

	if (ret == 0)
		ret = for_each_word(diff, config->policy, add_policy, err);
	return ret == 0 ? for_each_word(diff, keys, add_key, err) : ret;
}

void report_diff_configure(const struct report_diff *diff, struct pipeline_config *config)
{
	config->order = PIPELINE_BY_TASK;
	config->stages.ends_only = true;
	config->stages.closes_open_calls = true;
}

void report_diff_prepare(const struct report_diff *diff, struct aggregate *agg)
{
	agg->counts_outside = diff->config.counts_outside;
	for (size_t i = 0; i < diff->columns.nr; i++)
		agg->wants_details |= fields[diff->columns.columns[i]].needs_details;
	for (size_t i = 0; i < diff->nr_keys; i++)
		agg->wants_details |= diff->keys[i] < KEY_FUNC &&
				      fields[diff->keys[i]].needs_details;
}

/* The change in percent; false when one side has nothing to compare. */
static bool percent_of(double base, double pair, double *percent)
{
	*percent = 0;
	if (base == 0 || pair == 0)
		return false;
	*percent = (pair - base) * 100 / fabs(base);
	*percent = MIN(MAX(*percent, -PERCENT_MAX), PERCENT_MAX);
	return true;
}

static double sort_value(const struct report_diff *diff, const struct diff_field *field,
			 const struct diff_row *row)
{
	double base = field->value(&row->base);
	double pair = field->value(&row->pair);
	double change = pair - base;

	switch (diff->config.sort_column) {
	case DIFF_COLUMN_BASE:
		return base;
	case DIFF_COLUMN_PAIR:
		return pair;
	case DIFF_COLUMN_DIFF:
		break;
	}
	if (diff->is_percent && field->kind == FIELD_TIME)
		percent_of(base, pair, &change);
	return diff->is_absolute ? fabs(change) : change;
}

static int compare_rows(const void *a, const void *b, void *arg)
{
	const struct report_diff *diff = arg;
	const struct diff_row *x = a;
	const struct diff_row *y = b;

	for (size_t i = 0; i < diff->nr_keys && diff->keys[i] < KEY_FUNC; i++) {
		double vx = sort_value(diff, &fields[diff->keys[i]], x);
		double vy = sort_value(diff, &fields[diff->keys[i]], y);

		if (vx != vy)
			return vx > vy ? -1 : 1;
	}
	return strcmp(x->func->name, y->func->name);
}

static void put_colored(const struct report_diff *diff, int color, const char *text,
			struct sink *sink)
{
	struct strbuf out cleanup_strbuf = { 0 };

	if (color >= 0)
		color_begin(&out, diff->config.color, color);
	strbuf_addstr(&out, text);
	if (color >= 0)
		color_end(&out, diff->config.color);
	sink_put(sink, strbuf_str(&out), out.len);
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
		sink_puts(sink, "         -");
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
		sink_puts(sink, "       0 us");
		return;
	}
	*put_time(cell, ns) = '\0';

	size_t blanks = strspn(cell, " ");

	snprintf(number, sizeof(number), "%c%.*s", change < 0 ? '-' : '+', (int)(7 - blanks),
		 cell + blanks);
	sink_fill(sink, ' ', blanks);
	put_colored(diff, color_of_change(change, SMALL_CHANGE_NS, LARGE_CHANGE_NS), number, sink);
	sink_puts(sink, " ");
	/* The unit in its own colour. */
	char *end = put_time_color(cell, ns, diff->config.color);

	sink_put(sink, cell + 8, end - cell - 8);
}

static void put_percent(const struct report_diff *diff, double base, double pair, int width,
			struct sink *sink)
{
	char text[32];
	double percent;

	if (!percent_of(base, pair, &percent)) {
		sink_putf(sink, "%*s", width, "N/A");
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
		sink_puts(sink, "  ");
		put_time_value(diff, pair, sink);
		sink_puts(sink, "  ");
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
		sink_puts(sink, "  ");
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
		const struct diff_field *field = &fields[diff->columns.columns[i]];

		snprintf(title, sizeof(title), "%s%s", field->column.header,
			 diff->is_compact ? "" : " (diff)");
		sink_putf(sink, "   %*s", width_of(diff, field), title);
	}
	sink_puts(sink, "   Function\n");
	for (size_t i = 0; i < diff->columns.nr; i++) {
		sink_puts(sink, "   ");
		sink_fill(sink, '=', width_of(diff, &fields[diff->columns.columns[i]]));
	}
	sink_puts(sink, "   ");
	sink_fill(sink, '=', NAME_UNDERLINE);
	sink_puts(sink, "\n");
}

static void put_table(const struct report_diff *diff, const struct diff_row *rows, size_t nr,
		      struct sink *sink)
{
	put_header(diff, sink);
	for (size_t i = 0; i < nr; i++) {
		for (size_t k = 0; k < diff->columns.nr; k++) {
			sink_puts(sink, "   ");
			put_cell(diff, &fields[diff->columns.columns[k]], &rows[i], sink);
		}
		sink_puts(sink, "   ");
		sink_puts(sink, rows[i].func->name);
		sink_puts(sink, "\n");
	}
}

static void put_titles(const struct aggregate *aggs, size_t nr, struct sink *sink)
{
	sink_puts(sink, "#\n# uftrace diff\n");
	for (size_t i = 0; i < nr; i++) {
		const struct trace_data *data = aggs[i].pipe->data;

		sink_putf(sink, "#  [%zu] %s: %s\t(from ", i, i ? "diff" : "base", data->dir);
		sink_puts(sink, data->info.cmdline ? data->info.cmdline : "?");
		sink_puts(sink, ")\n");
	}
	sink_puts(sink, "#\n");
}

static void put_exact(const struct diff_field *field, double value, struct sink *sink)
{
	sink_putf(sink, field->kind == FIELD_DEVIATION ? "%.2f" : "%.0f", value);
}

/* Three numbers for each field: base, pair, change. */
static void put_csv(const struct report_diff *diff, const struct diff_row *rows, size_t nr,
		    struct sink *sink)
{
	sink_puts(sink, "#");
	for (size_t k = 0; k < diff->columns.nr; k++) {
		const char *name = fields[diff->columns.columns[k]].column.header;

		sink_putf(sink, "%s (base),%s (pair),%s (diff),", name, name, name);
	}
	sink_puts(sink, "Function\n");
	for (size_t i = 0; i < nr; i++) {
		for (size_t k = 0; k < diff->columns.nr; k++) {
			const struct diff_field *field = &fields[diff->columns.columns[k]];
			double base = field->value(&rows[i].base);
			double pair = field->value(&rows[i].pair);

			put_exact(field, base, sink);
			sink_puts(sink, ",");
			put_exact(field, pair, sink);
			sink_puts(sink, ",");
			put_exact(field, pair - base, sink);
			sink_puts(sink, ",");
		}
		sink_puts(sink, rows[i].func->name);
		sink_puts(sink, "\n");
	}
}

static void put_json(const struct report_diff *diff, const struct diff_row *rows, size_t nr,
		     struct sink *sink)
{
	struct strbuf name cleanup_strbuf = { 0 };

	sink_puts(sink, "[");
	for (size_t i = 0; i < nr; i++) {
		sink_puts(sink, i ? ",\n{\"name\":\"" : "\n{\"name\":\"");
		strbuf_reset(&name);
		text_put_json(&name, rows[i].func->name, rows[i].func->name_len);
		sink_put(sink, strbuf_str(&name), name.len);
		sink_puts(sink, "\"");
		for (size_t k = 0; k < diff->columns.nr; k++) {
			const struct diff_field *field = &fields[diff->columns.columns[k]];
			double base = field->value(&rows[i].base);
			double pair = field->value(&rows[i].pair);

			sink_putf(sink, ",\"%s\":{\"base\":", field->column.name);
			put_exact(field, base, sink);
			sink_puts(sink, ",\"pair\":");
			put_exact(field, pair, sink);
			sink_puts(sink, ",\"diff\":");
			put_exact(field, pair - base, sink);
			sink_puts(sink, "}");
		}
		sink_puts(sink, "}");
	}
	sink_puts(sink, "\n]\n");
}

static void add_side(struct side *side, const struct func_row *row, unsigned nr_runs)
{
	bool is_first = side->stats.calls == 0;

	side->nr_runs = nr_runs;
	if (row->func->sym)
		side->size = row->func->sym->size;
	call_stats_merge(&side->stats, &row->stats, is_first);
}

static int compare_names(const void *a, const void *b)
{
	const struct diff_row *x = a;
	const struct diff_row *y = b;

	return strcmp(x->func->name, y->func->name);
}

/* A row for each function of each recording, then one for each name. */
static size_t join(struct aggregate *aggs, size_t nr_aggs, struct diff_row *rows)
{
	size_t nr = 0;
	size_t kept = 0;

	for (size_t i = 0; i < nr_aggs; i++) {
		for (size_t k = 0; k < aggs[i].nr_rows; k++) {
			struct diff_row *row = &rows[nr++];

			row->func = aggs[i].rows[k].func;
			row->base.nr_runs = 1;
			row->pair.nr_runs = nr_aggs - 1;
			add_side(i ? &row->pair : &row->base, &aggs[i].rows[k],
				 i ? nr_aggs - 1 : 1);
		}
	}
	if (nr)
		qsort(rows, nr, sizeof(*rows), compare_names);
	for (size_t i = 0; i < nr; i++) {
		struct diff_row *last = kept ? &rows[kept - 1] : NULL;

		if (!last || compare_names(last, &rows[i]) != 0) {
			rows[kept++] = rows[i];
			continue;
		}
		if (rows[i].base.stats.calls)
			last->base = rows[i].base;
		if (rows[i].pair.stats.calls)
			call_stats_merge(&last->pair.stats, &rows[i].pair.stats,
					 last->pair.stats.calls == 0);
		last->pair.size = MAX(last->pair.size, rows[i].pair.size);
	}
	return kept;
}

int report_diff_show(const struct report_diff *diff, struct aggregate *aggs, size_t nr,
		     struct sink *sink, struct uft_err *err)
{
	struct strbuf page cleanup_strbuf = { 0 };
	size_t nr_rows = 0;

	for (size_t i = 0; i < nr; i++) {
		aggregate_by_name(&aggs[i]);
		nr_rows += aggs[i].nr_rows;
	}

	struct diff_row *rows cleanup_free = calloc(nr_rows + 1, sizeof(*rows));

	if (!rows)
		return err_set_errno(err, -ENOMEM, "cannot compare %zu rows", nr_rows);
	nr_rows = join(aggs, nr, rows);
	qsort_r(rows, nr_rows, sizeof(*rows), compare_rows, (void *)diff);
	switch (diff->config.format) {
	case REPORT_CSV:
		put_csv(diff, rows, nr_rows, sink);
		return 0;
	case REPORT_JSON:
		put_json(diff, rows, nr_rows, sink);
		return 0;
	case REPORT_TEXT:
		break;
	}
	color_page_begin(&page, diff->config.color);
	sink_puts(sink, strbuf_str(&page));
	put_titles(aggs, nr, sink);
	put_table(diff, rows, nr_rows, sink);
	strbuf_reset(&page);
	color_page_end(&page, diff->config.color);
	sink_puts(sink, strbuf_str(&page));
	return 0;
}
