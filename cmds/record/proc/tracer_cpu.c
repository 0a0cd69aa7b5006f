/* Moves the tracing thread to the CPU of its tracee (see tracer_cpu.h). */
#include "cmds/record/proc/tracer_cpu.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmds/record/proc/paths.h"
#include "utils/format/proc_dat.h"

/*
 * The number of stops of a task between two looks at its CPU. A look costs half as much as a stop,
 * and tasks mostly stay on their CPU.
 */
#define STOPS_PER_QUESTION 16
/*
 * The tracing thread moves to a CPU when STOPS_TO_MOVE stops in a row were on that CPU. It is no
 * longer bound to its CPU when STOPS_TO_LEAVE stops in a row were on other CPUs.
 */
#define STOPS_TO_MOVE	   4
#define STOPS_TO_LEAVE	   32

/*
 * The position of the field "processor" in /proc/PID/stat (proc_pid_stat(5)), counted from the end
 * of the task's name. The name may contain spaces, so fields are not counted from the beginning of
 * the line.
 */
#define FIELDS_BEHIND_NAME 37

static int cpu_of(pid_t tid)
{
	char text[1024];
	char name[64];
	char *at;
	int cpu;

	snprintf(name, sizeof(name), "task/%d/stat", tid);
	if (paths_read_of(tid, name, text, sizeof(text)) <= 0)
		return -1;
	at = strrchr(text, ')');
	for (int i = 0; at && i < FIELDS_BEHIND_NAME; i++)
		at = strchr(at + 1, ' ');
	cpu = at ? atoi(at + 1) : -1;
	return cpu <= PROC_CPU_MAX ? cpu : -1;
}

void tracer_cpu_init(struct tracer_cpu *near)
{
	*near = (struct tracer_cpu){ .cpu = -1, .last = -1 };
	near->is_off = sched_getaffinity(0, sizeof(near->allowed), &near->allowed) < 0 ||
		       CPU_COUNT(&near->allowed) < 2;
}

static void keep_to(struct tracer_cpu *near, int cpu)
{
	cpu_set_t set = near->allowed;

	if (cpu >= 0) {
		CPU_ZERO(&set);
		CPU_SET(cpu, &set);
	}
	/*
	 * A failure means that another program has changed the allowed CPUs, or that changes are
	 * forbidden. After a failure, the thread is not moved any more.
	 */
	near->is_off = sched_setaffinity(0, sizeof(set), &set) < 0;
	near->cpu = cpu;
	near->nr_elsewhere = 0;
}

void tracer_cpu_stop(struct tracer_cpu *near, pid_t tid, struct tracer_cpu_place *place)
{
	if (place->nr_stops++ % STOPS_PER_QUESTION == 0)
		place->cpu = cpu_of(tid);
	if (near->is_off || place->cpu < 0 || place->cpu >= CPU_SETSIZE ||
	    !CPU_ISSET(place->cpu, &near->allowed))
		return;
	near->nr_last = place->cpu == near->last ? near->nr_last + 1 : 1;
	near->last = place->cpu;
	if (place->cpu == near->cpu) {
		near->nr_elsewhere = 0;
		return;
	}
	near->nr_elsewhere++;
	if (near->nr_last >= STOPS_TO_MOVE)
		keep_to(near, place->cpu);
	else if (near->cpu >= 0 && near->nr_elsewhere >= STOPS_TO_LEAVE)
		keep_to(near, -1);
}

void tracer_cpu_forget(struct tracer_cpu_place *place)
{
	place->nr_stops = 0;
}

int tracer_cpu_cpu(const struct tracer_cpu_place *place)
{
	return place->nr_stops ? place->cpu : -1;
}
