/* Converts the lines of an etrace text (doc/formats/etrace.md) to records of proc.dat. */
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

/*
 * Special values of etrace_event.open: no text is open; an argument is open. Any other value is an
 * index in etrace_event.texts.
 */
#define ETRACE_NO_TEXT	-1
#define ETRACE_ARGUMENT ETRACE_TEXTS

/*
 * An event whose lines are being read.
 *
 * @row: NULL: no event has begun
 * @line, @cpu: line and CPU where the event begins
 * @texts: the event's texts. The last element has the @nr_args arguments, separated by NULs
 * @open: the text to which a line with the tag Cont is added
 * @nr_parts: the lowest number that the next part of the text @open can have, or UINT64_MAX if the
 *         text has no numbered parts
 * @is_wrong: a fault of the event was reported, and the event's remaining lines are skipped
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
 * @upid: the task's unique number in the etrace text
 * @half: the kind of the first of two events about one act, while the reader waits for the second
 *         event. ETRACE_NOTHING: the reader does not wait for a second event
 * @half_ns, @half_flags, @half_has_flags, @half_text: the content of the first event. After a mount
 *         or an unmount, @half_flags is 1 + the index of the act's record
 * @variables: for each variable of the task's environment, the variable's offset in
 *         etrace_reader.variables, as a size_t
 * @variable_at: the last of these offsets
 * @first_ns: time of the task's first line
 * @exec_ns: time of the task's first exec; 0: there is none
 * @last: 1 + the index of the task's last record
 * @tid, @pid: the tid and the pid of the task in proc.dat; 0: not chosen
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
 * A record of proc.dat.
 *
 * @cpu: the CPU on which the task was, or PROC_CPU_UNKNOWN
 * @at, @len: the record's payload in etrace_reader.payloads. The payload has zeros in place of
 *         tids and pids
 * @child: in a record of a fork: the child
 * @goes_first: the record is sorted before all other records of the same time
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
 * @note: called for each fault. Its arguments are @self, the number of the line (from 1), the index
 *         of the faulty byte in the line (from 0), and the reason
 * @line: the number of lines that were read
 * @named: the tasks of all UPID lines since the last variable. The next variable belongs to these
 *         tasks
 * @is_in_variable: a variable has begun at @variable_at of @variables, and the next line may
 *         continue the variable
 * @next, @last_ns, @by_tid, @cpus, @next_made: state of etrace_reader_next()
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

/* True when this line, without its newline, may be the first line of an etrace text. */
bool etrace_is_first_line(const char *line, size_t len);

/* Take the next line, without its newline. */
void etrace_reader_take(struct etrace_reader *reader, const char *line, size_t len);

/* Call this after the last line. Returns 0, or -ENOMEM if memory was short at any time. */
int etrace_reader_end(struct etrace_reader *reader);

/*
 * Get the next record by time, with its payload in @payload. Call this after etrace_reader_end().
 * Returns 1 on success, 0 after the last record, or -ENOMEM.
 *
 * A task gets its tid at the record of its fork. If there is no such record, the task gets its tid
 * at its own first record. The tid is usually the lowest 22 bits of the task's upid. If these bits
 * are 0, or if records of another task with this tid are still to come, the task gets a tid above
 * all tids of Linux.
 */
int etrace_reader_next(struct etrace_reader *reader, struct proc_record *rec,
		       struct strbuf *payload);

/*
 * Add a record of @task with a copy of @payload. Returns the record's index, or SIZE_MAX when
 * memory is short. Only etrace_event.c calls this.
 */
size_t etrace_reader_add(struct etrace_reader *reader, struct etrace_task *task, uint32_t kind,
			 uint64_t time_ns, const struct strbuf *payload);

#endif
