/*
 * Keeps the cost of recording within a limit (--overhead) by leaving out functions of the program.
 * The code here makes no system calls and reads no clocks, because the caller passes the
 * measurements.
 */
#ifndef UTRAIL_CMDS_RECORD_CONTROL_BUDGET_H
#define UTRAIL_CMDS_RECORD_CONTROL_BUDGET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * @limit: the maximum cost of recording, as a part of the program's own time. 0.2 is 20 %
 * @call_ns: the time that the program loses by a recorded call
 * @left_ns: the time that the program loses by a left-out call that still reaches a hook
 * @recorder_part: the cost of the recorder's work over the whole recording, as a part of the
 *         program's own time. The work of the writers and the search for functions do not count
 * @left_rate: calls per nanosecond of the program's own time. Only left-out calls that
 *             still reach a hook are counted. The rate of each function was measured before the
 *             function was left out
 */
struct budget {
	double limit;
	double call_ns;
	double left_ns;
	double recorder_part;
	double left_rate;
};

/*
 * The measurements of one interval. Each call of budget_decide() evaluates one interval.
 *
 * @cpu_ns: CPU time of the traced processes
 * @writer_ns: the CPU time that the recorder's writers need for the recorded calls
 * @calls: the number of recorded calls
 */
struct budget_time {
	uint64_t cpu_ns;
	uint64_t writer_ns;
	double calls;
};

/*
 * @calls: the number of calls of the function in the interval of struct budget_time
 * @mean_ns: the mean duration of a call
 * @can_go: the hooks of the function can be taken out, so that a left-out call costs nothing
 * @is_chosen: set by budget_decide() if the function must be left out
 * @rate: for a chosen function: the calls of the function per nanosecond of the program's own time
 */
struct budget_func {
	double calls;
	double mean_ns;
	bool can_go;
	bool is_chosen;
	double rate;
};

/*
 * The minimum of budget_time.cpu_ns. With less CPU time the measurements are not reliable, so
 * budget_decide() chooses no function.
 */
#define BUDGET_CPU_MIN_NS 25000000ULL

/* Returns the cost of recording, as a part of the program's own time. */
double budget_overhead(const struct budget *b, const struct budget_time *t);

/* Returns the time that the program would have needed without recording, in nanoseconds. */
double budget_own_ns(const struct budget *b, const struct budget_time *t);

/*
 * Choose functions to leave out, so that the cost of the other functions is within the limit.
 * Functions with many short calls are chosen first. Returns the number of chosen functions. The
 * caller must not pass a chosen function again, because it stays left out.
 */
size_t budget_decide(struct budget *b, const struct budget_time *t, struct budget_func *funcs,
		     size_t nr);

#endif
