/*
 * The CPU of each task, from the records of proc.dat (doc/formats/events.md). Writers and readers
 * apply one record after the other.
 */
#ifndef UTRAIL_FORMAT_PROC_CPUS_H
#define UTRAIL_FORMAT_PROC_CPUS_H

#include <stdbool.h>

#include "utils/base/containers/intmap.h"
#include "utils/format/proc_dat.h"

#define PROC_CPU_UNKNOWN -1

/*
 * The struct starts as { 0 }, and ends with proc_cpus_deinit(). Only proc_cpus.c knows the meaning
 * of the values in @by_tid.
 */
struct proc_cpus {
	struct intmap by_tid;
};

void proc_cpus_deinit(struct proc_cpus *cpus);

/* Returns the CPU of the task @tid, or PROC_CPU_UNKNOWN. */
int proc_cpus_of(const struct proc_cpus *cpus, int32_t tid);

/*
 * Note that the task @tid runs on the CPU @cpu. @cpu is a number from 0 to PROC_CPU_MAX.
 *
 * Returns 1 if the task had another CPU or an unknown one, so that a writer must make a record; 0
 * if the CPU is unchanged; or -ENOMEM.
 */
int proc_cpus_set(struct proc_cpus *cpus, int32_t tid, int cpu);

/*
 * Apply a record that is written or read. If the record tells the CPU of a task, store this CPU. If
 * the record says that a tid has become free, or has been given to a new task, forget the CPU of
 * this tid. To get the CPU that the task rec->tid had before the record, call proc_cpus_of() first.
 * Returns 0 or -ENOMEM.
 */
int proc_cpus_see(struct proc_cpus *cpus, const struct proc_record *rec, bool big);

#endif
