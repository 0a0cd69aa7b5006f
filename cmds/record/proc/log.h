/* Writes proc.dat for the tracers (ptrace.c, bpf_way.c). The times of the records increase. */
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
 * The open file proc.dat. Only one thread at a time may use the struct.
 *
 * @payload: the payload of the next record
 * @records: the records that are not in the file yet
 * @gathers: records stay in @records until proc_log_write_gathered() is called
 * @cpu: the CPU for the next records, or PROC_CPU_UNKNOWN
 * @cpus: the CPU of each task, as told by the records in the file
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
 * Write a record with the payload @log->payload, and empty the payload. proc_log_write() uses the
 * current time as the time of the record. proc_log_write_at() uses @time_ns, a time of the
 * recording's clock. store_note_error() notes errors in @log->store.
 */
void proc_log_write(struct proc_log *log, enum proc_kind kind, pid_t tid, pid_t pid);
void proc_log_write_at(struct proc_log *log, uint64_t time_ns, enum proc_kind kind, pid_t tid,
		       pid_t pid);

/*
 * After proc_log_gather(), new records are gathered in memory. The gathered records are written
 * each time their size reaches 64 kB. proc_log_write_gathered() writes the rest, and ends the
 * gathering.
 */
void proc_log_gather(struct proc_log *log);
void proc_log_write_gathered(struct proc_log *log);

/*
 * proc_log_close() writes gathered records and closes the file. proc_log_remove() removes the file
 * and closes it. If the tracer could not start, call proc_log_remove() and not proc_log_close().
 */
void proc_log_close(struct proc_log *log);
void proc_log_remove(struct proc_log *log);

#endif
