/* Exporters of `utrail events`, which write events and leave out calls. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "trace/seam/reader.h"
#include "utils/base/cleanup.h"
#include "utils/base/containers/order.h"
#include "utils/base/containers/vec.h"
#include "utils/base/units.h"
#include "utils/export/export.h"

/*
 * @name, @text: the name and the text of the event that is being written
 * @nr: the number of lines that were written
 */
struct lines {
	struct nest nest;
	struct strbuf name;
	struct strbuf text;
	uint64_t nr;
};

static void configure_lines(struct pipeline_config *config)
{
	config->order = PIPELINE_BY_TIME;
	config->stages.wants = STAGE_WANTS_DEPTHS;
	config->stages.show_outside = true;
	config->stages.sched = STAGE_SCHED_NONE;
}

static int begin_lines(struct export *ex, struct uft_err *err)
{
	struct lines *lines = ex->state;

	return export_nest_init(ex, &lines->nest, err);
}

static int put_listed_events(struct export *ex, const struct event_span *span, struct uft_err *err)
{
	struct lines *lines = ex->state;
	struct nest_task *open = &lines->nest.tasks[span->task->index];
	struct nest_edge edge;
	int ret = 0;

	for (size_t i = 0; i < span->nr; i++) {
		const struct event *event = &span->events[i];

		if (event_is_listed(event))
			ret |= export_point(ex, span->task, event);
		while (ex->config->shows_paths && nest_next(&lines->nest, open, event, &edge))
			;
	}
	return ret < 0 || lines->nest.is_oom ? err_set_errno(err, -ENOMEM, "cannot export") : 0;
}

static void deinit_lines(struct export *ex)
{
	struct lines *lines = ex->state;

	nest_deinit(&lines->nest);
	strbuf_deinit(&lines->name);
	strbuf_deinit(&lines->text);
}

/*
 * Store the name and the text of @event in the struct lines of @ex. Add 1 to lines.nr, the number
 * of written lines. Return the struct.
 */
static struct lines *describe(struct export *ex, const struct task *task, const struct event *event)
{
	struct lines *lines = ex->state;

	strbuf_reset(&lines->name);
	strbuf_reset(&lines->text);
	event_put_name(&ex->texts, event, &lines->name);
	event_put_data(&ex->texts, task, event, &lines->text);
	lines->nr++;
	return lines;
}

static void put_time(struct export *ex, const struct event *event)
{
	sink_putf(ex->sink, SECONDS_FORMAT, SECONDS_OF(event->time_ns));
}

/* --- lines for people --- */

/* Write the calls around an event, innermost first. */
static void put_path(struct export *ex, const struct nest_task *open)
{
	for (size_t i = open->depth; i-- > 0;) {
		sink_lit(ex->sink, " <- ");
		if (open->stack[i])
			sink_text(ex->sink, open->stack[i]->name, open->stack[i]->name_len);
		else
			sink_lit(ex->sink, "?");
	}
}

/* Begin a line with the time. The caller must write the returned name and text. */
static struct lines *begin_line(struct export *ex, const struct task *task,
				const struct event *event)
{
	put_time(ex, event);
	return describe(ex, task, event);
}

static void put_name(struct export *ex, const struct lines *lines)
{
	sink_text(ex->sink, strbuf_str(&lines->name), lines->name.len);
}

static void put_text(struct export *ex, const struct lines *lines)
{
	sink_text(ex->sink, strbuf_str(&lines->text), lines->text.len);
}

static int end_line(struct export *ex, const struct lines *lines)
{
	sink_lit(ex->sink, "\n");
	return strbuf_oom(&lines->name) || strbuf_oom(&lines->text) ? -ENOMEM : 0;
}

static int show_point(struct export *ex, const struct task *task, const struct event *event)
{
	struct lines *lines = begin_line(ex, task, event);

	sink_putf(ex->sink, " [%6d] ", task->tid);
	put_name(ex, lines);
	if (lines->text.len)
		sink_lit(ex->sink, " ");
	put_text(ex, lines);
	if (ex->config->shows_paths)
		put_path(ex, &lines->nest.tasks[task->index]);
	return end_line(ex, lines);
}

/* The members that all exporters of this file have in common. */
#define LINES_MEMBERS(begin_of, point_of)                                                     \
	.state_bytes = sizeof(struct lines), .configure = configure_lines, .begin = begin_of, \
	.events = put_listed_events, .deinit = deinit_lines, .point = point_of

const struct exporter exp_event_lines = {
	.name = "show",
	.medium = MEDIUM_TERMINAL,
	LINES_MEMBERS(begin_lines, show_point),
};

/* --- CSV --- */

static int begin_csv(struct export *ex, struct uft_err *err)
{
	sink_lit(ex->sink, "time,pid,tid,event,text\n");
	return begin_lines(ex, err);
}

static int csv_point(struct export *ex, const struct task *task, const struct event *event)
{
	struct lines *lines = begin_line(ex, task, event);

	sink_putf(ex->sink, ",%d,%d,", task->pid, task->tid);
	put_name(ex, lines);
	sink_lit(ex->sink, ",");
	put_text(ex, lines);
	return end_line(ex, lines);
}

const struct exporter exp_event_csv = {
	.name = "csv",
	.medium = MEDIUM_CSV,
	LINES_MEMBERS(begin_csv, csv_point),
};

/* --- JSON --- */

static int json_point(struct export *ex, const struct task *task, const struct event *event)
{
	struct strbuf members cleanup_strbuf = { 0 };
	struct lines *lines = describe(ex, task, event);

	export_point_json(ex, task, event, &members);
	sink_either(ex->sink, lines->nr == 1, "[\n", ",\n");
	sink_putf(ex->sink, "{\"pid\":%d,\"tid\":%d,\"ts\":%llu,\"event\":\"", task->pid, task->tid,
		  (unsigned long long)event->time_ns);
	put_name(ex, lines);
	sink_lit(ex->sink, "\",\"text\":\"");
	put_text(ex, lines);
	sink_lit(ex->sink, "\",\"args\":{");
	sink_put_made(ex->sink, &members);
	sink_lit(ex->sink, "}}");
	return strbuf_oom(&lines->name) || strbuf_oom(&lines->text) || strbuf_oom(&members)
		       ? -ENOMEM
		       : 0;
}

static int end_json(struct export *ex, struct uft_err *err)
{
	struct lines *lines = ex->state;

	sink_either(ex->sink, lines->nr != 0, "\n]\n", "[]\n");
	return 0;
}

const struct exporter exp_event_json = {
	.name = "json",
	.medium = MEDIUM_JSON,
	LINES_MEMBERS(begin_lines, json_point),
	.end = end_json,
};

/* --- lines as libutrail-trace writes them --- */

/*
 * Returns the event's time of day. If the event was imported from a line of a log, returns the time
 * that the line contains.
 */
static int64_t real_time_us(const struct export *ex, const struct declared_event *declared,
			    const struct event *event)
{
	uint64_t ns = event->time_ns + ex->texts.kinds.declared.offset_ns;
	int64_t us = ns / 1000;

	declared_line_time(declared, event->data, event->data_len, &us);
	return us;
}

static int fstrace_point(struct export *ex, const struct task *task, const struct event *event)
{
	const struct event_kind *kind = event_kinds_find(&ex->texts.kinds, event->id);
	struct fst_text head;
	int64_t us;
	struct lines *lines;

	if (!kind->declared || !event->data) {
		ex->nr_dropped++;
		return 0;
	}
	us = real_time_us(ex, kind->declared, event);
	lines = describe(ex, task, event);
	fst_text_init(&head);
	fst_put_time_us(&head, us, ' ');
	sink_put_raw(ex->sink, head.base, head.len);
	fst_text_free(&head);
	sink_lit(ex->sink, " ");
	sink_str(ex->sink, kind->declared->name);
	sink_lit(ex->sink, " ");
	put_text(ex, lines);
	return end_line(ex, lines);
}

const struct exporter exp_event_fstrace = {
	.name = "fstrace",
	.medium = MEDIUM_TERMINAL,
	LINES_MEMBERS(begin_lines, fstrace_point),
	.drops_points = "the program has not declared them, or their values are missing",
};

/* --- the list of events, with the count of each --- */

/*
 * The events with the same id.
 *
 * @nr: the number of these events
 * @bytes: the size of the data of all these events
 */
struct tally {
	uint64_t id;
	uint64_t nr;
	uint64_t bytes;
	const struct event_kind *kind;
};

/* @tallies: sorted by id while events are counted */
struct tallies {
	struct tally *tallies;
	size_t nr;
	size_t cap;
	uint64_t first_ns;
	uint64_t last_ns;
};

static void configure_list(struct pipeline_config *config)
{
	config->order = PIPELINE_BY_TASK;
	config->stages.show_outside = true;
	config->stages.sched = STAGE_SCHED_NONE;
}

static struct tally *tally_of(struct tallies *all, uint64_t id)
{
	_Static_assert(offsetof(struct tally, id) == 0, "ordered by order_u64()");
	size_t at = order_count_below(all->tallies, all->nr, sizeof(*all->tallies), id);
	struct tally *tallies;

	if (at < all->nr && all->tallies[at].id == id)
		return &all->tallies[at];
	tallies = vec_room(all->tallies, all->nr, &all->cap, sizeof(*tallies));
	if (!tallies)
		return NULL;
	all->tallies = tallies;
	memmove(&tallies[at + 1], &tallies[at], (all->nr++ - at) * sizeof(*tallies));
	tallies[at] = (struct tally){ .id = id };
	return &tallies[at];
}

static int count_point(struct export *ex, const struct task *task, const struct event *event)
{
	struct tally *tally = tally_of(ex->state, event->id);

	if (!tally)
		return -ENOMEM;
	tally->nr++;
	tally->bytes += event->data ? event->data_len : 0;
	return 0;
}

static int count_events(struct export *ex, const struct event_span *span, struct uft_err *err)
{
	struct tallies *all = ex->state;
	int ret = 0;

	for (size_t i = 0; i < span->nr; i++) {
		const struct event *event = &span->events[i];

		if (!all->first_ns || event->time_ns < all->first_ns)
			all->first_ns = event->time_ns;
		all->last_ns = MAX(all->last_ns, event->time_ns);
		if (event_is_listed(event))
			ret |= export_point(ex, span->task, event);
	}
	return ret < 0 ? err_set_errno(err, -ENOMEM, "cannot count events") : 0;
}

static int compare_tallies(const void *a, const void *b)
{
	const struct tally *x = a;
	const struct tally *y = b;

	if (x->nr != y->nr)
		return x->nr < y->nr ? 1 : -1;
	return strcmp(x->kind->name, y->kind->name);
}

static void put_tally(struct export *ex, const struct tally *tally, uint64_t length_ns)
{
	const struct declared_event *declared = tally->kind->declared;
	double seconds = (double)length_ns / NSEC_PER_SEC;

	sink_putf(ex->sink, "%12llu %14.1f %12llu  ", (unsigned long long)tally->nr,
		  length_ns ? tally->nr / seconds : 0.0, (unsigned long long)tally->bytes);
	sink_str(ex->sink, tally->kind->name);
	if (declared && declared->common) {
		sink_lit(ex->sink, "  ");
		sink_str(ex->sink, declared->common->text);
	}
	if (declared && declared->format && *declared->format->text) {
		sink_lit(ex->sink, "  ");
		sink_str(ex->sink, declared->format->text);
	}
	if (declared && declared->types) {
		sink_lit(ex->sink, "  ");
		sink_str(ex->sink, declared->types);
	}
	sink_lit(ex->sink, "\n");
}

/* Write the table. A declared event that never occurred has a row with the count 0. */
static int put_tallies(struct export *ex, struct uft_err *err)
{
	const struct declared_events *declared = &ex->texts.kinds.declared;
	struct tallies *all = ex->state;

	for (size_t i = 0; i < declared->nr; i++) {
		if (!tally_of(all, declared->events[i].id))
			return err_set_errno(err, -ENOMEM, "cannot list events");
	}
	for (size_t i = 0; i < all->nr; i++)
		all->tallies[i].kind = event_kinds_find(&ex->texts.kinds, all->tallies[i].id);
	if (all->nr)
		qsort(all->tallies, all->nr, sizeof(*all->tallies), compare_tallies);
	sink_lit(ex->sink, "       Count     Per second        Bytes  Event\n");
	for (size_t i = 0; i < all->nr; i++)
		put_tally(ex, &all->tallies[i], all->last_ns - all->first_ns);
	return 0;
}

static void free_tallies(struct export *ex)
{
	free(((struct tallies *)ex->state)->tallies);
}

const struct exporter exp_event_list = {
	.name = "list",
	.medium = MEDIUM_TERMINAL,
	.state_bytes = sizeof(struct tallies),
	.configure = configure_list,
	.events = count_events,
	.end = put_tallies,
	.deinit = free_tallies,
	.point = count_point,
};
