/* Counters of the kernel and of the processor, for `read=` (perf_event_open(2)). */
#ifndef UTRAIL_SPEC_COUNTERS_H
#define UTRAIL_SPEC_COUNTERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct nearest;

#define COUNTERS_MAX	   8 /* in one recording */
#define COUNTER_NAME_BYTES 32
#define COUNTERS_TOO_MANY  "at most 8 counters are read by name in one recording"

/*
 * @name: the name in recordings, which is never an alias. If the user gave the code of a processor
 *        event, the name is this code, in lower case and without leading zeros
 * @type, @config: members of struct perf_event_attr
 */
struct counter {
	char name[COUNTER_NAME_BYTES];
	uint32_t type;
	uint64_t config;
};

struct counters {
	struct counter list[COUNTERS_MAX];
	size_t nr;
};

/*
 * Parse a name like "context-switches", or the code of a processor's event like "r1a8". Returns
 * false when the name is unknown.
 */
bool counter_parse(const char *name, struct counter *out);

/* Offer the names of all counters, without aliases and codes. */
void counters_offer(struct nearest *near);

/*
 * Add @one to @all, unless a counter with the same name is in @all. Returns the index in @all of
 * the counter with this name, or -ENOSPC when @all has no room for @one.
 */
int counters_add(struct counters *all, const struct counter *one);

#endif
