/*
 * The counters that `read=` reads by name. Puts them into plans and events.txt, and warns of
 * counters that could not be read.
 */
#ifndef UTRAIL_CMDS_RECORD_PLAN_COUNTERS_H
#define UTRAIL_CMDS_RECORD_PLAN_COUNTERS_H

#include "cmds/terminal/msg.h"
#include "cmds/record/plan/plan.h"

/* Add the counters that the filters name to @plan. They are the same for all processes. */
void counters_bind(const struct record_settings *settings, struct plan_entries *plan);

/* Append the lines of @counters for events.txt. */
void counters_put_events(const struct counters *counters, struct strbuf *lines);

/*
 * At the end, warn of counters that some thread could not read, and tell why. @failed: enum
 * plan_read bits that probes have noted
 */
void counters_warn(const struct counters *counters, uint32_t failed, const struct msg *msg);

#endif
