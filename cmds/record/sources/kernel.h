/*
 * The acts of the traced tasks in the kernel: tracepoints (-E 'system:event@kernel'), and calls of
 * its functions (-k).
 */
#ifndef UTRAIL_CMDS_RECORD_SOURCES_KERNEL_H
#define UTRAIL_CMDS_RECORD_SOURCES_KERNEL_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "cmds/record/sources/sources.h"
#include "cmds/record/sources/tracefs_state.h"
#include "utils/base/err.h"

struct kernel_cpu;

/*
 * An instance of the kernel's tracing that is ours alone (Documentation/trace/ftrace.rst,
 * "Instances"): nobody else's tracing is touched by it, and it is gone when we remove it. Calls are
 * traced by the one instance that everybody has, where the kernel lets no other one do that; @state
 * has what was there before.
 *
 * @instance_fd: its directory
 * @is_everybodys: it is the top one
 * @has_graph: calls are traced; @has_events: there are tracepoints
 * @buffer_bytes: of each CPU
 * @page_bytes: what the kernel gives at a time
 * @has_watermark: the kernel wakes us when a part of a buffer is full, and not for each record
 * @pipe, @pages: by which pages come to us
 * @bytes_written: into the files; @is_full: that was as much as --max-size lets them
 * @lost: records that the kernel had no room for; known at the end
 */
struct kernel {
	struct source source;
	struct kernel_cpu *cpus;
	unsigned nr_cpus;
	int tracefs_fd;
	int instance_fd;
	bool is_everybodys;
	bool has_graph;
	bool has_events;
	struct tracefs_state state;
	uint64_t buffer_bytes;
	uint32_t page_bytes;
	bool has_watermark;
	int pipe[2];
	uint8_t *pages;
	uint64_t bytes_written;
	bool is_full;
	uint64_t lost;
	const struct record_settings *settings;
	struct store *store;
	struct loop *loop;
};

/*
 * Have the kernel record the events and calls that the settings choose, of @pid, which has not
 * executed its program yet, and of all that it forks. Write the data that readers need about them
 * (kernel_header, kallsyms). The buffers are emptied by the loop: it is a new one of @sources.
 * Negative errno when nothing can be recorded: @kernel is as good as closed and nothing of it is
 * left. 0 with @err set: some of it cannot.
 */
int kernel_open(struct kernel *kernel, struct sources *sources, pid_t pid, struct uft_err *err);

#endif
