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

/* Longest name of a task with its NUL (TASK_COMM_LEN of the kernel), with room to spare. */
#define PERF_COMM_MAX 32

/*
 * One record, doc/formats/events.md, "perf-cpu<N>.dat"; perf_event_open(2), "PERF_RECORD_SWITCH",
 * "_FORK", "_EXIT", "_COMM", each with the trailer { u32 pid, u32 tid, u64 time }.
 *
 * @tid: the task that it concerns: of TASK_NEW the new one
 * @ptid: of TASK_NEW, TASK_EXIT: the parent
 * @time_ns: of TASK_NEW, TASK_EXIT the one in the body, which is the time of the event
 * @comm: of TASK_NAME
 * @is_exec: of TASK_NAME: by execve(2)
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
 * Decode the record at the start of @data. Returns its length; 0 when @len bytes do not hold the
 * whole record (read more, or it is the end); -EBADMSG when it is invalid.
 */
ssize_t perf_record_decode(const uint8_t *data, size_t len, bool big, struct perf_record *rec,
			   struct uft_err *err);

#endif
