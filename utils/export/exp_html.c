/*
 * Exporter: a web page with a timeline, a flame graph and a table of functions. The page needs no
 * network.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "utils/base/escape.h"
#include "utils/base/containers/vec.h"
#include "utils/export/export.h"
#include "utils/export/nest.h"
#include "utils/export/numbers.h"
#include "utils/export/page/blocks.h"
#include "utils/export/page/executions.h"
#include "utils/export/page/marks.h"
#include "utils/export/page/page.h"
#include "utils/export/page/sources.h"
#include "utils/view/texts.h"
#include "utils/view/values/titles.h"

/* A call that the page shows. Calls are in the order in which they began. */
struct slice {
	uint64_t start_ns;
	uint64_t dur_ns;
	uint32_t func;
	uint32_t text;
	uint16_t depth;
	uint8_t flags;
};

/* Columns of a block of calls. */
enum slice_column {
	SLICE_COLUMN_START, /* ns since the start of the task's previous call */
	SLICE_COLUMN_DEPTH, /* depth * 4 + flags */
	SLICE_COLUMN_DUR,   /* duration in ns */
	SLICE_COLUMN_FUNC,  /* number of the function */
	SLICE_COLUMN_TEXT,  /* only with SLICE_TEXT: index of the call's text; first index: 1 */
};

/* Columns of a block of points. Points are events that take no time. */
enum point_column {
	POINT_COLUMN_TIME, /* ns since the task's previous point */
	POINT_COLUMN_TEXT, /* index of the point's text; first index: 1 */
	POINT_COLUMN_KIND, /* index of the point's kind; first index: 0 */
};

enum slice_flag {
	SLICE_OPEN = 1, /* the call never returned */
	SLICE_TEXT = 2,
};

/*
 * If a page has more texts than this, the texts are in blocks. Blocks are encoded in base64, so
 * grep(1) does not find the texts.
 */
#define PLAIN_TEXTS 4096

/*
 * @slices: calls of @task
 * @open: the indices of calls that have not ended, by depth
 * @numbers: gives a number to each function on the page
 * @texts: gives a number to each text of a call or point. The text of a call has the arguments and
 *         the return value
 * @kinds: gives a number to each kind of points. All points of a kind have the same name
 * @per_kind: @per_kind[i + 1] counts the points of kind i
 * @calls, @points: blocks that are being filled
 * @nr_points: points of @task
 */
struct html {
	struct nest nest;
	const struct task *task;
	struct slice *slices;
	size_t nr;
	size_t cap;
	size_t *open;
	size_t nr_open;
	size_t cap_open;
	uint64_t last_ns;
	struct func_numbers numbers;
	struct text_numbers texts;
	struct text_numbers kinds;
	uint64_t *per_kind;
	size_t nr_per_kind;
	struct block calls;
	struct block points;
	uint64_t first_point_ns;
	uint64_t last_point_ns;
	size_t nr_points;
	uint64_t nr_lost;    /* the number of lost records of all tasks */
	size_t depth;	     /* the largest number of open calls of @task */
	struct strbuf tasks; /* JSON */
	size_t nr_tasks;
	struct strbuf text;
};

/* Write the head of the page, with the complete Content-Security-Policy. */
static void put_head(struct export *ex)
{
	sink_put_raw(ex->sink, page_head, page_head_len);
	if (ex->config->is_served)
		sink_lit(ex->sink, "connect-src 'self'; ");
	sink_put_raw(ex->sink, page_data, page_data_len);
}

static int begin_html(struct export *ex, struct uft_err *err)
{
	struct html *html = ex->state;

	if (ex->config->side != EXPORT_PAIR)
		put_head(ex);
	if (ex->config->side == EXPORT_BASE)
		sink_lit(ex->sink, "<div hidden id=\"base-data\">\n");
	if (ex->config->side == EXPORT_PAIR)
		sink_lit(ex->sink, "<div hidden id=\"pair-data\">\n");
	return export_nest_init(ex, &html->nest, err);
}

static int begin_slice(struct html *html, const struct func *func, uint64_t time_ns)
{
	uint32_t number = func_number(&html->numbers, func);

	struct slice *slices = vec_room(html->slices, html->nr, &html->cap, sizeof(*slices));
	size_t *open = vec_room(html->open, html->nr_open, &html->cap_open, sizeof(*open));

	if (slices)
		html->slices = slices;
	if (open)
		html->open = open;
	if (!slices || !open)
		return -ENOMEM;
	html->slices[html->nr] = (struct slice){
		.start_ns = time_ns,
		.func = number - 1,
		.depth = MIN(html->nr_open, (size_t)UINT16_MAX),
	};
	html->open[html->nr_open++] = html->nr++;
	html->depth = MAX(html->depth, html->nr_open);
	return number ? 0 : -ENOMEM;
}

static struct slice *end_slice(struct html *html, uint64_t time_ns)
{
	struct slice *slice = &html->slices[html->open[--html->nr_open]];

	slice->dur_ns = time_ns - slice->start_ns;
	return slice;
}

static int set_text(struct html *html, struct slice *slice)
{
	slice->text = text_number(&html->texts, strbuf_str(&html->text));
	slice->flags |= SLICE_TEXT;
	return slice->text ? 0 : -ENOMEM;
}

/* Set the text of a call: "(1, 2)" at its entry. At its exit, " = 3" is appended. */
static int add_payload(struct export *ex, const struct event *event, struct slice *slice)
{
	struct html *html = ex->state;
	strbuf_reset(&html->text);
	if (event->type == EVENT_ENTRY)
		return export_put_payload(ex, html->task, event, &html->text)
			       ? set_text(html, slice)
			       : 0;
	if (slice->flags & SLICE_TEXT)
		strbuf_addstr(&html->text, html->texts.texts[slice->text - 1]);
	strbuf_addstr(&html->text, " = ");
	return export_put_payload(ex, html->task, event, &html->text) ? set_text(html, slice) : 0;
}

/*
 * Count a point of the kind @name. Returns one plus the index of the kind in html->kinds, or 0 when
 * there is not enough memory.
 */
static uint32_t count_kind(struct html *html, const char *name)
{
	uint32_t number = text_number(&html->kinds, name);
	uint64_t *counts = vec_reach(html->per_kind, &html->nr_per_kind, number, sizeof(*counts));

	if (!counts)
		return 0;
	html->per_kind = counts;
	counts[number]++;
	return number;
}

/* Write a point with a text such as "app:start (x=1)". */
static int put_html_point(struct export *ex, const struct task *task, const struct event *event)
{
	struct html *html = ex->state;
	struct strbuf name cleanup_strbuf = { 0 };

	strbuf_reset(&html->text);
	mark_put(&ex->texts, task, event, &name, &html->text);

	uint32_t kind = strbuf_oom(&name) ? 0 : count_kind(html, strbuf_str(&name));
	uint32_t number = text_number(&html->texts, strbuf_str(&html->text));

	if (!html->nr_points++)
		html->first_point_ns = html->last_ns;
	block_add(&html->points, POINT_COLUMN_TIME, html->last_ns - html->last_point_ns);
	block_add(&html->points, POINT_COLUMN_TEXT, number);
	block_add(&html->points, POINT_COLUMN_KIND, kind - 1);
	html->last_point_ns = html->last_ns;
	if (!number || !kind)
		return -ENOMEM;
	return block_end_row(&html->points, ex->sink, "points", html->nr_tasks);
}

static int put_html_gap(struct export *ex, const struct task *task, const struct event *event)
{
	struct html *html = ex->state;

	html->nr_lost += event->addr;
	return put_html_point(ex, task, event);
}

static int put_slices(struct html *html, struct sink *sink)
{
	struct block *block = &html->calls;
	uint64_t last_ns = 0;
	int ret = 0;

	for (size_t i = 0; ret == 0 && i < html->nr; i++) {
		const struct slice *slice = &html->slices[i];

		block_add(block, SLICE_COLUMN_START, slice->start_ns - last_ns);
		block_add(block, SLICE_COLUMN_DEPTH, (uint64_t)slice->depth << 2 | slice->flags);
		block_add(block, SLICE_COLUMN_DUR, slice->dur_ns);
		block_add(block, SLICE_COLUMN_FUNC, slice->func);
		if (slice->flags & SLICE_TEXT)
			block_add(block, SLICE_COLUMN_TEXT, slice->text);
		last_ns = slice->start_ns;
		ret = block_end_row(block, sink, "calls", html->nr_tasks);
	}
	return ret < 0 ? ret : block_write(block, sink, "calls", html->nr_tasks);
}

static void add_task(struct html *html, const struct task *task)
{
	uint64_t start_ns = html->nr ? html->slices[0].start_ns : html->first_point_ns;

	if (html->nr && html->nr_points)
		start_ns = MIN(start_ns, html->first_point_ns);
	strbuf_addf(&html->tasks,
		    "%s{\"pid\":%d,\"tid\":%d,\"calls\":%zu,\"points\":%zu,\"depth\":%zu,"
		    "\"start\":%llu,\"end\":%llu,\"name\":",
		    html->nr_tasks ? ",\n" : "", task->pid, task->tid, html->nr, html->nr_points,
		    html->depth, (unsigned long long)start_ns, (unsigned long long)html->last_ns);
	page_put_string(&html->tasks, MEDIUM_SCRIPT, task_name_at(task, UINT64_MAX));
	strbuf_addch(&html->tasks, '}');
}

static int end_task(struct export *ex)
{
	struct html *html = ex->state;
	int ret;

	while (html->nr_open)
		end_slice(html, html->last_ns)->flags |= SLICE_OPEN;
	if (html->nr == 0 && html->nr_points == 0)
		return 0;
	add_task(html, html->task);
	ret = block_write(&html->points, ex->sink, "points", html->nr_tasks);
	if (ret == 0)
		ret = put_slices(html, ex->sink);
	html->nr_tasks++;
	html->nr = html->nr_points = html->depth = 0;
	html->last_point_ns = 0;
	return ret;
}

static int add_edge(struct export *ex, const struct event *event, const struct nest_edge *edge)
{
	struct html *html = ex->state;
	struct slice *slice;

	if (edge->is_begin) {
		int ret = begin_slice(html, edge->func, html->last_ns);

		if (ret < 0)
			return ret;
		slice = &html->slices[html->nr - 1];
	} else {
		slice = end_slice(html, html->last_ns);
	}
	if (!event->data || !nest_is_own(&html->nest.tasks[html->task->index], event, edge))
		return 0;
	return add_payload(ex, event, slice);
}

static int put_html_events(struct export *ex, const struct event_span *span, struct uft_err *err)
{
	struct html *html = ex->state;
	struct nest_task *open = &html->nest.tasks[span->task->index];
	struct nest_edge edge;
	int ret = 0;

	if (span->task != html->task) {
		if (html->task)
			ret = end_task(ex);
		html->task = span->task;
		html->last_ns = 0;
	}
	for (size_t i = 0; i < span->nr && ret == 0; i++) {
		const struct event *event = &span->events[i];

		html->last_ns = MAX(html->last_ns, export_since_start(ex, event->time_ns));
		while (nest_next(&html->nest, open, event, &edge))
			ret |= add_edge(ex, event, &edge);
		if (unlikely(event->type == EVENT_POINT))
			ret |= export_point(ex, span->task, event);
		else if (unlikely(event->type == EVENT_LOST))
			ret |= put_html_gap(ex, span->task, event);
	}
	if (ret < 0 || html->nest.is_oom || strbuf_oom(&html->text))
		return err_set_errno(err, -ENOMEM, "cannot export");
	return 0;
}

static bool has_plain_texts(const struct html *html)
{
	return html->texts.nr <= PLAIN_TEXTS;
}

/*
 * If a page has more than PLAIN_TEXTS texts, write the texts in blocks. A block has two columns:
 * the lengths of the texts in bytes, and the bytes.
 */
static int put_texts(struct html *html, struct sink *sink)
{
	struct block block = { 0 };
	struct strbuf shown cleanup_strbuf = { 0 };
	int ret = 0;

	for (size_t i = 0; ret == 0 && i < html->texts.nr && !has_plain_texts(html); i++) {
		strbuf_reset(&shown);
		escape_addstr(&shown, MEDIUM_TERMINAL, html->texts.texts[i]);
		block_add(&block, 0, shown.len);
		strbuf_add(&block.columns[1], strbuf_str(&shown), shown.len);
		ret = strbuf_oom(&shown) ? -ENOMEM : block_end_row(&block, sink, "texts", 0);
	}
	if (ret == 0)
		ret = block_write(&block, sink, "texts", 0);
	block_deinit(&block);
	return ret;
}

static void add_kinds(const struct html *html, struct strbuf *meta)
{
	strbuf_addstr(meta, "],\n\"kinds\":[");
	for (size_t i = 0; i < html->kinds.nr; i++) {
		strbuf_addstr(meta, i ? ",\n{\"name\":" : "\n{\"name\":");
		page_put_string(meta, MEDIUM_SCRIPT, html->kinds.texts[i]);
		strbuf_addf(meta, ",\"count\":%llu}", (unsigned long long)html->per_kind[i + 1]);
	}
}

static int put_meta(struct export *ex, struct uft_err *err)
{
	struct html *html = ex->state;
	struct strbuf meta cleanup_strbuf = { 0 };
	size_t nr_left;
	int ret;

	strbuf_addf(&meta, "<script type=\"application/json\" id=\"%s\">{\"title\":",
		    ex->config->side == EXPORT_PAIR ? "pair-meta" : "meta");
	page_put_string(&meta, MEDIUM_SCRIPT, title_recording(ex->pipe->data));
	if (ex->config->side != EXPORT_ALONE) {
		strbuf_addstr(&meta, ",\"dir\":");
		page_put_string(&meta, MEDIUM_SCRIPT, ex->pipe->data->dir);
	}
	strbuf_addstr(&meta, ",\"tool\":");
	page_put_string(&meta, MEDIUM_SCRIPT, ex->config->tool);
	strbuf_addstr(&meta, ",\"cmdline\":");
	page_put_string(&meta, MEDIUM_SCRIPT, title_cmdline(ex->pipe->data));
	strbuf_addstr(&meta, ",\"date\":");
	page_put_string(&meta, MEDIUM_SCRIPT, title_date(ex->pipe->data));
	strbuf_addstr(&meta, ex->config->is_served ? ",\n\"served\":\"whole\"" : "");
	if (html->nr_lost)
		strbuf_addf(&meta, ",\n\"lost\":%llu", (unsigned long long)html->nr_lost);
	strbuf_addf(&meta, ",\n\"base\":\"%llu\",\"zero\":%llu,\"tasks\":[",
		    (unsigned long long)export_first_ns(ex),
		    (unsigned long long)export_since_start(ex, pipeline_first_record_ns(ex->pipe)));
	strbuf_add(&meta, strbuf_str(&html->tasks), html->tasks.len);
	strbuf_addstr(&meta, "],\n\"functions\":[");
	for (size_t i = 0; i < html->numbers.nr; i++) {
		strbuf_addstr(&meta, i ? ",\n" : "\n");
		page_put_string(&meta, MEDIUM_SCRIPT, html->numbers.funcs[i]->name);
	}
	strbuf_addch(&meta, ']');
	if (sources_put(&meta, ex->pipe->data, &html->numbers) < 0)
		return err_set_errno(err, -ENOMEM, "cannot export");
	strbuf_addstr(&meta, ",\n\"texts\":[");
	for (size_t i = 0; i < html->texts.nr && has_plain_texts(html); i++) {
		strbuf_addstr(&meta, i ? ",\n" : "\n");
		page_put_string(&meta, MEDIUM_SCRIPT, html->texts.texts[i]);
	}
	add_kinds(html, &meta);
	strbuf_addstr(&meta, "],\n\"executions\":[");
	ret = executions_put(&meta, ex->pipe, SIZE_MAX, &nr_left, err);
	strbuf_addstr(&meta, "]}</script>\n");
	sink_put_made(ex->sink, &meta);
	if (ret == 0 && (strbuf_oom(&meta) || strbuf_oom(&html->tasks)))
		return err_set_errno(err, -ENOMEM, "cannot export");
	return ret;
}

static int end_html(struct export *ex, struct uft_err *err)
{
	struct html *html = ex->state;
	int ret = html->task ? end_task(ex) : 0;

	if (ret == 0)
		ret = put_texts(html, ex->sink);
	if (ret < 0)
		return err_set_errno(err, ret, "cannot export");
	ret = put_meta(ex, err);
	if (ex->config->side != EXPORT_ALONE)
		sink_lit(ex->sink, "</div>\n");
	if (ex->config->side != EXPORT_BASE)
		sink_put_raw(ex->sink, page_tail, page_tail_len);
	return ret;
}

static void deinit_html(struct export *ex)
{
	struct html *html = ex->state;

	text_numbers_deinit(&html->texts);
	text_numbers_deinit(&html->kinds);
	free(html->per_kind);
	nest_deinit(&html->nest);
	strbuf_deinit(&html->tasks);
	block_deinit(&html->calls);
	block_deinit(&html->points);
	strbuf_deinit(&html->text);
	free(html->slices);
	free(html->open);
	func_numbers_deinit(&html->numbers);
}

const struct exporter exp_html = {
	.name = "html",
	.medium = MEDIUM_SCRIPT,
	.state_bytes = sizeof(struct html),
	.configure = nest_configure_by_task,
	.begin = begin_html,
	.events = put_html_events,
	.end = end_html,
	.deinit = deinit_html,
	.point = put_html_point,
};
