/* Whether anything in a file jumps into the middle of bytes that are to be overwritten. */
#ifndef UTRAIL_OBJECT_ENTRANCES_H
#define UTRAIL_OBJECT_ENTRANCES_H

#include "utils/object/code.h"
#include "utils/object/insn.h"

#define WINDOW_BYTES 5 /* a jump that reaches 2 GiB */

/*
 * Bytes from @start on that are to be overwritten. They may be if nothing comes to one of them but the first, except by running
 * through them.
 *
 * @why_not: NULL while nothing is known that does; a text that goes on "... behind it" and lives for ever
 */
struct window {
	uint64_t start;
	const char *why_not;
};

/*
 * Look for whatever leads into one of the @nr windows, which are sorted by start:
 *
 *  - jumps and calls by a distance: within the functions around, instruction by instruction; from anywhere else whatever could be
 *    one of 32 bits, from any byte on (those of 8 bits do not come from further away)
 *  - tables of distances (switch): from each address in read-only data that some code takes, as long as the entries lead to code
 *  - tables of addresses: any aligned word of data, and the relocations that make one
 *  - where exceptions land
 *
 * What is no function, or contains what is no instruction, has windows that may not be used. So has one that no function holds.
 * -ENOMEM, else 0.
 */
int entrances_find(const struct code *code, struct insns *insns, struct window *windows, size_t nr);

#endif
