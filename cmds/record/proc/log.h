/* Writes the records of any tracer to proc.dat, in order. */
#ifndef UTRAIL_CMDS_RECORD_PROC_LOG_H
#define UTRAIL_CMDS_RECORD_PROC_LOG_H

#include <stdint.h>
#include <sys/types.h>

#include "cmds/record/base/settings.h"
#include "cmds/record/store/store.h"
#include "utils/base/containers/strbuf.h"
#include "utils/format/proc_cpus.h"
#include "utils/format/proc_dat.h"

/*
 * The file while it is written. Only one thread at a time may use it.
 *
 * @payload: the payload of the next record
 * @records: the records that are not in the file yet
 * @gathers: records are collected in @records, until proc_log_write_gathered()
 * @cpu: the CPU of the task of the next records, or PROC_CPU_UNKNOWN
 * @cpus: the CPUs that the file has stated
 */
struct proc_log {
	const struct record_settings *settings;
	struct store *store;
	int stream;
	uint64_t last_ns;
	int cpu;
	struct proc_cpus cpus;
	struct strbuf payload;
	struct strbuf records;
	bool gathers;
};

/* Create the file. Returns 0 or a negative errno. */
int proc_log_open(struct proc_log *log, const struct record_settings *settings,
		  struct store *store);

/*
 * Write a record with the payload @log->payload, and empty the payload. The time of the record is
 * the current time, or @time_ns of the recording's clock. Errors are noted in the store.
 */
void proc_log_write(struct proc_log *log, enum proc_kind kind, pid_t tid, pid_t pid);
void proc_log_write_at(struct proc_log *log, uint64_t time_ns, enum proc_kind kind, pid_t tid,
		       pid_t pid);

/*
 * Between proc_log_gather() and proc_log_write_gathered(), up to 64 kB of records are gathered, and
 * written by one system call.
 */
void proc_log_gather(struct proc_log *log);
void proc_log_write_gathered(struct proc_log *log);

/*
 * proc_log_close() writes gathered records and closes the file. proc_log_remove() removes the file
 * and closes it, for a tracer that could not start.
 */
void proc_log_close(struct proc_log *log);
void proc_log_remove(struct proc_log *log);

#endif
