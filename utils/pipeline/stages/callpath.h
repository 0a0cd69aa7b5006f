/* Call paths: the functions that were open at a call, each path stored once. */
#ifndef UTRAIL_PIPELINE_CALLPATH_H
#define UTRAIL_PIPELINE_CALLPATH_H

#include <stddef.h>

#include "utils/pipeline/recording/module.h"

/*
 * One step: @func was called, with @addr in the record, on the path @parent; NULL for the outermost
 * one.
 */
struct call_path {
	const struct call_path *parent;
	const struct func *func;
	uint64_t addr;
	size_t depth; /* the number of steps before it */
};

/* All requested paths; they live as long as this. Starts as { 0 }. */
struct call_paths {
	struct call_path **slots; /* open addressing, never more than half full */
	size_t nr_slots;
	size_t nr;
};

void call_paths_deinit(struct call_paths *paths);

/* The path from @parent to @func. NULL when memory is short. */
const struct call_path *call_paths_get(struct call_paths *paths, const struct call_path *parent,
				       const struct func *func, uint64_t addr);

#endif
