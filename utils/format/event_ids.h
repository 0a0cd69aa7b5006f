/* The numbers that identify events in the files of a recording. */
#ifndef UTRAIL_FORMAT_EVENT_IDS_H
#define UTRAIL_FORMAT_EVENT_IDS_H

#include <stdint.h>

/*
 * Ranges of numbers of events. Each name in this list is the first number of its range. A file may
 * contain events whose numbers have no name. Readers show the numbers of such events.
 *
 * @EVENT_ID_KERNEL: tracepoints. The numbers are the recorded kernel's own numbers, which are in
 *                   kernel_header
 * @EVENT_ID_BUILTIN: call sites, and values that the probe reads or watches. The numbers are the
 *                    same as in uftrace
 * @EVENT_ID_LINUX: events of tasks and the scheduler, in perf-cpu*.dat. The numbers are the same as
 *                  in uftrace
 * @EVENT_ID_PROC: acts of processes, in proc.dat: this number plus enum proc_kind
 * @EVENT_ID_LIMIT: the probe has left out calls at this point
 * @EVENT_ID_FREE: fixed numbers for new types of utrail's events
 * @EVENT_ID_USER: events of the program, numbered in the order of their first use, with names in
 *                 events.txt
 * @EVENT_ID_COUNTER: counters of `read=`, with names in events.txt. Each counter has two numbers:
 *                    the first for the reading at the entry of a call, the second for the value
 *                    at the call's exit minus the value at the entry (counter_record.h)
 * @EVENT_ID_EXTERN_DATA: lines of extern.dat, all with this number
 * @EVENT_ID_BEYOND: not assigned
 */
enum event_id {
	EVENT_ID_KERNEL = 0,
	EVENT_ID_BUILTIN = 100000,
	EVENT_ID_READ_STATM = 100001,
	EVENT_ID_READ_PAGE_FAULT,
	EVENT_ID_DIFF_STATM,
	EVENT_ID_DIFF_PAGE_FAULT,
	EVENT_ID_READ_PMU_CYCLE,
	EVENT_ID_DIFF_PMU_CYCLE,
	EVENT_ID_READ_PMU_CACHE,
	EVENT_ID_DIFF_PMU_CACHE,
	EVENT_ID_READ_PMU_BRANCH,
	EVENT_ID_DIFF_PMU_BRANCH,
	EVENT_ID_WATCH_CPU,
	EVENT_ID_WATCH_VAR,
	EVENT_ID_CALLSITE,
	EVENT_ID_LINUX = 200000,
	EVENT_ID_SCHED_IN = 200001,
	EVENT_ID_SCHED_OUT,
	EVENT_ID_SCHED_BOTH,
	EVENT_ID_TASK_NEW,
	EVENT_ID_TASK_EXIT,
	EVENT_ID_TASK_NAME,
	EVENT_ID_SCHED_OUT_PREEMPT,
	EVENT_ID_SCHED_BOTH_PREEMPT,
	EVENT_ID_PROC = 300000,
	EVENT_ID_PROC_FORK,
	EVENT_ID_PROC_EXEC,
	EVENT_ID_PROC_EXIT,
	EVENT_ID_PROC_OPEN,
	EVENT_ID_PROC_CLOSE,
	EVENT_ID_PROC_DUP,
	EVENT_ID_PROC_PIPE,
	EVENT_ID_PROC_RENAME,
	EVENT_ID_PROC_LINK,
	EVENT_ID_PROC_SYMLINK,
	EVENT_ID_PROC_UNLINK,
	EVENT_ID_PROC_MOUNT,
	EVENT_ID_PROC_UMOUNT,
	EVENT_ID_PROC_INHERIT,
	EVENT_ID_PROC_NAME,
	EVENT_ID_PROC_ENV,
	EVENT_ID_PROC_RENAME_FAILED,
	EVENT_ID_PROC_LINK_FAILED,
	EVENT_ID_PROC_SYMLINK_FAILED,
	EVENT_ID_PROC_MOUNT_FAILED,
	EVENT_ID_PROC_UMOUNT_FAILED,
	EVENT_ID_PROC_CLONE_FAILED,
	EVENT_ID_LIMIT = 400000,
	EVENT_ID_LIMIT_DEPTH,
	EVENT_ID_FREE = 500000,
	EVENT_ID_USER = 1000000,
	EVENT_ID_COUNTER = 1999000,
	EVENT_ID_EXTERN_DATA = 2000000,
	EVENT_ID_BEYOND,
};

/* The number of ids for events of the program. */
#define EVENT_USER_MAX (EVENT_ID_COUNTER - EVENT_ID_USER)

/*
 * True when @id is one of the two ids of a counter. The even id is for readings, the odd id for
 * differences.
 */
static inline int event_id_is_counter(uint64_t id)
{
	return id >= EVENT_ID_COUNTER && id < EVENT_ID_EXTERN_DATA;
}

static inline int event_id_is_counter_diff(uint64_t id)
{
	return event_id_is_counter(id) && (id & 1);
}

#endif
