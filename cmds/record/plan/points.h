/*
 * Events of the program (-E): the static probes of each module that the user asked for, as patches
 * of a plan.
 */
#ifndef UTRAIL_CMDS_RECORD_PLAN_POINTS_H
#define UTRAIL_CMDS_RECORD_PLAN_POINTS_H

#include <stdbool.h>
#include <stddef.h>

#include "cmds/terminal/msg.h"
#include "cmds/record/base/settings.h"
#include "utils/base/err.h"
#include "utils/base/containers/strbuf.h"
#include "utils/format/probe/control.h"
#include "utils/spec/events.h"

struct declared;
struct known_module;
struct store;

/*
 * The data that all modules have in common. Starts with points_init(), ends with points_deinit().
 * Only the control thread touches it.
 *
 * @declared: has the facts that readers need about those with arguments; of declared_init()
 * @events: by id - EVENT_ID_USER; each has its line in events.txt
 * @names: of all probes that were seen, each with its NUL, wanted or not
 * @left_out: events of which some probe cannot be recorded, each with its NUL; told once for each
 * @complaints: to be told at the end, each with its NUL
 * @error: events.txt could not be written
 */
struct points {
	const struct event_rules *rules;
	struct store *store;
	struct declared *declared;
	struct point_event {
		char *name;	/* "provider:event" */
		bool is_shared; /* by all static probes of that name that have no arguments */
	} * events;
	size_t nr_events;
	struct strbuf names;
	struct strbuf left_out;
	struct strbuf complaints;
	int error;
};

void points_init(struct points *points, const struct event_rules *rules, struct store *store);
void points_deinit(struct points *points);

/*
 * The probes of one file. Starts as { 0 }, ends with module_points_deinit().
 *
 * @is_known: the file was looked at
 * @found: a list of struct found_patch; plan_patch.operands is a place in
 * @operands: a list of struct found_operand
 */
struct module_points {
	bool is_known;
	struct strbuf found;
	struct strbuf operands;
};

void module_points_deinit(struct module_points *points);

/*
 * True when the rules ask for any event of the program, and not only for those that are known
 * without it ("linux:...").
 */
bool points_are_wanted(const struct event_rules *rules);

/* True when there is an events.txt: for events of the program, or counters. */
bool points_have_file(const struct record_settings *settings);

/*
 * COLD, before the program starts: events.txt, which readers look for, with the counters, and
 * without any event yet.
 */
int points_make_file(struct store *store, const struct record_settings *settings,
		     struct uft_err *err);

/*
 * A number for the event @name, "provider:event", of nobody else. 0, -ENOMEM, or -ERANGE when there
 * are none left.
 */
int points_new_event(struct points *points, const char *name, uint32_t *id);

/* Its line in events.txt: readers know it from here on. */
void points_write_event(struct points *points, uint32_t id);

/*
 * Add a struct plan_patch to @patches for each probe of @known, loaded as @module, that is wanted
 * and can be recorded, and what they say of their arguments to the PLAN_OPERANDS in @operands.
 */
void points_bind(struct points *points, struct known_module *known,
		 const struct control_module *module, struct strbuf *patches,
		 struct strbuf *operands);

/*
 * At the end: say what could not be recorded, and which rules are about nothing. @nr_failed: as
 * probes have noted; @has_processes: some process has reported itself.
 */
void points_warn(const struct points *points, unsigned long long nr_failed, bool has_processes,
		 const struct msg *msg);

#endif
