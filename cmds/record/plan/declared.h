/*
 * Events with values: those that programs declare (libutrail-trace), and static probes with
 * arguments. Keeps their numbers and definitions, and the user's choice of declared events.
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
 * The declared events of all processes. Starts with declared_init(). Only the control thread
 * touches it.
 *
 * @points: gives events their numbers, and keeps their names
 * @lines: lines of events.def, as keys of @numbers. An event that several processes declare has one
 *         line
 * @events: the events that programs declare, which can be chosen
 * @bytes: the length of all lines
 * @nr_refused: events without a number, for lack of numbers or of room
 * @include_matched: an event has matched --trace-include
 * @error: 0, or negative errno of writing events.def
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
 * Returns the number of the declared event; a new event gets a new number. 0: there is none left.
 * @common: the format of a text before the event's own, or NULL
 */
uint32_t declared_add(struct declared *declared, const char *id, const char *format,
		      const char *common);

/*
 * Like declared_add(), for a static probe, "provider:event", with arguments of @types
 * (doc/formats/records.md, "Payloads beside").
 */
uint32_t declared_add_probe(struct declared *declared, const char *name, const char *types);

/* Returns the user's choice of the event @id: below 0 off, above 0 on, 0: the program decides. */
int declared_choice(struct declared *declared, const char *id);

/* True when a known event has an id that @pattern matches. */
bool declared_have(const struct declared *declared, const struct pattern *pattern);

/*
 * At the end, warn of options without effect, and of events that are not recorded. @nr_untold:
 * number of events that processes could not report
 */
void declared_warn(const struct declared *declared, unsigned long long nr_untold,
		   bool has_processes, const struct msg *msg);

#endif
