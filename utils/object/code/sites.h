/*
 * Places in a file's code where a jump may be written, and the code that the jump must lead to so
 * that nothing is missed.
 */
#ifndef UTRAIL_OBJECT_SITES_H
#define UTRAIL_OBJECT_SITES_H

#include "utils/object/code/entrances.h"

#define SITE_REASON_MAX 160

/* In words, without the details that why_not has. */
const char *site_refusal_text(enum site_refusal refusal);

/*
 * One place, an instruction's first byte.
 *
 * @addr: the file's own address; filled in by the caller
 * @entry: the beginning of the function of which this is the first instruction that may be moved
 *         (after the mark where indirect jumps may land); 0: it is no function's beginning. Filled
 *         in by the caller. Jumps within the function that lead there are no calls, and never come
 *         by
 * @refusal: enum site_refusal
 * @why_not: the same in detail; "" when there may be one
 * @is_inner: it is among the bytes that the jump of the site before it replaces: there is none for
 *            this one, but the code of that site ends where this one's begins
 * @is_loop: jumps at the function's beginning lead back to it, and were moved with it
 * @jump_at: the address that the jump is written to: @addr, or a little before it, if there is no
 *           room after it; not when it is inner
 * @island: a second jump in padding, to which the one at @jump_at, a short one, leads; 0: that is a
 *          long one
 * @original, @island_original: the code that is there
 * @before: the code between @jump_at and @addr; empty when these are the same
 * @code: the code to run there before the program goes on. It leads there itself, unless the next
 *        one is inner
 */
struct code_site {
	uint64_t addr;
	uint64_t entry;
	bool is_inner;
	bool is_loop;
	uint8_t refusal;
	char why_not[SITE_REASON_MAX];
	uint64_t jump_at;
	uint64_t island;
	uint8_t original[WINDOW_BYTES];
	uint8_t island_original[WINDOW_BYTES];
	struct insn_code before;
	struct insn_code code;
};

/*
 * Find out about the @nr sites, sorted by address, as far as it goes without islands. @leads: of
 * these places and of any others. Sites of one function come in one call, and so does the first one
 * of the function after it. Sites of different functions have nothing to do with each other, so
 * calls for them may come in any order, or in threads with @insns of their own. 0 or -ENOMEM.
 */
int sites_prepare_near(const struct code *code, struct insns *insns, const struct leads *leads,
		       struct code_site *sites, size_t nr);

/*
 * Find out about the @nr sites, sorted by address. The caller must know whether the program may be
 * running there meanwhile. 0 or -ENOMEM.
 */
int sites_prepare(const struct code *code, struct insns *insns, struct code_site *sites, size_t nr);

/* The same with references that were found before (leads_find()) */
int sites_prepare_with(const struct code *code, struct insns *insns, const struct leads *leads,
		       struct code_site *sites, size_t nr);

/* Two sites that are so far apart do not matter to each other. */
#define SITES_APART 256

#endif
