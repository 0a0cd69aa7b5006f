/* Records with a payload, to the ring or to an aside's buffer. */
#ifndef UTRAIL_LIBMCOUNT_EMIT_H
#define UTRAIL_LIBMCOUNT_EMIT_H

#include "libmcount/hot/hot.h"

/*
 * HOT: copy @len bytes from @from, with zeros up to a multiple of 8. Returns the end. No libc, and
 * no vector registers.
 */
char *emit_put_bytes(char *at, const void *from, uint32_t len);

/*
 * HOT: one record with @len bytes of @payload (at least one), padded with zeros to 8 as in
 * doc/formats/records.md, "Payloads"; RECORD_MORE is set here. False when there was no room: the
 * caller counts.
 */
bool emit_with_payload(struct thread *t, uint64_t time_ns, uint64_t data, const void *payload,
		       uint32_t len);

/* HOT: the same, where there may be no payload. */
static inline bool emit_record(struct thread *t, uint64_t time_ns, uint64_t data,
			       const void *payload, uint32_t len)
{
	if (unlikely(len))
		return emit_with_payload(t, time_ns, data, payload, len);

	char *at = hot_reserve(t, sizeof(struct record));

	if (likely(at))
		hot_commit(t, put_record(at, time_ns, data));
	return at != NULL;
}

/* HOT: an event of the recording; lost ones are counted. At most EMIT_EVENT_MAX bytes. */
#define EMIT_EVENT_MAX 64
void emit_event(struct thread *t, uint64_t time_ns, uint32_t id, const void *payload, uint16_t len);

/*
 * The total bytes of the record at @at in an aside's buffer. With RECORD_MORE, the length of its
 * payload (which only this function knows) and the payload follow the record.
 */
uint32_t emit_aside_bytes(const char *at);

/* The room that emit_from_aside() needs in the ring of @t. */
uint32_t emit_ring_bytes(const char *at);

/*
 * HOT, rarely: copy the record at @at of an aside's buffer to the ring of @t, with another data
 * word.
 */
bool emit_from_aside(struct thread *t, const char *at, uint64_t time_ns, uint64_t data);

#endif
