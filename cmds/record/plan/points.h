/*
 * Events of the program (-E): makes patches of a plan for the static probes of each module that the
 * user chose.
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
 * The data that all modules share. Only the control thread touches it.
 *
 * @declared: takes events with arguments; set by declared_init()
 * @events: by id - EVENT_ID_USER; each has its line in events.txt
 * @names: the names of all probes that were seen, chosen or not, each with its NUL
 * @left_out: events with a probe that cannot be recorded, each with its NUL, to report each once
 * @complaints: messages for the end, each with its NUL
 * @error: 0, or negative errno of writing events.txt
 */
struct points {
	const struct event_rules *rules;
	struct store *store;
	struct declared *declared;
	struct point_event {
		char *name;	/* "provider:event" */
		bool is_shared; /* all static probes of that name without arguments have this id */
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
 * The probes of one file. Starts as { 0 }.
 *
 * @is_known: the file was searched
 * @found: struct found_patch; plan_patch.operands is an index in @operands, from 1 on
 * @operands: struct found_operand
 */
struct module_points {
	bool is_known;
	struct strbuf found;
	struct strbuf operands;
};

void module_points_deinit(struct module_points *points);

/* True when the rules name events of the program, not only "linux:...", which always exist. */
bool points_are_wanted(const struct event_rules *rules);

/* True when the recording needs an events.txt, for events of the program or for counters. */
bool points_have_file(const struct record_settings *settings);

/*
 * COLD, before the program starts: make events.txt, which readers expect, with the counters and no
 * event yet.
 */
int points_make_file(struct store *store, const struct record_settings *settings,
		     struct uft_err *err);

/*
 * Assign a new number to the event @name, "provider:event". Returns 0, -ENOMEM, or -ERANGE when no
 * number is left.
 */
int points_new_event(struct points *points, const char *name, uint32_t *id);

/* Write the event's line in events.txt: readers know the event from now on. */
void points_write_event(struct points *points, uint32_t id);

/*
 * Add a struct plan_patch to @patches for each chosen probe of @known, loaded as @module, that can
 * be recorded. Its arguments go to @operands.
 */
void points_bind(struct points *points, struct known_module *known,
		 const struct control_module *module, struct strbuf *patches,
		 struct strbuf *operands);

/*
 * At the end, report events that could not be recorded, and rules without a match.
 *
 * @nr_failed: the number of patches that probes could not make
 * @has_processes: a process has reported itself
 */
void points_warn(const struct points *points, unsigned long long nr_failed, bool has_processes,
		 const struct msg *msg);

#endif
