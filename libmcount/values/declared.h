/*
 * Events that the program declares (libutrail-trace). Their payloads go into a second ring, and a
 * record without payload goes into the ring of calls.
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
 * thread->payloads is a thread state without frames. It alone writes to the second ring that
 * belongs to the ring of @t (utils/format/probe/ring.h). Both are made for the first event; a
 * thread without events has neither.
 */
bool declared_record(struct thread *t, uint32_t id, const void *payload, uint64_t len);

/*
 * HOT, rarely: record an event from an aside's buffer, where the record's payload is the whole
 * entry @entry. A loss is not counted.
 */
bool declared_from_aside(struct thread *t, const struct event_data *entry, uint64_t time_ns);

/*
 * COLD, in a thread that the recorder has stopped for ATTACH_CHOOSE, and then for ATTACH_CHOSEN:
 * note choices of events, and then tell them to the program's copies of the library. Return 0 or
 * -errno.
 */
struct attach_choice;
int64_t declared_choose(const struct attach_choice *list, uint64_t nr);
int64_t declared_chosen(void);

/*
 * The recorder interface that copies of libutrail-trace get through their doors (trace_copies.h).
 */
const struct utrail_trace_recorder *declared_recorder(void);

/* Called when @t is about to have another ring, or none. */
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
