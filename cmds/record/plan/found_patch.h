/* A place in a file that can be patched, the same for all processes that have the file. */
#ifndef UTRAIL_CMDS_RECORD_PLAN_FOUND_PATCH_H
#define UTRAIL_CMDS_RECORD_PLAN_FOUND_PATCH_H

#include "arch/insn.h"
#include "utils/base/containers/strbuf.h"
#include "utils/format/probe/plan.h"
#include "utils/object/code/sites.h"

/*
 * @patch: with the file's own addresses; load_bias and the members about code are not filled in
 * @code: the code of the stub; @from is the site, and @len is 0 without code
 * @func: the beginning of the function that the patch is for; 0: it is for an event
 * @is_out: the patch could be made, but must not be
 */
struct found_patch {
	struct plan_patch patch;
	struct insn_code code;
	uint64_t func;
	bool is_out;
};

/* True when the patch records its function. A function's other patches only help that patch. */
static inline bool found_patch_is_function(const struct found_patch *found)
{
	return !(found->patch.flags & PLAN_PATCH_SILENT) &&
	       (found->patch.what == PATCH_ENTRY || found->patch.what == PATCH_CALL ||
		found->patch.what == PATCH_XRAY_ENTRY || found->patch.what == PATCH_NOP);
}

/*
 * Append to @found the patches for a site: an island, the patches before the site, the site.
 *
 * @site: a site that can have its jump
 * @patch: tells the work of the site's stub
 */
void found_patch_add_site(struct strbuf *found, const struct code_site *site,
			  struct plan_patch patch, uint64_t func);

/* Add the patch to the PLAN_PATCHES in @out, with addresses that are @bias higher. */
void found_patch_bind(const struct found_patch *found, uint64_t bias, struct strbuf *out);

/* Returns the number of bytes at the site that are replaced, or moved as instructions. */
uint64_t found_patch_reach(const struct found_patch *found);

/*
 * True when the patch shares no bytes with other patches of its module among the first @nr in
 * @patches, a list of struct plan_patch.
 */
bool found_patch_is_free(const struct found_patch *found, uint64_t bias,
			 const struct strbuf *patches, size_t nr);

/*
 * An index of patches by their functions. Starts as { 0 }.
 *
 * @entries: for each patch, the beginning of its function and the patch's number
 */
struct found_index_entry {
	uint64_t func;
	uint64_t number;
};

struct found_index {
	struct strbuf entries;
};

void found_index_deinit(struct found_index *index);

/*
 * Add the patches of @found, a list of struct found_patch, that were added to it since the last
 * call. Without memory the index becomes empty.
 */
void found_index_update(struct found_index *index, const struct strbuf *found);

/* Returns the first of @nr entries whose functions begin in [@start, @end). */
const struct found_index_entry *found_index_range(const struct found_index *index, uint64_t start,
						  uint64_t end, size_t *nr);

#endif
