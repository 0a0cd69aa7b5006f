/* The acts of executions on files, as parts of their objects in JSON. */
#ifndef UTRAIL_BUILDDB_TREE_FILES_H
#define UTRAIL_BUILDDB_TREE_FILES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "utils/base/sink.h"
#include "utils/pipeline/recording/executions.h"
#include "utils/pipeline/recording/files.h"

/* A number of its own for each process, with the system's number in its lower bits. */
unsigned long long tree_process_number(const struct execution *execution);

/* The limit of listed readers of pipes for all writers; each is some 25 bytes. */
#define TREE_READERS_MAX 4000000UL

/*
 * The number of readers that all tree_readers_json() together list, or a few more: of each pipe the
 * writers times the readers.
 */
uint64_t tree_count_readers(const struct files *files);

/*
 * ,"i":[...]: which executions of other processes have the end to read from of a pipe that the
 * execution @at writes to.
 */
void tree_readers_json(const struct executions *executions, const struct files *files, size_t at,
		       struct sink *sink);

/* ,"o":[...]: the opened, renamed and linked files. Modes and sizes are the current ones. */
void tree_files_json(const struct executions *executions, const struct files *files, size_t at,
		     struct sink *sink);

#endif
