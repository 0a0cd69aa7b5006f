/* Places in a file's code where a jump may be written, and what the jump must lead to so that nothing is missed. */
#ifndef UTRAIL_OBJECT_SITES_H
#define UTRAIL_OBJECT_SITES_H

#include "utils/object/entrances.h"

#define SITE_REASON_MAX 160

/*
 * One place, an instruction's first byte.
 *
 * @addr: the file's own address; the only member that the caller fills
 * @why_not: why there may be no jump; "" when there may
 * @is_inner: it is among the bytes that the jump of the site before it replaces: there is none for this one, but the code of that
 *            site ends where this one's begins
 * @jump_at: where the jump is written: @addr, or a little before it, if there is no room behind; not when it is inner
 * @island: where else a jump is written, in padding, to which the one at @jump_at, a short one, leads; 0: that is a long one
 * @original, @island_original: what is there
 * @before: what is done between @jump_at and @addr; nothing when these are the same
 * @code: what is to be done there before the program goes on, which the code itself leads to, unless the next one is inner
 */
struct code_site {
	uint64_t addr;
	bool is_inner;
	char why_not[SITE_REASON_MAX];
	uint64_t jump_at;
	uint64_t island;
	uint8_t original[WINDOW_BYTES];
	uint8_t island_original[WINDOW_BYTES];
	struct insn_code before;
	struct insn_code code;
};

/*
 * Find out about the @nr sites, sorted by address. Whether the program may be running there meanwhile is the caller's question. 0 or
 * -ENOMEM.
 */
int sites_prepare(const struct code *code, struct insns *insns, struct code_site *sites, size_t nr);

#endif
