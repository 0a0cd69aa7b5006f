/* The process' arena, mapped only as far as it is used (see arena.c). */
#ifndef UTRAIL_LIBMCOUNT_ARENA_H
#define UTRAIL_LIBMCOUNT_ARENA_H

#include "libmcount/hot/probe.h"

/*
 * COLD, or SLOW in a forked child: take over the arena that @fd refers to, which is not needed
 * afterwards; mappings of the former one are removed. False when it cannot be mapped, or is not
 * valid.
 */
bool arena_adopt(int fd);

/* COLD. Unmap all of it: no thread writes to a ring any more. */
void arena_drop(void);

/*
 * SLOW: a ring that was free, claimed by us; NULL when there is none, or no address space for one.
 */
struct ring *arena_claim_ring(void);

#endif
