/*
 * Events that the program declares (libutrail-trace). Each event is written in two parts: a record
 * goes into the ring of calls, and the payload goes into a second ring.
 */
#ifndef UTRAIL_LIBMCOUNT_DECLARED_H
#define UTRAIL_LIBMCOUNT_DECLARED_H

#include "libmcount/hot/probe.h"
#include "trace/seam/recorder.h"
#include "utils/format/event_data.h"
#include "utils/format/event_ids.h"

/*
 * Records an event with @len bytes of @payload. A payload is cut if it is too long for a segment of
 * a ring, or longer than EVENT_DATA_MAX. If there is no room, returns false, and counts the event
 * as lost.
 *
 * The payload goes into the second ring of @t (utils/format/probe/ring.h). @t->payloads, a struct
 * thread without frames, keeps the position in this ring. The first event of a thread makes the
 * ring and @t->payloads.
 */
bool declared_record(struct thread *t, uint32_t id, const void *payload, uint64_t len);

/*
 * WARM. Copies an event from the aside to the rings of @t. The aside is the buffer for records of
 * signal handlers (hot/aside.h). In the aside, the event's payload follows @entry. Returns false
 * when the event is lost. The caller must count the lost event.
 */
bool declared_from_aside(struct thread *t, const struct event_data *entry, uint64_t time_ns);

/*
 * COLD. The recorder stops a thread of the program, and makes the thread call utrail_leave(). Then
 * utrail_leave() calls one of the following functions. declared_choose() stores the recorder's
 * choices of events (ATTACH_CHOOSE). declared_chosen() tells each copy of libutrail-trace that
 * choices have changed (ATTACH_CHOSEN). The functions return 0 or a negative errno.
 */
struct attach_choice;
int64_t declared_choose(const struct attach_choice *list, uint64_t nr);
int64_t declared_chosen(void);

/*
 * Returns the probe's functions. libutrail-trace calls these functions to declare and to record
 * events. A copy of the library gets the functions from utrail_trace_recorder(). If the probe was
 * attached to a running program, the probe hands the functions to each copy (trace_copies.h).
 */
const struct utrail_trace_recorder *declared_recorder(void);

/*
 * Forgets the second ring of @t. Must be called when @t gets a ring of calls, and for the forking
 * thread in a forked child.
 */
static inline void declared_forget_ring(struct thread *t)
{
	if (t->payloads) {
		t->payloads->ring = NULL;
		t->payloads->at = t->payloads->end = NULL;
	}
	t->has_no_payloads = 0;
}

/*
 * True when a record in an aside is a declared event. An aside is the buffer for records of signal
 * handlers (hot/aside.h). @data: the data word of the record
 */
static inline bool declared_is(uint64_t data)
{
	return record_type(data) == RECORD_EVENT && record_has_more(data) &&
	       record_addr(data) >= EVENT_ID_USER;
}

#endif
