/*
 * A call path consists of the function of a call, and the functions of all calls around this call.
 * Each path is stored once.
 */
#ifndef UTRAIL_PIPELINE_CALLPATH_H
#define UTRAIL_PIPELINE_CALLPATH_H

#include <stddef.h>

#include "utils/pipeline/recording/module.h"

/*
 * The last call of a path: @func was called from the path @parent. @parent is NULL for an outermost
 * call. @addr is the address in the call's record.
 */
struct call_path {
	const struct call_path *parent;
	const struct func *func;
	uint64_t addr;
	size_t depth; /* the number of calls around this call */
};

/* All paths. They live as long as this struct. The struct starts as { 0 }. */
struct call_paths {
	struct call_path **slots; /* open addressing, never more than half full */
	size_t nr_slots;
	size_t nr;
};

void call_paths_deinit(struct call_paths *paths);

/* Get the path that goes on from @parent to @func. Returns NULL when memory is short. */
const struct call_path *call_paths_get(struct call_paths *paths, const struct call_path *parent,
				       const struct func *func, uint64_t addr);

#endif
