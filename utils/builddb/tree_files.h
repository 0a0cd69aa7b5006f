/* The acts of executions on files, as parts of their objects in JSON. */
#ifndef UTRAIL_BUILDDB_TREE_FILES_H
#define UTRAIL_BUILDDB_TREE_FILES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "utils/base/sink.h"
#include "utils/pipeline/recording/executions.h"
#include "utils/pipeline/recording/files.h"

/* Returns a number of its own for each process, with the system's number in its lower bits. */
unsigned long long tree_process_number(const struct execution *execution);

/* The limit of listed readers of pipes for all writers; each is some 25 bytes. */
#define TREE_READERS_MAX 4000000UL

/*
 * Returns an upper limit of the readers that all calls of tree_readers_json() list together: for
 * each pipe its writers times its readers.
 */
uint64_t tree_count_readers(const struct files *files);

/*
 * Write ,"i":[...]: the executions of other processes that can read from a pipe to which the
 * execution @at writes.
 */
void tree_readers_json(const struct executions *executions, const struct files *files, size_t at,
		       struct sink *sink);

/* Write ,"o":[...]: the opened, renamed and linked files, with their current modes and sizes. */
void tree_files_json(const struct executions *executions, const struct files *files, size_t at,
		     struct sink *sink);

#endif
