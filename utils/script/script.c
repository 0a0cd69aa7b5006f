/* Passes calls and events to functions of a user's script (see script.h). */
#include "utils/script/script.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "utils/base/containers/vec.h"
#include "utils/base/fd.h"

#define SCRIPT_MAX_BYTES (16UL << 20)
#define OPTION_WORD	 "uftrace-option:"

const char *const script_function_names[SCRIPT_FUNCTIONS] = {
	"uftrace_begin", "uftrace_entry", "uftrace_exit",
	"uftrace_event", "uftrace_end",	  "uftrace_batch",
};

static const struct script_lang *const langs[] = { &script_python, &script_lua };

static const struct script_lang *lang_of(const char *path)
{
	size_t len = strlen(path);

	for (size_t i = 0; i < ARRAY_SIZE(langs); i++) {
		size_t n = strlen(langs[i]->ending);

		if (len > n && strcmp(path + len - n, langs[i]->ending) == 0)
			return langs[i];
	}
	return NULL;
}

int script_check(const char *path, struct uft_err *err)
{
	if (access(path, R_OK) < 0)
		return err_set_errno(err, -errno, "cannot open script '%s'", path);
	if (!lang_of(path))
		return err_set(err, -EINVAL,
			       "unsupported script type: %s (expected a name that ends in .py or "
			       ".lua)",
			       path);
	return 0;
}

static int no_memory(const struct script *script, struct uft_err *err)
{
	return err_set_errno(err, -ENOMEM, "cannot run '%s'", script->config->path);
}

int script_open(struct script *script, const struct script_config *config, struct trace_data *data,
		struct uft_err *err)
{
	*script = (struct script){ .config = config, .data = data };

	int ret = script_check(config->path, err);

	if (ret == 0 && data)
		ret = event_texts_load(&script->texts, data, err);
	if (ret < 0)
		return ret;
	script->lang = lang_of(config->path);
	ret = script->lang->open(script, err);
	if (ret < 0 || !script->has[SCRIPT_BATCH])
		return ret;
	script->batch = malloc(sizeof(*script->batch));
	if (!script->batch)
		return no_memory(script, err);
	script->batch->nr = 0;
	return 0;
}

void script_close(struct script *script)
{
	for (size_t i = 0; script->lang && i < script->nr_funcs; i++)
		script->lang->drop_func(script, &script->funcs[i]);
	if (script->lang)
		script->lang->close(script);
	for (size_t i = 0; i < script->nr_wanted; i++)
		pattern_deinit(&script->wanted[i]);
	free(script->wanted);
	free(script->batch);
	free(script->funcs);
	event_texts_deinit(&script->texts);
	script_values_deinit(&script->values);
	strbuf_deinit(&script->name);
	strbuf_deinit(&script->text);
	*script = (struct script){ 0 };
}

/* Take options from the comments at the script's beginning. Empty lines are skipped. */
static void take_options(const char *line, const char *comment, struct strbuf *out)
{
	while (line && (*line == '\n' || strncmp(line, comment, strlen(comment)) == 0)) {
		const char *end = strchr(line, '\n');
		const char *at = *line == '\n' ? line : line + strlen(comment);

		at += strspn(at, " \t");
		if (strncmp(at, OPTION_WORD, strlen(OPTION_WORD)) == 0) {
			at += strlen(OPTION_WORD);
			at += strspn(at, " \t");
			if (out->len)
				strbuf_addch(out, ' ');
			strbuf_add(out, at, strcspn(at, "\r\n"));
		}
		line = end ? end + 1 : NULL;
	}
}

int script_options(const char *path, struct strbuf *out, struct uft_err *err)
{
	struct strbuf text cleanup_strbuf = { 0 };
	const struct script_lang *lang = lang_of(path);
	int ret = file_read_all(path, SCRIPT_MAX_BYTES, &text, err);

	if (ret == 0 && lang)
		take_options(strbuf_str(&text), lang->comment, out);
	return ret;
}

int script_want(struct script *script, const char *text, size_t len, struct uft_err *err)
{
	size_t nr = script->nr_wanted;
	struct pattern *more = vec_grow(script->wanted, nr, sizeof(*more));

	if (!more)
		return err_set_errno(err, -ENOMEM, "cannot read '%s'", script->config->path);
	script->wanted = more;

	int ret = pattern_init(&more[nr], script->config->match, text, len, err);

	if (ret < 0) {
		err_prefix(err, "%s of '%s'", SCRIPT_WANTED, script->config->path);
		return ret == -ERR_USAGE ? -EINVAL : ret;
	}
	script->nr_wanted++;
	return 0;
}

void script_tell(const struct script *script, const char *text)
{
	while (*text) {
		size_t len = strcspn(text, "\n");
		struct strbuf line cleanup_strbuf = { 0 };

		for (size_t i = 0; i < len; i++)
			strbuf_addstr(&line, text[i] == '\t' ? "    " : (char[]){ text[i], '\0' });
		script->config->tell(script->config->self, strbuf_str(&line));
		text += len + (text[len] == '\n');
	}
}

int script_no_list(const struct script *script, struct uft_err *err)
{
	return err_set(err, -EINVAL, "%s of '%s' is no list of strings", SCRIPT_WANTED,
		       script->config->path);
}

void script_tell_not_callable(const struct script *script, int function)
{
	struct strbuf text cleanup_strbuf = { 0 };

	strbuf_addf(&text, "'%s' is no function, and is not called",
		    script_function_names[function]);
	script_tell(script, strbuf_str(&text));
}

void script_failed(struct script *script)
{
	script->nr_failed++;
}

static bool is_wanted(const struct script *script, const struct func *func)
{
	for (size_t i = 0; i < script->nr_wanted; i++) {
		if (pattern_matches(&script->wanted[i], func->name, func->name_len))
			return true;
	}
	return !script->nr_wanted;
}

/* Returns the facts about @func, or NULL when memory is short. */
static struct script_func *find_func(struct script *script, const struct func *func)
{
	struct script_func *funcs = vec_reach(script->funcs, &script->nr_funcs, func->id,
					      sizeof(*funcs));
	struct script_func *found;

	if (!funcs)
		return NULL;
	script->funcs = funcs;
	found = &funcs[func->id];
	if (unlikely(!found->wanted))
		found->wanted = is_wanted(script, func) ? 1 : -1;
	return found;
}

static void hand_batch(struct script *script)
{
	if (script->batch && script->batch->nr && !script->is_over)
		script->lang->batch(script);
	if (script->batch)
		script->batch->nr = 0;
}

/* Add an ended call to the batch. */
static int add_to_batch(struct script *script, const struct task *task, const struct event *event,
			struct script_func *func)
{
	struct script_batch *batch = script->batch;
	size_t i = batch->nr;

	if (unlikely(!func->number)) {
		int ret = script->lang->number(script, event->func, func);

		if (ret < 0)
			return ret;
		func->number = ++script->nr_numbers;
	}
	batch->timestamp[i] = event->time_ns - event->total_ns;
	batch->duration[i] = time_abs(event->total_ns);
	batch->function[i] = func->number - 1;
	batch->tid[i] = task->tid;
	batch->depth[i] = event->indent;
	batch->nr = i + 1;
	if (unlikely(batch->nr == SCRIPT_BATCH_MAX))
		hand_batch(script);
	return 0;
}

static int hand_call(struct script *script, const struct task *task, const struct event *event,
		     struct uft_err *err)
{
	struct script_call call = { .event = event, .tid = task->tid };

	bool is_called = script->has[event->type == EVENT_ENTRY ? SCRIPT_ENTRY : SCRIPT_EXIT];
	bool is_added = script->batch && event->type == EVENT_EXIT;

	if (!is_called && !is_added)
		return 0;
	call.func = find_func(script, event->func);
	if (!call.func)
		return no_memory(script, err);
	if (call.func->wanted < 0)
		return 0;
	if (is_added && add_to_batch(script, task, event, call.func) < 0)
		return no_memory(script, err);
	/* If add_to_batch() has run the script, the script may have called sys.exit(). */
	if (!is_called || script->is_over)
		return 0;
	if (unlikely(event->data != NULL) && script->config->shows_args &&
	    script_values_read(&script->values, script->data, event))
		call.values = &script->values;
	script->lang->call(script, &call);
	return 0;
}

static void hand_point(struct script *script, const struct task *task, const struct event *event)
{
	const struct script_point point = {
		.event = event,
		.tid = task ? task->tid : 0,
		.name = &script->name,
		.data = &script->text,
	};

	/*
	 * During the recording of a program, the script gets no events, because the names and
	 * formats of events may be unknown.
	 */
	if (!script->has[SCRIPT_EVENT] || script->config->is_recording)
		return;
	strbuf_reset(&script->name);
	strbuf_reset(&script->text);
	event_put_name(&script->texts, event, &script->name);
	event_put_raw_data(&script->texts, task, event, &script->text);
	script->lang->point(script, &point);
}

static int hand(struct script *script, const struct task *task, const struct event *event,
		struct uft_err *err)
{
	int ret = 0;

	switch (event->type) {
	case EVENT_ENTRY:
	case EVENT_EXIT:
		if (!(event->flags & EVENT_OFF))
			ret = hand_call(script, task, event, err);
		break;
	case EVENT_POINT:
	case EVENT_SCHED_OUT:
	case EVENT_SCHED_IN:
		hand_point(script, task, event);
		break;
	default:
		break;
	}
	return ret == 0 && script->is_over ? -ECANCELED : ret;
}

int script_events(void *self, const struct event_span *span, struct uft_err *err)
{
	int ret = 0;

	for (size_t i = 0; ret == 0 && i < span->nr; i++)
		ret = hand(self, span->task, &span->events[i], err);
	return ret;
}

int script_mixed(void *self, const struct task_event *events, size_t nr, struct uft_err *err)
{
	int ret = 0;

	for (size_t i = 0; ret == 0 && i < nr; i++)
		ret = hand(self, events[i].task, events[i].event, err);
	return ret;
}

void script_begin(struct script *script)
{
	if (script->has[SCRIPT_BEGIN])
		script->lang->begin(script);
}

void script_end(struct script *script)
{
	hand_batch(script);
	if (script->has[SCRIPT_END] && !script->is_over)
		script->lang->end(script);
}
