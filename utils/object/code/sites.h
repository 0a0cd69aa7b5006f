/*
 * Places in the code of a file where a jump may be written. The jump leads to moved instructions,
 * which keep the behaviour of the program.
 */
#ifndef UTRAIL_OBJECT_SITES_H
#define UTRAIL_OBJECT_SITES_H

#include "utils/object/code/entrances.h"

#define SITE_REASON_MAX 160

/* Returns @refusal in general words. code_site.why_not has the details for one site. */
const char *site_refusal_text(enum site_refusal refusal);

/*
 * A place for a jump: the first byte of an instruction. The caller sets @addr and @entry.
 *
 * @addr: the address of the place as stated in the file, before relocation
 * @entry: the start of the function, if @addr is the function's first instruction. @entry is also
 *         set if @addr follows the `endbr64` with which the function begins. In all other cases,
 *         @entry is 0. If @entry is set, no loop of the function may lead back to the jump that is
 *         written for the site. Otherwise each pass of the loop would be recorded as a new call
 * @is_inner: the jump of the previous site overwrites this site, which has no jump of its own. The
 *         code of the previous site ends where the code of this site begins
 * @is_loop: the function jumps back into bytes that the jump of the site overwrites. The moved
 *         code therefore contains the whole loop
 * @refusal: enum site_refusal
 * @why_not: the reason in detail; "" when a jump may be written
 * @jump_at: address of the jump: @addr or, if there is no room after @addr, a little before @addr;
 *         undefined for an inner site
 * @island: address of a long jump in padding, to which a short jump at @jump_at leads; 0: the jump
 *         at @jump_at is long
 * @original, @island_original: the original code at @jump_at and at @island
 * @before: the moved code from @jump_at to @addr; empty when @jump_at is @addr
 * @code: the moved code of the site. If the end of this code can be reached, and the next site is
 *         not @is_inner, the code includes a final jump to the first instruction that was not moved
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
 * Like sites_prepare_with(), but without islands. Several threads may prepare the sites of
 * different functions at the same time and in any order. Each thread must have its own @insns.
 *
 * @sites: all sites of one function or of successive functions, followed by the first site after
 *         these functions (if such a site exists)
 */
int sites_prepare_near(const struct code *code, struct insns *insns, const struct leads *leads,
		       struct code_site *sites, size_t nr);

/*
 * Prepare the @nr sites, which must be sorted by address. The caller must check that no thread
 * executes bytes that are overwritten. Returns 0 or -ENOMEM.
 */
int sites_prepare(const struct code *code, struct insns *insns, struct code_site *sites, size_t nr);

/*
 * Like sites_prepare(). @leads: references that leads_find() has found. @leads must have all
 * references to the sites, and may have references to other places.
 */
int sites_prepare_with(const struct code *code, struct insns *insns, const struct leads *leads,
		       struct code_site *sites, size_t nr);

/* Two sites do not affect each other if they are at least this many bytes apart. */
#define SITES_APART 256

#endif
