/* Exporter: the Firefox Profiler's processed format (JSON), version 60. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "utils/base/cleanup.h"
#include "utils/base/containers/vec.h"
#include "utils/export/export.h"
#include "utils/export/nest.h"
#include "utils/export/numbers.h"
#include "utils/export/payloads.h"
#include "utils/view/values/titles.h"

/*
 * The profiler shows samples instead of calls. The beginnings and ends of calls and waits divide
 * the time into periods. Each period becomes a sample. The weight of the sample is the length of
 * the period. A stack is a chain of nested calls.
 *
 * @tree: the stacks. Each node below the root is the end of a stack; the node's member @calls is
 *        1 + the number of the stack
 * @numbers: functions in the order of their first use
 * @strings: names of functions and of events, in the order of their first use
 * @func_names: numbers of names in @strings; the array is indexed by the number of a function
 * @last_ns: the time up to which @task has samples
 * @end_ns: the time of the last sample or marker of @task
 * @frames, @prefixes: columns of the table of stacks
 * @stacks, @times, @weights: columns of the samples of @task
 * @starts, @payloads: the start times of the open calls of @task, and their arguments
 * @markers: columns of the markers of @task: EVENT_POINTs, and calls with arguments or a return
 *            value
 */
struct firefox {
	struct nest nest;
	struct tree tree;
	const struct task *task;
	struct tree_node *top;
	uint64_t last_ns;
	uint64_t task_start_ns;
	uint64_t end_ns;
	struct func_numbers numbers;
	struct text_numbers strings;
	uint32_t *func_names;
	size_t nr_func_names;
	uint64_t nr_stacks;
	struct strbuf frames;
	struct strbuf prefixes;
	struct strbuf stacks;
	struct strbuf times;
	struct strbuf weights;
	size_t nr_samples;
	uint64_t *starts;
	size_t nr_starts;
	size_t cap_starts;
	struct payloads payloads;
	struct {
		struct strbuf data;
		struct strbuf names;
		struct strbuf starts;
		struct strbuf ends;
		struct strbuf phases;
		size_t nr;
	} markers;
	bool has_thread;
};

/* A text that tells the profiler how to show markers. */
#define MARKER_SCHEMA                                                                            \
	"{\"name\":\"Call\",\"display\":[\"marker-chart\",\"marker-table\"],\"isStackBased\":"   \
	"true,"                                                                                  \
	"\"chartLabel\":\"{marker.name}\",\"tableLabel\":\"{marker.name}{marker.data.arguments}" \
	"\","                                                                                    \
	"\"fields\":[{\"key\":\"arguments\",\"label\":\"Arguments\",\"format\":\"string\"},"     \
	"{\"key\":\"retval\",\"label\":\"Return value\",\"format\":\"string\"}]},"               \
	"{\"name\":\"Event\",\"display\":[\"marker-chart\",\"marker-table\"],"                   \
	"\"chartLabel\":\"{marker.name}\",\"tableLabel\":\"{marker.name} {marker.data.text}\","  \
	"\"fields\":[{\"key\":\"text\",\"label\":\"Text\",\"format\":\"string\"}]}"

/* Append a time in milliseconds, with six digits after the point, to a column. */
static void add_ms(struct strbuf *out, uint64_t ns)
{
	strbuf_addf(out, "%s%llu.%06u", out->len ? "," : "", (unsigned long long)(ns / 1000000),
		    (unsigned)(ns % 1000000));
}

static int begin_firefox(struct export *ex, struct uft_err *err)
{
	struct firefox *f = ex->state;
	const struct info *info = &ex->pipe->data->info;
	uint64_t start_ms = (info->utc_offset_s > 0 ? (uint64_t)info->utc_offset_s * 1000 : 0) +
			    export_first_ns(ex) / 1000000;
	int ret = export_nest_init(ex, &f->nest, err);

	if (ret == 0)
		ret = tree_init(&f->tree, ex->pipe, err);
	if (ret < 0)
		return ret;
	sink_putf(
		ex->sink,
		"{\"meta\":{\"interval\":1,\"startTime\":%llu,\"processType\":0,\"stackwalk\":1,"
		"\"version\":29,\"preprocessedProfileVersion\":60,\"markerSchema\":[" MARKER_SCHEMA
		"],"
		"\"symbolicated\":true,\"symbolicationNotSupported\":true,"
		"\"usesOnlyOneStackType\":true,\"keepProfileThreadOrder\":true,"
		"\"categories\":[{\"name\":\"Program\",\"color\":\"blue\","
		"\"subcategories\":[\"Other\"]},{\"name\":\"Library\",\"color\":\"green\","
		"\"subcategories\":[\"Other\"]},{\"name\":\"Waiting\",\"color\":\"grey\","
		"\"subcategories\":[\"Other\"]}],"
		"\"sampleUnits\":{\"time\":\"ms\",\"eventDelay\":\"ms\","
		"\"threadCPUDelta\":\"ns\"},\"product\":",
		(unsigned long long)start_ms);
	sink_quoted(ex->sink, title_recording(ex->pipe->data));
	sink_lit(ex->sink, ",\"importedFrom\":");
	sink_quoted(ex->sink, ex->config->tool);
	sink_lit(ex->sink, ",\"arguments\":");
	sink_quoted(ex->sink, title_cmdline(ex->pipe->data));
	sink_lit(ex->sink, "},\n\"libs\":[],\n\"threads\":[");
	return 0;
}

/*
 * Returns the number of @func plus one, or 0 when memory is short. Adds the name of a new function
 * to the strings.
 */
static uint32_t number_of_func(struct firefox *f, const struct func *func)
{
	uint32_t number = func_number(&f->numbers, func);

	if (likely(f->nr_func_names == f->numbers.nr))
		return number;

	uint32_t *names = vec_grow(f->func_names, f->nr_func_names, sizeof(*names));
	uint32_t string = text_number(&f->strings, func->name);

	if (names)
		f->func_names = names;
	if (!names || !string)
		return 0;
	names[f->nr_func_names++] = string - 1;
	return number;
}

static int enter_stack(struct firefox *f, const struct func *func)
{
	struct tree_node *node = tree_child(&f->tree, f->top, func);

	if (!node)
		return -ENOMEM;
	if (!node->calls) {
		uint32_t number = number_of_func(f, node->func);
		const char *comma = f->nr_stacks ? "," : "";

		if (!number)
			return -ENOMEM;
		strbuf_addf(&f->frames, "%s%u", comma, number - 1);
		if (f->top->func)
			strbuf_addf(&f->prefixes, "%s%llu", comma,
				    (unsigned long long)f->top->calls - 1);
		else
			strbuf_addf(&f->prefixes, "%snull", comma);
		node->calls = ++f->nr_stacks;
	}
	f->top = node;
	return 0;
}

static int note_start(struct firefox *f)
{
	uint64_t *starts = vec_room(f->starts, f->nr_starts, &f->cap_starts, sizeof(*starts));

	if (!starts)
		return -ENOMEM;
	f->starts = starts;
	f->starts[f->nr_starts++] = f->last_ns;
	return 0;
}

static void add_member(struct strbuf *out, const char *name, const char *text, size_t len)
{
	strbuf_addf(out, ",\"%s\":\"", name);
	escape_add(out, MEDIUM_JSON, text, len);
	strbuf_addch(out, '"');
}

/* End the innermost call. It becomes a marker if it has arguments or a return value. */
static int add_marker(struct firefox *f, const struct func *func, const char *retval)
{
	uint64_t start_ns = f->starts[--f->nr_starts];
	char *arguments cleanup_free = payloads_take(&f->payloads, f->nr_starts);
	const char *comma = f->markers.nr ? "," : "";
	uint32_t number;

	if (!arguments && !retval)
		return 0;
	number = number_of_func(f, func);
	if (!number)
		return -ENOMEM;
	strbuf_addf(&f->markers.data, "%s{\"type\":\"Call\"", comma);
	if (arguments)
		add_member(&f->markers.data, "arguments", arguments, strlen(arguments));
	if (retval)
		add_member(&f->markers.data, "retval", retval, strlen(retval));
	strbuf_addch(&f->markers.data, '}');
	strbuf_addf(&f->markers.names, "%s%u", comma, f->func_names[number - 1]);
	add_ms(&f->markers.starts, start_ns);
	add_ms(&f->markers.ends, f->last_ns);
	strbuf_addf(&f->markers.phases, "%s1", comma);
	f->markers.nr++;
	return 0;
}

/* Add a point as a marker. */
static int put_firefox_marker(struct export *ex, const struct task *task, const struct event *event)
{
	struct firefox *f = ex->state;
	struct strbuf name cleanup_strbuf = { 0 };
	struct strbuf text cleanup_strbuf = { 0 };
	const char *comma = f->markers.nr ? "," : "";
	uint64_t time_ns = MAX(f->last_ns, export_since_start(ex, event->time_ns));
	uint32_t number;

	event_put_name(&ex->texts, event, &name);
	event_put_data(&ex->texts, task, event, &text);
	number = text_number(&f->strings, strbuf_str(&name));
	if (!number || strbuf_oom(&name) || strbuf_oom(&text))
		return -ENOMEM;
	strbuf_addf(&f->markers.data, "%s{\"type\":\"Event\"", comma);
	add_member(&f->markers.data, "text", strbuf_str(&text), text.len);
	strbuf_addch(&f->markers.data, '}');
	strbuf_addf(&f->markers.names, "%s%u", comma, number - 1);
	add_ms(&f->markers.starts, time_ns);
	f->end_ns = MAX(f->end_ns, time_ns);
	strbuf_addf(&f->markers.ends, "%snull", comma);
	strbuf_addf(&f->markers.phases, "%s0", comma);
	f->markers.nr++;
	return 0;
}

/* Write a sample of the calls that were open from f->last_ns to @now_ns. */
static void put_sample(struct export *ex, uint64_t now_ns)
{
	struct firefox *f = ex->state;

	if (now_ns <= f->last_ns)
		return;
	if (f->top->func)
		strbuf_addf(&f->stacks, "%s%llu", f->nr_samples ? "," : "",
			    (unsigned long long)f->top->calls - 1);
	else
		strbuf_addf(&f->stacks, "%snull", f->nr_samples ? "," : "");
	add_ms(&f->times, f->last_ns);
	add_ms(&f->weights, now_ns - f->last_ns);
	f->nr_samples++;
	f->last_ns = now_ns;
}

static void put_column(struct export *ex, const char *name, struct strbuf *column)
{
	sink_quoted(ex->sink, name);
	sink_lit(ex->sink, ":[");
	sink_put_made(ex->sink, column);
	sink_lit(ex->sink, "],");
	strbuf_reset(column);
}

/* Write the same value @count times in a column. */
static void put_same(struct export *ex, const char *name, const char *value, size_t count)
{
	sink_quoted(ex->sink, name);
	sink_lit(ex->sink, ":[");
	for (size_t i = 0; i < count; i++) {
		sink_either(ex->sink, i, ",", "");
		sink_str(ex->sink, value);
	}
	sink_lit(ex->sink, "],");
}

static void put_markers(struct export *ex)
{
	struct firefox *f = ex->state;

	sink_lit(ex->sink, "\"markers\":{");
	put_column(ex, "data", &f->markers.data);
	put_column(ex, "name", &f->markers.names);
	put_column(ex, "startTime", &f->markers.starts);
	put_column(ex, "endTime", &f->markers.ends);
	put_column(ex, "phase", &f->markers.phases);
	put_same(ex, "category", "0", f->markers.nr);
	sink_putf(ex->sink, "\"length\":%zu}", f->markers.nr);
	f->markers.nr = 0;
}

static void put_thread(struct export *ex)
{
	struct firefox *f = ex->state;
	const struct task *task = f->task;
	struct strbuf from cleanup_strbuf = { 0 };
	struct strbuf to cleanup_strbuf = { 0 };

	add_ms(&from, f->task_start_ns);
	add_ms(&to, MAX(f->end_ns, f->last_ns));
	f->nest.is_oom |= strbuf_oom(&from) || strbuf_oom(&to);
	sink_either(ex->sink, f->has_thread, ",\n{\"name\":", "\n{\"name\":");
	sink_quoted(ex->sink, task_name_at(task, UINT64_MAX));
	sink_lit(ex->sink, ",\"processName\":");
	sink_quoted(ex->sink, title_program(task_session(task, UINT64_MAX)));
	sink_lit(ex->sink, ",\"isMainThread\":");
	sink_either(ex->sink, task->pid == task->tid, "true", "false");
	sink_putf(ex->sink,
		  ",\"pid\":\"%d\",\"tid\":%d,\"processType\":\"default\","
		  "\"processStartupTime\":0,\"processShutdownTime\":null,\"registerTime\":",
		  task->pid, task->tid);
	sink_put_made(ex->sink, &from);
	sink_lit(ex->sink, ",\"unregisterTime\":");
	sink_put_made(ex->sink, &to);
	sink_lit(ex->sink, ",\"pausedRanges\":[],\"showMarkersInTimeline\":true,\"samples\":{");
	put_column(ex, "stack", &f->stacks);
	put_column(ex, "time", &f->times);
	put_column(ex, "weight", &f->weights);
	sink_putf(ex->sink, "\"weightType\":\"tracing-ms\",\"length\":%zu},", f->nr_samples);
	put_markers(ex);
	sink_lit(ex->sink, "}");
	f->nr_samples = 0;
	f->has_thread = true;
}

/*
 * Write the thread of f->task. A call that is still open ends at f->last_ns, the latest time at
 * which a call or a wait of the task began or ended.
 */
static int end_thread(struct export *ex)
{
	struct firefox *f = ex->state;
	struct nest_edge edge;
	int ret = 0;

	while (nest_end(&f->nest.tasks[f->task->index], &edge))
		ret |= add_marker(f, edge.func, NULL);
	put_thread(ex);
	return ret;
}

static int add_edge(struct export *ex, const struct event *event, const struct nest_edge *edge)
{
	struct firefox *f = ex->state;
	struct strbuf text cleanup_strbuf = { 0 };
	bool has_text = event->data && nest_is_own(&f->nest.tasks[f->task->index], event, edge) &&
			export_put_payload(ex, f->task, event, &text);
	int ret;

	if (strbuf_oom(&text))
		return -ENOMEM;
	if (!edge->is_begin) {
		f->top = f->top->parent;
		return add_marker(f, edge->func, has_text ? strbuf_str(&text) : NULL);
	}
	ret = enter_stack(f, edge->func) | note_start(f);
	return ret == 0 && has_text ? payloads_put(&f->payloads, f->nr_starts - 1, &text) : ret;
}

static int put_firefox_events(struct export *ex, const struct event_span *span, struct uft_err *err)
{
	struct firefox *f = ex->state;
	struct nest_task *open = &f->nest.tasks[span->task->index];
	struct nest_edge edge;
	int ret = 0;

	if (span->task != f->task) {
		if (f->task)
			ret = end_thread(ex);
		f->task = span->task;
		f->top = f->tree.roots[0];
		f->last_ns = export_since_start(ex, span->events[0].time_ns);
		f->task_start_ns = f->last_ns;
		f->end_ns = f->last_ns;
		f->nr_starts = 0;
		payloads_deinit(&f->payloads);
	}
	for (size_t i = 0; i < span->nr && ret == 0; i++) {
		const struct event *event = &span->events[i];

		while (nest_next(&f->nest, open, event, &edge)) {
			put_sample(ex, export_since_start(ex, event->time_ns));
			ret |= add_edge(ex, event, &edge);
		}
		if (unlikely(event->type == EVENT_POINT))
			ret |= export_point(ex, span->task, event);
	}
	if (ret < 0 || f->nest.is_oom)
		return err_set_errno(err, -ENOMEM, "cannot export");
	return 0;
}

static void put_numbers(struct export *ex, const char *name, size_t count)
{
	sink_quoted(ex->sink, name);
	sink_lit(ex->sink, ":[");
	for (size_t i = 0; i < count; i++) {
		sink_either(ex->sink, i, ",", "");
		sink_putf(ex->sink, "%zu", i);
	}
	sink_lit(ex->sink, "],");
}

static unsigned category_of(const struct func *func)
{
	if (!func->module)
		return 2;
	return func->is_libcall;
}

/*
 * Write the tables of frames and functions. Each function has one frame, which has the number of
 * the function.
 */
static void put_tables(struct export *ex)
{
	static const char *const frame_nulls[] = { "nativeSymbol", "innerWindowID", "line",
						   "column" };
	static const char *const func_nulls[] = { "source", "lineNumber", "columnNumber" };
	struct firefox *f = ex->state;
	size_t nr = f->numbers.nr;

	sink_lit(ex->sink, "\"frameTable\":{");
	put_same(ex, "address", "-1", nr);
	put_same(ex, "inlineDepth", "0", nr);
	sink_lit(ex->sink, "\"category\":[");
	for (size_t i = 0; i < nr; i++) {
		sink_either(ex->sink, i, ",", "");
		sink_putf(ex->sink, "%u", category_of(f->numbers.funcs[i]));
	}
	sink_lit(ex->sink, "],");
	put_same(ex, "subcategory", "0", nr);
	put_numbers(ex, "func", nr);
	for (size_t i = 0; i < ARRAY_SIZE(frame_nulls); i++)
		put_same(ex, frame_nulls[i], "null", nr);
	sink_putf(ex->sink, "\"length\":%zu},\n\"funcTable\":{", nr);
	sink_lit(ex->sink, "\"name\":[");
	for (size_t i = 0; i < nr; i++) {
		sink_either(ex->sink, i, ",", "");
		sink_putf(ex->sink, "%u", f->func_names[i]);
	}
	sink_lit(ex->sink, "],");
	put_same(ex, "isJS", "false", nr);
	put_same(ex, "relevantForJS", "false", nr);
	put_same(ex, "resource", "-1", nr);
	for (size_t i = 0; i < ARRAY_SIZE(func_nulls); i++)
		put_same(ex, func_nulls[i], "null", nr);
	sink_putf(ex->sink, "\"length\":%zu},\n", nr);
}

static int end_firefox(struct export *ex, struct uft_err *err)
{
	struct firefox *f = ex->state;

	int ret = f->task ? end_thread(ex) : 0;

	sink_lit(ex->sink, "\n],\n\"shared\":{\"stackTable\":{");
	put_column(ex, "frame", &f->frames);
	put_column(ex, "prefix", &f->prefixes);
	sink_putf(ex->sink, "\"length\":%llu},\n", (unsigned long long)f->nr_stacks);
	put_tables(ex);
	sink_lit(ex->sink, "\"resourceTable\":{\"length\":0,\"lib\":[],\"name\":[],\"host\":[],"
			   "\"type\":[]},\n\"nativeSymbols\":{\"libIndex\":[],\"address\":[],"
			   "\"name\":[],\"functionSize\":[],\"length\":0},\n"
			   "\"sources\":{\"length\":0,\"uuid\":[],\"filename\":[]},\n"
			   "\"stringArray\":[");
	for (size_t i = 0; i < f->strings.nr; i++) {
		sink_either(ex->sink, i, ",", "");
		sink_quoted(ex->sink, f->strings.texts[i]);
	}
	sink_lit(ex->sink, "]}}\n");
	if (ret < 0 || f->nest.is_oom || strbuf_oom(&f->markers.data) ||
	    strbuf_oom(&f->markers.names) || strbuf_oom(&f->markers.starts) ||
	    strbuf_oom(&f->markers.ends) || strbuf_oom(&f->markers.phases) ||
	    strbuf_oom(&f->stacks) || strbuf_oom(&f->times) || strbuf_oom(&f->weights) ||
	    strbuf_oom(&f->frames) || strbuf_oom(&f->prefixes))
		return err_set_errno(err, -ENOMEM, "cannot export");
	return 0;
}

static void deinit_firefox(struct export *ex)
{
	struct firefox *f = ex->state;
	struct strbuf *const texts[] = { &f->frames,	    &f->prefixes,	&f->stacks,
					 &f->times,	    &f->weights,	&f->markers.data,
					 &f->markers.names, &f->markers.starts, &f->markers.ends,
					 &f->markers.phases };

	for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
		strbuf_deinit(texts[i]);
	text_numbers_deinit(&f->strings);
	free(f->func_names);
	payloads_deinit(&f->payloads);
	free(f->starts);
	nest_deinit(&f->nest);
	tree_deinit(&f->tree);
	func_numbers_deinit(&f->numbers);
}

const struct exporter exp_firefox = {
	.name = "firefox",
	.medium = MEDIUM_JSON,
	.state_bytes = sizeof(struct firefox),
	.configure = nest_configure_by_task,
	.begin = begin_firefox,
	.events = put_firefox_events,
	.end = end_firefox,
	.deinit = deinit_firefox,
	.point = put_firefox_marker,
};
