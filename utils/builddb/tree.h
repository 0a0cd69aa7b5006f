/* The executions of a recording as JSON, and as a picture. */
#ifndef UTRAIL_BUILDDB_TREE_H
#define UTRAIL_BUILDDB_TREE_H

#include "utils/base/sink.h"
#include "utils/pipeline/recording/executions.h"
#include "utils/pipeline/recording/files.h"

/*
 * An array with an object for each of them. Keys are those of etrace's (utrail-build(1)); what is
 * known beyond these has keys of whole words.
 * @files: what they did to files, or NULL when that is not known. Text that is not UTF-8 has U+FFFD
 * in it (sink.has_broken).
 */
void tree_json(const struct executions *executions, const struct files *files, struct sink *sink);

/* For graphviz: a node for each program that was run, an edge to each one that it has run. */
void tree_dot(const struct executions *executions, struct sink *sink);

#endif
