/* Events as text and back, for tests of the stages: input and output are one line each. */
#ifndef UTRAIL_TESTS_EVENTS_H
#define UTRAIL_TESTS_EVENTS_H

#include <stddef.h>
#include <stdint.h>

#include "utils/base/containers/strbuf.h"
#include "utils/pipeline/event.h"

/*
 * Words with blanks between them: the kind, then members that differ from the default.
 *
 *   a{  a}   ENTRY and EXIT of a function: "a" to "z", library calls "A" to "Z", and "'a" of the kernel
 *   !  *     LOST (of 7 records), POINT
 *   ~  ^     SCHED_OUT, SCHED_IN
 *   ?        HIDDEN
 *
 *   @time    in place of ten nanoseconds after the one before; the first is at 1000
 *   .depth   in place of the calls that are open here
 *   :indent  of the record; in place of the depth
 *   =total   total_ns, which is 0
 *   /self    self_ns, which is 0
 *   #id      of a POINT, which is EVENT_ID_USER
 *   "text"   the payload: bytes of the string that was given, which must live as long as the events
 *
 * and letters of flags: U(NPAIRED, and KERNEL_LOST) R(ECURSIVE) F (UNFINISHED) P(REEMPTED)
 * B(ACKWARDS) O(UTSIDE) I(NHERITED) X (OFF). Returns their number.
 */
size_t events_parse(const char *text, struct event *events, size_t room);

/*
 * Write @events as the same words, with "@time" and ".depth" in each. ":indent" is written when it
 * is not the depth, "=total/self" when not both are 0, "(func)" after events with a function that
 * are no calls. Then come the flags.
 */
void events_put(const struct event *events, size_t nr, struct strbuf *out);

/*
 * Returns the function that events_parse() uses for a name. It has no address space. Library
 * functions have 16 bytes, others 64.
 */
const struct func *events_func(const char *name);

#endif
