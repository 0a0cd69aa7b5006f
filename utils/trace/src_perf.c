/* Source of events: perf-cpu*.dat (see src_perf.h). */
#include "utils/trace/src_perf.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "utils/base/cleanup.h"
#include "utils/base/fd.h"
#include "utils/format/bytes.h"
#include "utils/format/perf_dat.h"
#include "utils/format/text.h"
#include "utils/trace/event.h"

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

static int add_record(struct src_perf *src, struct trace_data *data, uint32_t cpu,
		      const struct perf_record *rec)
{
	static const uint32_t ids[] = {
		[PERF_REC_SCHED_IN] = EVENT_ID_SCHED_IN,
		[PERF_REC_SCHED_OUT] = EVENT_ID_SCHED_OUT,
		[PERF_REC_SCHED_OUT_PREEMPT] = EVENT_ID_SCHED_OUT_PREEMPT,
		[PERF_REC_TASK_NEW] = EVENT_ID_TASK_NEW,
		[PERF_REC_TASK_EXIT] = EVENT_ID_TASK_EXIT,
		[PERF_REC_TASK_NAME] = EVENT_ID_TASK_NAME,
	};
	const struct task *task = data_task(data, rec->tid);

	if (rec->type == PERF_REC_OTHER || !task)
		return 0;
	if (rec->type == PERF_REC_TASK_NAME) {
		int ret = data_name_task(data, rec->tid, rec->time_ns, rec->comm);

		if (ret < 0)
			return ret;
	}
	return queue_add(&src->queues[task->index],
			 (struct perf_event){ rec->time_ns, ids[rec->type], cpu });
}

static int load_fd(struct src_perf *src, struct trace_data *data, int fd, uint32_t cpu,
		   struct uft_err *err)
{
	uint8_t *buf cleanup_free = malloc(PERF_BUFFER_BYTES);
	size_t len = 0;

	if (!buf)
		return -ENOMEM;
	for (;;) {
		ssize_t n = fd_read_full(fd, buf + len, PERF_BUFFER_BYTES - len);

		if (n < 0)
			return n;
		len += n;

		size_t at = 0;
		struct perf_record rec;
		ssize_t used;

		while ((used = perf_record_decode(buf + at, len - at, data->is_big_endian, &rec,
						  err)) > 0) {
			int ret = add_record(src, data, cpu, &rec);

			if (ret < 0)
				return ret;
			at += used;
		}
		if (used < 0)
			return used;
		if (n == 0)
			return 0;
		memmove(buf, buf + at, len - at);
		len -= at;
	}
}

static int load_file(struct src_perf *src, struct trace_data *data, const char *name, uint32_t cpu,
		     struct uft_err *err)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/%s", data->dir, name);

	int fd cleanup_fd = file_open_regular(path, err);

	if (fd < 0)
		return fd;

	struct uft_err why = { 0 };
	int ret = load_fd(src, data, fd, cpu, &why);

	if (ret < 0)
		err_set(err, ret, "cannot read '%s': %s", path,
			why.code ? why.text : strerror(-ret));
	return ret;
}

static bool perf_file_cpu(const char *name, uint32_t *cpu)
{
	struct text in = text_of(name, strlen(name));
	uint64_t number;

	if (!text_word(&in, "perf-cpu") || !text_dec(&in, &number) || !text_word(&in, ".dat") ||
	    in.at != in.end || number > UINT16_MAX)
		return false;
	*cpu = number;
	return true;
}

static int load_files(struct src_perf *src, struct trace_data *data, struct uft_err *err)
{
	DIR *dir = opendir(data->dir);
	struct dirent *entry;
	int ret = 0;

	if (!dir)
		return err_set_errno(err, -errno, "cannot open '%s'", data->dir);
	while (ret == 0 && (entry = readdir(dir))) {
		uint32_t cpu;

		if (perf_file_cpu(entry->d_name, &cpu))
			ret = load_file(src, data, entry->d_name, cpu, err);
	}
	closedir(dir);
	return ret;
}

uint32_t src_perf_nr_cpus(const struct trace_data *data)
{
	DIR *dir = opendir(data->dir);
	struct dirent *entry;
	uint32_t nr = 0;

	while (dir && (entry = readdir(dir))) {
		uint32_t cpu;

		if (perf_file_cpu(entry->d_name, &cpu))
			nr = MAX(nr, cpu + 1);
	}
	if (dir)
		closedir(dir);
	return nr;
}

static int event_compare(const void *a, const void *b)
{
	const struct perf_event *x = a;
	const struct perf_event *y = b;

	if (x->time_ns != y->time_ns)
		return x->time_ns < y->time_ns ? -1 : 1;
	return x->cpu < y->cpu ? -1 : x->cpu > y->cpu;
}

static int name_compare(const void *a, const void *b)
{
	const struct task_name *x = a;
	const struct task_name *y = b;

	return x->start_ns < y->start_ns ? -1 : x->start_ns > y->start_ns;
}

/* Files come in any order, and a task moves between CPUs. */
static void sort_all(struct src_perf *src, struct trace_data *data)
{
	for (size_t i = 0; i < src->nr_queues; i++) {
		if (src->queues[i].nr)
			qsort(src->queues[i].events, src->queues[i].nr, sizeof(struct perf_event),
			      event_compare);
		if (data->tasks[i].nr_names)
			qsort(data->tasks[i].names, data->tasks[i].nr_names,
			      sizeof(struct task_name), name_compare);
	}
}

int src_perf_load(struct src_perf *src, struct trace_data *data, struct uft_err *err)
{
	src->queues = calloc(data->nr_tasks ? data->nr_tasks : 1, sizeof(*src->queues));
	if (!src->queues)
		return err_set_errno(err, -ENOMEM, "cannot read perf files");
	src->nr_queues = data->nr_tasks;

	int ret = load_files(src, data, err);

	if (ret == 0)
		sort_all(src, data);
	return ret;
}

void src_perf_deinit(struct src_perf *src)
{
	for (size_t i = 0; i < src->nr_queues; i++)
		free(src->queues[i].events);
	free(src->queues);
	*src = (struct src_perf){ 0 };
}
