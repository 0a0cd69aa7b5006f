/*
 * The interface between libutrail-trace and the probe, the recorder of a program's events. Both
 * include this; neither needs the other. A probe that comes later than the library uses its door,
 * which is below. This is the only header of this project for the probe.
 */
#ifndef UTRAIL_TRACE_SEAM_RECORDER_H
#define UTRAIL_TRACE_SEAM_RECORDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define UTRAIL_TRACE_ABI 1

/*
 * A later version with the same number only appends members; @size says how many bytes there are.
 *
 * @declare: a new event. Its number, or 0 when it cannot be recorded. @common: the format before
 *           @format, or NULL. May wait for the recorder; not for signal handlers
 * @choose: the user's choice for that event: below 0 off, above 0 on, 0: as the program chooses
 * @emit: a record of this thread, now. @payload: as text/payload.h has it, of the common
 *        format and then of the other one. Signal-safe, no lock, no system call, errno may change.
 *        False when it is not recorded: the event is lost, and nothing else
 * @begin, @end: the same without a copy. The payload is written into @place, then @end makes a
 *               record of its first @len bytes; of none when @len is more than there was room for.
 *               Between both the library calls no function, of the program or of libc. @begin says
 *               whether there is a place (above 0, then @end must follow), or no record is wanted
 *               (0), or that this one is to be emitted (below 0)
 * @watch: call @fn whenever @choose may say something else than before, by any thread that is
 *         within a system call. It returns whether it could look: false when that thread holds its
 *         locks, or another one does. Not @is_on: no more. False: there are too many
 */
struct utrail_trace_place {
	void *at;
	size_t room;
	uint64_t time_ns;
	void *owner; /* the recorder's */
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

/* NULL when there is no recorder, or when @abi differs from the probe's. */
#pragma GCC visibility push(default)
const struct utrail_trace_recorder *utrail_trace_recorder(uint32_t abi);
#pragma GCC visibility pop

/*
 * The door: a recorder that attaches while the program runs finds the copies of libutrail-trace by
 * an ELF note in each module that has one. Neither strip(1) nor hidden symbols take the note away.
 * Only on machines on which utrail can attach: x86_64.
 *
 * The note's name is "utrail", its type 1; its descriptor is a struct utrail_trace_door, whose
 * offsets count from the descriptor itself.
 */
#define UTRAIL_DOOR_NAME "utrail"
#define UTRAIL_DOOR_TYPE 1

struct utrail_trace_door {
	int32_t open;  /* a utrail_door_open_fn */
	int32_t close; /* a utrail_door_close_fn */
};

/*
 * From now on @recorder records; events that are declared already are declared to it. 0; -EAGAIN
 * when a lock of the library is held, maybe by this thread: call again later; -EINVAL when the
 * recorder is of another version. No handler of a signal may call it.
 */
typedef int utrail_door_open_fn(const struct utrail_trace_recorder *recorder);

/*
 * When this returns, no thread enters the recorder any more by declare, choose, emit, begin or
 * watch. Threads may still be within it, and a thread between begin and end calls end once more. 0;
 * -EAGAIN: events without a recorder are still switched on.
 */
typedef int utrail_door_close_fn(void);

#endif
