/*
 * The user's changes of a recording that goes on: filters, limits, on and off; and the plans that
 * processes get for it.
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
 * The user's words on declared events since the recording began; without one of them the option
 * counts.
 */
struct steering_ids {
	bool has_include;
	bool has_exclude;
	struct pattern include;
	struct pattern exclude;
};

/*
 * Only the control thread touches it. Members above the empty line are set before steering_begin().
 *
 * @plan: the settings that all processes get; changed here
 * @repatch: hooks of the process @pid are put in and taken out, as @patches says: the number of
 *           places that stay as they are goes to @nr_left. 0; -ESRCH when it has ended, or another
 *           negative errno with a text. Others may be served meanwhile
 * @choose: the process @pid is told of its declared events. As @repatch
 * @now: the settings as they are by now; the planner's, too
 * @filters, @specs: of @now, once they are others than those of the command line
 * @is_on: calls are recorded as @now says; else none is
 * @generation: of the newest plan
 * @changed_ns: when that was; 0: it is the first one
 * @notes: extern.dat, where changes are noted for replays; -1 before the first one
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
	void *processes_arg; /* for these two functions */

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

/* Before the first process reports itself. */
void steering_begin(struct steering *steer);

/* After this no more changes are planned. */
void steering_end(struct steering *steer);

/*
 * Put the whole @change into force, or nothing of it. Processes follow it from their next call on.
 * 0, or negative with a text: -EOPNOTSUPP when the recording cannot be steered, -ERR_USAGE for
 * what is no spec.
 * @out: what there is to say of it; lines that begin with STEER_WARNING are warnings: of specs that
 * no function of theirs matches, say.
 */
int steering_change(struct steering *steer, const struct steer_change *change, struct strbuf *out,
		    struct uft_err *err);

/*
 * Functions have become known_module.left_out: they are not recorded from here on. @text: for
 * replays
 */
void steering_leave_out(struct steering *steer, const char *text);

/* The settings in force, as lines "word: value". */
void steering_status(const struct steering *steer, struct strbuf *out);

/* The newest plan for @proc, as plan_memfd() has it. */
int steering_plan(struct steering *steer, struct process *proc);

#endif
