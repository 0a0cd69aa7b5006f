/*
 * Changes that users make to a running recording. For example, users change filters and limits, and
 * turn the recording on and off. After a change, processes get new plans.
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
 * Users can choose declared events while the recording runs. This struct has the newest choices.
 * If @has_include is false, the option --trace-include of the command line is in force. If
 * @has_exclude is false, the option --trace-exclude of the command line is in force.
 */
struct steering_ids {
	bool has_include;
	bool has_exclude;
	struct pattern include;
	struct pattern exclude;
};

/*
 * The state of steering. Only the control thread uses this struct. Members above the empty line are
 * set before steering_begin().
 *
 * @plan: the settings that all processes get
 * @repatch: puts hooks into the process @pid, and removes hooks from this process. *@nr_left
 *           becomes the number of sites that stay unchanged. Returns 0, -ESRCH when the process has
 *           ended, or another negative errno with a text in @err. The event loop runs during the
 *           call
 * @choose: tells the process @pid which declared events the process must record. Returns the same
 *          values as @repatch. The event loop runs during the call
 * @now: the settings in force. The planner reads these settings
 * @filters, @specs: the changed filters and their specs. Before the first change of filters, @now
 *                   has the filters of @settings
 * @is_on: true: calls are recorded as @now requires; false: no call is recorded
 * @generation: the generation of the newest plan
 * @changed_ns: the time of the newest plan; 0: it is the first plan
 * @notes: the stream of extern.dat, in which changes are noted for replays; -1 before the first
 *         note
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
	void *processes_arg; /* the argument of @repatch and @choose */

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

/* Begin steering. Call steering_begin() before the first process reports itself. */
void steering_begin(struct steering *steer);

/* Free everything. No change may be made afterwards. */
void steering_end(struct steering *steer);

/*
 * Check the whole @change, and then put @change into force. In each process, @change applies from
 * the next function call on. If the hooks of at least one process cannot be changed, the change of
 * hooks is undone in all processes. If at least one process cannot change its choice of declared
 * events, the change of the choice is undone in all processes. The parts of @change that are not
 * undone stay in force. Returns 0, or a negative error with a text: -EOPNOTSUPP when the recording
 * cannot be steered, -ERR_USAGE for a wrong spec.
 *
 * @out: gets lines for the user. A warning begins with STEER_WARNING
 */
int steering_change(struct steering *steer, const struct steer_change *change, struct strbuf *out,
		    struct uft_err *err);

/*
 * Make new plans after functions were added to known_module.left_out. These functions are no longer
 * recorded.
 *
 * @text: a note for replays
 */
void steering_leave_out(struct steering *steer, const char *text);

/* Append the current settings to @out, as lines "word: value". */
void steering_status(const struct steering *steer, struct strbuf *out);

/* Returns the newest plan for @proc, as a memfd made by plan_memfd(). */
int steering_plan(struct steering *steer, struct process *proc);

#endif
