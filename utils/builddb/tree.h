/* The executions of a recording as JSON, and as a picture. */
#ifndef UTRAIL_BUILDDB_TREE_H
#define UTRAIL_BUILDDB_TREE_H

#include "utils/base/sink.h"
#include "utils/pipeline/recording/executions.h"
#include "utils/pipeline/recording/files.h"

/*
 * Write an array with an object for each execution. Keys are those of etrace (utrail-build(1));
 * further facts have whole words as keys.
 * @files: the uses of files, or NULL when they are not known. Text that is not UTF-8 has U+FFFD in
 * it (sink.has_broken).
 */
void tree_json(const struct executions *executions, const struct files *files, struct sink *sink);

/*
 * Write a graph for graphviz: a node for each program that was run, and an edge to each program
 * that it has run.
 */
void tree_dot(const struct executions *executions, struct sink *sink);

#endif
