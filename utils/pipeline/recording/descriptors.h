/*
 * The open descriptors of each process, and the file content to which each descriptor refers. The
 * records show when descriptors are opened, copied and closed.
 */
#ifndef UTRAIL_PIPELINE_DESCRIPTORS_H
#define UTRAIL_PIPELINE_DESCRIPTORS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "utils/base/containers/intmap.h"
#include "utils/pipeline/recording/files.h"

/* An open descriptor. @use: an index in files->uses; FILES_NONE for a pipe */
struct descriptor {
	uint32_t fd;
	uint32_t content;
	uint32_t use;
	bool reads;
	bool writes;
};

/* A set of descriptors. It is usually small, so it is searched linearly. */
struct descriptor_set {
	struct descriptor *all;
	size_t nr;
	size_t cap;
};

/*
 * The descriptors of one process.
 *
 * @now: the open descriptors
 * @before: the descriptors before the last execve(2)
 * @execution: the execution (executions.h) that the process is in
 * @since_ns: the time at which @execution began
 * @is_new: the pipes of @execution were not examined yet
 */
struct descriptors_of {
	struct descriptor_set now;
	struct descriptor_set before;
	size_t execution;
	uint64_t since_ns;
	bool is_new;
};

/* The file descriptors of all processes. Starts as { 0 }, ends with descriptors_deinit(). */
struct descriptors {
	struct intmap by_pid;
	struct descriptors_of **all;
	size_t nr;
};

void descriptors_deinit(struct descriptors *descriptors);

/*
 * Get the descriptors of process @pid. If descriptors_of.execution is EXECUTION_NONE in the result,
 * set descriptors_of.execution to @execution. Returns NULL when memory is short.
 */
struct descriptors_of *descriptors_get(struct descriptors *descriptors, int32_t pid,
				       size_t execution);

/*
 * If a function below returns an int, the result is 0, -ENOMEM or -EDQUOT. -EDQUOT means that
 * files->cost exceeds files->cost_max. -ENOMEM may also mean this (files_is_beyond()).
 */

/*
 * Set a descriptor to @new. If new->use is not FILES_NONE, the caller has already counted the
 * descriptor in the member nr_open of files->uses[new->use].
 */
int descriptors_put(struct files *files, struct descriptors_of *of, const struct descriptor *new,
		    uint64_t now_ns);

/*
 * Set a descriptor to @new, as descriptors_put() does. If the file is not a pipe, first note in
 * files->uses that the execution of the process (of->execution) uses the file under the name @name.
 */
int descriptors_add(struct files *files, struct descriptors_of *of, const struct descriptor *new,
		    uint32_t name, uint64_t now_ns);
int descriptors_close(struct files *files, struct descriptors_of *of, uint32_t first, uint32_t last,
		      uint64_t now_ns);
int descriptors_dup(struct files *files, struct descriptors_of *of, uint32_t old, uint32_t new,
		    uint64_t now_ns);
int descriptors_pipe(struct files *files, struct descriptors_of *of, uint32_t read, uint32_t write,
		     uint64_t now_ns);
int descriptors_fork(struct files *files, struct descriptors *descriptors,
		     struct descriptors_of *parent, int32_t pid, size_t child, uint64_t now_ns);

/* Begin @execution without descriptors. Later records tell which descriptors stay open. */
void descriptors_exec(struct descriptors_of *of, size_t execution, uint64_t now_ns);
uint32_t descriptors_before(const struct descriptors_of *of, uint32_t fd);

/*
 * Store in @files which pipes the current execution of the process uses. Call this function after
 * the PROC_INHERIT records of the execution were read.
 */
int descriptors_settle(struct files *files, struct descriptors_of *of);
int descriptors_settle_all(struct files *files, struct descriptors *descriptors);

#endif
