/*
 * The executions of programs in a recording (record --proc), as slices of time. Exporters show
 * these slices.
 */
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
 * @start_ns, @end_ns: the part of the execution that is in the time range
 * @parent: the nearest ancestor that has a slice, or EXECUTION_NONE
 * @signal: the signal that ended the process in this part, or 0
 * @status: the exit status; -1: the process did not exit in this part
 * @is_first: no earlier slice belongs to the same process
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

/* Starts as { 0 } and ends with exec_slices_deinit(). @all has the order of @executions. */
struct exec_slices {
	struct executions executions;
	struct exec_slice *all;
	size_t nr;
};

/*
 * Load the executions that overlap the time range. With --tid, leave out processes whose first
 * thread is not chosen. With --no-event, load no executions. Returns 0, or a negative error with
 * @err.
 *
 * If proc.dat is damaged, only the records before the damage are used, and no message is written.
 * The pipeline reads proc.dat as well, and reports the damage.
 */
int exec_slices_load(struct exec_slices *slices, const struct pipeline *pipe, struct uft_err *err);
void exec_slices_deinit(struct exec_slices *slices);
#define cleanup_exec_slices cleanup(exec_slices_deinit)

/*
 * Append the unescaped name of the running program, such as "gcc". Before its execve(2), a process
 * is named "fork of gcc".
 */
void exec_put_name(struct strbuf *out, const struct execution *execution);

#endif
