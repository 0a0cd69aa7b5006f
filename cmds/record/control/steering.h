/*
 * Changes that users make to a running recording: filters, limits, on and off; and the plans that
 * processes get for them.
 */
#ifndef UTRAIL_CMDS_RECORD_CONTROL_STEERING_H
#define UTRAIL_CMDS_RECORD_CONTROL_STEERING_H

#include "cmds/record/base/settings.h"
#include "cmds/record/plan/plan.h"
#include "cmds/record/store/store.h"
#include "cmds/record/tasks/process.h"
#include "cmds/record/tasks/session.h"
#include "utils/format/probe/attach.h"
#include "utils/spec/steer.h"

/*
 * The choices of declared events that users have made since the recording began. Until there is
 * one, the option of the command line is in force.
 */
struct steering_ids {
	bool has_include;
	bool has_exclude;
	struct pattern include;
	struct pattern exclude;
};

/*
 * The state of these changes. Only the control thread touches it. Members above the empty line are
 * set before steering_begin().
 *
 * @plan: the settings that all processes get
 * @repatch: puts hooks into the process @pid and takes hooks out; @nr_left gets the number of sites
 *           that stay unchanged. Returns 0, -ESRCH when the process has ended, or another negative
 *           errno with a text. Serves the loop meanwhile
 * @choose: tells the process @pid which declared events to record. Returns and serves like @repatch
 * @now: the settings in force, which the planner uses, too
 * @filters, @specs: the filters of @now and their specs, once they differ from the command line
 * @is_on: calls are recorded as @now says; otherwise no call is recorded
 * @generation: of the newest plan
 * @changed_ns: the time of the newest plan; 0: it is the first one
 * @notes: extern.dat, where changes are noted for replays; -1 before the first note
 */
struct steering {
	const struct record_settings *settings;
	struct planner *planner;
	struct processes *processes;
	struct store *store;
	struct plan *plan;
	struct sessions *sessions;
	int (*repatch)(void *arg, pid_t pid, const struct process_patches *patches, size_t *nr_left,
		       struct uft_err *err);
	int (*choose)(void *arg, pid_t pid, const struct attach_choice *choices, size_t nr,
		      struct uft_err *err);
	void *processes_arg; /* argument of @repatch and @choose */

	struct record_settings now;
	struct filters filters;
	char *specs[SPEC_OPTIONS];
	bool has_specs;
	struct steering_ids ids;
	bool is_on;
	uint32_t generation;
	uint64_t changed_ns;
	int notes;
};

/* Call it before the first process reports itself. */
void steering_begin(struct steering *steer);

/* Free everything: no more changes are planned. */
void steering_end(struct steering *steer);

/*
 * Put the whole @change into force, or nothing of it. Processes follow it from their next call on.
 * Returns 0, or negative with a text: -EOPNOTSUPP when the recording cannot be steered, -ERR_USAGE
 * for a wrong spec.
 *
 * @out: gets lines for the user; a warning begins with STEER_WARNING
 */
int steering_change(struct steering *steer, const struct steer_change *change, struct strbuf *out,
		    struct uft_err *err);

/*
 * Make plans anew after functions have become known_module.left_out: they are not recorded any
 * more. @text: a note for replays
 */
void steering_leave_out(struct steering *steer, const char *text);

/* Append the settings in force, as lines "word: value". */
void steering_status(const struct steering *steer, struct strbuf *out);

/* Returns the newest plan for @proc, as a memfd of plan_memfd(). */
int steering_plan(struct steering *steer, struct process *proc);

#endif
