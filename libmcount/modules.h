/* The objects that are loaded into the process, as told to the recorder. */
#ifndef UTRAIL_LIBMCOUNT_MODULES_H
#define UTRAIL_LIBMCOUNT_MODULES_H

#include <stdbool.h>
#include <stdint.h>

#include "libmcount/channel.h"

/*
 * A hash that, beside its load address, tells a module from another one that is loaded later at the
 * same place. FNV-1a.
 */
static inline uint64_t module_path_hash(const char *path)
{
	uint64_t hash = 0xcbf29ce484222325ULL;

	for (; *path; path++)
		hash = (hash ^ (unsigned char)*path) * 0x100000001b3ULL;
	return hash;
}

/*
 * COLD. Send a MODULE packet for each object that was not reported yet. False when the channel
 * broke.
 */
bool modules_report_all(struct channel *ch);

/* COLD. A dlopen() returned that began at @begin_ns: tell the recorder about the new objects. */
void modules_after_dlopen(uint64_t begin_ns);

/* COLD. Give back what is kept of them: there is no recorder any more. */
void modules_drop(void);

/*
 * SLOW. Keep other threads from telling the recorder of modules, and from adding them to the plan;
 * false when one is at it.
 */
bool modules_try_lock(void);
void modules_unlock(void);

/* COLD, in a forked child. */
void modules_after_fork(void);

#endif
