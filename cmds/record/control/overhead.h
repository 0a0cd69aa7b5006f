/*
 * --overhead: what recording costs is measured, and functions are left out of it that cost too
 * much, with their hooks (overhead_hooks.h).
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
 * Only the control thread touches it. Members above the empty line are set before overhead_begin();
 * without --overhead nothing happens.
 *
 * @timer, @timer_fd: when to look
 * @taken: the count of the writers' sample at the last look
 * @calls: that writers have taken in all
 * @own_ns: the time that the program would have needed by itself so far
 * @began_ns: CPU time that this process had had when it began
 * @not_before_ns: measurements from then on show the last change
 * @symbols: struct known_symbols, of modules that had calls
 * @notes: left-out.txt; -1 before the first line
 * @left_out_generation: of the plan that the last ones were left out of; 0: none was
 * @said: the outcome for their hooks, each with its NUL
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

/* Before writers start. 0, or negative with a text. */
int overhead_begin(struct overhead *overhead, struct uft_err *err);
void overhead_end(struct overhead *overhead);

#endif
