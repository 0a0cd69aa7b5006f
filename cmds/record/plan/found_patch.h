/*
 * A place that was found in a file and is to be patched, the same for all processes that have the
 * file.
 */
#ifndef UTRAIL_CMDS_RECORD_PLAN_FOUND_PATCH_H
#define UTRAIL_CMDS_RECORD_PLAN_FOUND_PATCH_H

#include "arch/insn.h"
#include "utils/base/containers/strbuf.h"
#include "utils/format/probe/plan.h"
#include "utils/object/code/sites.h"

/*
 * @patch: with the file's own addresses; load_bias, code and what belongs to it are not filled in
 * @code: the code of the stub; @from is the site. Without code @len is 0
 * @func: the beginning of the function that it is for; 0: it is an event
 * @is_out: it could be patched, and is not to be
 */
struct found_patch {
	struct plan_patch patch;
	struct insn_code code;
	uint64_t func;
	bool is_out;
};

/* It stands for its function, of which there is one such: others are what that one needs. */
static inline bool found_patch_is_function(const struct found_patch *found)
{
	return !(found->patch.flags & PLAN_PATCH_SILENT) &&
	       (found->patch.what == PATCH_ENTRY || found->patch.what == PATCH_CALL ||
		found->patch.what == PATCH_XRAY_ENTRY || found->patch.what == PATCH_NOP);
}

/*
 * Append to @found what is written for a site that can have its jump: @patch is what the stub there
 * does. Those that belong together follow each other: an island, what is done before the site, the
 * site.
 */
void found_patch_add_site(struct strbuf *found, const struct code_site *site,
			  struct plan_patch patch, uint64_t func);

/*
 * Add the patch to the PLAN_PATCHES in @out for a process in which the file's addresses are @bias
 * higher.
 */
void found_patch_bind(const struct found_patch *found, uint64_t bias, struct strbuf *out);

/* The number of bytes from its site on that are replaced, or done elsewhere. */
uint64_t found_patch_reach(const struct found_patch *found);

/*
 * True when no patch of this module among the first @nr in @patches, a list of struct plan_patch,
 * shares bytes with it.
 */
bool found_patch_is_free(const struct found_patch *found, uint64_t bias,
			 const struct strbuf *patches, size_t nr);

/*
 * Patches by their functions, for looking up single ones of many. Starts as { 0 }, ends with
 * found_index_deinit().
 *
 * @entries: of each patch where its function begins, and its number, sorted
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
 * Know those of @found, a list of struct found_patch that may have become longer since. Without
 * memory there are none.
 */
void found_index_update(struct found_index *index, const struct strbuf *found);

/* All whose functions begin in [@start, @end): @nr entries from the one that is returned on. */
const struct found_index_entry *found_index_range(const struct found_index *index, uint64_t start,
						  uint64_t end, size_t *nr);

#endif
