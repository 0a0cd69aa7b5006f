/* The CPU of each task (see proc_cpus.h). */
#include "utils/format/proc_cpus.h"

/*
 * Values of the map: CPU 0 is KNOWN, CPU 1 is KNOWN + 1, and so on. FORGOTTEN is needed because the
 * map cannot remove a value.
 */
#define FORGOTTEN 1
#define KNOWN	  2

void proc_cpus_deinit(struct proc_cpus *cpus)
{
	intmap_deinit(&cpus->by_tid);
}

int proc_cpus_of(const struct proc_cpus *cpus, int32_t tid)
{
	intptr_t value = (intptr_t)intmap_get(&cpus->by_tid, (uint32_t)tid);

	return value < KNOWN ? PROC_CPU_UNKNOWN : (int)(value - KNOWN);
}

int proc_cpus_set(struct proc_cpus *cpus, int32_t tid, int cpu)
{
	int ret;

	if (proc_cpus_of(cpus, tid) == cpu)
		return 0;
	ret = intmap_put(&cpus->by_tid, (uint32_t)tid, (void *)((intptr_t)cpu + KNOWN));
	return ret < 0 ? ret : 1;
}

static int forget_task(struct proc_cpus *cpus, int32_t tid)
{
	if (proc_cpus_of(cpus, tid) == PROC_CPU_UNKNOWN)
		return 0;
	return intmap_put(&cpus->by_tid, (uint32_t)tid, (void *)(intptr_t)FORGOTTEN);
}

int proc_cpus_see(struct proc_cpus *cpus, const struct proc_record *rec, bool big)
{
	struct proc_fork made;
	struct proc_exec exec;
	int ret = 0;
	int cpu;

	switch (rec->kind) {
	case PROC_CPU:
		if (proc_cpu_decode(rec->data, rec->len, big, &cpu))
			ret = proc_cpus_set(cpus, rec->tid, cpu);
		break;
	case PROC_FORK:
		/*
		 * An earlier task, whose end was not recorded, may have had the tid of the child.
		 */
		if (proc_fork_decode(rec->data, rec->len, big, &made))
			ret = forget_task(cpus, made.child);
		break;
	case PROC_EXEC:
		if (proc_exec_decode(rec->data, rec->len, big, &exec) && exec.old_tid != rec->tid)
			ret = forget_task(cpus, exec.old_tid);
		break;
	case PROC_EXIT:
		ret = forget_task(cpus, rec->tid);
		break;
	default:
		break;
	}
	return ret < 0 ? ret : 0;
}
