/*
 * Adds the counters of `read=` to plans and to events.txt. Warns about counters that could not be
 * read.
 */
#ifndef UTRAIL_CMDS_RECORD_PLAN_COUNTERS_H
#define UTRAIL_CMDS_RECORD_PLAN_COUNTERS_H

#include "cmds/terminal/msg.h"
#include "cmds/record/plan/plan.h"

/* Add to @plan the counters that filters read. All processes get the same counters. */
void counters_bind(const struct record_settings *settings, struct plan_entries *plan);

/* Append to @lines the lines of events.txt that describe @counters. */
void counters_put_events(const struct counters *counters, struct strbuf *lines);

/*
 * At the end of the recording, warn of each counter that a thread could not read, and give the
 * reason.
 *
 * @failed: the enum plan_read bits that probes have noted
 */
void counters_warn(const struct counters *counters, uint32_t failed, const struct msg *msg);

#endif
