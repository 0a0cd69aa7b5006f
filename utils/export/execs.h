/* The executions of a recording (record --proc) as slices, as exporters show them. */
#ifndef UTRAIL_EXPORT_EXECS_H
#define UTRAIL_EXPORT_EXECS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "utils/base/cleanup.h"
#include "utils/base/err.h"
#include "utils/base/containers/strbuf.h"
#include "utils/pipeline/recording/executions.h"
#include "utils/pipeline/pipeline.h"

/*
 * @is: the execution; @start_ns, @end_ns: its part in the time range
 * @parent: the nearest shown execution above it: the one that has made the process, if that is
 *          shown; EXECUTION_NONE: none
 * @signal: the signal that ended the process in it, 0: none
 * @status: the exit status, -1: the process did not exit in it
 * @is_first: it is the first shown one of its process
 */
struct exec_slice {
	const struct execution *is;
	uint64_t start_ns;
	uint64_t end_ns;
	size_t parent;
	int status;
	int signal;
	bool is_first;
};

/* Starts as { 0 }, ends with exec_slices_deinit(). @all: in the order of executions. */
struct exec_slices {
	struct executions executions;
	struct exec_slice *all;
	size_t nr;
};

/*
 * Load the executions that the user chose: in the time range, of processes whose first thread is
 * chosen (--tid), and none with --no-event. Damaged records are left out: the pipeline, which reads
 * the same file, reports them.
 */
int exec_slices_load(struct exec_slices *slices, const struct pipeline *pipe, struct uft_err *err);
void exec_slices_deinit(struct exec_slices *slices);
#define cleanup_exec_slices cleanup(exec_slices_deinit)

/*
 * Write the name of the running program: "gcc", or "fork of gcc" before its execve(2). Not escaped.
 */
void exec_put_name(struct strbuf *out, const struct execution *execution);

#endif
