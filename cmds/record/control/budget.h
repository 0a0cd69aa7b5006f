/*
 * The limit on the cost of recording (--overhead): functions are left out of it. No system calls,
 * no clocks: the caller passes what was measured.
 */
#ifndef UTRAIL_CMDS_RECORD_CONTROL_BUDGET_H
#define UTRAIL_CMDS_RECORD_CONTROL_BUDGET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * @limit: what recording may take of the time that the program itself needs: 0.2 is 20 %
 * @call_ns: what it costs the program that a call is recorded
 * @left_ns: what a call costs that is left out, and still comes to a hook
 * @recorder_part: what the recorder does besides taking records, as a part of the program's own
 * time, in all of the recording so far
 * @left_rate: such calls in a nanosecond of the program's own time, as they were when they were
 * left out: they are not counted any more
 */
struct budget {
	double limit;
	double call_ns;
	double left_ns;
	double recorder_part;
	double left_rate;
};

/*
 * Measurements since the last decision. @cpu_ns: CPU time of the traced processes. @calls:
 * recorded. @writer_ns: CPU time of the recorder
 */
struct budget_time {
	uint64_t cpu_ns;
	uint64_t writer_ns;
	double calls;
};

/*
 * A function that may be left out.
 *
 * @calls: in the same time
 * @mean_ns: how long one takes
 * @can_go: its hooks can be taken out, so that a call costs nothing once it is left out
 * @is_chosen: the answer
 * @rate: of a chosen one: calls in a nanosecond of the program's own time
 */
struct budget_func {
	double calls;
	double mean_ns;
	bool can_go;
	bool is_chosen;
	double rate;
};

/* Below that nothing is decided: sums of so little say nothing. */
#define BUDGET_CPU_MIN_NS 25000000ULL

/* The cost of recording, as a part of the program's own time. */
double budget_overhead(const struct budget *b, const struct budget_time *t);

/* The time that the program would have needed without us, in nanoseconds. */
double budget_own_ns(const struct budget *b, const struct budget_time *t);

/*
 * Choose functions so that the rest is within the limit: those that are called often and are over
 * soon first, and none that matters little. Returns how many. A function that was chosen once is
 * not offered again: it stays left out, so that nothing can go back and forth.
 */
size_t budget_decide(struct budget *b, const struct budget_time *t, struct budget_func *funcs,
		     size_t nr);

#endif
