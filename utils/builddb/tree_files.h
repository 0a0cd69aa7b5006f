/* JSON about each execution: the files that it used ("o"), and the readers of its pipes ("i"). */
#ifndef UTRAIL_BUILDDB_TREE_FILES_H
#define UTRAIL_BUILDDB_TREE_FILES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "utils/base/sink.h"
#include "utils/pipeline/recording/executions.h"
#include "utils/pipeline/recording/files.h"

/* Returns a unique number of the process, with its pid in the lower bits. */
unsigned long long tree_process_number(const struct execution *execution);

/*
 * The maximum number of elements in all arrays of tree_readers_json() together. An element takes
 * some 25 bytes of JSON.
 */
#define TREE_READERS_MAX 4000000UL

/*
 * Returns an upper limit of the number of elements in all arrays of tree_readers_json() together.
 * A pipe counts as the number of executions that can write to it, times the number of executions
 * that can read from it.
 */
uint64_t tree_count_readers(const struct files *files);

/*
 * Write ,"i":[...]: the executions that can read from a pipe to which execution @at can write. The
 * list leaves out all executions of the process to which @at belongs.
 */
void tree_readers_json(const struct executions *executions, const struct files *files, size_t at,
		       struct sink *sink);

/*
 * Write ,"o":[...]: the files that execution @at has opened, renamed or linked, with their current
 * modes and sizes.
 */
void tree_files_json(const struct executions *executions, const struct files *files, size_t at,
		     struct sink *sink);

#endif
