/*
 * Writes records with a payload to the ring of a thread, or to the buffer of an aside. An aside
 * keeps the records of a signal handler that has interrupted a hook (hot/aside.h).
 */
#ifndef UTRAIL_LIBMCOUNT_EMIT_H
#define UTRAIL_LIBMCOUNT_EMIT_H

#include "libmcount/hot/hot.h"

/*
 * HOT: copy @len bytes to @at, and append zeros up to a multiple of 8 bytes. Uses no libc function
 * and no vector register. Returns the address after the copy and the zeros.
 */
char *emit_put_bytes(char *at, const void *from, uint32_t len);

/*
 * HOT. Writes a record with @payload[@len] (at least one byte), padded with zeros to a multiple of
 * 8, and sets RECORD_MORE. Returns false when there is no room. The caller counts the loss.
 */
bool emit_with_payload(struct thread *t, uint64_t time_ns, uint64_t data, const void *payload,
		       uint32_t len);

/* HOT: write a record with a payload, or without one if @len is 0. */
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

/*
 * HOT: write an event with a payload of at most EMIT_EVENT_MAX bytes. If the event cannot be
 * written, note_lost() counts the event as lost.
 */
#define EMIT_EVENT_MAX 64
void emit_event(struct thread *t, uint64_t time_ns, uint32_t id, const void *payload, uint16_t len);

/*
 * Returns the size in bytes of the record at @at in the buffer of an aside (hot/aside.h). If the
 * record has the flag RECORD_MORE, the size includes the payload, and the eight bytes between
 * struct record and the payload. These eight bytes contain the length of the payload.
 */
uint32_t emit_aside_bytes(const char *at);

/*
 * Returns the number of bytes that emit_from_aside() needs for the record @at in the thread's ring
 * of calls. The number does not include the payload of a declared event: this payload goes into
 * another ring.
 */
uint32_t emit_ring_bytes(const char *at);

/*
 * WARM: copy a record from the buffer of an aside (hot/aside.h) to the ring of @t. @at is the
 * record in the buffer. The copy has the time @time_ns and the data word @data.
 */
bool emit_from_aside(struct thread *t, const char *at, uint64_t time_ns, uint64_t data);

#endif
