/* The executions of a recording as JSON, and as a picture. */
#ifndef UTRAIL_BUILDDB_TREE_H
#define UTRAIL_BUILDDB_TREE_H

#include "utils/base/sink.h"
#include "utils/pipeline/recording/executions.h"
#include "utils/pipeline/recording/files.h"

/*
 * Write a JSON array with one object for each execution. The keys of one letter are the same as in
 * etrace's output (utrail-build(1)). All other keys are whole words. Bytes that are not UTF-8
 * become U+FFFD, and sink.has_broken becomes true.
 *
 * @files: the uses of files, or NULL when these uses are unknown
 */
void tree_json(const struct executions *executions, const struct files *files, struct sink *sink);

/*
 * Write a graph for graphviz: a node for each execution, except for forked children that only call
 * execve(2). Edges lead to the next execution of the same process, and to executions of children.
 */
void tree_dot(const struct executions *executions, struct sink *sink);

#endif
