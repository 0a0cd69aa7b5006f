/* Islands: padding between functions, with room for long jumps. Short jumps lead to the islands. */
#ifndef UTRAIL_OBJECT_ISLANDS_H
#define UTRAIL_OBJECT_ISLANDS_H

#include "utils/object/code/sites.h"

#define SHORT_JUMP_BYTES 2

/*
 * WINDOW_BYTES of padding at @addr. Nothing refers to these bytes, and no code continues into them.
 */
struct island {
	uint64_t addr;
	bool is_used;
};

/* Islands sorted by address. Starts as { 0 } and ends with islands_deinit(). */
struct islands {
	struct island *islands;
	size_t nr;
};

void islands_deinit(struct islands *islands);
#define cleanup_islands cleanup(islands_deinit)

/*
 * Find islands for the sites whose @refusal is not SITE_CAN. At these sites, no long jump can be
 * written. A short jump may begin at such a site or a little before the site. Each island is within
 * reach of such a short jump. No island overlaps the long jump of another site. Returns 0 or
 * -ENOMEM.
 */
int islands_find(const struct code *code, struct insns *insns, const struct code_site *sites,
		 size_t nr, struct islands *out);

/* Find an unused island within reach of a short jump at @from. Returns NULL when there is none. */
struct island *islands_near(const struct islands *islands, uint64_t from);

#endif
