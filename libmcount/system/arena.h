/* The process' arena, of which only as much is mapped as is used (see arena.c). */
#ifndef UTRAIL_LIBMCOUNT_ARENA_H
#define UTRAIL_LIBMCOUNT_ARENA_H

#include "libmcount/hot/probe.h"

/*
 * COLD, or SLOW in a forked child: take over the arena that @fd refers to, which is not needed
 * afterwards; the former one's mappings go. False when it cannot be mapped or is none.
 */
bool arena_adopt(int fd);

/* COLD. All of it is unmapped: nobody writes to a ring any more. */
void arena_drop(void);

/*
 * SLOW: a ring that was free, claimed by us; NULL when there is none, or no address space for one.
 */
struct ring *arena_claim_ring(void);

#endif
