/*
 * Return addresses of frames that were given up. The calls of these frames may still return to the
 * trampoline.
 */
#ifndef UTRAIL_LIBMCOUNT_OLD_RETURNS_H
#define UTRAIL_LIBMCOUNT_OLD_RETURNS_H

#include <stdint.h>

/*
 * When a frame counts as abandoned, the probe writes the true return address back to the frame's
 * slot. The program may already have copied the trampoline's address from the slot (swapcontext(3)
 * in a tail call, coroutines). A return to the copied address finds the true address in this table.
 *
 * The table has a fixed size. If there is no free entry for a frame's slot, the entry of another
 * slot is replaced. Signal handlers may call the functions below.
 */

/* Stores @ret, the true return address of the frame with @slot. */
void old_returns_put(uint64_t slot, uint64_t ret);

/* Returns the address that was stored last for @slot, or 0 when the table has no entry of @slot. */
uint64_t old_returns_get(uint64_t slot);

#endif
