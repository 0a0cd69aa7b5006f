/*
 * Walks through dependencies: from contents of files to executions, and on to contents, in one
 * direction of time.
 */
#ifndef UTRAIL_BUILDDB_DEPS_WALK_H
#define UTRAIL_BUILDDB_DEPS_WALK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "utils/pipeline/recording/executions.h"
#include "utils/pipeline/recording/files.h"

struct deps_step;

/*
 * An execution depends on all contents that it has read, and contents on all executions that have
 * written to them before. A read after the last write, or a write before the first read, makes
 * no dependency. A fork's child depends on its parent up to the fork, an execve(2)'s new
 * program on nothing before it.
 *
 * Each content and each execution is walked through once, at the time when most of the others
 * count; a heap provides that order. All walks share the cost limit of @files (files_spend()).
 *
 * @is_forward: from inputs to outputs; else the other way
 * @stops_at_files: contents that are left at the end are reached and not walked through, but those
 *                 that it begins with
 * @reached, @nr_reached: the contents, in the order in which they were reached
 * @seen, @round: the round in which a content, or after these an execution, was reached last
 */
struct deps_walk {
	const struct executions *executions;
	struct files *files;
	bool is_forward;
	bool stops_at_files;
	uint32_t *reached;
	size_t nr_reached;
	uint32_t *seen;
	uint32_t round;
	struct deps_step *heap;
	size_t nr_heap;
	size_t cap_heap;
};

/* 0 or -ENOMEM. Ends with deps_walk_deinit() in any case. */
int deps_walk_init(struct deps_walk *walk, const struct executions *executions,
		   struct files *files);
void deps_walk_deinit(struct deps_walk *walk);
#define cleanup_deps_walk cleanup(deps_walk_deinit)

/*
 * Begin a new round: the reached nodes are reset. Then it starts at one or several of these. 0,
 * -ENOMEM, or -EDQUOT: that costs too much.
 */
void deps_walk_begin(struct deps_walk *walk);
int deps_walk_from_content(struct deps_walk *walk, uint32_t content);
int deps_walk_from_execution(struct deps_walk *walk, size_t execution);
int deps_walk_go(struct deps_walk *walk);

#endif
