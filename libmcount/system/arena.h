/* The process' arena, mapped only as far as it is used (see arena.c). */
#ifndef UTRAIL_LIBMCOUNT_ARENA_H
#define UTRAIL_LIBMCOUNT_ARENA_H

#include "libmcount/hot/probe.h"

/*
 * COLD, or SLOW in a forked child: take over the arena that @fd refers to; mappings of the former
 * arena are removed. @fd is not needed afterwards. False when the arena cannot be mapped, or is not
 * valid.
 */
bool arena_adopt(int fd);

/* COLD. Unmap the whole arena: no thread writes to a ring any more. */
void arena_drop(void);

/* SLOW: claims a free ring and returns it; NULL when there is none, or no address space for one. */
struct ring *arena_claim_ring(void);

#endif
