/* The objects that are loaded into the process, as told to the recorder. */
#ifndef UTRAIL_LIBMCOUNT_MODULES_H
#define UTRAIL_LIBMCOUNT_MODULES_H

#include <stdbool.h>
#include <stdint.h>

#include "libmcount/system/channel.h"

/*
 * COLD. Send a MODULE packet for each object that was not reported yet. False when the channel
 * broke.
 */
bool modules_report_all(struct channel *ch);

/* COLD. After a dlopen() that began at @begin_ns: tell the recorder about the new objects. */
void modules_after_dlopen(uint64_t begin_ns);

/* COLD. Free the list: there is no recorder any more. */
void modules_drop(void);

/* COLD, in a forked child. */
void modules_after_fork(void);

/*
 * COLD, at the start and after each dlopen, for libmcount/python: looks for a Python interpreter.
 * Its functions are reported from the moment when it begins to run a program. True when the
 * interpreter was found just now.
 */
bool modules_look_for_python(void);

#endif
