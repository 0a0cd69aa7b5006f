/*
 * Events of the program (-E). In each module, finds the static probes that the user has chosen.
 * Adds a patch to the plan for each of these static probes.
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
 * The data that all modules share. Only the control thread uses it.
 *
 * @declared: the list to which events with arguments are added. declared_init() sets this pointer
 * @events: indexed by id - EVENT_ID_USER. Each has a line in events.txt
 * @names: the names of all static probes that were seen, chosen or not, each with its NUL
 * @left_out: events that were reported as not recorded, each with its NUL. No event is reported
 *            twice
 * @complaints: messages for points_warn(), each with its NUL
 * @error: 0, or the negative errno of writing events.txt
 */
struct points {
	const struct event_rules *rules;
	struct store *store;
	struct declared *declared;
	struct point_event {
		char *name;	/* "provider:event" */
		bool is_shared; /* shared by static probes that have this name and no arguments */
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
 * The static probes in one file. The struct starts as { 0 }.
 *
 * @is_known: the file was searched
 * @found: a list of struct found_patch. In each patch, plan_patch.operands is 1 plus an index in
 *         @operands, or 0 when there are no operands
 * @operands: a list of struct found_operand
 */
struct module_points {
	bool is_known;
	struct strbuf found;
	struct strbuf operands;
};

void module_points_deinit(struct module_points *points);

/*
 * True when the rules name events of the program. Events "linux:..." are not events of the program.
 */
bool points_are_wanted(const struct event_rules *rules);

/* True when the recording needs events.txt, for events of the program or for counters. */
bool points_have_file(const struct record_settings *settings);

/*
 * Make events.txt before the program starts, because readers expect the file. At first, the file
 * has the lines of the counters (read=), and no lines of the program's events.
 */
int points_make_file(struct store *store, const struct record_settings *settings,
		     struct uft_err *err);

/*
 * Give a new number to the event @name. The form of @name is "provider:event". Returns 0 or a
 * negative errno. The errno is -ERANGE when no number is left.
 */
int points_new_event(struct points *points, const char *name, uint32_t *id);

/* Write the line of the event to events.txt. From then on readers know the event. */
void points_write_event(struct points *points, uint32_t id);

/*
 * Add a struct plan_patch to @patches for each chosen static probe of @known that can be recorded.
 * The arguments of the static probes go to @operands. @known is loaded as @module.
 */
void points_bind(struct points *points, struct known_module *known,
		 const struct control_module *module, struct strbuf *patches,
		 struct strbuf *operands);

/*
 * Called when the recording has ended. Warn about events that could not be recorded, and about
 * rules that match no event.
 *
 * @nr_failed: the number of patches that could not be made in processes
 * @has_processes: a process has reported itself
 */
void points_warn(const struct points *points, unsigned long long nr_failed, bool has_processes,
		 const struct msg *msg);

#endif
