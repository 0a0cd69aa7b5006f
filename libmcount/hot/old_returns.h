/* Return addresses of frames that were given up, for calls that return through us after all. */
#ifndef UTRAIL_LIBMCOUNT_OLD_RETURNS_H
#define UTRAIL_LIBMCOUNT_OLD_RETURNS_H

#include <stdint.h>

/*
 * A frame that counts as abandoned gets its return address back into its slot. The program may have
 * copied the trampoline's address from the slot before (swapcontext(3) in a tail call, coroutines).
 * A return by the copy finds its address here.
 *
 * The table has a fixed size; a newer slot takes the place of an older one. Signal-safe.
 */

/* Notes the address where the frame with @slot goes on. */
void old_returns_put(uint64_t slot, uint64_t ret);

/* Returns the address that was noted last for @slot; 0 when it is not there any more. */
uint64_t old_returns_get(uint64_t slot);

#endif
