/* Whether anything in a file jumps into the middle of bytes that are to be overwritten. */
#ifndef UTRAIL_OBJECT_ENTRANCES_H
#define UTRAIL_OBJECT_ENTRANCES_H

#include "utils/object/code.h"
#include "arch/insn.h"

#define WINDOW_BYTES 5 /* a jump that reaches 2 GiB */

#define WINDOW_BEFORE 24 /* how far in front of a place its jump may be */

/*
 * What surrounds a place in the code. A jump that is written to @site or before it overwrites WINDOW_BYTES, of which nothing may
 * lead to any but the first.
 *
 * @is_padding: it is no part of any function, and need not be. Filled in by the caller, like @site
 * @why_not: nothing may be written here, with the reason; NULL: not known yet. All reasons live for ever
 * @led_to: for each byte from @site - WINDOW_BEFORE on what leads to it, or NULL
 */
struct window {
	uint64_t site;
	bool is_padding;
	const char *why_not;
	const char *led_to[WINDOW_BEFORE + WINDOW_BYTES];
};

/*
 * Why a jump of @bytes may not be written to @from, at most WINDOW_BEFORE in front of the site, so that whoever comes to the site
 * comes by; NULL: nothing is known against it.
 */
const char *window_check(const struct window *window, uint64_t from, unsigned bytes);

/*
 * Look for whatever leads into one of the @nr windows, which are sorted by site and of which only that is filled in:
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
