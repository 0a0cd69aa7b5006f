/* Sorts the records of an etrace text, and gives numbers to its tasks (see etrace_read.h). */
#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "utils/base/containers/vec.h"
#include "utils/format/fstrace/origin.h"
#include "utils/builddb/etrace/etrace_event.h"

#define TID_MASK ((1U << 22) - 1)

size_t etrace_reader_add(struct etrace_reader *reader, struct etrace_task *task, uint32_t kind,
			 uint64_t time_ns, const struct strbuf *payload)
{
	struct etrace_record *records = vec_grow(reader->records, reader->nr_records,
						 sizeof(*records));

	if (!records || strbuf_oom(payload)) {
		reader->oom = true;
		return SIZE_MAX;
	}
	reader->records = records;
	records[reader->nr_records] = (struct etrace_record){
		.time_ns = time_ns,
		.nr = reader->nr_records,
		.kind = kind,
		/* The lines of environments are at the end of the etrace text, and name no CPU. */
		.cpu = kind == PROC_ENV ? PROC_CPU_UNKNOWN : task->event.cpu,
		.task = task,
		.at = reader->payloads.len,
		.len = payload->len,
	};
	strbuf_add(&reader->payloads, strbuf_str(payload), payload->len);
	return reader->nr_records++;
}

static int by_time(const void *a, const void *b)
{
	const struct etrace_record *first = a;
	const struct etrace_record *second = b;

	if (first->time_ns != second->time_ns)
		return first->time_ns < second->time_ns ? -1 : 1;
	if (first->goes_first != second->goes_first)
		return first->goes_first ? -1 : 1;
	return first->nr < second->nr ? -1 : 1;
}

/*
 * Sort the records, each fork before all records of its child. Find the last record of each task.
 * After the last record of a task, another task may get the same tid.
 */
void etrace_records_sort(struct etrace_reader *reader)
{
	for (size_t i = 0; i < reader->nr_records; i++) {
		struct etrace_record *record = &reader->records[i];

		if (record->child && record->time_ns >= record->child->first_ns) {
			record->time_ns = record->child->first_ns;
			record->goes_first = true;
		}
	}
	if (reader->nr_records)
		qsort(reader->records, reader->nr_records, sizeof(*reader->records), by_time);
	for (size_t i = 0; i < reader->nr_records; i++) {
		struct etrace_record *record = &reader->records[i];

		record->task->last = i + 1;
		if (record->child)
			record->child->last = i + 1;
	}
	reader->next_made = FST_PID_LIMIT + 1;
}

/*
 * Give @task a tid and a pid, unless @task already has a tid. @pid: the pid of the process to which
 * the thread @task belongs; 0: @task is a process. Returns 0 or -ENOMEM.
 */
static int number_task(struct etrace_reader *reader, struct etrace_task *task, int32_t pid)
{
	uint32_t own = task->upid & TID_MASK;
	const struct etrace_task *holder = intmap_get(&reader->by_tid, own);

	if (task->tid)
		return 0;
	if (own && (!holder || holder->last <= reader->next))
		task->tid = (int32_t)own;
	else if (reader->next_made < INT32_MAX)
		task->tid = reader->next_made++;
	else
		return -ENOMEM;
	task->pid = pid ? pid : task->tid;
	return intmap_put(&reader->by_tid, (uint32_t)task->tid, task);
}

/* When a thread executes another program, set the thread's id to the id of its process. */
static int become_leader(struct etrace_reader *reader, struct etrace_task *task)
{
	task->tid = task->pid;
	return intmap_put(&reader->by_tid, (uint32_t)task->tid, task);
}

static void put_variables(const struct etrace_reader *reader, const struct etrace_task *task,
			  struct strbuf *payload)
{
	const struct strbuf *places = &task->variables;
	struct strbuf all cleanup_strbuf = { 0 };
	size_t at;

	for (size_t i = 0; i < places->len; i += sizeof(at)) {
		const char *text;
		size_t len;

		memcpy(&at, places->data + i, sizeof(at));
		text = reader->variables.data + at;
		len = strnlen(text, PROC_TEXT_MAX - all.len) + 1;
		if (all.len + len <= PROC_TEXT_MAX)
			strbuf_add(&all, text, len);
	}
	proc_act_encode(&(struct proc_act){ .texts = { text_of(all.data, all.len), text_of("", 0),
						       text_of("", 0) } },
			payload);
	payload->oom |= all.oom;
}

static int put_payload(struct etrace_reader *reader, const struct etrace_record *record,
		       struct strbuf *payload)
{
	const struct etrace_task *task = record->task;

	if (record->kind == PROC_ENV) {
		put_variables(reader, task, payload);
		return 0;
	}
	strbuf_add(payload, strbuf_str(&reader->payloads) + record->at, record->len);
	if (strbuf_oom(payload))
		return -ENOMEM;
	if (record->kind == PROC_EXEC) {
		memcpy(payload->data, &task->pid, sizeof(task->pid));
	} else if (record->kind == PROC_FORK) {
		struct etrace_task *child = record->child;
		uint64_t flags;

		memcpy(&flags, payload->data + PROC_FORK_BYTES, sizeof(flags));
		if (number_task(reader, child, flags & CLONE_THREAD ? task->pid : 0) < 0)
			return -ENOMEM;
		memcpy(payload->data, &child->tid, sizeof(child->tid));
		memcpy(payload->data + 4, &child->pid, sizeof(child->pid));
	}
	return 0;
}

/*
 * If earlier records do not imply the CPU of @record, write a CPU record to @payload and return 1.
 * If they do, return 0. Returns -ENOMEM when memory is short.
 */
static int put_cpu(struct etrace_reader *reader, const struct etrace_record *record,
		   struct strbuf *payload)
{
	int ret = record->cpu == PROC_CPU_UNKNOWN
			  ? 0
			  : proc_cpus_set(&reader->cpus, record->task->tid, record->cpu);

	if (ret > 0)
		proc_cpu_encode(record->cpu, payload);
	return ret;
}

/*
 * Give numbers to the task of @record, and make @payload. Returns 0 when @payload belongs to
 * @record. Returns 1 when @payload belongs to a CPU record that must come before @record. Returns
 * -ENOMEM when memory is short.
 */
static int put_next(struct etrace_reader *reader, const struct etrace_record *record,
		    struct strbuf *payload)
{
	int ret = number_task(reader, record->task, 0);

	if (ret == 0 && record->kind == PROC_EXEC)
		ret = become_leader(reader, record->task);
	if (ret == 0)
		ret = put_cpu(reader, record, payload);
	return ret ? ret : put_payload(reader, record, payload);
}

int etrace_reader_next(struct etrace_reader *reader, struct proc_record *rec,
		       struct strbuf *payload)
{
	const struct etrace_record *record;
	int ret;

	do {
		if (reader->next == reader->nr_records)
			return 0;
		record = &reader->records[reader->next++];
	} while (!record->kind);

	strbuf_reset(payload);
	ret = put_next(reader, record, payload);
	if (ret < 0 || strbuf_oom(payload))
		return -ENOMEM;
	*rec = (struct proc_record){
		.time_ns = MAX(record->time_ns, reader->last_ns + 1),
		.tid = record->task->tid,
		.pid = record->task->pid,
		.kind = ret > 0 ? PROC_CPU : record->kind,
		.data = (const uint8_t *)strbuf_str(payload),
		.len = payload->len,
	};
	if (ret > 0) {
		/*
		 * The CPU record has the time of @record. The next call of this function returns
		 * @record.
		 */
		reader->next--;
		return 1;
	}
	reader->last_ns = rec->time_ns;
	ret = proc_cpus_see(&reader->cpus, rec, PROC_IS_BIG);
	return ret < 0 ? ret : 1;
}
