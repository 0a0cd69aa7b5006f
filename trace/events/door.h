/*
 * Support for a recorder that attaches while the program runs, and detaches again
 * (seam/recorder.h). The two files that send events to a recorder include this header:
 * events/recorded.c and posix/recorded.c.
 */
#ifndef UTRAIL_TRACE_DOOR_H
#define UTRAIL_TRACE_DOOR_H

#include "seam/recorder.h"

#if defined(__x86_64__) && defined(__LP64__)
#define FST_HAS_DOOR  1
/* Makes the linker take door.c from the static library, although no file calls its functions. */
#define FST_TAKE_DOOR static const void *const taken_door __attribute__((used)) = fst_door_open
#else
#define FST_HAS_DOOR  0
#define FST_TAKE_DOOR _Static_assert(1, "utrail attaches on x86_64 only")
#endif

__attribute__((visibility("hidden"))) int fst_door_open(
	const struct utrail_trace_recorder *recorder);
__attribute__((visibility("hidden"))) int fst_door_close(void);

/* Only a preloaded probe defines this function. */
#pragma weak utrail_trace_recorder

/* True when @recorder has all members that this version of the library uses. */
static inline bool fst_is_recorder(const struct utrail_trace_recorder *recorder)
{
	return recorder && recorder->abi == UTRAIL_TRACE_ABI && recorder->size >= sizeof(*recorder);
}

/*
 * Returns the recorder that a preloaded probe provides. Returns NULL when there is no such probe,
 * or when fst_is_recorder() is false for the recorder.
 */
static inline const struct utrail_trace_recorder *fst_find_recorder(void)
{
	const struct utrail_trace_recorder *(*ask)(uint32_t abi) = utrail_trace_recorder;
	const struct utrail_trace_recorder *found = ask ? ask(UTRAIL_TRACE_ABI) : NULL;

	return fst_is_recorder(found) ? found : NULL;
}

/*
 * Attach the recorder while the program's threads run, and declare all events of the program to the
 * recorder. Returns 0, or -EAGAIN when the caller must try again.
 *
 * @door: functions that call the recorder. Never freed. A thread may have called begin() before the
 *        recorder detaches, and must then call end(). So end() calls the recorder even after the
 *        detach. The other functions do nothing after the detach
 */
int fst_recorded_came(const struct utrail_trace_recorder *door); /* with fst_lock_threads() held */
int pxt_recorded_came(const struct utrail_trace_recorder *door);

/* Stop sending events to the recorder, which has detached. */
void fst_recorded_went(void); /* with fst_lock_threads() held */
void pxt_recorded_went(void);

#endif
