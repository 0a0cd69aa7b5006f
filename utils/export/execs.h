/* The executions of a recording (record --proc) as exporters show them: as slices of time. */
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
 * @is: the execution
 * @start_ns, @end_ns: its part in the time range
 * @parent: the nearest ancestor that has a slice, or EXECUTION_NONE
 * @signal: the signal that ended its process during this execution, or 0
 * @status: the exit status; -1: its process did not exit during this execution
 * @is_first: the first slice of its process
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

/* Starts as { 0 } and ends with exec_slices_deinit(). @all: in the order of executions. */
struct exec_slices {
	struct executions executions;
	struct exec_slice *all;
	size_t nr;
};

/*
 * Load the executions that the user chose: in the time range, and of processes whose first thread
 * is chosen (--tid). With --no-event there are none. Returns 0 or a negative error with @err.
 *
 * Damaged records are left out: the pipeline reads the same file and reports them.
 */
int exec_slices_load(struct exec_slices *slices, const struct pipeline *pipe, struct uft_err *err);
void exec_slices_deinit(struct exec_slices *slices);
#define cleanup_exec_slices cleanup(exec_slices_deinit)

/*
 * Append the name of the running program, unescaped: "gcc", or "fork of gcc" before its execve(2).
 */
void exec_put_name(struct strbuf *out, const struct execution *execution);

#endif
