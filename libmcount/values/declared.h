/*
 * Events that the program declares (libutrail-trace): their payloads go into a ring of their own,
 * and a record without payload goes beside the calls.
 */
#ifndef UTRAIL_LIBMCOUNT_DECLARED_H
#define UTRAIL_LIBMCOUNT_DECLARED_H

#include "libmcount/hot/probe.h"
#include "trace/seam/recorder.h"
#include "utils/format/event_data.h"
#include "utils/format/event_ids.h"

/*
 * Record an event with @len bytes of @payload, or as many of them as fit a ring's segment. False
 * when there was no room, which is counted.
 *
 * thread->payloads is a thread state without frames that writes to the second ring of @t's one
 * (utils/format/probe/ring.h), in which no one else reserves or commits. Both are made for the
 * first event; a thread without events has neither.
 */
bool declared_record(struct thread *t, uint32_t id, const void *payload, uint64_t len);

/*
 * HOT, rarely: record an event from an aside's buffer, where the whole entry at @entry is the
 * record's payload. Counts nothing.
 */
bool declared_from_aside(struct thread *t, const struct event_data *entry, uint64_t time_ns);

/*
 * COLD, while the recorder has stopped a thread for it: note choices, and then tell them to the
 * consumers. Returns 0 or -errno, as ATTACH_CHOOSE and ATTACH_CHOSEN.
 */
struct attach_choice;
int64_t declared_choose(const struct attach_choice *list, uint64_t nr);
int64_t declared_chosen(void);

/* The recorder interface that copies of libutrail-trace get through their doors (doors.h). */
const struct utrail_trace_recorder *declared_recorder(void);

/* @t is about to have another ring, or none. */
static inline void declared_forget_ring(struct thread *t)
{
	if (t->payloads) {
		t->payloads->ring = NULL;
		t->payloads->at = t->payloads->end = NULL;
	}
	t->has_no_payloads = 0;
}

/* True when a record of an aside's buffer is a declared event. */
static inline bool declared_is(uint64_t data)
{
	return record_type(data) == RECORD_EVENT && record_has_more(data) &&
	       record_addr(data) >= EVENT_ID_USER;
}

#endif
