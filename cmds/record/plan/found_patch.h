/* A possible patch of a file. The patch is the same for all processes that use the file. */
#ifndef UTRAIL_CMDS_RECORD_PLAN_FOUND_PATCH_H
#define UTRAIL_CMDS_RECORD_PLAN_FOUND_PATCH_H

#include "arch/insn.h"
#include "utils/base/containers/strbuf.h"
#include "utils/format/probe/plan.h"
#include "utils/object/code/sites.h"

/*
 * @patch: addresses are as in the file; load_bias and the code are not set. found_patch_bind()
 *         makes the complete struct plan_patch
 * @code: the code of the stub. code.from is the site. code.len is 0 if there is no code
 * @func: the start of the function that is patched; 0: the patch is for an event
 * @is_out: the patch is possible, but must not be made
 */
struct found_patch {
	struct plan_patch patch;
	struct insn_code code;
	uint64_t func;
	bool is_out;
};

/*
 * True when the patch starts or ends the recording of its function. The function's other patches
 * assist this patch.
 */
static inline bool found_patch_is_function(const struct found_patch *found)
{
	return !(found->patch.flags & PLAN_PATCH_SILENT) &&
	       (found->patch.what == PATCH_ENTRY || found->patch.what == PATCH_CALL ||
		found->patch.what == PATCH_XRAY_ENTRY || found->patch.what == PATCH_NOP);
}

/*
 * Append up to three patches for @site to @found, in this order:
 *
 * - a patch at site->island, if the site has an island (sites.h)
 * - a patch at site->jump_at, if this address is before the site
 * - the patch at the site
 *
 * An inner site (site->is_inner) gets only the last of these patches.
 *
 * @site: a site at which a jump may be written
 * @patch: describes the work of the site's stub
 */
void found_patch_add_site(struct strbuf *found, const struct code_site *site,
			  struct plan_patch patch, uint64_t func);

/*
 * Append a struct plan_patch to @out: found->patch with the code in found->code. In the new struct,
 * the addresses are higher by @bias than in @found. An address of 0 means no address, and stays 0.
 */
void found_patch_bind(const struct found_patch *found, uint64_t bias, struct strbuf *out);

/* Returns the number of bytes at the site that are overwritten or moved. */
uint64_t found_patch_reach(const struct found_patch *found);

/*
 * True when the patch shares no bytes with the first @nr patches in @patches, a list of struct
 * plan_patch. Only patches of the same module are compared.
 */
bool found_patch_is_free(const struct found_patch *found, uint64_t bias,
			 const struct strbuf *patches, size_t nr);

/*
 * One patch in an index.
 *
 * @func: the start of the patch's function
 * @number: the position of the patch in the list of struct found_patch, counted from 0
 */
struct found_index_entry {
	uint64_t func;
	uint64_t number;
};

/*
 * An index of patches by their functions. Starts as { 0 } and ends with found_index_deinit().
 *
 * @entries: a list of struct found_index_entry, sorted by @func and then by @number
 */
struct found_index {
	struct strbuf entries;
};

void found_index_deinit(struct found_index *index);

/*
 * Add to the index the patches that were appended to @found since the last call. @found is a list
 * of struct found_patch. If memory runs out, the index becomes empty.
 */
void found_index_update(struct found_index *index, const struct strbuf *found);

/*
 * Returns the first entry whose function starts in [@start, @end). @nr gets the number of such
 * entries.
 */
const struct found_index_entry *found_index_range(const struct found_index *index, uint64_t start,
						  uint64_t end, size_t *nr);

#endif
