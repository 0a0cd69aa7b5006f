/* Pairs of callers and callees: a call tree added up by pairs of functions. */
#ifndef UTRAIL_VIEW_CALLERS_H
#define UTRAIL_VIEW_CALLERS_H

#include <stddef.h>
#include <stdint.h>

#include "utils/base/err.h"
#include "utils/view/graph/tree.h"

/*
 * Calls of @callee by @caller.
 *
 * @caller: NULL: no recorded function
 * @total_ns: the time of those calls that are not within another call of @callee
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
 * After tree_counters_spread(): add up the counter of that call, instead of the times. Returns 0 or
 * -ENOMEM with @err.
 */
int callers_add_up_counter(struct callers *callers, const struct tree *tree, struct uft_err *err);

/* Add up the times of all pairs. Returns 0 or -ENOMEM with @err. */
int callers_add_up(struct callers *callers, const struct tree *tree, struct uft_err *err);
void callers_deinit(struct callers *callers);

#endif
