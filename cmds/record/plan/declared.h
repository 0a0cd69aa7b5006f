/*
 * Events with values: events that programs declare (libutrail-trace), and static probes with
 * arguments. This module stores the numbers and the definitions of these events. declared_choice()
 * returns the user's choice for an event that a program declares.
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
 * The declared events of all processes. declared_init() prepares the struct. Only the control
 * thread uses the struct.
 *
 * @points: gives numbers to the events, and has their names
 * @lines: the lines of events.def, which are the keys of @numbers. An event that several processes
 *         declare has only one line
 * @events: only the events that programs declare; static probes are not in this array
 * @bytes: the length of all lines
 * @nr_refused: counts declared events that got no number, because a limit was reached or there was
 *         no memory
 * @include_matched: --trace-include has matched at least one event
 * @error: 0, or the negative errno of writing events.def
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
 * Returns the number of the declared event. A new event gets a new number. Returns 0 when the event
 * cannot have a number.
 *
 * @common: the format of a text that precedes the event's own text, or NULL
 */
uint32_t declared_add(struct declared *declared, const char *id, const char *format,
		      const char *common);

/*
 * Returns the number of a static probe with arguments. A new probe gets a new number. Returns 0
 * when the probe cannot have a number.
 *
 * @name: "provider:event"
 * @types: the types of the arguments (doc/formats/records.md, "Payload files")
 */
uint32_t declared_add_probe(struct declared *declared, const char *name, const char *types);

/*
 * Returns the user's choice for the event @id: -1 for off, 1 for on, or 0 when the program decides.
 */
int declared_choice(struct declared *declared, const char *id);

/* True when the id of a known event matches @pattern. */
bool declared_have(const struct declared *declared, const struct pattern *pattern);

/*
 * At the end of the recording, warn of options without effect, and of events that are not recorded.
 *
 * @nr_untold: the number of events that processes could not report
 */
void declared_warn(const struct declared *declared, unsigned long long nr_untold,
		   bool has_processes, const struct msg *msg);

#endif
