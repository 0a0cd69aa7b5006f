/*
 * Places in a file's code where a jump may be written, and the code for the jump's target that
 * preserves the program's behaviour.
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
 * @entry: the start of the function whose first movable instruction this is
 *         (after the mark for indirect jumps); 0: it is not at a function's start. Filled in by the
 *         caller. Jumps within the function to it are no calls, and never use the
 *         jump
 * @refusal: enum site_refusal
 * @why_not: the same in detail; "" when there may be one
 * @is_inner: it is within the bytes that the previous site's jump replaces: it has no jump, but
 *            the code of the previous site ends where this one's begins
 * @is_loop: jumps at the function's beginning lead back to it, and were moved with it
 * @jump_at: the address that the jump is written to: @addr, or a little before it, if there is no
 *           room after it; not when it is inner
 * @island: a second jump in padding, the target of the short one at @jump_at; 0: that is a
 *          long one
 * @original, @island_original: the original code
 * @before: the code between @jump_at and @addr; empty when these are the same
 * @code: the code to run before the program continues. It ends with a jump there, unless the next
 *        site is inner
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
 * Prepare the @nr sites, sorted by address, as far as possible without islands. @leads: of these
 * places and of any others. Sites of one function come in one call, together with the first one of
 * the next function. Sites of different functions are independent, so calls for them may come in
 * any order, or in threads with @insns of their own. 0 or -ENOMEM.
 */
int sites_prepare_near(const struct code *code, struct insns *insns, const struct leads *leads,
		       struct code_site *sites, size_t nr);

/*
 * Prepare the @nr sites, sorted by address. The caller must check whether the program may be
 * running there meanwhile. 0 or -ENOMEM.
 */
int sites_prepare(const struct code *code, struct insns *insns, struct code_site *sites, size_t nr);

/* The same with references found earlier (leads_find()) */
int sites_prepare_with(const struct code *code, struct insns *insns, const struct leads *leads,
		       struct code_site *sites, size_t nr);

/* Two sites at this distance do not affect each other. */
#define SITES_APART 256

#endif
