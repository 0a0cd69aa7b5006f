/*
 * Events that say something: those that programs declare (libutrail-trace), and static probes with
 * arguments. Their numbers, what readers need to know of them, and which of the former are
 * recorded.
 */
#ifndef UTRAIL_CMDS_RECORD_PLAN_DECLARED_H
#define UTRAIL_CMDS_RECORD_PLAN_DECLARED_H

#include <stddef.h>
#include <stdint.h>

#include "cmds/terminal/msg.h"
#include "cmds/record/base/settings.h"
#include "cmds/record/plan/points.h"
#include "utils/base/containers/strmap.h"

/*
 * The declared events of all processes. Starts with declared_init(), ends with declared_deinit().
 * Only the control thread touches it.
 *
 * @points: gives the numbers, and has their names
 * @lines: lines of events.def, as keys of @numbers: the same event of several processes is one
 * @events: those that programs declare, which can be chosen
 * @bytes: of all lines
 * @nr_refused: events that there was no number or no room for
 * @include_matched: an event has matched --trace-include
 * @error: events.def could not be written
 */
struct declared {
	const struct record_settings *settings;
	struct points *points;
	struct strmap numbers;
	char **lines;
	struct known_event {
		char *id;
		uint32_t number;
	} * events;
	size_t nr;
	size_t nr_events;
	size_t bytes;
	unsigned long long nr_refused;
	bool include_matched;
	int error;
};

void declared_init(struct declared *declared, const struct record_settings *settings,
		   struct points *points);
void declared_deinit(struct declared *declared);

/*
 * The number of that event, a new one when it is new; 0: there is none. @common: NULL when there is
 * nothing in front.
 */
uint32_t declared_add(struct declared *declared, const char *id, const char *format,
		      const char *common);

/*
 * The same of a static probe, "provider:event", with arguments of @types (doc/formats/records.md,
 * "Payloads beside").
 */
uint32_t declared_add_probe(struct declared *declared, const char *name, const char *types);

/*
 * The user's choice of an event with that id: below 0 off, above 0 on, 0: it is the program's
 * business.
 */
int declared_choice(struct declared *declared, const char *id);

/* True when a known event has an id that matches. */
bool declared_have(const struct declared *declared, const struct pattern *pattern);

/*
 * At the end: say what was asked for in vain, and what is not recorded. @nr_untold: events that no
 * process could report
 */
void declared_warn(const struct declared *declared, unsigned long long nr_untold,
		   bool has_processes, const struct msg *msg);

#endif
