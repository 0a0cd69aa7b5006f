/*
 * On which CPU each task is, as the records of proc.dat tell (doc/formats/events.md): writers and
 * readers have one rule.
 */
#ifndef UTRAIL_FORMAT_PROC_CPUS_H
#define UTRAIL_FORMAT_PROC_CPUS_H

#include <stdbool.h>

#include "utils/base/containers/intmap.h"
#include "utils/format/proc_dat.h"

#define PROC_CPU_UNKNOWN -1

/*
 * @by_tid: the CPU that a task is on, from KNOWN on (proc_cpus.c). Starts as { 0 }, ends with
 *          proc_cpus_deinit().
 */
struct proc_cpus {
	struct intmap by_tid;
};

void proc_cpus_deinit(struct proc_cpus *cpus);

/* The CPU that the task @tid is on, or PROC_CPU_UNKNOWN. */
int proc_cpus_of(const struct proc_cpus *cpus, int32_t tid);

/*
 * The task is on @cpu, from 0 to PROC_CPU_MAX. 1: it was elsewhere, or nobody knew, so that a
 * record has to tell; 0: it was there; -ENOMEM.
 */
int proc_cpus_set(struct proc_cpus *cpus, int32_t tid, int cpu);

/*
 * A record that is written or read: the CPUs that it tells of are known now, and those of tasks
 * that it ends are not known any more. It is to be called when all has been done for which the
 * record's own CPU matters. 0 or -ENOMEM.
 */
int proc_cpus_see(struct proc_cpus *cpus, const struct proc_record *rec, bool big);

#endif
