/* The kernel's function_graph tracer, which records calls of kernel functions in traced tasks. */
#ifndef UTRAIL_CMDS_RECORD_SOURCES_GRAPH_H
#define UTRAIL_CMDS_RECORD_SOURCES_GRAPH_H

#include <stdbool.h>
#include <sys/types.h>

#include "cmds/record/sources/kernel.h"
#include "utils/base/err.h"

/*
 * True when the function_graph tracer and all its settings work in a tracing instance. They work
 * there in Linux 6.13 and later. @instance_fd: the directory of the instance
 */
bool graph_fits_instance(int instance_fd);

/*
 * Set up the tracer in kernel->instance_fd for @pid and its descendants. The functions and the
 * maximum depth come from kernel->settings. The tracer starts when the caller writes "1" to
 * tracing_on. Returns 0, or a negative errno with @err.
 */
int graph_set_up(struct kernel *kernel, pid_t pid, struct uft_err *err);

#endif
