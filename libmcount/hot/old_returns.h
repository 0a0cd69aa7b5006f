/* Return addresses of frames that were given up, for calls that return through us after all. */
#ifndef UTRAIL_LIBMCOUNT_OLD_RETURNS_H
#define UTRAIL_LIBMCOUNT_OLD_RETURNS_H

#include <stdint.h>

/*
 * When a frame counts as abandoned, its slot gets the program's own address back. But before that
 * the program may have copied the trampoline's address from the slot. swapcontext(3) does so when
 * it is called by a jump (a tail call), and hand-made coroutines may do so. When the copy is used,
 * the program comes to the trampoline for a frame that is not open any more.
 *
 * Fixed size, no allocation; of two slots that fall on one place the newer one stays. Any thread,
 * signal-safe.
 */

/* Remember where the frame with @slot goes on. */
void old_returns_put(uint64_t slot, uint64_t ret);

/* Returns the value that was noted last for @slot; 0 when there is none, or it was overwritten. */
uint64_t old_returns_get(uint64_t slot);

#endif
