/*
 * Process and file events of text (doc/formats/etrace.md): line by line, and then as records of
 * proc.dat.
 */
#ifndef UTRAIL_BUILDDB_ETRACE_READ_H
#define UTRAIL_BUILDDB_ETRACE_READ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "utils/base/cleanup.h"
#include "utils/base/containers/intmap.h"
#include "utils/base/containers/strbuf.h"
#include "utils/format/proc_cpus.h"
#include "utils/builddb/etrace/etrace_grammar.h"

/* No text is being read; it is an argument. Others are numbers of texts of the event. */
#define ETRACE_NO_TEXT	-1
#define ETRACE_ARGUMENT ETRACE_TEXTS

/*
 * An event whose lines have not all come.
 *
 * @row: NULL: there is none
 * @line, @cpu: of its beginning
 * @texts: and after them the arguments, @nr_args of them, with NULs between them
 * @open: the text that Cont lines are added to, with @nr_parts parts up to now
 * @is_wrong: that was told: the rest of it is not looked at
 */
struct etrace_event {
	const struct etrace_row *row;
	uint64_t line;
	int cpu;
	uint64_t time_ns;
	int64_t values[ETRACE_KEYS];
	bool has_value[ETRACE_KEYS];
	struct strbuf texts[ETRACE_TEXTS + 1];
	bool has_text[ETRACE_TEXTS + 1];
	uint64_t nr_args;
	int open;
	uint64_t nr_parts;
	bool is_wrong;
};

/*
 * One task.
 *
 * @half, @half_ns, @half_flags, @half_has_flags, @half_text: an act that waits for the event of its
 *                 result; ETRACE_NOTHING: nothing
 * @variables: the place of each variable of its environment in etrace_reader.variables, as size_t;
 * @variable_at: the last one
 * @first_ns: of its first line, @exec_ns of its first exec, 0: none
 * @last: after the last one of its records; @tid, @pid: its numbers, 0: none yet
 */
struct etrace_task {
	uint64_t upid;
	struct etrace_event event;
	enum etrace_kind half;
	uint64_t half_ns;
	uint64_t half_flags;
	bool half_has_flags;
	struct strbuf half_text;
	struct strbuf variables;
	size_t variable_at;
	uint64_t first_ns;
	uint64_t exec_ns;
	size_t last;
	int32_t tid;
	int32_t pid;
};

/*
 * @cpu: of its task, PROC_CPU_UNKNOWN: unknown; @at, @len: its payload in
 *       etrace_reader.payloads, without numbers of tasks, @child: of a fork; @goes_first: among
 *       those of one time
 */
struct etrace_record {
	uint64_t time_ns;
	size_t nr;
	uint32_t kind;
	bool goes_first;
	int cpu;
	struct etrace_task *task;
	struct etrace_task *child;
	size_t at;
	size_t len;
};

/*
 * Starts as { .note = ..., .self = ... }, ends with etrace_reader_deinit().
 *
 * @note: is told what is wrong with a line: its number from 1 on, the byte from 0 on
 * @line: how many lines there were
 * @named: tasks that have the variable that comes next; @is_in_variable: they have the one that has
 * come, which begins at @variable_at
 * @next, @last_ns, @by_tid, @cpus, @next_made: of etrace_reader_next()
 */
struct etrace_reader {
	void (*note)(void *self, uint64_t line, size_t at, const char *wrong);
	void *self;
	uint64_t line;
	struct intmap by_upid;
	struct etrace_task **tasks;
	size_t nr_tasks;
	struct etrace_record *records;
	size_t nr_records;
	struct strbuf payloads;
	struct etrace_task **named;
	size_t nr_named;
	struct strbuf variables;
	size_t variable_at;
	bool is_in_variable;
	bool oom;
	size_t next;
	uint64_t last_ns;
	struct intmap by_tid;
	struct proc_cpus cpus;
	int32_t next_made;
};

void etrace_reader_deinit(struct etrace_reader *reader);
#define cleanup_etrace_reader cleanup(etrace_reader_deinit)

/* Is this, without its newline, the first line of such a text? */
bool etrace_is_first_line(const char *line, size_t len);

/* Take the next line, without its newline. */
void etrace_reader_take(struct etrace_reader *reader, const char *line, size_t len);

/* To be called after the last line. 0 or -ENOMEM, also when memory was short before. */
int etrace_reader_end(struct etrace_reader *reader);

/*
 * Then: the next record, by time, with its payload in @payload. 1, 0 at the end, or -ENOMEM. Tasks
 * get the lowest 22 bits of their upids as numbers if these are unused at that time, and otherwise
 * numbers that no task of Linux has.
 */
int etrace_reader_next(struct etrace_reader *reader, struct proc_record *rec,
		       struct strbuf *payload);

/*
 * Add one more record of @task, with the content of @payload; its number, SIZE_MAX without memory.
 * For etrace_reader_take().
 */
size_t etrace_reader_add(struct etrace_reader *reader, struct etrace_task *task, uint32_t kind,
			 uint64_t time_ns, const struct strbuf *payload);

#endif
