/* Pairs of caller and callee. For each pair, the calls and times in a call tree are added up. */
#ifndef UTRAIL_VIEW_CALLERS_H
#define UTRAIL_VIEW_CALLERS_H

#include <stddef.h>
#include <stdint.h>

#include "utils/base/err.h"
#include "utils/view/graph/tree.h"

/*
 * Calls of @callee by @caller.
 *
 * @caller: NULL: the caller was not recorded
 * @total_ns: the time of the calls; a nested call of @callee adds nothing
 */
struct call_pair {
	const struct func *caller;
	const struct func *callee;
	uint64_t calls;
	uint64_t total_ns;
	uint64_t self_ns;
};

/*
 * @pairs: sorted by the names of caller and callee
 *
 * Starts as { 0 }.
 */
struct callers {
	struct call_pair *pairs;
	size_t nr;
};

/*
 * Without @of_counter, add up the times of all pairs. With @of_counter, add up the values that
 * tree_counters_spread() has set in @tree. Returns 0, or -ENOMEM with @err.
 */
int callers_add_up(struct callers *callers, const struct tree *tree, bool of_counter,
		   struct uft_err *err);
void callers_deinit(struct callers *callers);

#endif
