/*
 * Writes events as a log of POSIX Trace (trace/posixlog/log.h). The header at the beginning of the
 * log is complete only after the last event. So the log is first made in a nameless file, and then
 * copied to the output.
 */
#include <endian.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trace/seam/reader.h"
#include "utils/base/containers/strmap.h"
#include "utils/export/export.h"
#include "utils/format/event_data.h"

/* The default size of the streams of libutrail-trace. */
#define STREAM_BYTES (256 << 10)
#define POLICY_FLUSH 3 /* POSIX_TRACE_FLUSH */

/*
 * @ids: the key is a name. The value is the index of the name in @names plus 1, stored as a pointer
 * @nr_ids: the number of names
 * @made: the event that is written next; @data: its data, which is borrowed or in @text
 */
struct posix_export {
	FILE *file;
	struct pxt_log_writer writer;
	unsigned char buffer[PT_LOG_BUFFER];
	struct strmap ids;
	char *names[PT_NR_NAMED];
	uint32_t nr_ids;
	struct strbuf text;
	struct pxt_event made;
	const void *data;
};

static void configure_posix_log(struct pipeline_config *config)
{
	config->order = PIPELINE_BY_TIME;
	config->stages.show_outside = true;
	config->stages.sched = STAGE_SCHED_NONE;
}

static bool is_posix(const struct declared_event *declared)
{
	return declared && declared->format && !declared->common &&
	       !strncmp(declared->name, EVENT_POSIX_PREFIX, strlen(EVENT_POSIX_PREFIX)) &&
	       !strcmp(declared->format->text, EVENT_POSIX_FORMAT);
}

static const char *name_of(const struct declared_event *declared)
{
	return declared->name + strlen(EVENT_POSIX_PREFIX);
}

/* --- ids --- */

static uint32_t fixed_id(const char *name)
{
	if (!strcmp(name, EVENT_POSIX_UNNAMED))
		return PT_UNNAMED;
	for (uint32_t id = 1; id < PT_NR_SYSTEM; id++) {
		if (pxt_fixed_name(id) && !strcmp(pxt_fixed_name(id), name))
			return id;
	}
	return 0;
}

/*
 * Find the id of a name, or assign a new id. When all ids are in use, a new name gets the id
 * PT_UNNAMED. Returns 0 or a negative errno.
 */
static int id_of(struct posix_export *to, const char *name, uint32_t *id)
{
	uintptr_t known = (uintptr_t)strmap_get(&to->ids, name);

	*id = PT_UNNAMED;
	if (known)
		*id = PT_FIRST_NAMED + (uint32_t)known - 1;
	if (known || to->nr_ids == PT_NR_NAMED)
		return 0;
	to->names[to->nr_ids] = strdup(name);
	if (!to->names[to->nr_ids])
		return -ENOMEM;
	*id = PT_FIRST_NAMED + to->nr_ids++;
	if (strmap_put(&to->ids, to->names[to->nr_ids - 1], (void *)(uintptr_t)to->nr_ids) < 0)
		return -ENOMEM;
	return pxt_log_add_name(&to->writer, *id, name);
}

/*
 * Add the names of all events of POSIX Trace in the order of their declarations, including events
 * that never occurred.
 */
static int add_names(struct export *ex)
{
	const struct declared_events *declared = &ex->texts.kinds.declared;
	int ret = 0;

	for (size_t i = 0; i < declared->nr && ret == 0; i++) {
		const struct declared_event *event = &declared->events[i];
		uint32_t id;

		if (is_posix(event) && !fixed_id(name_of(event)))
			ret = id_of(ex->state, name_of(event), &id);
	}
	return ret;
}

static int begin_posix_log(struct export *ex, struct uft_err *err)
{
	struct posix_export *to = ex->state;
	struct pxt_attr attr = {
		.magic = PT_ATTR_MAGIC,
		.inherited = 1, /* POSIX_TRACE_CLOSE_FOR_CHILD */
		.stream_policy = POLICY_FLUSH,
		.log_policy = PT_LOG_APPENDS,
		.stream_size = STREAM_BYTES,
		.clock_ns = 1,
		.name = "utrail",
	};
	int ret = 0;

	snprintf(attr.version, sizeof(attr.version), "%s", ex->config->tool);
	to->file = tmpfile();
	if (!to->file)
		return err_set_errno(err, -errno, "cannot make a file for the log");
	ret = pxt_log_writer_begin(&to->writer, fileno(to->file), &attr, to->buffer);
	if (ret == 0)
		ret = add_names(ex);
	return ret < 0 ? err_set_errno(err, ret, "cannot write the log") : 0;
}

/* --- events --- */

/*
 * Set to->data to the value of the event's field "DATA=%B". If the event was imported from a log, a
 * struct event_posix follows this value.
 */
static void take_data(struct posix_export *to, const struct event *event)
{
	const uint8_t *at = event->data;
	size_t left = event->data ? event->data_len : 0;
	struct event_posix said;
	uint32_t len;

	to->made.flags = PT_TRUNCATED;
	if (left < sizeof(len))
		return;
	memcpy(&len, at, sizeof(len));
	len = le32toh(len);
	at += sizeof(len);
	left -= sizeof(len);
	to->data = at;
	to->made.len = len < left ? len : (uint32_t)left;
	if (len <= left)
		to->made.flags = 0;
	if (len > left || left - len != sizeof(said))
		return;
	memcpy(&said, at + len, sizeof(said));
	to->made.time_ns = le64toh(said.time_ns);
	to->made.address = le64toh(said.address);
	to->made.thread = le64toh(said.thread);
	to->made.pid = le32toh(said.pid);
	to->made.flags = le32toh(said.flags) & PT_TRUNCATED;
	if (le32toh(said.id) <= PT_UNNAMED)
		to->made.id = le32toh(said.id);
}

/*
 * For an event that does not come from POSIX Trace: set to->data to the event's text. A text longer
 * than PT_DATA_MAX bytes is cut. Returns 0 or -ENOMEM.
 */
static int take_text(struct export *ex, const struct task *task, const struct event *event)
{
	struct posix_export *to = ex->state;

	strbuf_reset(&to->text);
	event_put_data(&ex->texts, task, event, &to->text);
	to->data = strbuf_str(&to->text);
	to->made.len = to->text.len < PT_DATA_MAX ? (uint32_t)to->text.len : PT_DATA_MAX;
	return strbuf_oom(&to->text) ? -ENOMEM : 0;
}

static int make_posix_event(struct export *ex, const struct task *task, const struct event *event)
{
	const struct event_kind *kind = event_kinds_find(&ex->texts.kinds, event->id);
	const bool is_data = is_posix(kind->declared);
	struct posix_export *to = ex->state;
	struct strbuf name cleanup_strbuf = { 0 };
	int ret;

	to->data = "";
	to->made = (struct pxt_event){
		.time_ns = event->time_ns + (uint64_t)ex->texts.kinds.declared.offset_ns,
		.thread = (uint64_t)task->tid,
		.pid = (uint32_t)task->pid,
	};
	if (is_data)
		to->made.id = fixed_id(name_of(kind->declared));
	if (!to->made.id) {
		event_put_name(&ex->texts, event, &name);
		if (strbuf_oom(&name))
			return -ENOMEM;
		ret = id_of(to, is_data ? name_of(kind->declared) : strbuf_str(&name),
			    &to->made.id);
		if (ret < 0)
			return ret;
	}
	if (!is_data)
		return take_text(ex, task, event);
	take_data(to, event);
	return 0;
}

static int append_posix_event(struct posix_export *to)
{
	struct pxt_attr *attr = &to->writer.header.attr;

	if (!attr->created_ns)
		attr->created_ns = to->made.time_ns;
	if (attr->max_data < to->made.len)
		attr->max_data = to->made.len;
	return pxt_log_append(&to->writer, &to->made, to->data, false);
}

static int put_posix_point(struct export *ex, const struct task *task, const struct event *event)
{
	struct posix_export *to = ex->state;
	int ret = make_posix_event(ex, task, event);

	return ret < 0 ? ret : append_posix_event(to);
}

/*
 * Write the entry or the exit of a call. The event's data are a struct utrail_trace_function
 * (<trace.h>), and then the name of the function. The call site is unknown.
 */
static int put_posix_call(struct export *ex, const struct task *task, const struct event *event)
{
	const uint64_t places[2] = { event->addr, 0 };
	struct posix_export *to = ex->state;

	strbuf_reset(&to->text);
	strbuf_add(&to->text, places, sizeof(places));
	if (event->func)
		strbuf_add(&to->text, event->func->name, event->func->name_len);
	if (strbuf_oom(&to->text))
		return -ENOMEM;
	to->data = to->text.data;
	to->made = (struct pxt_event){
		.time_ns = event->time_ns + (uint64_t)ex->texts.kinds.declared.offset_ns,
		.address = event->addr,
		.thread = (uint64_t)task->tid,
		.pid = (uint32_t)task->pid,
		.id = event->type == EVENT_ENTRY ? PT_FUNCTION_ENTRY : PT_FUNCTION_EXIT,
		.len = (uint32_t)to->text.len,
	};
	return append_posix_event(to);
}

static int put_posix_events(struct export *ex, const struct event_span *span, struct uft_err *err)
{
	int ret = 0;

	for (size_t i = 0; i < span->nr && ret == 0; i++) {
		const struct event *event = &span->events[i];

		if (event_is_listed(event))
			ret = export_point(ex, span->task, event);
		else if (ex->config->has_calls && event->type <= EVENT_EXIT &&
			 !(event->flags & EVENT_OFF))
			ret = put_posix_call(ex, span->task, event);
	}
	return ret < 0 ? err_set_errno(err, ret, "cannot write the log") : 0;
}

/* --- the end --- */

static int end_posix_log(struct export *ex, struct uft_err *err)
{
	struct posix_export *to = ex->state;
	int ret;

	to->writer.header.is_closed = 1;
	ret = pxt_log_sync(&to->writer);
	if (ret == 0)
		ret = export_copy_file(ex, fileno(to->file));
	return ret < 0 ? err_set_errno(err, ret, "cannot write the log") : 0;
}

static void deinit_posix_log(struct export *ex)
{
	struct posix_export *to = ex->state;

	if (to->file)
		fclose(to->file);
	strmap_deinit(&to->ids);
	for (uint32_t i = 0; i < to->nr_ids; i++)
		free(to->names[i]);
	strbuf_deinit(&to->text);
}

const struct exporter exp_event_posix = {
	.name = "posix",
	.medium = MEDIUM_TERMINAL,
	.is_binary = true,
	.state_bytes = sizeof(struct posix_export),
	.configure = configure_posix_log,
	.begin = begin_posix_log,
	.events = put_posix_events,
	.end = end_posix_log,
	.deinit = deinit_posix_log,
	.point = put_posix_point,
};
