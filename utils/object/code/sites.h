/*
 * Places in a file's code where a jump may be written, and the code for the jump's target that
 * preserves the program's behaviour.
 */
#ifndef UTRAIL_OBJECT_SITES_H
#define UTRAIL_OBJECT_SITES_H

#include "utils/object/code/entrances.h"

#define SITE_REASON_MAX 160

/* Returns the reason in words, without the details that why_not has. */
const char *site_refusal_text(enum site_refusal refusal);

/*
 * A place for a jump: the first byte of an instruction.
 *
 * @addr: the file's own address of the place; filled in by the caller
 * @entry: the start of the function whose first movable instruction (after the mark for indirect
 *         jumps) is at @addr; 0: @addr is not at a function's start. Filled in by the caller. Jumps
 *         within the function to @addr are not calls: they never take the written jump
 * @refusal: enum site_refusal
 * @why_not: the reason in detail; "" when a jump may be written
 * @is_inner: the site is within the bytes that the previous site's jump replaces. So it has no
 *            jump: the code of the previous site ends where the code of this one begins
 * @is_loop: jumps at the function's beginning lead back to the site, and were moved with it
 * @jump_at: the address that the jump is written to: @addr, or a little before it if there is no
 *           room after it; not for an inner site
 * @island: a long jump in padding, the target of a short jump at @jump_at; 0: the jump at @jump_at
 *          is a long one
 * @original, @island_original: the original code
 * @before: the code between @jump_at and @addr; empty when these are the same
 * @code: the moved code, which runs before the program continues. It ends with a jump to the rest
 *        of the function, unless the next site is inner
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
 * Prepare the @nr sites, sorted by address, as far as possible without islands. @leads: references
 * to these places, and to any others. Sites of one function come in one call, together with the
 * first site of the next function. Sites of different functions are independent, so calls for them
 * may come in any order, or in threads with @insns of their own. 0 or -ENOMEM.
 */
int sites_prepare_near(const struct code *code, struct insns *insns, const struct leads *leads,
		       struct code_site *sites, size_t nr);

/*
 * Prepare the @nr sites, sorted by address. A thread may be in bytes that are overwritten: the
 * caller must check that. 0 or -ENOMEM.
 */
int sites_prepare(const struct code *code, struct insns *insns, struct code_site *sites, size_t nr);

/* Like sites_prepare(), with references that leads_find() has found. */
int sites_prepare_with(const struct code *code, struct insns *insns, const struct leads *leads,
		       struct code_site *sites, size_t nr);

/* Two sites at this distance do not affect each other. */
#define SITES_APART 256

#endif
