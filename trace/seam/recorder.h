/*
 * The interface between libutrail-trace and the probe, which records a program's events. Both
 * include this header, and neither needs the other. A probe that comes later than the library uses
 * the library's door (below). The probe includes no other header of this project.
 */
#ifndef UTRAIL_TRACE_SEAM_RECORDER_H
#define UTRAIL_TRACE_SEAM_RECORDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define UTRAIL_TRACE_ABI 1

/*
 * The recorder. @size is the number of its bytes: later versions with the same @abi only append
 * members.
 *
 * @declare: declare a new event. Returns its number, or 0 when it cannot be recorded. @common: the
 * format before @format, or NULL. May wait for the recorder; not for signal handlers
 * @choose: returns the user's choice for an event: below 0: off; above 0: on; 0: the program
 * chooses
 * @emit: record an event of this thread, now. @payload: the values of the common format and then of
 * the event's own (text/payload.h). Signal-safe, without lock or system call; errno may change.
 * False when the event is lost
 * @begin, @end: record an event without a copy. @begin returns a number above 0 when there is a
 * place (then @end must follow), 0 when no record is wanted, and a number below 0 when the event is
 * to be emitted instead. The library writes the payload into @place. In between it calls no
 * function, neither of the program nor of libc. @end makes a record of the first @len bytes, or no
 * record when @len is more than the room
 * @watch: with @is_on, call @fn from now on whenever the answers of @choose may have changed, in
 * any thread that is within a system call; else stop calling it. @fn returns false when a thread
 * holds a lock that @fn needs. @watch returns false when there are too many functions
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
 * The door: a recorder that attaches while the program runs finds the copies of libutrail-trace by
 * an ELF note in each module that has one. strip(1) and hidden symbols do not remove the note. Only
 * on x86_64, the machine on which utrail can attach.
 *
 * The note's name is "utrail", its type 1. Its descriptor is a struct utrail_trace_door, whose
 * offsets count from the descriptor itself.
 */
#define UTRAIL_DOOR_NAME "utrail"
#define UTRAIL_DOOR_TYPE 1

struct utrail_trace_door {
	int32_t open;  /* a utrail_door_open_fn */
	int32_t close; /* a utrail_door_close_fn */
};

/*
 * From now on @recorder records. Events that are declared already are declared to it. Returns 0;
 * -EAGAIN: a lock of the library is held, perhaps by this thread: call again later; -EINVAL: the
 * recorder is of another version. Not for signal handlers.
 */
typedef int utrail_door_open_fn(const struct utrail_trace_recorder *recorder);

/*
 * After this no thread enters the recorder by declare, choose, emit, begin or watch. Threads may
 * still be within the recorder, and a thread between begin and end calls end once more. Returns 0;
 * -EAGAIN: events are still switched on for a recorder.
 */
typedef int utrail_door_close_fn(void);

#endif
