/* Writes proc.dat (see log.h). */
#include "cmds/record/proc/log.h"

#include <errno.h>

#include "utils/format/datadir.h"

int proc_log_open(struct proc_log *log, const struct record_settings *settings, struct store *store)
{
	*log = (struct proc_log){ .settings = settings, .store = store, .cpu = PROC_CPU_UNKNOWN };
	log->stream = store_open(store, DATADIR_PROCESSES);
	return log->stream < 0 ? log->stream : 0;
}

/* Adds a PROC_CPU record for the task of @rec, unless log->cpu is the task's last known CPU. */
static int add_cpu(struct proc_log *log, const struct proc_record *rec)
{
	struct strbuf payload cleanup_strbuf = { 0 };
	struct proc_record where = *rec;
	int ret = log->cpu < 0 ? 0 : proc_cpus_set(&log->cpus, rec->tid, log->cpu);

	if (ret <= 0)
		return ret;
	proc_cpu_encode(log->cpu, &payload);
	where.kind = PROC_CPU;
	where.data = (const uint8_t *)strbuf_str(&payload);
	where.len = payload.len;
	proc_record_encode(&where, &log->records);
	return strbuf_oom(&payload) ? -ENOMEM : 0;
}

/* The gathered records are written when their size reaches this number of bytes. */
#define GATHERED_MAX 65536

void proc_log_gather(struct proc_log *log)
{
	log->gathers = true;
}

/*
 * Writes the records in @log->records to the file, and empties @log->records. If there was no
 * memory for a record, the file lacks this record.
 */
static void write_records(struct proc_log *log)
{
	struct strbuf *records = &log->records;
	int ret = 0;

	if (records->len && store_may_take(log->store, records->len))
		ret = store_append(log->store, log->stream, records->data, records->len);
	store_note_error(log->store, ret);
	strbuf_reset(records);
}

void proc_log_write_gathered(struct proc_log *log)
{
	log->gathers = false;
	write_records(log);
}

void proc_log_write_at(struct proc_log *log, uint64_t time_ns, enum proc_kind kind, pid_t tid,
		       pid_t pid)
{
	struct strbuf *payload = &log->payload;
	struct strbuf *records = &log->records;
	struct proc_record rec = { .tid = tid, .pid = pid, .kind = kind };
	size_t before = records->len;
	int ret;

	/* The times in the file increase, each by at least 1. */
	log->last_ns = MAX(time_ns, log->last_ns + 1);
	rec.time_ns = log->last_ns;
	rec.data = (const uint8_t *)strbuf_str(payload);
	rec.len = payload->len;
	ret = add_cpu(log, &rec);
	if (ret == 0)
		ret = proc_cpus_see(&log->cpus, &rec, PROC_IS_BIG);
	proc_record_encode(&rec, records);
	if (strbuf_oom(payload) || strbuf_oom(records))
		ret = -ENOMEM;
	if (ret < 0)
		records->len = before;
	store_note_error(log->store, ret);
	/* If there is no memory for the new record, write the earlier, complete records. */
	if (!log->gathers || records->len >= GATHERED_MAX || strbuf_oom(records))
		write_records(log);
	if (strbuf_oom(payload))
		strbuf_deinit(payload);
	if (strbuf_oom(records))
		strbuf_deinit(records);
	strbuf_reset(payload);
}

void proc_log_write(struct proc_log *log, enum proc_kind kind, pid_t tid, pid_t pid)
{
	proc_log_write_at(log, settings_now_ns(log->settings), kind, tid, pid);
}

void proc_log_close(struct proc_log *log)
{
	if (log->store && log->stream >= 0)
		write_records(log);
	if (log->store && log->stream >= 0)
		store_close(log->store, log->stream);
	strbuf_deinit(&log->payload);
	strbuf_deinit(&log->records);
	proc_cpus_deinit(&log->cpus);
	*log = (struct proc_log){ 0 };
}

void proc_log_remove(struct proc_log *log)
{
	if (log->store)
		store_remove(log->store, DATADIR_PROCESSES);
	proc_log_close(log);
}
