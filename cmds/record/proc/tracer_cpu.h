/* Binds the tracing thread to the CPU on which tracees stop repeatedly. */
#ifndef UTRAIL_CMDS_RECORD_PROC_TRACER_CPU_H
#define UTRAIL_CMDS_RECORD_PROC_TRACER_CPU_H

#include <sched.h>
#include <stdbool.h>
#include <sys/types.h>

/*
 * The CPU of the tracing thread. Each stop switches from the tracee to the tracing thread and back.
 * The switches are several times as fast when both threads are on the same CPU. So after several
 * stops in a row on one CPU, the tracing thread binds itself to this CPU. If stops are on many
 * CPUs, the scheduler chooses the CPU of the tracing thread.
 *
 * @allowed: the CPUs that the thread may use
 * @cpu: the CPU that the thread is bound to; negative: none
 * @last, @nr_last: the CPU of the last stop, and the number of stops in a row on this CPU
 * @nr_elsewhere: the number of stops on other CPUs since the last stop on @cpu
 */
struct tracer_cpu {
	cpu_set_t allowed;
	bool is_off;
	int cpu;
	int last;
	unsigned nr_last;
	unsigned nr_elsewhere;
};

/*
 * The last known CPU of a tracee. The struct starts as { 0 }.
 *
 * @cpu: valid if @nr_stops is not 0; negative: unknown
 * @nr_stops: the number of stops since the start or the last tracer_cpu_forget()
 */
struct tracer_cpu_place {
	int cpu;
	unsigned nr_stops;
};

/* Prepare the calling thread. Only this thread may call tracer_cpu_stop(). */
void tracer_cpu_init(struct tracer_cpu *near);

/*
 * Note a stop of task @tid. @place has the last known CPU of the task. At some stops, the function
 * looks up the CPU again. After several stops in a row on one CPU, the function binds the calling
 * thread to this CPU. After many stops in a row on other CPUs, the function ends the binding.
 */
void tracer_cpu_stop(struct tracer_cpu *near, pid_t tid, struct tracer_cpu_place *place);

/* Forget the CPU after execve(2), which may move the task. The next stop looks up the CPU. */
void tracer_cpu_forget(struct tracer_cpu_place *place);

/* Returns the last known CPU of the task, or a negative number when the CPU is unknown. */
int tracer_cpu_cpu(const struct tracer_cpu_place *place);

#endif
