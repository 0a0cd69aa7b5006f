/* The kernel's function_graph tracer: calls of its functions by the traced tasks, -k and -K. */
#ifndef UTRAIL_CMDS_RECORD_SOURCES_GRAPH_H
#define UTRAIL_CMDS_RECORD_SOURCES_GRAPH_H

#include <stdbool.h>
#include <sys/types.h>

#include "cmds/record/sources/kernel.h"
#include "utils/base/err.h"

/*
 * Can the tracer run in the instance at @instance_fd (Linux 6.13 and later), with all that it is
 * told?
 */
bool graph_fits_instance(int instance_fd);

/*
 * Have the tracer run in kernel->instance_fd, for @pid and what it forks, so deep and for those
 * functions that the settings say; with tracing_on it begins. 0, or negative errno with @err, which
 * names what the kernel lacks.
 */
int graph_set_up(struct kernel *kernel, pid_t pid, struct uft_err *err);

#endif
