/*
 * Implements --overhead: measures the cost of recording, and leaves out functions that cost too
 * much. The hooks of these functions are taken out where possible (overhead_hooks.h).
 */
#ifndef UTRAIL_CMDS_RECORD_CONTROL_OVERHEAD_H
#define UTRAIL_CMDS_RECORD_CONTROL_OVERHEAD_H

#include "cmds/record/base/loop.h"
#include "cmds/record/control/budget.h"
#include "cmds/record/control/service.h"
#include "cmds/record/control/steering.h"
#include "cmds/record/sources/sample.h"
#include "cmds/record/sources/writer.h"
#include "utils/base/containers/strbuf.h"

/*
 * The state of --overhead. Only the control thread uses this struct. Members above the empty line
 * are set before overhead_begin().
 *
 * @timer, @timer_fd: the timer of the regular measurements. Such a measurement is called a look
 * @taken: the writers' sample of the calls in the last complete interval (see @time)
 * @time: measurements of the present interval. The interval ends at the first look at which @time
 *        has at least BUDGET_CPU_MIN_NS of CPU time
 * @calls: for all complete intervals together, the estimated number of calls whose records the
 *         writers have taken
 * @own_ns: the time that the program would have needed without recording, in nanoseconds, for all
 *          complete intervals
 * @began_ns: CPU time of the recorder when --overhead began
 * @not_before_ns: from this time on, measurements show the effect of the last decision to leave out
 *                 functions
 * @symbols: a list of struct known_symbols, for modules that had calls
 * @notes: the stream of left-out.txt; -1 before the first line
 * @left_out_generation: the generation of the plan that followed the last decision to leave out
 *                       functions; 0: no function was left out
 * @said: messages about hooks of left-out functions, each with its NUL
 */
struct overhead {
	const struct record_settings *settings;
	struct loop *loop;
	struct processes *processes;
	struct planner *planner;
	struct writers *writers;
	struct steering *steering;
	struct service *service;
	struct store *store;

	struct budget budget;
	struct served timer;
	int timer_fd;
	struct sample *taken;
	struct budget_time time;
	double calls;
	double own_ns;
	uint64_t began_ns;
	uint64_t not_before_ns;
	struct strbuf symbols;
	int notes;
	uint32_t left_out_generation;
	struct strbuf said;
};

/*
 * Begin the measurements of --overhead, if the option is given. Call overhead_begin() before the
 * writers start. Returns 0, or a negative error with a text.
 */
int overhead_begin(struct overhead *overhead, struct uft_err *err);
void overhead_end(struct overhead *overhead);

#endif
