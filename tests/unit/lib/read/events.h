/* Events as text and back, for tests of the stages: input and output are one line each. */
#ifndef UTRAIL_TESTS_EVENTS_H
#define UTRAIL_TESTS_EVENTS_H

#include <stddef.h>
#include <stdint.h>

#include "utils/base/containers/strbuf.h"
#include "utils/pipeline/event.h"

/*
 * Parse words with blanks between them. Each word is an event: its kind, then the members that
 * differ from their defaults. Returns the number of events.
 *
 *   a{  a}   ENTRY and EXIT of a function: "a" to "z", library calls "A" to "Z", and "'a" of the kernel
 *   !  *     LOST (of 7 records), POINT
 *   ~  ^     SCHED_OUT, SCHED_IN
 *   ?        HIDDEN
 *
 *   @time    default: ten nanoseconds after the event before it; the first one is at 1000
 *   .depth   default: the number of calls that are open here
 *   :indent  the depth of the record; default: the depth
 *   =total   total_ns; default: 0
 *   /self    self_ns; default: 0
 *   #id      id of a POINT; default: EVENT_ID_USER
 *   "text"   the payload: bytes of @text itself, which must live as long as the events
 *
 * Letters stand for flags: U(NPAIRED, and KERNEL_LOST) R(ECURSIVE) F (UNFINISHED) P(REEMPTED)
 * B(ACKWARDS) O(UTSIDE) I(NHERITED) X (OFF)
 */
size_t events_parse(const char *text, struct event *events, size_t room);

/*
 * Write @events as the same words, with "@time" and ".depth" in each. ":indent" is written if it
 * differs from the depth, "=total/self" unless both are 0. "(func)" comes after an event that has a
 * function but is not a call. Flags are last.
 */
void events_put(const struct event *events, size_t nr, struct strbuf *out);

/*
 * Returns the function that events_parse() uses for a name. It has no address space. Library
 * functions have 16 bytes, others 64.
 */
const struct func *events_func(const char *name);

#endif
