/*
 * The interface between the library libutrail-trace and the probe, which records a program's
 * events. The library and the probe include this header, and each works without the other. The
 * probe includes no other header of the library.
 */
#ifndef UTRAIL_TRACE_SEAM_RECORDER_H
#define UTRAIL_TRACE_SEAM_RECORDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define UTRAIL_TRACE_ABI 1

/*
 * The functions of the probe that the library calls. In this header "the recorder" is the probe.
 *
 * @size: the size of this struct in bytes. Later versions with the same @abi only append members
 * @declare: declares an event. Returns its number, or 0 if the event cannot be recorded. @common is
 *           NULL, or a format whose values come before those of @format. The function may block,
 *           and signal handlers must not call it
 * @choose: returns the user's choice for an event. A negative number switches the event off, and a
 *          positive one switches it on. If the result is 0, the program chooses
 * @emit: records an event of the calling thread at the present time. @payload has the values of the
 *        common format, followed by those of the event's own format (text/payload.h). Returns false
 *        if the event is lost. The function is signal-safe, and uses no lock and no system call. It
 *        may change errno
 * @begin: finds a place for a payload. If the result is positive, @place is filled. In this case
 *         the library writes the payload to @place and calls @end. Between @begin and @end the
 *         library calls only functions of the library and strnlen(). strnlen() is called for a
 *         string that does not fit into @place. If the result is 0, no record is wanted. If the
 *         result is negative, the library calls @emit instead
 * @end: records the first @len bytes of @place, or nothing if @len exceeds the room of @place
 * @watch: if @is_on is true, the recorder begins to call @fn whenever the answers of @choose may
 *         have changed. If @is_on is false, the recorder stops calling @fn. Any thread may run @fn,
 *         at nearly any point of the thread's own work. So @fn does not wait for locks: if a thread
 *         holds a lock that @fn needs, @fn returns false. @watch returns false if the recorder has
 *         no room for another @fn
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

/* Returns the recorder, or NULL if there is none, or if @abi differs from that of the probe. */
#pragma GCC visibility push(default)
const struct utrail_trace_recorder *utrail_trace_recorder(uint32_t abi);
#pragma GCC visibility pop

/*
 * The door: an ELF note in each module that contains a copy of libutrail-trace. A probe that is
 * attached to a running program finds the copies by this note. strip(1) does not remove the note,
 * and the module need not export any symbol. The note exists only on x86_64, because utrail can
 * attach only there.
 *
 * The name of the note is "utrail", and its type is 1. Its descriptor is a struct
 * utrail_trace_door, whose members are offsets from the beginning of the descriptor.
 */
#define UTRAIL_DOOR_NAME "utrail"
#define UTRAIL_DOOR_TYPE 1

struct utrail_trace_door {
	int32_t open;  /* a utrail_door_open_fn */
	int32_t close; /* a utrail_door_close_fn */
};

/*
 * Make @recorder record from now on, and tell @recorder all events that the program has declared.
 * Signal handlers must not call this function. Returns 0 on success, -EAGAIN if any thread holds a
 * lock of the library, or -EINVAL if the recorder has another version.
 */
typedef int utrail_door_open_fn(const struct utrail_trace_recorder *recorder);

/*
 * Prevent all threads from entering the recorder. Threads that are already in the recorder may
 * still run there, and a thread that has called @begin still calls @end. Returns 0 on success, or
 * -EAGAIN if any thread holds a lock of the library. Even after -EAGAIN, no thread enters the
 * recorder, but the events that the recorder has chosen stay switched on.
 */
typedef int utrail_door_close_fn(void);

#endif
