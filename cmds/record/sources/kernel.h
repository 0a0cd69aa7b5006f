/*
 * Uses the kernel's tracing to record two kinds of events of the traced tasks: tracepoints (-E
 * 'system:event@kernel') and calls of kernel functions (-k).
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
 * The recorder's instance of the kernel's tracing (Documentation/trace/ftrace.rst, "Instances").
 * The recorder normally makes a new instance, which does not affect the tracing of other programs.
 * If the kernel can trace calls only in the global instance, the recorder uses the global instance.
 *
 * @is_everybodys: the instance is the global one
 * @has_graph: calls are traced
 * @has_events: tracepoints are traced
 * @state: the former settings of the global instance
 * @buffer_bytes: the size of the buffer on each CPU
 * @page_bytes: the size of the pages in which the kernel stores records
 * @has_watermark: the kernel wakes the recorder when a certain percentage of a buffer is full, and
 *         not for each record
 * @is_full: no more pages are written, because the next pages would exceed half of --max-size
 * @lost: the number of records for which the kernel had no room. This number is known only at the
 *        end of the recording
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
 * Make the kernel record events and calls for @pid and its descendants. The settings in @sources
 * choose the events and calls. Call kernel_open() before @pid executes its program. The function
 * writes kernel_header and kallsyms. @kernel becomes a source of @sources.
 *
 * Returns 0 when at least one event or call can be recorded. If some of the wanted events or calls
 * cannot be recorded, @err is set. When nothing can be recorded, closes @kernel and returns a
 * negative errno.
 */
int kernel_open(struct kernel *kernel, struct sources *sources, pid_t pid, struct uft_err *err);

#endif
