/* Records with a payload (see emit.h). */
#include "libmcount/values/emit.h"

#include <stddef.h>

#include "libmcount/values/declared.h"
#include "utils/format/event_ids.h"

char *emit_put_bytes(char *at, const void *from, uint32_t len)
{
	const uint64_t zeros = 0;
	const char *bytes = from;

	for (; len >= 8; len -= 8, at += 8, bytes += 8)
		__builtin_memcpy(at, bytes, 8);
	if (!len)
		return at;

	char *end = at + 8;

	__builtin_memcpy(at, &zeros, 8);
	if (len & 4) {
		__builtin_memcpy(at, bytes, 4);
		at += 4;
		bytes += 4;
	}
	if (len & 2) {
		__builtin_memcpy(at, bytes, 2);
		at += 2;
		bytes += 2;
	}
	if (len & 1)
		*at = *bytes;
	return end;
}

bool emit_with_payload(struct thread *t, uint64_t time_ns, uint64_t data, const void *payload,
		       uint32_t len)
{
	uint64_t bytes = ALIGN_UP(len, 8U);
	uint32_t prefix = t->is_aside ? sizeof(bytes) : 0;
	char *at = hot_reserve(t, sizeof(struct record) + prefix + bytes);

	if (unlikely(!at))
		return false;
	at = put_record(at, time_ns, data | RECORD_MORE);
	if (prefix)
		at = emit_put_bytes(at, &bytes, sizeof(bytes));
	hot_commit(t, emit_put_bytes(at, payload, len));
	return true;
}

void emit_event(struct thread *t, uint64_t time_ns, uint32_t id, const void *payload, uint16_t len)
{
	char data[sizeof(len) + EMIT_EVENT_MAX];

	__builtin_memcpy(data, &len, sizeof(len));
	for (uint16_t i = 0; i < len; i++)
		data[sizeof(len) + i] = ((const char *)payload)[i];
	if (!emit_record(t, time_ns, record_data(RECORD_EVENT, 0, id), data, sizeof(len) + len))
		note_lost(t, 1);
}

static uint64_t aside_payload(const char *at)
{
	const struct record *r = (const struct record *)at;

	return record_has_more(r->data) ? *(const uint64_t *)(at + sizeof(*r)) : 0;
}

uint32_t emit_aside_bytes(const char *at)
{
	const struct record *r = (const struct record *)at;

	if (!record_has_more(r->data))
		return sizeof(*r);
	return sizeof(*r) + sizeof(uint64_t) + aside_payload(at);
}

uint32_t emit_ring_bytes(const char *at)
{
	const struct record *r = (const struct record *)at;

	/* The payload of a declared event goes into another ring. */
	return sizeof(*r) + (declared_is(r->data) ? 0 : ALIGN_UP(aside_payload(at), 8U));
}

bool emit_from_aside(struct thread *t, const char *at, uint64_t time_ns, uint64_t data)
{
	const char *payload = at + sizeof(struct record) + sizeof(uint64_t);

	if (unlikely(declared_is(((const struct record *)at)->data)))
		return declared_from_aside(t, (const struct event_data *)payload, time_ns);
	return emit_record(t, time_ns, data, payload, aside_payload(at));
}
