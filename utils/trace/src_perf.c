/* Source of events: perf-cpu*.dat (see src_perf.h). */
#include "utils/trace/src_perf.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "utils/base/cleanup.h"
#include "utils/base/fd.h"
#include "utils/base/vec.h"
#include "utils/format/bytes.h"
#include "utils/format/perf_dat.h"
#include "utils/trace/cpu_files.h"
#include "utils/trace/event.h"
#include "utils/trace/event_kind.h"

#define PERF_BUFFER_BYTES (256 * 1024)

static int queue_add(struct perf_queue *queue, struct perf_event event)
{
	if (queue->nr == queue->cap) {
		size_t cap = queue->cap ? queue->cap + queue->cap / 2 : 16;
		struct perf_event *events = reallocarray(queue->events, cap, sizeof(*events));

		if (!events)
			return -ENOMEM;
		queue->events = events;
		queue->cap = cap;
	}
	queue->events[queue->nr++] = event;
	return 0;
}

int src_perf_add(struct src_perf *src, const struct task *task, struct perf_event event)
{
	return queue_add(&src->queues[task->index], event);
}

/* The task may be announced later than it begins. */
static int keep_stray(struct src_perf *src, const struct perf_record *rec, uint32_t cpu)
{
	struct perf_stray *strays = vec_grow(src->strays, src->nr_strays, sizeof(*strays));

	if (!strays)
		return -ENOMEM;
	src->strays = strays;
	strays[src->nr_strays++] = (struct perf_stray){ *rec, cpu };
	return 0;
}

static int add_record(struct src_perf *src, struct trace_data *data, uint32_t cpu,
		      const struct perf_record *rec)
{
	const struct task *task = data_task(data, rec->tid);

	if (rec->type == PERF_REC_OTHER)
		return 0;
	if (!task)
		return data->growth ? keep_stray(src, rec, cpu) : 0;
	if (rec->type == PERF_REC_TASK_NAME) {
		int ret = data_name_task(data, rec->tid, rec->time_ns, rec->comm);

		if (ret < 0)
			return ret;
	}
	return queue_add(&src->queues[task->index],
			 (struct perf_event){ rec->time_ns, event_id_of_perf(rec->type), { cpu } });
}

/* All that the file has behind its offset. */
static int load_fd(struct src_perf *src, struct trace_data *data, struct perf_file *file,
		   struct uft_err *err)
{
	uint8_t *buf cleanup_free = malloc(PERF_BUFFER_BYTES);

	if (!buf)
		return -ENOMEM;
	for (;;) {
		ssize_t len = fd_pread_full(file->fd, buf, PERF_BUFFER_BYTES, file->offset);

		if (len < 0)
			return len;

		ssize_t at = 0;
		struct perf_record rec;
		ssize_t used;

		while ((used = perf_record_decode(buf + at, len - at, data->is_big_endian, &rec,
						  err)) > 0) {
			int ret = add_record(src, data, file->cpu, &rec);

			if (ret < 0)
				return ret;
			at += used;
		}
		if (used < 0)
			return used;
		file->offset += at;
		if (at == 0 || len < PERF_BUFFER_BYTES)
			return 0;
	}
}

static int load_file(struct src_perf *src, struct trace_data *data, struct perf_file *file,
		     struct uft_err *broken, struct uft_err *err)
{
	struct uft_err why = { 0 };
	int ret = load_fd(src, data, file, &why);

	if (ret < 0)
		err_set(ret == -EBADMSG ? broken : err, ret, "cannot read '%s/perf-cpu%u.dat': %s",
			data->dir, file->cpu, why.code ? why.text : strerror(-ret));
	return ret;
}

static int keep_open(struct src_perf *src, struct perf_file *file)
{
	struct perf_file *files = vec_grow(src->files, src->nr_files, sizeof(*files));

	if (!files)
		return -ENOMEM;
	src->files = files;
	files[src->nr_files++] = *file;
	file->fd = -1;
	return 0;
}

static void close_file(struct perf_file *file)
{
	if (file->fd >= 0)
		close(file->fd);
	file->fd = -1;
}

struct loading {
	struct src_perf *src;
	struct trace_data *data;
	struct uft_err *broken;
	struct uft_err *err;
};

static int take_file(void *self, const char *name, uint32_t cpu)
{
	struct loading *in = self;
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/%s", in->data->dir, name);

	struct perf_file file cleanup(close_file) = { file_open_regular(path, in->err), cpu, 0 };

	if (file.fd < 0)
		return file.fd;
	if (in->data->growth) {
		int ret = keep_open(in->src, &file);

		return ret < 0 ? err_set_errno(in->err, ret, "cannot read perf files") : 0;
	}

	int ret = load_file(in->src, in->data, &file, in->broken, in->err);

	return ret == -EBADMSG ? 0 : ret;
}

static int event_compare(const void *a, const void *b)
{
	const struct perf_event *x = a;
	const struct perf_event *y = b;

	bool x_is_point = x->id < EVENT_ID_BUILTIN;
	bool y_is_point = y->id < EVENT_ID_BUILTIN;

	if (x->time_ns != y->time_ns)
		return x->time_ns < y->time_ns ? -1 : 1;
	if (x_is_point != y_is_point)
		return x_is_point ? 1 : -1;
	return x->cpu < y->cpu ? -1 : x->cpu > y->cpu;
}

static int name_compare(const void *a, const void *b)
{
	const struct task_name *x = a;
	const struct task_name *y = b;

	return x->start_ns < y->start_ns ? -1 : x->start_ns > y->start_ns;
}

/* Files come in any order, and a task moves between CPUs. */
void src_perf_sort(struct src_perf *src)
{
	for (size_t i = 0; i < src->nr_queues; i++) {
		if (src->queues[i].nr)
			qsort(src->queues[i].events, src->queues[i].nr, sizeof(struct perf_event),
			      event_compare);
	}
}

static void sort_all(struct src_perf *src, struct trace_data *data)
{
	src_perf_sort(src);
	for (size_t i = 0; i < src->nr_queues; i++) {
		if (data->tasks[i].nr_names)
			qsort(data->tasks[i].names, data->tasks[i].nr_names,
			      sizeof(struct task_name), name_compare);
	}
}

int src_perf_load(struct src_perf *src, struct trace_data *data, struct uft_err *broken,
		  struct uft_err *err)
{
	src->queues = calloc(data->nr_tasks ? data->nr_tasks : 1, sizeof(*src->queues));
	if (!src->queues)
		return err_set_errno(err, -ENOMEM, "cannot read perf files");
	src->nr_queues = data->nr_tasks;

	struct loading in = { src, data, broken, err };
	int ret = cpu_files_each(data->dir, "perf-cpu", take_file, &in, err);

	if (ret == 0)
		sort_all(src, data);
	return ret;
}

/* Room for tasks that are new, and what was known of them before they were. */
static int adopt(struct src_perf *src, struct trace_data *data)
{
	struct perf_queue *queues;
	size_t nr_left = 0;
	int ret = 0;

	if (data->nr_tasks == src->nr_queues)
		return 0;
	queues = reallocarray(src->queues, data->nr_tasks, sizeof(*queues));
	if (!queues)
		return -ENOMEM;
	memset(queues + src->nr_queues, 0, (data->nr_tasks - src->nr_queues) * sizeof(*queues));
	src->queues = queues;
	src->nr_queues = data->nr_tasks;
	for (size_t i = 0; ret == 0 && i < src->nr_strays; i++) {
		struct perf_stray stray = src->strays[i];

		if (data_task(data, stray.rec.tid))
			ret = add_record(src, data, stray.cpu, &stray.rec);
		else
			src->strays[nr_left++] = stray;
	}
	/* vec_grow() must find a power of two where there was one: the room is at least as large. */
	src->nr_strays = nr_left;
	return ret;
}

/* What was not taken yet is new, or later than @shown_ns. */
static void sort_tail(struct perf_queue *queue, size_t nr_before, uint64_t shown_ns)
{
	size_t at = nr_before;

	if (queue->nr == nr_before)
		return;
	while (at > 0 && queue->events[at - 1].time_ns > shown_ns)
		at--;
	qsort(queue->events + at, queue->nr - at, sizeof(struct perf_event), event_compare);
}

int src_perf_more(struct src_perf *src, struct trace_data *data, struct uft_err *broken,
		  struct uft_err *err)
{
	int ret = adopt(src, data);

	if (ret < 0)
		return err_set_errno(err, ret, "cannot read perf files");
	for (size_t i = 0; i < src->nr_files; i++) {
		struct perf_file *file = &src->files[i];

		if (file->fd < 0)
			continue;
		ret = load_file(src, data, file, broken, err);
		if (ret == -EBADMSG)
			close_file(file);
		else if (ret < 0)
			return ret;
	}
	return 0;
}

void src_perf_settle(struct src_perf *src, struct trace_data *data, uint64_t shown_ns)
{
	for (size_t i = 0; i < src->nr_queues; i++) {
		struct perf_queue *queue = &src->queues[i];
		struct task *task = &data->tasks[i];

		sort_tail(queue, queue->nr_sorted, shown_ns);
		queue->nr_sorted = queue->nr;
		if (task->nr_names > 1)
			qsort(task->names, task->nr_names, sizeof(*task->names), name_compare);
	}
}

void src_perf_deinit(struct src_perf *src)
{
	for (size_t i = 0; i < src->nr_queues; i++)
		free(src->queues[i].events);
	free(src->queues);
	for (size_t i = 0; i < src->nr_files; i++)
		close_file(&src->files[i]);
	free(src->files);
	free(src->strays);
	*src = (struct src_perf){ 0 };
}
