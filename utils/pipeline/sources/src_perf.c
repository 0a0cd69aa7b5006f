/* Source of events: perf-cpu<N>.dat (see src_perf.h). */
#include "utils/pipeline/sources/src_perf.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "utils/base/fd.h"
#include "utils/base/containers/vec.h"
#include "utils/format/kernel/perf_dat.h"
#include "utils/pipeline/recording/cpu_files.h"
#include "utils/pipeline/kinds/event_kind.h"

/*
 * The size of the buffer of one file. No record is longer than the buffer, because the length of a
 * record is a number of 16 bits. The buffer is no larger than necessary, because a recording may
 * have hundreds of these files.
 */
#define PERF_BUFFER_BYTES (64 * 1024)

/* A task's name that is kept until data_task() finds the task. */
struct early_name {
	int32_t tid;
	uint64_t time_ns;
	char comm[PERF_COMM_MAX];
};

/*
 * One file. If @has_next is true, @next is an event that was read, but not handled yet.
 *
 * @buf: [@at, @len) was read and not decoded yet
 * @offset: the offset in the file at which the buffer ends
 * @is_damaged: the source ends at the damage, even if the file grows
 * @damage: the error, until it is reported
 * @names: in a growing recording, names of tasks that are not announced yet
 */
struct src_perf {
	struct source source;
	struct source_context context;
	uint32_t cpu;
	int fd;
	uint8_t *buf;
	size_t at;
	size_t len;
	uint64_t offset;
	struct perf_record next;
	bool has_next;
	bool is_damaged;
	struct uft_err damage;
	struct early_name *names;
	size_t nr_names;
};

static uint64_t perf_next_ns(struct source *source)
{
	const struct src_perf *src = (const struct src_perf *)source;

	/*
	 * If damage must be reported, return 0 as the time of the next event. The merger reads the
	 * source with the earliest event first, so perf_read() soon reports the damage.
	 */
	return src->has_next ? src->next.time_ns : src->damage.code ? 0 : UINT64_MAX;
}

/*
 * Move the bytes that are not decoded yet to the start of the buffer. Fill the rest of the buffer
 * from the file. Returns 1 on success, 0 at the end of the file, or a negative errno.
 */
static int refill_perf(struct src_perf *src)
{
	size_t left = src->len - src->at;

	memmove(src->buf, src->buf + src->at, left);
	src->at = 0;
	src->len = left;

	ssize_t got = fd_pread_full(src->fd, src->buf + left, PERF_BUFFER_BYTES - left,
				    src->offset);

	if (got < 0)
		return got;
	src->len += got;
	src->offset += got;
	return got > 0;
}

/*
 * End the source at the damage. If @src->damage has an error, add the file's name to this error.
 * Otherwise make an error from @code.
 */
static void note_damage(struct src_perf *src, int code)
{
	src->is_damaged = true;
	if (src->damage.code)
		err_prefix(&src->damage, "cannot read '%s/perf-cpu%u.dat'", src->context.data->dir,
			   src->cpu);
	else
		err_set_errno(&src->damage, code, "cannot read '%s/perf-cpu%u.dat'",
			      src->context.data->dir, src->cpu);
}

/* Go to the next record that is needed, if there is one. */
static void advance_perf(struct src_perf *src)
{
	ssize_t used = 1;

	src->has_next = false;
	while (!src->has_next && !src->is_damaged && used > 0) {
		used = perf_record_decode(src->buf + src->at, src->len - src->at,
					  src->context.data->is_big_endian, &src->next,
					  &src->damage);
		if (used > 0) {
			src->at += used;
			src->has_next = src->next.type != PERF_REC_OTHER;
			/* UINT64_MAX means that there is no event. */
			src->next.time_ns = MIN(src->next.time_ns, UINT64_MAX - 1);
			continue;
		}
		if (used == 0)
			used = refill_perf(src);
		if (used < 0)
			note_damage(src, used);
	}
}

static void make_event(const struct src_perf *src, struct event *event)
{
	*event = (struct event){
		.time_ns = src->next.time_ns,
		.id = event_id_of_perf(src->next.type),
		.type = EVENT_POINT,
	};
	switch (src->next.type) {
	case PERF_REC_SCHED_IN:
		event->type = EVENT_SCHED_IN;
		break;
	case PERF_REC_SCHED_OUT_PREEMPT:
		event->flags = EVENT_PREEMPTED;
		event->type = EVENT_SCHED_OUT;
		break;
	case PERF_REC_SCHED_OUT:
		event->type = EVENT_SCHED_OUT;
		break;
	default:
		return;
	}
	event->cpu = MIN(src->cpu, (uint32_t)EVENT_CPU_UNKNOWN);
}

/*
 * Store a task's name. If a growing recording has not announced the task, keep the name in
 * src->names. name_tasks() stores the name after the recording has announced the task.
 */
static int note_name(struct src_perf *src)
{
	const struct perf_record *rec = &src->next;
	struct trace_data *data = src->context.data;

	if (rec->type != PERF_REC_TASK_NAME || !src->context.takes_notes)
		return 0;
	if (!data->growth || data_task(data, rec->tid))
		return data_name_task(data, rec->tid, rec->time_ns, rec->comm);

	struct early_name *names = vec_grow(src->names, src->nr_names, sizeof(*names));

	if (!names)
		return -ENOMEM;
	src->names = names;
	names[src->nr_names] = (struct early_name){ .tid = rec->tid, .time_ns = rec->time_ns };
	memcpy(names[src->nr_names++].comm, rec->comm, sizeof(rec->comm));
	return 0;
}

/* List a task that task.txt lacks, for example a task without a probe. */
static int note_newcomer(struct src_perf *src)
{
	const struct perf_record *rec = &src->next;
	struct task_list *list = src->context.newcomers;

	if (!list || rec->tid <= 0)
		return 0;

	struct task *task = task_list_get(list, rec->tid);

	if (!task)
		return -ENOMEM;
	if (rec->pid > 0)
		task->pid = rec->pid;
	if (rec->type == PERF_REC_TASK_NEW) {
		task->ppid = rec->ppid;
		task->is_fork = rec->pid != rec->ppid;
		task->start_ns = rec->time_ns;
	}
	return 0;
}

static ssize_t perf_read(struct source *source, struct event *events, size_t max, uint64_t until_ns,
			 struct uft_err *err)
{
	struct src_perf *src = (struct src_perf *)source;
	int32_t tid = src->next.tid;
	size_t nr = 0;

	source->tid = tid;
	source->task = data_task(src->context.data, tid);
	if (!src->has_next && src->damage.code) {
		int code = src->damage.code;

		err_set(err, code, "%s", src->damage.text);
		err_clear(&src->damage);
		return code;
	}
	for (; nr < max && src->has_next && src->next.tid == tid && src->next.time_ns <= until_ns;
	     nr++) {
		int ret = note_name(src);

		if (ret == 0 && !source->task)
			ret = note_newcomer(src);
		if (ret < 0)
			return err_set_errno(err, ret, "cannot name task %d", tid);
		make_event(src, &events[nr]);
		advance_perf(src);
	}
	return nr;
}

static int name_tasks(struct src_perf *src)
{
	struct trace_data *data = src->context.data;
	size_t nr_left = 0;
	int ret = 0;

	for (size_t i = 0; i < src->nr_names; i++) {
		struct early_name name = src->names[i];

		if (ret == 0 && data_task(data, name.tid))
			ret = data_name_task(data, name.tid, name.time_ns, name.comm);
		else
			src->names[nr_left++] = name;
	}
	src->nr_names = nr_left;
	return ret;
}

static int perf_more(struct source *source, struct uft_err *err)
{
	struct src_perf *src = (struct src_perf *)source;
	int ret = name_tasks(src);

	if (!src->has_next)
		advance_perf(src);
	return ret < 0 ? err_set_errno(err, ret, "cannot name tasks") : 0;
}

static void perf_close(struct source *source)
{
	struct src_perf *src = (struct src_perf *)source;

	if (src->fd >= 0)
		close(src->fd);
	free(src->buf);
	free(src->names);
	free(src);
}

static int open_file(void *self, const char *name, uint32_t cpu)
{
	static const struct source_ops ops = { perf_next_ns, perf_read, perf_more, perf_close };
	struct source_opening *in = self;
	struct src_perf *src = calloc(1, sizeof(*src));

	if (!src)
		return err_set_errno(in->err, -ENOMEM, "cannot read perf files");
	*src = (struct src_perf){
		.source = { .ops = &ops },
		.context = *in->context,
		.cpu = cpu,
		.buf = malloc(PERF_BUFFER_BYTES),
		.fd = source_open_file(in, name),
	};

	int ret = src->fd < 0 ? src->fd : src->buf ? 0 : -ENOMEM;

	if (ret < 0) {
		perf_close(&src->source);
	} else {
		advance_perf(src);
		ret = source_list_add(in->list, &src->source);
	}
	return ret < 0 ? err_set_errno(in->err, ret, "cannot read perf files") : 0;
}

static int open_files(const struct source_context *context, struct source_list *list,
		      struct uft_err *err)
{
	struct source_opening in = { context, list, err };

	return cpu_files_each(context->data->dir, "perf-cpu", open_file, &in, err);
}

const struct source_kind src_perf_kind = { .name = "perf", .open = open_files };
