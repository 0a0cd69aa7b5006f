/* The records of perf-cpu<N>.dat, in the kernel's format. */
#ifndef UTRAIL_FORMAT_PERF_DAT_H
#define UTRAIL_FORMAT_PERF_DAT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "utils/base/err.h"

enum perf_record_type {
	PERF_REC_OTHER, /* a record that we do not need */
	PERF_REC_SCHED_IN,
	PERF_REC_SCHED_OUT,
	PERF_REC_SCHED_OUT_PREEMPT,
	PERF_REC_TASK_NEW,
	PERF_REC_TASK_EXIT,
	PERF_REC_TASK_NAME,
};

/* Room for the name of a task with its NUL. The kernel's TASK_COMM_LEN is 16. */
#define PERF_COMM_MAX 32

/*
 * One record of perf_event_open(2): PERF_RECORD_SWITCH, _FORK, _EXIT or _COMM, with the trailer {
 * u32 pid, u32 tid, u64 time }.
 *
 * @tid: the task that the record is about; TASK_NEW: the new task
 * @ppid, @ptid: TASK_NEW, TASK_EXIT: the parent
 * @comm: TASK_NAME: the name
 * @is_exec: TASK_NAME: execve(2) has set the name
 */
struct perf_record {
	enum perf_record_type type;
	int32_t pid;
	int32_t tid;
	int32_t ppid;
	int32_t ptid;
	uint64_t time_ns;
	char comm[PERF_COMM_MAX];
	bool is_exec;
};

/*
 * Decode the record at the start of @data. Returns the record's length, 0 if @data has only a part
 * of the record, or -EBADMSG with @err if the record is invalid.
 */
ssize_t perf_record_decode(const uint8_t *data, size_t len, bool big, struct perf_record *rec,
			   struct uft_err *err);

#endif
