/* Exporter: Perfetto's own format, a protocol buffer, for ui.perfetto.dev and trace_processor. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "utils/base/clock.h"
#include "utils/base/containers/vec.h"
#include "utils/export/execs.h"
#include "utils/export/export.h"
#include "utils/export/nest.h"
#include "utils/export/proto.h"
#include "utils/view/texts.h"
#include "utils/view/values/titles.h"

/*
 * The largest depth of slices. Perfetto's trace processor closes the wrong slices if there are over
 * 512 levels.
 */
#define DEPTH_MAX 500

#define CLOCK_ID_REALTIME  1
#define CLOCK_ID_MONOTONIC 3

/* Field numbers (doc/formats/exports.md, "Perfetto"). */
enum {
	TRACE_PACKET = 1,

	PACKET_CLOCK_SNAPSHOT = 6,
	PACKET_TIMESTAMP = 8,
	PACKET_SEQUENCE_ID = 10,
	PACKET_TRACK_EVENT = 11,
	PACKET_INTERNED_DATA = 12,
	PACKET_SEQUENCE_FLAGS = 13,
	PACKET_CLOCK_ID = 58,
	PACKET_DEFAULTS = 59,
	PACKET_TRACK_DESCRIPTOR = 60,

	SNAPSHOT_CLOCKS = 1,
	SNAPSHOT_PRIMARY = 2,
	CLOCK_ID = 1,
	CLOCK_TIMESTAMP = 2,

	DEFAULTS_TRACK_EVENT = 11,
	DEFAULTS_CLOCK_ID = 58,
	EVENT_TRACK_UUID = 11,
	TRACK_EVENT_TYPE = 9,
	TRACK_EVENT_NAME_IID = 10,
	TRACK_EVENT_NAME = 23,
	TRACK_EVENT_ANNOTATIONS = 4,
	ANNOTATION_NAME = 10,
	ANNOTATION_INT = 4,
	ANNOTATION_STRING = 6,
	ANNOTATION_ARRAY = 12,

	INTERNED_NAMES = 2,
	INTERNED_IID = 1,
	INTERNED_NAME = 2,

	TRACK_UUID = 1,
	TRACK_NAME = 2,
	TRACK_PROCESS = 3,
	TRACK_THREAD = 4,
	TRACK_PARENT_UUID = 5,
	PROCESS_PID = 1,
	PROCESS_CMDLINE = 2,
	PROCESS_NAME = 6,
	THREAD_PID = 1,
	THREAD_TID = 2,
	THREAD_NAME = 5,
};

enum {
	SEQUENCE_CLEARED = 1,
	SEQUENCE_NEEDS_STATE = 2,
	SLICE_BEGIN = 1,
	SLICE_END = 2,
	INSTANT = 3,
};

/*
 * @task: the task whose events are being written; the packets of each task are a sequence
 * @known: for each function id, the last sequence that has defined the function's name
 * @last_ns: the latest time of an event of @task, up to and including the present event. Each
 *           packet gets this time instead of the time of its event, because the times in a sequence
 *           must not go backwards
 * @clock_id: the clock of all times: CLOCK_ID_*
 */
struct perfetto {
	struct nest nest;
	const struct task *task;
	uint32_t sequence;
	uint32_t *known;
	size_t nr_known;
	uint64_t last_ns;
	unsigned clock_id;
	struct strbuf packet;
	struct strbuf part;
	struct strbuf inner;
	struct strbuf text;
};

static void write_packet(struct export *ex)
{
	struct perfetto *p = ex->state;
	struct strbuf *packet = &p->packet;
	uint8_t head[1 + VARINT_MAX] = { TRACE_PACKET << 3 | 2 };

	sink_put_raw(ex->sink, head, put_varint(head + 1, packet->len) - head);
	sink_put_made(ex->sink, packet);
	strbuf_reset(packet);
}

static bool is_short(const struct perfetto *p)
{
	return p->nest.is_oom || strbuf_oom(&p->packet) || strbuf_oom(&p->part) ||
	       strbuf_oom(&p->inner) || strbuf_oom(&p->text);
}

static const char *utf8(struct perfetto *p, const char *text, size_t len)
{
	strbuf_reset(&p->text);
	escape_add(&p->text, MEDIUM_BINARY, text, len);
	return strbuf_str(&p->text);
}

static void add_clock(struct perfetto *p, unsigned id, uint64_t time_ns)
{
	strbuf_reset(&p->inner);
	proto_add_uint(&p->inner, CLOCK_ID, id);
	proto_add_uint(&p->inner, CLOCK_TIMESTAMP, time_ns);
	proto_add_message(&p->part, SNAPSHOT_CLOCKS, &p->inner);
}

/*
 * Write the packet that names the clock of the recording. If this clock is not the time of day, and
 * info.utc_offset_s is known, the packet relates the clock to the time of day. Every clock that
 * counts from boot gets the name of the monotonic clock.
 */
static void write_clocks(struct export *ex)
{
	struct perfetto *p = ex->state;
	const struct trace_data *data = ex->pipe->data;
	uint64_t first_ns = export_first_ns(ex);

	p->clock_id = clock_is_time_of_day(first_ns) ? CLOCK_ID_REALTIME : CLOCK_ID_MONOTONIC;
	strbuf_reset(&p->part);
	add_clock(p, p->clock_id, first_ns);
	if (p->clock_id == CLOCK_ID_MONOTONIC && data->info.utc_offset_s > 0)
		add_clock(p, CLOCK_ID_REALTIME,
			  first_ns + (uint64_t)data->info.utc_offset_s * 1000000000);
	proto_add_uint(&p->part, SNAPSHOT_PRIMARY, p->clock_id);
	proto_add_message(&p->packet, PACKET_CLOCK_SNAPSHOT, &p->part);
	write_packet(ex);
}

static int begin_perfetto(struct export *ex, struct uft_err *err)
{
	struct perfetto *p = ex->state;
	int ret = export_nest_init(ex, &p->nest, err);

	write_clocks(ex);
	return ret;
}

static uint64_t process_uuid(int32_t pid)
{
	return 1ULL << 32 | (uint32_t)pid;
}

static uint64_t thread_uuid(const struct task *task)
{
	return 2ULL << 32 | (uint32_t)task->tid;
}

static void begin_packet(struct perfetto *p, uint64_t time_ns)
{
	proto_add_uint(&p->packet, PACKET_TIMESTAMP, time_ns);
	proto_add_uint(&p->packet, PACKET_SEQUENCE_ID, p->sequence);
}

/*
 * Begin a packet with a clock id of its own. The packet does not use the default clock of its
 * sequence.
 */
static void begin_clock_packet(struct perfetto *p, uint64_t time_ns)
{
	begin_packet(p, time_ns);
	proto_add_uint(&p->packet, PACKET_CLOCK_ID, p->clock_id);
}

/* A process without a probe has no session. Such a process gets the name of @task. */
static void write_process(struct export *ex, const struct task *task, uint64_t time_ns)
{
	struct perfetto *p = ex->state;
	const struct session *session = task_session(task, time_ns);
	const char *name = session ? title_program(session) : task_name_at(task, UINT64_MAX);

	begin_clock_packet(p, time_ns);
	strbuf_reset(&p->inner);
	proto_add_uint(&p->inner, PROCESS_PID, task->pid);
	if (session)
		proto_add_str(&p->inner, PROCESS_CMDLINE,
			      utf8(p, session->exename, strlen(session->exename)));
	proto_add_str(&p->inner, PROCESS_NAME, utf8(p, name, strlen(name)));
	strbuf_reset(&p->part);
	proto_add_uint(&p->part, TRACK_UUID, process_uuid(task->pid));
	proto_add_message(&p->part, TRACK_PROCESS, &p->inner);
	proto_add_message(&p->packet, PACKET_TRACK_DESCRIPTOR, &p->part);
	write_packet(ex);
}

static void write_thread(struct export *ex, const struct task *task, uint64_t time_ns)
{
	struct perfetto *p = ex->state;
	const char *name = task_name_at(task, UINT64_MAX);

	begin_clock_packet(p, time_ns);
	strbuf_reset(&p->inner);
	proto_add_uint(&p->inner, THREAD_PID, task->pid);
	proto_add_uint(&p->inner, THREAD_TID, task->tid);
	proto_add_str(&p->inner, THREAD_NAME, utf8(p, name, strlen(name)));
	strbuf_reset(&p->part);
	proto_add_uint(&p->part, TRACK_UUID, thread_uuid(task));
	proto_add_message(&p->part, TRACK_THREAD, &p->inner);
	proto_add_message(&p->packet, PACKET_TRACK_DESCRIPTOR, &p->part);
	write_packet(ex);
}

/* Write the default values for the next packets, which belong to @task. */
static void write_defaults(struct export *ex, const struct task *task, uint64_t time_ns)
{
	struct perfetto *p = ex->state;

	begin_clock_packet(p, time_ns);
	proto_add_uint(&p->packet, PACKET_SEQUENCE_FLAGS, SEQUENCE_CLEARED);
	strbuf_reset(&p->inner);
	proto_add_uint(&p->inner, EVENT_TRACK_UUID, thread_uuid(task));
	strbuf_reset(&p->part);
	proto_add_uint(&p->part, DEFAULTS_CLOCK_ID, p->clock_id);
	proto_add_message(&p->part, DEFAULTS_TRACK_EVENT, &p->inner);
	proto_add_message(&p->packet, PACKET_DEFAULTS, &p->part);
	write_packet(ex);
}

static void begin_task(struct export *ex, const struct task *task, uint64_t time_ns)
{
	struct perfetto *p = ex->state;

	p->task = task;
	p->sequence++;
	p->last_ns = time_ns;
	write_defaults(ex, task, time_ns);
	write_process(ex, task, time_ns);
	write_thread(ex, task, time_ns);
}

static inline bool knows(const struct perfetto *p, const struct func *func)
{
	return func->id < p->nr_known && p->known[func->id] == p->sequence;
}

/*
 * True when the sequence has defined the name of @func, or memory is short. If the result is false,
 * the caller must now define the name.
 */
static bool is_known(struct perfetto *p, const struct func *func)
{
	if (unlikely(func->id >= p->nr_known)) {
		uint32_t *known = vec_reach(p->known, &p->nr_known, func->id, sizeof(*known));

		if (!known) {
			p->nest.is_oom = true;
			return true;
		}
		p->known = known;
	}
	if (likely(p->known[func->id] == p->sequence))
		return true;
	p->known[func->id] = p->sequence;
	return false;
}

static void add_name(struct perfetto *p, const struct func *func)
{
	strbuf_reset(&p->inner);
	proto_add_uint(&p->inner, INTERNED_IID, func->id + 1);
	proto_add_str(&p->inner, INTERNED_NAME, utf8(p, func->name, func->name_len));
	strbuf_reset(&p->part);
	proto_add_message(&p->part, INTERNED_NAMES, &p->inner);
	proto_add_message(&p->packet, PACKET_INTERNED_DATA, &p->part);
}

/*
 * HOT: write the beginning or the end of a call. Before a beginning, the sequence must already have
 * defined the function's name.
 */
static void write_known(struct export *ex, const struct nest_edge *edge)
{
	struct perfetto *p = ex->state;
	uint8_t *start = (uint8_t *)sink_room(ex->sink, 64);
	uint8_t *to = start + 2; /* one byte for the tag, and one for the length */

	*to++ = PACKET_TIMESTAMP << 3;
	to = put_varint(to, p->last_ns);
	*to++ = PACKET_SEQUENCE_ID << 3;
	to = put_varint(to, p->sequence);
	*to++ = PACKET_SEQUENCE_FLAGS << 3;
	*to++ = SEQUENCE_NEEDS_STATE;
	*to++ = PACKET_TRACK_EVENT << 3 | 2;

	uint8_t *event = ++to;

	*to++ = TRACK_EVENT_TYPE << 3;
	*to++ = edge->is_begin ? SLICE_BEGIN : SLICE_END;
	if (edge->is_begin) {
		*to++ = TRACK_EVENT_NAME_IID << 3;
		to = put_varint(to, edge->func->id + 1);
	}
	event[-1] = to - event;
	start[0] = TRACE_PACKET << 3 | 2;
	start[1] = to - start - 2;
	sink_done(ex->sink, (char *)to);
}

static void add_annotation(struct perfetto *p, const char *name, const char *text, size_t len)
{
	strbuf_reset(&p->inner);
	proto_add_str(&p->inner, ANNOTATION_NAME, name);
	/* The text may contain NUL bytes. */
	strbuf_reset(&p->text);
	escape_add(&p->text, MEDIUM_BINARY, text, len);
	proto_add_bytes(&p->inner, ANNOTATION_STRING, strbuf_str(&p->text), p->text.len);
	proto_add_message(&p->part, TRACK_EVENT_ANNOTATIONS, &p->inner);
}

/*
 * The slow path: write the beginning or the end of a call. The recorded arguments, or the recorded
 * return value, become an annotation. If the sequence has not defined the function's name, the
 * packet for the beginning of the call defines the name.
 */
static void write_edge(struct export *ex, const struct nest_task *open, const struct event *event,
		       const struct nest_edge *edge)
{
	struct perfetto *p = ex->state;
	struct strbuf payload cleanup_strbuf = { 0 };

	begin_packet(p, p->last_ns);
	proto_add_uint(&p->packet, PACKET_SEQUENCE_FLAGS, SEQUENCE_NEEDS_STATE);
	if (edge->is_begin && !is_known(p, edge->func))
		add_name(p, edge->func);
	strbuf_reset(&p->part);
	proto_add_uint(&p->part, TRACK_EVENT_TYPE, edge->is_begin ? SLICE_BEGIN : SLICE_END);
	if (edge->is_begin)
		proto_add_uint(&p->part, TRACK_EVENT_NAME_IID, edge->func->id + 1);
	if (nest_is_own(open, event, edge) && export_put_payload(ex, p->task, event, &payload))
		add_annotation(p, edge->is_begin ? "arguments" : "retval", strbuf_str(&payload),
			       payload.len);
	p->nest.is_oom |= strbuf_oom(&payload);
	proto_add_message(&p->packet, PACKET_TRACK_EVENT, &p->part);
	write_packet(ex);
}

static int put_perfetto_point(struct export *ex, const struct task *task, const struct event *event)
{
	struct perfetto *p = ex->state;
	struct strbuf name cleanup_strbuf = { 0 };
	struct strbuf data cleanup_strbuf = { 0 };

	event_put_name(&ex->texts, event, &name);
	event_put_data(&ex->texts, task, event, &data);
	begin_packet(p, p->last_ns);
	proto_add_uint(&p->packet, PACKET_SEQUENCE_FLAGS, SEQUENCE_NEEDS_STATE);
	strbuf_reset(&p->part);
	proto_add_uint(&p->part, TRACK_EVENT_TYPE, INSTANT);
	proto_add_str(&p->part, TRACK_EVENT_NAME, utf8(p, strbuf_str(&name), name.len));
	if (data.len)
		add_annotation(p, "data", strbuf_str(&data), data.len);
	proto_add_message(&p->packet, PACKET_TRACK_EVENT, &p->part);
	write_packet(ex);
	return strbuf_oom(&name) || strbuf_oom(&data) ? -ENOMEM : 0;
}

static int put_perfetto_events(struct export *ex, const struct event_span *span,
			       struct uft_err *err)
{
	struct perfetto *p = ex->state;
	struct nest_task *open = &p->nest.tasks[span->task->index];
	struct nest_edge edge;
	int ret = 0;

	if (span->task != p->task)
		begin_task(ex, span->task, span->events[0].time_ns);
	for (size_t i = 0; i < span->nr; i++) {
		const struct event *event = &span->events[i];

		p->last_ns = MAX(p->last_ns, event->time_ns);
		if (unlikely(event->type == EVENT_POINT))
			ret |= export_point(ex, span->task, event);
		while (nest_next(&p->nest, open, event, &edge)) {
			/*
			 * If @edge ends a call, open->depth does not include this call. The depth
			 * of the call is open->depth + 1.
			 */
			if (unlikely(open->depth + !edge.is_begin > DEPTH_MAX))
				continue;
			if (unlikely(event->data || (edge.is_begin && !knows(p, edge.func))))
				write_edge(ex, open, event, &edge);
			else
				write_known(ex, &edge);
		}
	}
	if (ret < 0 || is_short(p))
		return err_set_errno(err, -ENOMEM, "cannot export");
	return 0;
}

/*
 * Returns the id of the track for a process's executions. Processes that had the same pid at
 * different times have different tracks.
 */
static uint64_t execution_uuid(const struct execution *execution)
{
	return 3ULL << 32 | execution->process;
}

static void write_execution_track(struct export *ex, const struct exec_slice *slice)
{
	struct perfetto *p = ex->state;
	const struct task *task = data_task(ex->pipe->data, slice->is->pid);

	if (task)
		write_process(ex, task, slice->start_ns);
	begin_clock_packet(p, slice->start_ns);
	strbuf_reset(&p->part);
	proto_add_uint(&p->part, TRACK_UUID, execution_uuid(slice->is));
	proto_add_str(&p->part, TRACK_NAME, "executions");
	proto_add_uint(&p->part, TRACK_PARENT_UUID, process_uuid(slice->is->pid));
	proto_add_message(&p->packet, PACKET_TRACK_DESCRIPTOR, &p->part);
	write_packet(ex);
}

static void add_int_annotation(struct perfetto *p, const char *name, int number)
{
	strbuf_reset(&p->inner);
	proto_add_str(&p->inner, ANNOTATION_NAME, name);
	proto_add_uint(&p->inner, ANNOTATION_INT, number);
	proto_add_message(&p->part, TRACK_EVENT_ANNOTATIONS, &p->inner);
}

/* Add the arguments of an execution. Returns false when there is not enough memory. */
static bool add_argv(struct perfetto *p, const struct execution *execution)
{
	struct strbuf item cleanup_strbuf = { 0 };

	strbuf_reset(&p->inner);
	proto_add_str(&p->inner, ANNOTATION_NAME, "argv");
	for (const char *arg = NULL; (arg = execution_next_arg(execution, arg)) != NULL;) {
		strbuf_reset(&item);
		proto_add_str(&item, ANNOTATION_STRING, utf8(p, arg, strlen(arg)));
		proto_add_message(&p->inner, ANNOTATION_ARRAY, &item);
	}
	proto_add_message(&p->part, TRACK_EVENT_ANNOTATIONS, &p->inner);
	return !strbuf_oom(&item);
}

static bool write_execution(struct export *ex, const struct exec_slice *slice, bool is_begin)
{
	struct perfetto *p = ex->state;
	struct strbuf name cleanup_strbuf = { 0 };
	bool is_done = true;

	begin_clock_packet(p, is_begin ? slice->start_ns : slice->end_ns);
	strbuf_reset(&p->part);
	proto_add_uint(&p->part, TRACK_EVENT_TYPE, is_begin ? SLICE_BEGIN : SLICE_END);
	proto_add_uint(&p->part, EVENT_TRACK_UUID, execution_uuid(slice->is));
	if (is_begin) {
		exec_put_name(&name, slice->is);
		proto_add_str(&p->part, TRACK_EVENT_NAME, utf8(p, strbuf_str(&name), name.len));
		add_annotation(p, "program", slice->is->program, strlen(slice->is->program));
		is_done = add_argv(p, slice->is);
		add_annotation(p, "cwd", slice->is->cwd, strlen(slice->is->cwd));
		if (slice->status >= 0)
			add_int_annotation(p, "status", slice->status);
		if (slice->signal)
			add_int_annotation(p, "signal", slice->signal);
	}
	proto_add_message(&p->packet, PACKET_TRACK_EVENT, &p->part);
	write_packet(ex);
	return is_done && !strbuf_oom(&name);
}

/*
 * Write the executions as a sequence of their own. The sequence defines no names, because most
 * names occur only once.
 */
static int end_perfetto(struct export *ex, struct uft_err *err)
{
	struct perfetto *p = ex->state;
	struct exec_slices slices cleanup_exec_slices = { 0 };
	int ret = exec_slices_load(&slices, ex->pipe, err);

	p->sequence++;
	for (size_t i = 0; ret == 0 && i < slices.nr; i++) {
		const struct exec_slice *slice = &slices.all[i];

		if (slice->is_first)
			write_execution_track(ex, slice);
		if (!write_execution(ex, slice, true) || !write_execution(ex, slice, false) ||
		    is_short(p))
			ret = err_set_errno(err, -ENOMEM, "cannot export");
	}
	return ret;
}

static void deinit_perfetto(struct export *ex)
{
	struct perfetto *p = ex->state;

	nest_deinit(&p->nest);
	strbuf_deinit(&p->packet);
	strbuf_deinit(&p->part);
	strbuf_deinit(&p->inner);
	strbuf_deinit(&p->text);
	free(p->known);
}

const struct exporter exp_perfetto = {
	.name = "perfetto",
	.medium = MEDIUM_BINARY,
	.is_binary = true,
	.state_bytes = sizeof(struct perfetto),
	.configure = nest_configure_by_task,
	.begin = begin_perfetto,
	.events = put_perfetto_events,
	.end = end_perfetto,
	.deinit = deinit_perfetto,
	.point = put_perfetto_point,
};
