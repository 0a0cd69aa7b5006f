/* View: a table of events (see report_events.h). */
#include "utils/view/report/report_events.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "utils/base/units.h"
#include "utils/base/unknown.h"
#include "utils/base/containers/vec.h"
#include "utils/view/texts.h"

/* --- columns --- */

/*
 * A column. The name of each column is also the name of a sort key.
 *
 * @permille: COUNT; or RATE (occurrences per second); or a percentile of the times between
 *            occurrences, in thousandths: 500 is the median
 */
struct event_column {
	struct column column;
	int permille;
};

#define COUNT -1
#define RATE  -2

static const struct event_column columns[] = {
	{ { "count", NULL, "     Count", true }, COUNT },
	{ { "rate", NULL, "  Per second", true }, RATE },
	{ { "min", NULL, "       Min", true }, 0 },
	{ { "p50", NULL, "       p50", true }, 500 },
	{ { "p90", NULL, "       p90", true }, 900 },
	{ { "p99", NULL, "       p99", true }, 990 },
	{ { "p99.9", NULL, "     p99.9" }, 999 },
	{ { "max", NULL, "       Max", true }, 1000 },
};

/* In report->keys, KEY_NAME is the sort key "name". Smaller numbers are indices of columns[]. */
#define KEY_NAME ARRAY_SIZE(columns)

static double rate_of(const struct report_events *report, const struct event_row *row)
{
	uint64_t ns = report->last_ns - report->first_ns;

	return ns ? row->nr / ((double)ns / NSEC_PER_SEC) : 0;
}

static void put_cell(const struct report_events *report, const struct event_column *column,
		     const struct event_row *row, struct sink *sink)
{
	if (column->permille == COUNT)
		sink_done(sink, put_dec(sink_room(sink, CELL_MAX_BYTES), row->nr, 10));
	else if (column->permille == RATE)
		sink_putf(sink, "%12.1f", rate_of(report, row));
	else
		sink_time(sink, hist_percentile(&row->between, column->permille),
			  report->config.color);
}

/* Write a number for csv and JSON. Times are in nanoseconds. */
static void put_value(const struct report_events *report, const struct event_column *column,
		      const struct event_row *row, struct sink *sink)
{
	if (column->permille == COUNT)
		sink_putf(sink, "%llu", (unsigned long long)row->nr);
	else if (column->permille == RATE)
		sink_putf(sink, "%.3f", rate_of(report, row));
	else
		sink_putf(sink, "%llu",
			  (unsigned long long)hist_percentile(&row->between, column->permille));
}

/* --- the beginning and the end --- */

static int add_key(struct report_events *report, const char *word, size_t len, struct uft_err *err)
{
	struct unknown unknown cleanup_unknown;

	unknown_init(&unknown, word, len);
	for (size_t i = 0; i <= ARRAY_SIZE(columns); i++) {
		const char *name = i == KEY_NAME ? "name" : columns[i].column.name;

		unknown_offer(&unknown, name);
		if (strlen(name) != len || strncmp(name, word, len) != 0)
			continue;
		if (report->nr_keys < SORT_KEYS_MAX)
			report->keys[report->nr_keys++] = i;
		return 0;
	}
	return unknown_set(&unknown, err, -EINVAL, "sort key", "some of", "");
}

int report_events_init(struct report_events *report, const struct report_config *config,
		       struct uft_err *err)
{
	const char *at = config->sort_keys ? config->sort_keys : "count";
	int ret;

	*report = (struct report_events){ .config = *config };
	ret = columns_choose(columns, ARRAY_SIZE(columns), sizeof(*columns), config->fields,
			     &report->columns, err);
	while (ret == 0) {
		size_t len = strcspn(at, ",");

		ret = add_key(report, at, len, err);
		if (!at[len])
			break;
		at += len + 1;
	}
	return ret;
}

void report_events_deinit(struct report_events *report)
{
	for (size_t i = 0; i < report->nr_rows; i++) {
		hist_deinit(&report->rows[i]->between);
		free(report->rows[i]->name);
		free(report->rows[i]);
	}
	free(report->rows);
	intmap_deinit(&report->by_id);
	strmap_deinit(&report->by_name);
	event_texts_deinit(&report->texts);
}

void report_events_configure(struct pipeline_config *config)
{
	config->order = PIPELINE_BY_TIME;
	config->stages.show_outside = true;
	config->stages.sched = STAGE_SCHED_NONE;
}

/* --- counting --- */

/* Add a row. The function takes ownership of @name, which is on the heap. */
static struct event_row *add_row(struct report_events *report, char *name)
{
	struct event_row **rows = vec_grow(report->rows, report->nr_rows,
					   sizeof(struct event_row *));
	struct event_row *row = calloc(1, sizeof(*row));

	if (rows)
		report->rows = rows;
	if (!rows || !row || strmap_put(&report->by_name, name, row) < 0) {
		free(row);
		free(name);
		return NULL;
	}
	row->name = name;
	return rows[report->nr_rows++] = row;
}

static struct event_row *find_row(struct report_events *report, uint64_t id)
{
	struct event_row *row = intmap_get(&report->by_id, id);
	struct strbuf text cleanup_strbuf = { 0 };

	if (row)
		return row;
	event_kind_put_name(event_kinds_find(&report->texts.kinds, id), id, &text);

	char *name = strbuf_oom(&text) ? NULL : strdup(strbuf_str(&text));

	if (!name)
		return NULL;
	row = strmap_get(&report->by_name, name);
	if (row)
		free(name);
	else
		row = add_row(report, name);
	return row && intmap_put(&report->by_id, id, row) == 0 ? row : NULL;
}

static int count_event(struct report_events *report, const struct event *event)
{
	struct event_row *row = find_row(report, event->id);
	int ret = 0;

	if (!row)
		return -ENOMEM;
	report->nr_events++;
	if (row->nr++)
		ret = hist_add(&row->between, event->time_ns - row->last_ns);
	row->last_ns = event->time_ns;
	return ret;
}

static int count_events(void *self, const struct event_span *span, struct uft_err *err)
{
	struct report_events *report = self;
	int ret = 0;

	for (size_t i = 0; ret == 0 && i < span->nr; i++) {
		const struct event *event = &span->events[i];

		if (!report->first_ns)
			report->first_ns = event->time_ns;
		report->last_ns = event->time_ns;
		if (event_is_listed(event))
			ret = count_event(report, event);
	}
	return ret < 0 ? err_set_errno(err, ret, "cannot count events") : 0;
}

/* Add rows for events that were declared but never occurred. */
static int add_declared(struct report_events *report, struct uft_err *err)
{
	const struct declared_events *declared = &report->texts.kinds.declared;

	for (size_t i = 0; i < declared->nr; i++) {
		if (!find_row(report, declared->events[i].id))
			return err_set_errno(err, -ENOMEM, "cannot list events");
	}
	return 0;
}

int report_events_run(struct report_events *report, struct pipeline *pipe, struct uft_err *err)
{
	const struct view view = { count_events, report };
	int ret = event_texts_load(&report->texts, pipe->data, err);

	if (ret == 0)
		ret = pipeline_run(pipe, &view, err);
	return ret < 0 ? ret : add_declared(report, err);
}

/* --- the table --- */

static uint64_t key_value(const struct event_row *row, unsigned key)
{
	int permille = columns[key].permille;

	return permille < 0 ? row->nr : hist_percentile(&row->between, permille);
}

static int compare_rows(const void *a, const void *b, void *arg)
{
	const struct report_events *report = arg;
	const struct event_row *x = *(struct event_row *const *)a;
	const struct event_row *y = *(struct event_row *const *)b;

	for (size_t i = 0; i < report->nr_keys; i++) {
		if (report->keys[i] == KEY_NAME)
			break;

		uint64_t m = key_value(x, report->keys[i]);
		uint64_t n = key_value(y, report->keys[i]);

		if (m != n)
			return m > n ? -1 : 1;
	}
	return strcmp(x->name, y->name);
}

static void show_text(const struct report_events *report, struct sink *sink)
{
	const struct column_choice *chosen = &report->columns;

	sink_page_begin(sink, report->config.color);
	for (size_t i = 0; i < chosen->nr; i++) {
		sink_lit(sink, "  ");
		sink_str(sink, columns[chosen->columns[i]].column.header);
	}
	sink_lit(sink, "  Event\n");
	for (size_t i = 0; i < chosen->nr; i++) {
		sink_lit(sink, "  ");
		sink_fill(sink, '=', strlen(columns[chosen->columns[i]].column.header));
	}
	sink_lit(sink, "  ====================\n");
	for (size_t i = 0; i < report->nr_rows; i++) {
		for (size_t k = 0; k < chosen->nr; k++) {
			sink_lit(sink, "  ");
			put_cell(report, &columns[chosen->columns[k]], report->rows[i], sink);
		}
		sink_lit(sink, "  ");
		sink_str(sink, report->rows[i]->name);
		sink_lit(sink, "\n");
	}
	sink_page_end(sink, report->config.color);
}

static void show_csv(const struct report_events *report, struct sink *sink)
{
	const struct column_choice *chosen = &report->columns;

	sink->medium = MEDIUM_CSV;
	sink_lit(sink, "#");
	for (size_t i = 0; i < chosen->nr; i++) {
		const char *header = columns[chosen->columns[i]].column.header;

		sink_str(sink, header + strspn(header, " "));
		sink_lit(sink, ",");
	}
	sink_lit(sink, "Event\n");
	for (size_t i = 0; i < report->nr_rows; i++) {
		for (size_t k = 0; k < chosen->nr; k++) {
			put_value(report, &columns[chosen->columns[k]], report->rows[i], sink);
			sink_lit(sink, ",");
		}
		sink_str(sink, report->rows[i]->name);
		sink_lit(sink, "\n");
	}
}

static void show_json(const struct report_events *report, struct sink *sink)
{
	const struct column_choice *chosen = &report->columns;

	sink->medium = MEDIUM_JSON;
	sink_lit(sink, "[");
	for (size_t i = 0; i < report->nr_rows; i++) {
		sink_either(sink, i, ",\n", "\n");
		sink_lit(sink, "{\"event\":\"");
		sink_str(sink, report->rows[i]->name);
		sink_lit(sink, "\"");
		for (size_t k = 0; k < chosen->nr; k++) {
			const struct event_column *column = &columns[chosen->columns[k]];

			sink_lit(sink, ",\"");
			sink_str(sink, column->column.name);
			sink_lit(sink, "\":");
			put_value(report, column, report->rows[i], sink);
		}
		sink_lit(sink, "}");
	}
	sink_lit(sink, "\n]\n");
}

int report_events_show(struct report_events *report, struct sink *sink, struct uft_err *err)
{
	if (report->nr_rows)
		qsort_r(report->rows, report->nr_rows, sizeof(*report->rows), compare_rows, report);
	if (report->config.format == REPORT_CSV)
		show_csv(report, sink);
	else if (report->config.format == REPORT_JSON)
		show_json(report, sink);
	else
		show_text(report, sink);
	return 0;
}
