/*
 * The interface between libutrail-trace and the probe, which records a program's events. Both
 * include this header; neither needs the other. The probe includes no other header of this project.
 */
#ifndef UTRAIL_TRACE_SEAM_RECORDER_H
#define UTRAIL_TRACE_SEAM_RECORDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define UTRAIL_TRACE_ABI 1

/*
 * The recorder.
 *
 * @size: the number of its bytes: later versions with the same @abi only append members
 * @declare: declares an event. Returns its number; 0: it cannot be recorded. @common: the format
 *           before @format, or NULL. May wait for the recorder; not for signal handlers
 * @choose: returns the user's choice for an event: below 0: off; above 0: on; 0: the program
 *          chooses
 * @emit: records an event of this thread, now. @payload: the values of the common format, then of
 *        the event's own (text/payload.h). Signal-safe, without lock or system call; errno may
 *        change. False when the event is lost
 * @begin: finds a place for a payload. Returns a number above 0 when @place is filled: the library
 *         then writes the payload to it, calls @end, and no other function in between, not even of
 *         libc. 0: no record is wanted. Below 0: the library calls @emit instead
 * @end: records the first @len bytes of @place, or nothing when @len is more than the room
 * @watch: with @is_on, calls @fn from now on when the answers of @choose may have changed, in any
 *         thread that is in a system call; else stops these calls. False when there are too many
 *         functions. @fn returns false when a thread holds a lock that @fn needs
 */
struct utrail_trace_place {
	void *at;
	size_t room;
	uint64_t time_ns;
	void *owner; /* for the recorder */
};

struct utrail_trace_recorder {
	uint32_t abi, size;
	uint32_t (*declare)(const char *id, const char *format, const char *common);
	int (*choose)(uint32_t event, const char *id);
	bool (*emit)(uint32_t event, const void *payload, size_t len);
	int (*begin)(uint32_t event, struct utrail_trace_place *place);
	bool (*end)(uint32_t event, const struct utrail_trace_place *place, size_t len);
	bool (*watch)(bool (*fn)(void), bool is_on);
};

/* Returns NULL when there is no recorder, or when @abi differs from the probe's. */
#pragma GCC visibility push(default)
const struct utrail_trace_recorder *utrail_trace_recorder(uint32_t abi);
#pragma GCC visibility pop

/*
 * The door: a recorder that attaches to a running program finds the copies of libutrail-trace by an
 * ELF note in their modules, which strip(1) and hidden symbols do not remove. Only on x86_64, where
 * utrail can attach.
 *
 * The note's name is "utrail", its type 1. Its descriptor is a struct utrail_trace_door, whose
 * offsets count from the descriptor.
 */
#define UTRAIL_DOOR_NAME "utrail"
#define UTRAIL_DOOR_TYPE 1

struct utrail_trace_door {
	int32_t open;  /* a utrail_door_open_fn */
	int32_t close; /* a utrail_door_close_fn */
};

/*
 * From now on @recorder records, and events that are declared already are declared to it. Not for
 * signal handlers. Returns 0; -EAGAIN: a lock of the library is held, perhaps by this thread;
 * -EINVAL: the recorder is of another version.
 */
typedef int utrail_door_open_fn(const struct utrail_trace_recorder *recorder);

/*
 * After this no thread enters the recorder, but a thread between begin and end calls end once more.
 * Threads may still be in the recorder. Returns 0; -EAGAIN: events are still switched on for a
 * recorder.
 */
typedef int utrail_door_close_fn(void);

#endif
