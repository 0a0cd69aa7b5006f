/* Keeps the tracing thread on the CPU of the task that it traces. */
#ifndef UTRAIL_CMDS_RECORD_PROC_TRACER_CPU_H
#define UTRAIL_CMDS_RECORD_PROC_TRACER_CPU_H

#include <sched.h>
#include <stdbool.h>
#include <sys/types.h>

/*
 * A stop is two changes from one thread to another. On one CPU these take some 7 us; the scheduler
 * chooses another one for who is woken, if one is idle, and to wake that takes five times as long.
 * So the thread keeps to the CPU that its last tracees were on, and leaves the choice to the
 * scheduler where they are on many.
 *
 * @allowed: where the thread may run
 * @cpu: the one that it keeps to; negative: none
 * @last, @nr_last: the CPU of the last stop, and how many stops in a row were there
 * @nr_elsewhere: how many stops have been on other CPUs since the last one on @cpu
 */
struct tracer_cpu {
	cpu_set_t allowed;
	bool is_off;
	int cpu;
	int last;
	unsigned nr_last;
	unsigned nr_elsewhere;
};

/* The CPU of a tracee when it was last asked for, and the number of its stops: { 0 } at first. */
struct tracer_cpu_place {
	int cpu;
	unsigned nr_stops;
};

/* For the calling thread, which is the one to call tracer_cpu_stop(). */
void tracer_cpu_init(struct tracer_cpu *near);

/*
 * The task @tid, whose @place is known from its earlier stops, has stopped. Moves the calling
 * thread, perhaps.
 */
void tracer_cpu_stop(struct tracer_cpu *near, pid_t tid, struct tracer_cpu_place *place);

/*
 * The kernel has put the task elsewhere, as it does with each execve(2): the next stop asks anew.
 */
void tracer_cpu_forget(struct tracer_cpu_place *place);

/*
 * The CPU on which the task was when it was last asked for. Negative: nobody has asked, or it is
 * not known.
 */
int tracer_cpu_cpu(const struct tracer_cpu_place *place);

#endif
