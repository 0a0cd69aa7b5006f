/* View: differences between recordings (see report_diff.h). */
#include "utils/view/report/report_diff.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "utils/base/unknown.h"
#include "utils/view/report/report_diff_rows.h"

/* The sort key for the name. Smaller keys stand for fields, larger keys for counters. */
#define KEY_FUNC DIFF_FIELD_KEYS

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

/*
 * With --avg-total or --avg-self, a short name stands for a field: "avg" stands for "total-avg" or
 * "self-avg". Returns the field's name if @word is such a short name. Returns NULL for any other
 * word. With neither --avg-total nor --avg-self, returns NULL for every word.
 */
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

/*
 * Add a counter as a sort key. Returns false when @word is not the name of a counter. Later,
 * diff_table_init() checks if a recording has the counter.
 */
static bool add_counter_key(struct report_diff *diff, const char *word, size_t len)
{
	char name[COUNTER_NAME_BYTES];
	struct counter counter;
	int index;

	if (len >= sizeof(name))
		return false;
	memcpy(name, word, len);
	name[len] = '\0';
	if (!counter_parse(name, &counter))
		return false;
	index = counters_add(&diff->key_counters, &counter);
	if (index < 0)
		return false;
	if (diff->nr_keys < DIFF_KEYS_MAX)
		diff->keys[diff->nr_keys++] = KEY_FUNC + 1 + index;
	return true;
}

static int add_key(struct report_diff *diff, const char *word, size_t len, struct uft_err *err)
{
	const char *family = family_of(diff, word, len);
	struct unknown unknown cleanup_unknown = { 0 };
	size_t key = 0;

	while (key < DIFF_FIELD_KEYS && !is_key(word, len, diff_fields[key].column.name) &&
	       !(family && strcmp(diff_fields[key].column.name, family) == 0))
		key++;
	if (key < DIFF_FIELD_KEYS || is_word(word, len, "func")) {
		if (diff->nr_keys < DIFF_KEYS_MAX)
			diff->keys[diff->nr_keys++] = key;
		return 0;
	}
	if (add_counter_key(diff, word, len))
		return 0;
	unknown_init(&unknown, word, len);
	for (size_t i = 0; i < DIFF_FIELD_KEYS; i++)
		unknown_offer(&unknown, diff_fields[i].column.name);
	unknown_offer(&unknown, "func");
	return unknown_set(&unknown, err, -ERR_USAGE, "sort key", "some of", ", or a counter");
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

	int ret = columns_choose(diff_fields, DIFF_FIELDS, sizeof(*diff_fields), chosen,
				 &diff->columns, err);

	if (ret == 0)
		ret = for_each_word(diff, config->policy, add_policy, err);
	return ret == 0 ? for_each_word(diff, keys, add_key, err) : ret;
}

void report_diff_configure(const struct report_diff *diff, struct pipeline_config *config)
{
	config->order = PIPELINE_BY_TASK;
	config->stages.wants = STAGE_WANTS_ENDS;
	config->stages.closes_open_calls = true;
}

void report_diff_prepare(const struct report_diff *diff, struct aggregate *agg)
{
	agg->counts_outside = diff->config.counts_outside;
	for (size_t i = 0; i < diff->columns.nr; i++)
		agg->wants_details |= diff_fields[diff->columns.columns[i]].needs_details;
	for (size_t i = 0; i < diff->nr_keys; i++)
		agg->wants_details |= diff->keys[i] < KEY_FUNC &&
				      diff_fields[diff->keys[i]].needs_details;
}

static double sort_value(const struct report_diff *diff, const struct diff_field *field,
			 const struct diff_row *row)
{
	double base = field->value(&row->base, field);
	double pair = field->value(&row->pair, field);

	/* An unknown value sorts as zero. */
	base = isnan(base) ? 0 : base;
	pair = isnan(pair) ? 0 : pair;

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
		diff_percent(base, pair, &change);
	return diff->is_absolute ? fabs(change) : change;
}

static int compare_rows(const void *a, const void *b, void *arg)
{
	const struct diff_table *table = arg;
	const struct diff_row *x = a;
	const struct diff_row *y = b;

	for (size_t i = 0; i < table->nr_keys && table->keys[i].value; i++) {
		double vx = sort_value(table->diff, &table->keys[i], x);
		double vy = sort_value(table->diff, &table->keys[i], y);

		if (vx != vy)
			return vx > vy ? -1 : 1;
	}
	return strcmp(x->func->name, y->func->name);
}

static void put_titles(const struct report_diff *diff, const struct aggregate *aggs, size_t nr,
		       struct sink *sink)
{
	sink_lit(sink, "#\n# uftrace diff\n");
	for (size_t i = 0; i < nr; i++) {
		const struct trace_data *data = aggs[i].pipe->data;

		sink_putf(sink, "#  [%zu] ", i);
		sink_either(sink, i, "diff: ", "base: ");
		sink_str(sink, data->dir);
		sink_lit(sink, "\t(from ");
		sink_str(sink, data->info.cmdline ? data->info.cmdline : "?");
		sink_lit(sink, ")\n");
	}
	sink_lit(sink, "#  ");
	sink_str(sink, report_diff_sign_text(diff));
	sink_lit(sink, "\n#\n");
}

/* @places: the indices of the counters in the row's recording */
static void add_side(struct side *side, const struct func_row *row, unsigned nr_runs,
		     const int places[static DIFF_COUNTERS_MAX])
{
	const struct counter_sums *sums = row->stats.counters;
	bool is_first = side->stats.calls == 0;

	side->nr_runs = nr_runs;
	if (row->func->sym)
		side->size = row->func->sym->size;
	call_stats_merge(&side->stats, &row->stats, is_first);
	for (size_t i = 0; sums && i < DIFF_COUNTERS_MAX; i++) {
		if (places[i] < 0)
			continue;
		side->counters[i].sum += sums->sums[places[i]];
		side->counters[i].calls += sums->calls[places[i]];
	}
}

static void merge_counters(struct side *to, const struct side *from)
{
	for (size_t i = 0; i < DIFF_COUNTERS_MAX; i++) {
		to->counters[i].sum += from->counters[i].sum;
		to->counters[i].calls += from->counters[i].calls;
	}
}

static int compare_names(const void *a, const void *b)
{
	const struct diff_row *x = a;
	const struct diff_row *y = b;

	return strcmp(x->func->name, y->func->name);
}

/* Make a row for each function of each recording. */
static int make_rows(const struct diff_table *table, struct aggregate *aggs, size_t nr_aggs,
		     struct diff_row *rows, struct uft_err *err)
{
	size_t nr = 0;

	for (size_t i = 0; i < nr_aggs; i++) {
		int places[DIFF_COUNTERS_MAX];
		int ret = diff_table_places(table, &aggs[i], places, err);

		if (ret < 0)
			return ret;
		for (size_t k = 0; k < aggs[i].nr_rows; k++) {
			struct diff_row *row = &rows[nr++];

			row->func = aggs[i].rows[k].func;
			row->modules = &aggs[i].pipe->data->modules;
			row->base.nr_runs = 1;
			row->pair.nr_runs = nr_aggs - 1;
			add_side(i ? &row->pair : &row->base, &aggs[i].rows[k], i ? nr_aggs - 1 : 1,
				 places);
		}
	}
	return 0;
}

/* Make one row for each name. */
static size_t join_rows(struct diff_row *rows, size_t nr)
{
	size_t kept = 0;

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
		merge_counters(&last->pair, &rows[i].pair);
		last->pair.size = MAX(last->pair.size, rows[i].pair.size);
	}
	return kept;
}

static void put_difference(const struct diff_table *table, const struct diff_row *rows,
			   size_t nr_rows, const struct aggregate *aggs, size_t nr,
			   struct sink *sink)
{
	enum color_mode color = table->diff->config.color;

	switch (table->diff->config.format) {
	case REPORT_CSV:
		report_diff_put_csv(table, rows, nr_rows, sink);
		return;
	case REPORT_JSON:
		report_diff_put_json(table, rows, nr_rows, sink);
		return;
	case REPORT_TEXT:
		break;
	}
	sink_page_begin(sink, color);
	put_titles(table->diff, aggs, nr, sink);
	report_diff_put_table(table, rows, nr_rows, sink);
	sink_page_end(sink, color);
}

int report_diff_show(const struct report_diff *diff, struct aggregate *aggs, size_t nr,
		     struct sink *sink, struct uft_err *err)
{
	struct diff_table table cleanup(diff_table_deinit) = { 0 };
	size_t nr_rows = 0;
	int ret = diff_table_init(&table, diff, aggs, nr, err);

	for (size_t i = 0; ret == 0 && i < nr; i++) {
		ret = aggregate_by_name(&aggs[i]);
		nr_rows += aggs[i].nr_rows;
	}

	struct diff_row *rows cleanup_free = calloc(nr_rows + 1, sizeof(*rows));

	if (ret == 0)
		ret = rows ? make_rows(&table, aggs, nr, rows, err) : -ENOMEM;
	if (ret == -ENOMEM)
		return err_set_errno(err, ret, "cannot compare %zu rows", nr_rows);
	if (ret < 0)
		return ret;
	nr_rows = join_rows(rows, nr_rows);
	qsort_r(rows, nr_rows, sizeof(*rows), compare_rows, &table);
	put_difference(&table, rows, nr_rows, aggs, nr, sink);
	return 0;
}
