/* Tracepoints of the kernel that the traced tasks come through: -E 'system:event@kernel'. */
#ifndef UTRAIL_CMDS_RECORD_SOURCES_KERNEL_H
#define UTRAIL_CMDS_RECORD_SOURCES_KERNEL_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "cmds/record/sources/sources.h"
#include "utils/base/err.h"

struct kernel_cpu;

/*
 * An instance of the kernel's tracing that is ours alone (Documentation/trace/ftrace.rst, "Instances"): nobody else's tracing is
 * touched by it, and it is gone when we remove it.
 *
 * @instance_fd: its directory
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
 * Have the kernel record the events that the settings choose, of @pid, which has not executed its program yet, and of
 * all that it forks; and write what readers need to know about them (kernel_header, kallsyms). The buffers are emptied by the
 * loop: it is a new one of @sources. Negative errno when nothing can be recorded: @kernel is as good as
 * closed and nothing is left behind. 0 with @err set: some of it cannot.
 */
int kernel_open(struct kernel *kernel, struct sources *sources, pid_t pid, struct uft_err *err);

#endif
