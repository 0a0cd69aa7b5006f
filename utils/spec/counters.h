/* Counters for `read=`: the kernel's and the processor's (perf_event_open(2)). */
#ifndef UTRAIL_SPEC_COUNTERS_H
#define UTRAIL_SPEC_COUNTERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct nearest;

/* The most counters that one recording reads. */
#define COUNTERS_MAX	   8
#define COUNTER_NAME_BYTES 32
#define COUNTERS_TOO_MANY  "at most 8 counters are read by name in one recording"

/*
 * @name: as in recordings: always the same one of a counter's two names
 * @type, @config: members of struct perf_event_attr
 */
struct counter {
	char name[COUNTER_NAME_BYTES];
	uint32_t type;
	uint64_t config;
};

/* Starts as { 0 }. */
struct counters {
	struct counter list[COUNTERS_MAX];
	size_t nr;
};

/*
 * Parse "context-switches", "instructions", or "r1a8", the processor's event of that code. False:
 * the name is unknown.
 */
bool counter_parse(const char *name, struct counter *out);

/* Offer all names of counters, without codes. */
void counters_offer(struct nearest *near);

/* Find @counter in @all, or add it. Returns its index, or -ENOSPC when there are too many. */
int counters_add(struct counters *all, const struct counter *one);

#endif
