/* Return addresses of frames that were given up, for calls that return through us after all. */
#ifndef UTRAIL_LIBMCOUNT_OLD_RETURNS_H
#define UTRAIL_LIBMCOUNT_OLD_RETURNS_H

#include <stdint.h>

/*
 * When a frame counts as abandoned, its slot gets the program's own address back. But before that
 * the program may have copied the trampoline's address from the slot. swapcontext(3) does so when
 * it is called by a jump (a tail call), and hand-made coroutines may do so. When the program uses
 * the copy, it comes to the trampoline for a frame that is not open any more.
 *
 * The table has a fixed size; a newer slot takes the place of an older one. Signal-safe.
 */

/* Notes the address where the frame with @slot goes on. */
void old_returns_put(uint64_t slot, uint64_t ret);

/* Returns the address that was noted last for @slot; 0 when it is not there any more. */
uint64_t old_returns_get(uint64_t slot);

#endif
