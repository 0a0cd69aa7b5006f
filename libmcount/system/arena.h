/* The process' arena, mapped only as far as it is used (see arena.c). */
#ifndef UTRAIL_LIBMCOUNT_ARENA_H
#define UTRAIL_LIBMCOUNT_ARENA_H

#include "libmcount/hot/probe.h"

/*
 * COLD, or SLOW in a forked child. Maps the header of the new arena from the descriptor @fd, in
 * place of the former header. Unmaps the rings of the former arena. If arena_replace_ring() was
 * called for one of these rings, all of them stay mapped instead. The caller may close @fd
 * afterwards. False when the new arena cannot be mapped or is not valid.
 */
bool arena_adopt(int fd);

/* COLD. Unmap the whole arena. Call this only after all threads have stopped writing to rings. */
void arena_drop(void);

/*
 * SLOW. Claims a free ring. Returns NULL when no mapped ring is free and no further ring can be
 * mapped: all rings are mapped, there is no address space, or a seccomp filter forbids the system
 * call (seal.h).
 */
struct ring *arena_claim_ring(void);

/*
 * COLD, in a forked child. Replaces the parent's @ring by a private ring at the same address. If a
 * signal handler has interrupted a hook and forked, the hook goes on in the child, and writes to
 * the private ring. At first the private ring has no unread records. If there is no memory, the
 * child keeps the parent's @ring.
 */
void arena_replace_ring(struct ring *ring);

#endif
