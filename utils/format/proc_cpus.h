/*
 * The CPU of each task, from the records of proc.dat (doc/formats/events.md): one rule for writers
 * and readers.
 */
#ifndef UTRAIL_FORMAT_PROC_CPUS_H
#define UTRAIL_FORMAT_PROC_CPUS_H

#include <stdbool.h>

#include "utils/base/containers/intmap.h"
#include "utils/format/proc_dat.h"

#define PROC_CPU_UNKNOWN -1

/*
 * @by_tid: the CPU of each task, from KNOWN on (proc_cpus.c). Starts as { 0 }, ends with
 *          proc_cpus_deinit().
 */
struct proc_cpus {
	struct intmap by_tid;
};

void proc_cpus_deinit(struct proc_cpus *cpus);

/* The CPU that the task @tid is on, or PROC_CPU_UNKNOWN. */
int proc_cpus_of(const struct proc_cpus *cpus, int32_t tid);

/*
 * Set the task's CPU, from 0 to PROC_CPU_MAX. 1: the task was on another CPU, or its CPU was
 * unknown, so a record is needed; 0: unchanged; -ENOMEM.
 */
int proc_cpus_set(struct proc_cpus *cpus, int32_t tid, int cpu);

/*
 * Process a record that is written or read: its CPUs become known, and those of tasks that it ends
 * are forgotten. To be called after the record's own CPU was used. 0 or -ENOMEM.
 */
int proc_cpus_see(struct proc_cpus *cpus, const struct proc_record *rec, bool big);

#endif
