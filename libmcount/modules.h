/* The objects that are loaded into the process, as told to the recorder, and what its plan says about them. */
#ifndef UTRAIL_LIBMCOUNT_MODULES_H
#define UTRAIL_LIBMCOUNT_MODULES_H

#include <stdbool.h>
#include <stdint.h>

#include "libmcount/channel.h"
#include "utils/format/plan.h"

/* COLD. Send a MODULE packet for each object that was not reported yet. False when the channel broke. */
bool modules_report_all(struct channel *ch);

/*
 * COLD. Obey the plan in memfd @fd: functions go into the table that the hooks look into, with their rules, and library
 * calls are hooked. False when the memfd is unusable or memory is short.
 */
bool modules_adopt_plan(int fd, const struct plan_counts *nr);

/* COLD. A dlopen() returned that began at @begin_ns: tell the recorder about the new objects. */
void modules_after_dlopen(uint64_t begin_ns);

/* COLD, in a forked child. */
void modules_after_fork(void);

#endif
