/*
 * Walks along dependencies between contents of files (files.h) and executions of programs
 * (executions.h). A walk forwards in time leads from a content to the executions that have read the
 * content, then to the contents that these executions have written, and so on. A walk backwards in
 * time leads in the opposite direction.
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
 * A content is the data of a file (files.h). At a time T, an execution depends on all contents that
 * the execution has read before T. A content depends on all executions that have written to the
 * content before T. A forked child depends on its parent up to the fork. An execution that begins
 * with execve(2) does not depend on the earlier executions of its process.
 *
 * A walk visits each content and each execution once. Each visit has a time T. From this visit, a
 * walk forwards follows only dependencies after T, and a walk backwards only dependencies before T.
 * Several paths may lead to the same content or execution, with different times. A walk forwards
 * takes the earliest of these times, and a walk backwards the latest. A visit at any other time
 * would find no additional dependency. A heap keeps the visits in the order of their times. All
 * walks share the cost limit of @files (files_spend()).
 *
 * @is_forward: the walk leads from inputs to outputs; otherwise, from outputs to inputs
 * @stops_at_files: the walk does not continue from a file that exists at the end of the recording
 *         (files_is_left()), unless the walk begins at this file
 * @reached, @nr_reached: the contents, in the order in which they were reached
 * @round: the number of the present walk
 * @seen: one element for each content, then one element for each execution: the number of the last
 *         walk that has visited this content or execution
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

/* Returns 0 or -ENOMEM. In both cases the caller ends @walk with deps_walk_deinit(). */
int deps_walk_init(struct deps_walk *walk, const struct executions *executions,
		   struct files *files);
void deps_walk_deinit(struct deps_walk *walk);
#define cleanup_deps_walk cleanup(deps_walk_deinit)

/*
 * For a walk, call deps_walk_begin(), then deps_walk_from_*() for one or more nodes, and then
 * deps_walk_go(). Errors are -ENOMEM, and -EDQUOT when the walk costs too much.
 */
void deps_walk_begin(struct deps_walk *walk);
int deps_walk_from_content(struct deps_walk *walk, uint32_t content);
int deps_walk_from_execution(struct deps_walk *walk, size_t execution);
int deps_walk_go(struct deps_walk *walk);

#endif
