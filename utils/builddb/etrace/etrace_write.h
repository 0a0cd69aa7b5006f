/* Writes a recording's events of processes and files as text (doc/formats/etrace.md). */
#ifndef UTRAIL_BUILDDB_ETRACE_WRITE_H
#define UTRAIL_BUILDDB_ETRACE_WRITE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "utils/base/cleanup.h"
#include "utils/base/err.h"
#include "utils/base/containers/intmap.h"
#include "utils/base/containers/strbuf.h"
#include "utils/format/proc_cpus.h"
#include "utils/builddb/etrace/etrace_fds.h"
#include "utils/builddb/etrace/etrace_lines.h"
#include "utils/pipeline/recording/proc_file.h"

/*
 * The user's choices: the events that are written, and the form of the lines.
 *
 * @is_bare: as in struct etrace_lines
 * @ignores_repeats: leave out an open(2) with the path, flags and mode of the task's previous
 *         open(2). The close(2) of the opened descriptor is left out as well
 */
struct etrace_choice {
	bool is_bare;
	bool ignores_repeats;
	bool has_names;
	bool has_mounts;
	bool has_environment;
};

/*
 * In one recording, all calls of close_range(2) together may close at most ETRACE_CLOSED_MAX
 * descriptors. Each child inherits its parent's descriptors, and may close all of them with one
 * call. Without this limit, a small recording could become a very long text.
 */
#define ETRACE_CLOSED_MAX 10000000UL

/* A variable of the environment of @upid. */
struct etrace_variable {
	uint64_t upid;
	char *text;
};

/*
 * Starts with etrace_writer_open() and ends with etrace_writer_close().
 *
 * @cwd: the directory of the first program
 * @upids: the key is a tid. The value is the index of an element of @tasks, plus one. The element
 *         is the task that has this tid now
 * @cpus: the CPU of each task
 * @opens: the key is a tid. The value is the task's last open (struct etrace_open)
 * @hidden: descriptors whose opens were left out
 * @nr_closed: number of descriptors that calls of close_range(2) have closed
 * @variables: the environments of all programs, which are written at the end
 * @has_files: file events were recorded
 * @nr_out: number of events that cannot be written, because the format has no such events
 * @broken: the first damage of the file. All records before the damage are written
 */
struct etrace_writer {
	struct proc_file file;
	struct etrace_lines lines;
	struct strbuf cwd;
	struct intmap upids;
	struct proc_cpus cpus;
	uint64_t *tasks;
	size_t nr_tasks;
	struct etrace_fds fds;
	struct etrace_choice choice;
	struct intmap opens;
	struct etrace_fds hidden;
	uint64_t nr_closed;
	struct etrace_variable *variables;
	size_t nr_variables;
	bool has_begun;
	bool has_ended;
	bool has_files;
	uint64_t nr_out;
	struct uft_err broken;
};

/*
 * Open the data directory @dir. Returns 0, -ENOENT when it has no process events, or another
 * negative error with @err.
 */
int etrace_writer_open(struct etrace_writer *writer, const char *dir, bool is_big_endian,
		       const struct etrace_choice *choice, struct uft_err *err);
void etrace_writer_close(struct etrace_writer *writer);
#define cleanup_etrace_writer cleanup(etrace_writer_close)

/*
 * Append the lines of the next record, if it has any, to @out. Returns 1 on success, 0 after the
 * last record, -ENOMEM, or -EDQUOT when the limit ETRACE_CLOSED_MAX is exceeded.
 */
int etrace_writer_next(struct etrace_writer *writer, struct strbuf *out);

#endif
