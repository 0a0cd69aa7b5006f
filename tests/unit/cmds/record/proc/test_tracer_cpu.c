/*
 * The CPU of the tracing thread: it follows a tracee that stops again and again on one CPU, but not
 * one that changes CPUs.
 */
#include "tests/unit/lib/unit.h"

#include <unistd.h>

#include "cmds/record/proc/tracer_cpu.h"

/* Find two CPUs that this process may use, or skip the test. */
static void two_cpus(int cpus[2])
{
	cpu_set_t set;
	int nr = 0;

	assert_int_equal(sched_getaffinity(0, sizeof(set), &set), 0);
	for (int cpu = 0; cpu < CPU_SETSIZE && nr < 2; cpu++) {
		if (CPU_ISSET(cpu, &set))
			cpus[nr++] = cpu;
	}
	if (nr < 2)
		skip_because("this process may run on one CPU only");
}

/* Returns the CPU that this thread is bound to, or -1 for several. */
static int place_now(void)
{
	cpu_set_t set;

	assert_int_equal(sched_getaffinity(0, sizeof(set), &set), 0);
	for (int cpu = 0; CPU_COUNT(&set) == 1 && cpu < CPU_SETSIZE; cpu++) {
		if (CPU_ISSET(cpu, &set))
			return cpu;
	}
	return -1;
}

/* Stop a tracee that is known to run on @cpu. */
static void stop_on(struct tracer_cpu *near, int cpu)
{
	tracer_cpu_stop(near, getpid(), &(struct tracer_cpu_place){ .cpu = cpu, .nr_stops = 1 });
}

TEST(follows)
{
	struct tracer_cpu near;
	int cpus[2];

	two_cpus(cpus);
	tracer_cpu_init(&near);
	for (int i = 0; i < 3; i++)
		stop_on(&near, cpus[1]);
	assert_int_equal(place_now(), -1);
	stop_on(&near, cpus[1]);
	assert_int_equal(place_now(), cpus[1]);
	for (int i = 0; i < 4; i++)
		stop_on(&near, cpus[0]);
	assert_int_equal(place_now(), cpus[0]);
	assert_int_equal(sched_setaffinity(0, sizeof(near.allowed), &near.allowed), 0);
}

/* Two tracees take turns: the tracer stays with the first one, and does not move to and fro. */
TEST(stays)
{
	struct tracer_cpu near;
	int cpus[2];

	two_cpus(cpus);
	tracer_cpu_init(&near);
	for (int i = 0; i < 4; i++)
		stop_on(&near, cpus[0]);
	for (int i = 0; i < 1000; i++) {
		stop_on(&near, cpus[i % 2]);
		assert_int_equal(place_now(), cpus[0]);
	}
	assert_int_equal(sched_setaffinity(0, sizeof(near.allowed), &near.allowed), 0);
}

/*
 * No tracee stops on the tracer's CPU any more, and other tracees are on many CPUs: the scheduler
 * may choose.
 */
TEST(leaves)
{
	struct tracer_cpu near;
	int cpus[2];

	two_cpus(cpus);
	tracer_cpu_init(&near);
	for (int i = 0; i < 4; i++)
		stop_on(&near, cpus[0]);
	for (int i = 0; i < 31; i++) {
		near.last = -1;
		stop_on(&near, cpus[1]);
	}
	assert_int_equal(place_now(), cpus[0]);
	near.last = -1;
	stop_on(&near, cpus[1]);
	assert_int_equal(place_now(), -1);
}

/* Once in a while the CPU of a tracee is read from /proc. An ended tracee has none. */
TEST(asks)
{
	struct tracer_cpu_place place = { 0 };
	struct tracer_cpu near;
	cpu_set_t one;
	int cpus[2];

	two_cpus(cpus);
	tracer_cpu_init(&near);
	CPU_ZERO(&one);
	CPU_SET(cpus[1], &one);
	assert_int_equal(sched_setaffinity(0, sizeof(one), &one), 0);
	assert_int_equal(tracer_cpu_cpu(&place), -1);
	tracer_cpu_stop(&near, getpid(), &place);
	assert_int_equal(tracer_cpu_cpu(&place), cpus[1]);
	place.cpu = 77;
	tracer_cpu_stop(&near, getpid(), &place);
	assert_int_equal(place.cpu, 77);
	for (int i = 0; i < 15; i++)
		tracer_cpu_stop(&near, getpid(), &place);
	assert_int_equal(place.cpu, cpus[1]);
	place.cpu = 77;
	tracer_cpu_forget(&place);
	assert_int_equal(tracer_cpu_cpu(&place), -1);
	near.is_off = true;
	tracer_cpu_stop(&near, getpid(), &place);
	assert_int_equal(tracer_cpu_cpu(&place), cpus[1]);
	near.is_off = false;
	place = (struct tracer_cpu_place){ 0 };
	tracer_cpu_stop(&near, 0x7ffffffe, &place);
	assert_int_equal(place.cpu, -1);
	assert_int_equal(tracer_cpu_cpu(&place), -1);
	assert_int_equal(sched_setaffinity(0, sizeof(near.allowed), &near.allowed), 0);
}

/* The tracer is not moved to a forbidden CPU. If one CPU is allowed, there is no choice. */
TEST(keeps_to_what_is_allowed)
{
	struct tracer_cpu near;
	cpu_set_t before, one;
	int cpus[2];

	two_cpus(cpus);
	assert_int_equal(sched_getaffinity(0, sizeof(before), &before), 0);
	tracer_cpu_init(&near);
	for (int i = 0; i < 100; i++) {
		stop_on(&near, CPU_SETSIZE - 1);
		stop_on(&near, CPU_SETSIZE + 5);
		stop_on(&near, -1);
	}
	assert_int_equal(place_now(), -1);
	CPU_ZERO(&one);
	CPU_SET(cpus[0], &one);
	assert_int_equal(sched_setaffinity(0, sizeof(one), &one), 0);
	tracer_cpu_init(&near);
	assert_true(near.is_off);
	for (int i = 0; i < 100; i++)
		stop_on(&near, cpus[1]);
	assert_int_equal(place_now(), cpus[0]);
	assert_int_equal(sched_setaffinity(0, sizeof(before), &before), 0);
}
