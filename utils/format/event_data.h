/* Payloads of the program's events, in <tid>.evt (doc/formats/records.md, "Payload files"). */
#ifndef UTRAIL_FORMAT_EVENT_DATA_H
#define UTRAIL_FORMAT_EVENT_DATA_H

#include <stdint.h>

/*
 * The head of an entry in <tid>.evt, in the byte order of the records in <tid>.dat. After the head
 * there are @len bytes of payload, and zeros up to a multiple of 8. Each entry belongs to an EVENT
 * record in <tid>.dat. The entries have the order of these records.
 *
 * @time_ns, @id: as in the EVENT record
 * @flags: enum event_data_flags; readers ignore other bits
 */
struct event_data {
	uint64_t time_ns;
	uint32_t id;
	uint16_t flags;
	uint16_t len;
};
_Static_assert(sizeof(struct event_data) == 16, "the same on disk");

enum event_data_flags {
	EVENT_DATA_CUT = 1U << 0, /* the event had more bytes than a segment or an entry can have */
};

/* The most bytes of a payload: the largest multiple of 8 that fits in event_data.len. */
#define EVENT_DATA_MAX 65528U

/*
 * The payload of an event that was imported from a line of a log. The payload begins with the time
 * of the line in microseconds since 1970 (little-endian). The rest of the payload is the text after
 * the event's name in the line.
 */
#define EVENT_LINE_TIME_BYTES 8U

/*
 * The fields of an event in a log of POSIX Trace, all little-endian. In the payload of an imported
 * event, this struct comes after the event's value (EVENT_POSIX_FORMAT).
 *
 * @time_ns: since 1970
 * @id, @flags: as in the log (trace/posixlog/event.h)
 */
struct event_posix {
	uint64_t time_ns;
	uint64_t address;
	uint64_t thread;
	uint32_t pid;
	uint32_t id;
	uint32_t flags;
	uint32_t zero;
};
_Static_assert(sizeof(struct event_posix) == 40, "the same on disk");

/*
 * Events of POSIX Trace. Each event has one value, in the format EVENT_POSIX_FORMAT. The name of an
 * event begins with EVENT_POSIX_PREFIX. The rest of the name is
 *
 * - EVENT_POSIX_UNNAMED if the id of the event is PT_UNNAMED,
 * - the name that the program has given to the event, or
 * - the id as a decimal number if the POSIX Trace log has no name for the id.
 */
#define EVENT_POSIX_PREFIX  "posix:"
#define EVENT_POSIX_UNNAMED "unnamed"
#define EVENT_POSIX_FORMAT  "DATA=%B"

/*
 * The maximum number of an event's keys that become fields. Further keys do not become fields, but
 * stay in the event's text.
 */
#define EVENT_LINE_KEYS_MAX 64U

/*
 * The payload of a static probe with arguments, all little-endian:
 *
 * - 8 bytes: a bit for each argument that was read; the lowest bit is for the first argument
 * - 8 bytes for each argument: an integer that is extended to 64 bits, a double, or a float that is
 *   followed by zeros. If the argument was not read, all 8 bytes are 0
 */
#define EVENT_PROBE_ARGS_MAX	      16U
#define EVENT_PROBE_PAYLOAD_BYTES(nr) (8U * (1 + (nr)))

/* The file with definitions of events that programs declare. */
#define EVENT_DEFS_FILE "events.def"

#endif
