/*
 * Payloads of events of the program: the entries of <tid>.evt, separate from the records of
 * <tid>.dat (doc/formats/records.md, "Payloads beside").
 */
#ifndef UTRAIL_FORMAT_EVENT_DATA_H
#define UTRAIL_FORMAT_EVENT_DATA_H

#include <stdint.h>

/*
 * An entry belongs to the EVENT record of the same task with this time and id; they come in the
 * same order. @len bytes follow, and zeros up to a multiple of 8. Byte order is that of the
 * records.
 *
 * @flags: enum event_data_flags; bits without a meaning are ignored
 */
struct event_data {
	uint64_t time_ns;
	uint32_t id;
	uint16_t flags;
	uint16_t len;
};
_Static_assert(sizeof(struct event_data) == 16, "the same on disk");

enum event_data_flags {
	EVENT_DATA_CUT = 1U << 0, /* the event had more bytes than a ring takes at a time */
};

/* Padded, it is still below 64 KB. */
#define EVENT_DATA_MAX 65528U

/*
 * The payload of an event from a line of a log: the line's time in microseconds since 1970
 * (little-endian), and its text after the name.
 */
#define EVENT_LINE_TIME_BYTES 8U

/*
 * The fields of an imported event in the log of POSIX Trace. They follow its values, all
 * little-endian. Readers of values skip them.
 *
 * @time_ns: since 1970. @id, @flags: as in the log (trace/posixlog/event.h)
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

/* The prefix of such an event's name; its one value has this format. Also for recorded ones. */
#define EVENT_POSIX_PREFIX  "posix:"
#define EVENT_POSIX_UNNAMED "unnamed"
#define EVENT_POSIX_FORMAT  "DATA=%B"

/* The maximum of keys with fields in one event; all keys are in its text. */
#define EVENT_LINE_KEYS_MAX 64U

/*
 * The payload of a static probe with arguments, all little-endian: 8 bytes with a bit for each
 * argument that could be read, from the lowest on. Then come 8 bytes for each argument, also for
 * unread ones: sign-extended integers, or floating point of 4 or 8 bytes and zeros.
 */
#define EVENT_PROBE_ARGS_MAX	      16U
#define EVENT_PROBE_PAYLOAD_BYTES(nr) (8U * (1 + (nr)))

/* A definition in events.def; DATADIR_EVENT_DATA_SUFFIX and this are names in a data directory. */
#define EVENT_DEFS_FILE "events.def"

#endif
