/*
 * A recorder that comes while the program runs finds the copies of libutrail-trace in it by an ELF
 * note in each module that has one. Neither strip(1) nor hidden symbols take the note away. Only on
 * machines on which utrail can attach: x86_64.
 *
 * The note's name is "utrail", its type 1; its descriptor is a struct utrail_trace_door, whose
 * offsets count from the descriptor itself.
 */
#ifndef UTRAIL_FSTRACE_DOOR_H
#define UTRAIL_FSTRACE_DOOR_H

#include <stdint.h>

#include "utils/fstrace/recorder.h"

#define UTRAIL_DOOR_NAME "utrail"
#define UTRAIL_DOOR_TYPE 1

struct utrail_trace_door {
	int32_t open;  /* a utrail_door_open_fn */
	int32_t close; /* a utrail_door_close_fn */
};

/*
 * From now on @recorder records; events that are declared already are declared to it. 0; -EAGAIN
 * when a lock of the library is held, maybe by this thread: the rest is to be done later, by
 * another call; -EINVAL when the recorder is of another version. No handler of a signal may call
 * it.
 */
typedef int utrail_door_open_fn(const struct utrail_trace_recorder *recorder);

/*
 * When this returns, no thread comes to the recorder any more by declare, choose, emit, begin or
 * watch. Those that are within it may be, and a thread between begin and end comes to end once
 * more. 0; -EAGAIN: events that nobody records are still switched on.
 */
typedef int utrail_door_close_fn(void);

#endif
