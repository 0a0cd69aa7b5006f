/* Exporter: Chrome trace events (JSON), which Perfetto, speedscope and browsers read. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "utils/export/execs.h"
#include "utils/export/export.h"
#include "utils/export/nest.h"
#include "utils/view/values/number.h"
#include "utils/view/texts.h"
#include "utils/view/values/titles.h"

/* A line with a name shorter than this fits into one sink_room(). */
#define SHORT_NAME (SINK_ROOM_MAX - 512)

/*
 * @names: for each function, the text from the function's name to the end of the line
 * @tasks: for each task, the text of a line between the kind of event ("ph") and the name of the
 *         function or event. The index is task->index
 * @second_ns: the time of the last line, rounded down to a whole second
 * @second_text: the text with which all lines in this second begin
 */
struct chrome {
	struct nest nest;
	struct func_texts names;
	struct task_text {
		char text[96];
		unsigned len;
	} * tasks;
	uint64_t second_ns;
	char second_text[64];
	unsigned second_len;
};

static void configure_chrome(struct pipeline_config *config)
{
	config->order = PIPELINE_BY_TIME;
	nest_configure(config);
}

static void make_name(const struct func *func, struct strbuf *out)
{
	escape_add(out, MEDIUM_JSON, func->name, func->name_len);
	strbuf_addstr(out, "\"}");
}

static void make_task(struct task_text *text, const struct task *task)
{
	/*
	 * The tid of the first thread equals the pid, but must be written. Without a tid, readers
	 * assign an event to thread 0.
	 */
	text->len = sprintf(text->text, "\",\"pid\":%d,\"tid\":%d,\"name\":\"", task->pid,
			    task->tid);
}

static void put_task_name(struct export *ex, const struct task *task, const char *kind)
{
	sink_putf(ex->sink, "{\"ts\":0,\"ph\":\"M\",\"pid\":%d,\"tid\":%d,\"name\":\"", task->pid,
		  task->tid);
	sink_str(ex->sink, kind);
	sink_putf(ex->sink, "\",\"args\":{\"name\":\"[%d] ", task->tid);
	sink_str(ex->sink, task_name_at(task, UINT64_MAX));
	sink_lit(ex->sink, "\"}}");
}

static __attribute__((noinline)) void set_second(struct chrome *chrome, uint64_t time_ns)
{
	uint64_t second = time_ns / 1000000000;

	chrome->second_ns = second * 1000000000;
	chrome->second_len = sprintf(chrome->second_text, ",\n{\"ts\":%llu",
				     (unsigned long long)second);
	/*
	 * put_ts() appends the microseconds after this second, usually with leading zeros. JSON
	 * allows no leading zeros in a number. Therefore the text for second 0 ends without digits,
	 * and put_ts() appends the microseconds without leading zeros.
	 */
	if (second == 0)
		chrome->second_len = sprintf(chrome->second_text, ",\n{\"ts\":");
}

static int begin_chrome(struct export *ex, struct uft_err *err)
{
	struct chrome *chrome = ex->state;
	const struct pipeline *pipe = ex->pipe;
	int ret = export_nest_init(ex, &chrome->nest, err);

	chrome->names.make = make_name;
	set_second(chrome, 0);
	chrome->tasks = calloc(pipe->data->nr_tasks + 1, sizeof(*chrome->tasks));
	if (ret < 0 || !chrome->tasks)
		return err_set_errno(err, -ENOMEM, "cannot export");
	sink_lit(ex->sink, "{\"traceEvents\":[");
	for (size_t i = 0; i < pipe->nr_lanes; i++) {
		const struct task *task = pipe->lanes[i].task;

		make_task(&chrome->tasks[task->index], task);
		sink_either(ex->sink, i, ",\n", "\n");
		if (export_begins_process(pipe, i)) {
			put_task_name(ex, task, "process_name");
			sink_lit(ex->sink, ",\n");
		}
		put_task_name(ex, task, "thread_name");
	}
	return 0;
}

/* HOT: write a time in microseconds with three digits after the point. */
static inline char *put_ts(struct chrome *chrome, char *to, uint64_t time_ns)
{
	if (unlikely(time_ns - chrome->second_ns >= 1000000000))
		set_second(chrome, time_ns);

	uint32_t rest = time_ns - chrome->second_ns;

	to = copy_over(to, chrome->second_text, chrome->second_len);
	if (unlikely(chrome->second_ns == 0))
		return put_thousandths(put_dec(to, rest / 1000, 1), rest % 1000);
	return put_millionths(to, rest);
}

static int put_edge(struct export *ex, const struct task_text *task, uint64_t time_ns,
		    const struct nest_edge *edge)
{
	struct chrome *chrome = ex->state;
	const struct func_text *name = func_texts_get(&chrome->names, edge->func);

	if (unlikely(!name))
		return -ENOMEM;

	char *to = put_ts(chrome, sink_room(ex->sink, SINK_ROOM_MAX), time_ns);

	memcpy(to, ",\"ph\":\"", 8);
	to[7] = edge->is_begin ? 'B' : 'E';
	to = copy_over(to + 8, task->text, task->len);
	if (likely(name->len < SHORT_NAME)) {
		sink_done(ex->sink, copy_over(to, name->text, name->len));
	} else {
		sink_done(ex->sink, to);
		sink_put_raw(ex->sink, name->text, name->len);
	}
	return 0;
}

/* Write the beginning or end of a call, with arguments or a return value after the name. */
static int put_edge_with_payload(struct export *ex, const struct task *task,
				 const struct event *event, const struct nest_edge *edge)
{
	struct chrome *chrome = ex->state;
	const struct func_text *name = func_texts_get(&chrome->names, edge->func);
	struct strbuf payload cleanup_strbuf = { 0 };

	if (!name)
		return -ENOMEM;
	if (!export_put_payload(ex, task, event, &payload))
		return put_edge(ex, &chrome->tasks[task->index], event->time_ns, edge);
	if (strbuf_oom(&payload))
		return -ENOMEM;
	sink_done(ex->sink, put_ts(chrome, sink_room(ex->sink, 128), event->time_ns));
	sink_either(ex->sink, edge->is_begin, ",\"ph\":\"B", ",\"ph\":\"E");
	sink_put_raw(ex->sink, chrome->tasks[task->index].text, chrome->tasks[task->index].len);
	sink_put_raw(ex->sink, name->text, name->len - 1);
	sink_either(ex->sink, edge->is_begin, ",\"args\":{\"arguments\":\"",
		    ",\"args\":{\"retval\":\"");
	sink_text(ex->sink, strbuf_str(&payload), payload.len);
	sink_lit(ex->sink, "\"}}");
	return 0;
}

/*
 * Write a point. "s":"t" means that the point belongs to one thread. The category ("cat") is the
 * provider of the point.
 */
static int put_chrome_point(struct export *ex, const struct task *task, const struct event *event)
{
	struct chrome *chrome = ex->state;
	struct strbuf name cleanup_strbuf = { 0 };
	struct strbuf args cleanup_strbuf = { 0 };

	event_put_name(&ex->texts, event, &name);
	export_point_json(ex, task, event, &args);
	sink_done(ex->sink, put_ts(chrome, sink_room(ex->sink, 128), event->time_ns));
	sink_lit(ex->sink, ",\"ph\":\"i\",\"s\":\"t");
	sink_put_raw(ex->sink, chrome->tasks[task->index].text, chrome->tasks[task->index].len);
	sink_text(ex->sink, strbuf_str(&name), name.len);
	sink_lit(ex->sink, "\",\"cat\":\"");
	sink_text(ex->sink, strbuf_str(&name), strcspn(strbuf_str(&name), ":"));
	sink_lit(ex->sink, "\",\"args\":{");
	sink_put_made(ex->sink, &args);
	sink_lit(ex->sink, "}}");
	return strbuf_oom(&name) || strbuf_oom(&args) ? -ENOMEM : 0;
}

static int put_chrome_events(struct export *ex, const struct event_span *span, struct uft_err *err)
{
	struct chrome *chrome = ex->state;
	struct nest_task *open = &chrome->nest.tasks[span->task->index];
	const struct task_text *task = &chrome->tasks[span->task->index];
	struct nest_edge edge;
	int ret = 0;

	for (size_t i = 0; i < span->nr; i++) {
		const struct event *event = &span->events[i];

		while (nest_next(&chrome->nest, open, event, &edge)) {
			if (unlikely(event->data && nest_is_own(open, event, &edge)))
				ret |= put_edge_with_payload(ex, span->task, event, &edge);
			else
				ret |= put_edge(ex, task, event->time_ns, &edge);
		}
		if (unlikely(event->type == EVENT_POINT))
			ret |= export_point(ex, span->task, event);
	}
	if (ret < 0 || chrome->nest.is_oom)
		return err_set_errno(err, -ENOMEM, "cannot export");
	return 0;
}

/*
 * Write the line for the beginning or the end of an execution, without "args" and without the
 * closing brace. "id2" contains @process of the execution, a number that is never reused. Another
 * process may reuse the pid.
 */
static void put_execution_edge(struct export *ex, const struct exec_slice *slice, bool is_begin)
{
	struct chrome *chrome = ex->state;
	struct strbuf name cleanup_strbuf = { 0 };

	exec_put_name(&name, slice->is);
	chrome->nest.is_oom |= strbuf_oom(&name);
	sink_done(ex->sink, put_ts(chrome, sink_room(ex->sink, 128),
				   is_begin ? slice->start_ns : slice->end_ns));
	sink_either(ex->sink, is_begin, ",\"ph\":\"b", ",\"ph\":\"e");
	sink_putf(ex->sink, "\",\"cat\":\"execution\",\"id2\":{\"local\":\"%u\"}",
		  slice->is->process);
	sink_putf(ex->sink, ",\"pid\":%d,\"tid\":%d,\"name\":\"", slice->is->pid, slice->is->pid);
	sink_text(ex->sink, strbuf_str(&name), name.len);
	sink_lit(ex->sink, "\"");
}

static void put_execution_args(struct export *ex, const struct exec_slice *slice)
{
	sink_lit(ex->sink, ",\"args\":{\"program\":");
	sink_quoted(ex->sink, slice->is->program);
	sink_lit(ex->sink, ",\"argv\":[");
	for (const char *arg = NULL; (arg = execution_next_arg(slice->is, arg)) != NULL;) {
		sink_either(ex->sink, arg != slice->is->args, ",", "");
		sink_quoted(ex->sink, arg);
	}
	sink_lit(ex->sink, "],\"cwd\":");
	sink_quoted(ex->sink, slice->is->cwd);
	if (slice->status >= 0)
		sink_putf(ex->sink, ",\"status\":%d", slice->status);
	if (slice->signal)
		sink_putf(ex->sink, ",\"signal\":%d", slice->signal);
	sink_lit(ex->sink, "}");
}

/*
 * Writes each execution of a program as an async slice, which is not on the thread's track. Slices
 * on a thread's track must not cross each other. But a function's call that is open at an execve(2)
 * may end on the track only after the execve(2), when the execution has already ended.
 */
static int put_executions(struct export *ex, struct uft_err *err)
{
	struct chrome *chrome = ex->state;
	struct exec_slices slices cleanup_exec_slices = { 0 };
	int ret = exec_slices_load(&slices, ex->pipe, err);

	for (size_t i = 0; ret == 0 && i < slices.nr; i++) {
		put_execution_edge(ex, &slices.all[i], true);
		put_execution_args(ex, &slices.all[i]);
		sink_lit(ex->sink, "}");
		put_execution_edge(ex, &slices.all[i], false);
		sink_lit(ex->sink, "}");
	}
	if (ret == 0 && chrome->nest.is_oom)
		return err_set_errno(err, -ENOMEM, "cannot export");
	return ret;
}

static int end_chrome(struct export *ex, struct uft_err *err)
{
	int ret = put_executions(ex, err);

	if (ret < 0)
		return ret;
	sink_lit(ex->sink, "\n], \"displayTimeUnit\": \"ns\", \"metadata\": {\n");
	sink_lit(ex->sink, "\"version\":");
	sink_quoted(ex->sink, ex->config->tool);
	sink_lit(ex->sink, ",\n\"recorded_time\":");
	sink_quoted(ex->sink, title_date(ex->pipe->data));
	sink_lit(ex->sink, ",\n\"command_line\":");
	sink_quoted(ex->sink, title_cmdline(ex->pipe->data));
	sink_lit(ex->sink, "\n} }\n");
	return 0;
}

static void deinit_chrome(struct export *ex)
{
	struct chrome *chrome = ex->state;

	nest_deinit(&chrome->nest);
	func_texts_deinit(&chrome->names);
	free(chrome->tasks);
}

const struct exporter exp_chrome = {
	.name = "chrome",
	.medium = MEDIUM_JSON,
	.state_bytes = sizeof(struct chrome),
	.configure = configure_chrome,
	.begin = begin_chrome,
	.events = put_chrome_events,
	.end = end_chrome,
	.deinit = deinit_chrome,
	.point = put_chrome_point,
};
