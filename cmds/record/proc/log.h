/* proc.dat while it is written: its records in order, by whichever way they are found out. */
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
 * One thread at a time has all of it.
 *
 * @payload: of the next record
 * @cpu: where the task of the next records is; PROC_CPU_UNKNOWN: nobody has looked
 * @cpus: what the file tells of that
 */
struct proc_log {
	const struct record_settings *settings;
	struct store *store;
	int stream;
	uint64_t last_ns;
	int cpu;
	struct proc_cpus cpus;
	struct strbuf payload;
	struct strbuf record;
};

/* Make the file. 0 or negative errno. */
int proc_log_open(struct proc_log *log, const struct record_settings *settings,
		  struct store *store);

/*
 * The record of which @log->payload is the payload, and empty that. Errors are the store's to keep.
 * Now, or at @time_ns of the recording's clock.
 */
void proc_log_write(struct proc_log *log, enum proc_kind kind, pid_t tid, pid_t pid);
void proc_log_write_at(struct proc_log *log, uint64_t time_ns, enum proc_kind kind, pid_t tid,
		       pid_t pid);

/* End it; and when nothing was to be written there is no file, either. */
void proc_log_close(struct proc_log *log);
void proc_log_remove(struct proc_log *log);

#endif
