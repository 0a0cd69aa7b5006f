/* A recording made of strings, for tests of everything that reads one. */
#ifndef UTRAIL_TESTS_RECORDING_H
#define UTRAIL_TESTS_RECORDING_H

#include <stdint.h>

#include "utils/base/containers/strbuf.h"
#include "utils/pipeline/pipeline.h"

/*
 * Describes a data directory with one program, "prog" at 0x400000: functions "a" to "z" of 64 bytes
 * each, and library calls "A" to "Z" of 16 bytes.
 *
 * @symbols: the symbol file of the program, in place of these functions; NULL: these
 * @has_fork: "F" is called "fork", which is known to return twice
 * @big: byte order of the files; @version: of the records; @features: FEAT_* of the header
 */
struct recording {
	char dir[64];
	struct strbuf task_txt;
	const char *symbols;
	bool has_fork;
	bool big;
	unsigned version;
	uint64_t features;
};

void recording_init(struct recording *rec);
/* Write the files that belong to all tasks; called when the tasks have been added. */
void recording_finish(struct recording *rec);
/* Remove the directory. */
void recording_deinit(struct recording *rec);

/*
 * Add a task with these records. The first one is at @start_ns, and they are ten nanoseconds apart:
 *
 *   a{ }    a call of "a" and its end;  e.g. "a{b{}c{}}"
 *   )b      the end of "b", even if another function was entered at this depth
 *   !       LOST 7 records
 *   *       an event (user event 1000001) without data
 *   <blank> a microsecond passes
 *   <digit> the depth of the records after it is higher by that number
 */
void recording_add_task(struct recording *rec, int32_t tid, const char *tree, uint64_t start_ns);

/*
 * Rename <tid>.dat to <tid>.kept, and make <tid>.cdat of its records. Each block stands for
 * @block_bytes of records.
 */
void recording_pack(struct recording *rec, int32_t tid, size_t block_bytes);

/* Append one record to @out, which may become the file <tid>.dat of a task. */
void recording_put(const struct recording *rec, struct strbuf *out, uint64_t time_ns,
		   uint64_t data);

/*
 * Returns the address of a function in records. With "'" before the name, it is a function of the
 * kernel, which has no symbols.
 */
uint64_t recording_addr(const char *name);

/* Add any file to the recording's directory. */
void recording_add_file(struct recording *rec, const char *name, const void *data, size_t len);

/* Append a perf record of the scheduler to @out. @what: 'o' out, 'p' out by pre-emption, 'i' in. */
void perf_add_sched(struct strbuf *out, char what, int32_t tid, uint64_t time_ns);

/*
 * Writes the events of a pipeline in the language above, with "100:" where the task changes, "~"
 * for SCHED_OUT, "^" for SCHED_IN, and "?" after an unpaired EXIT.
 */
struct recording_writer {
	struct strbuf *out;
	const struct task *task; /* of the last event */
};

/* The events function of struct view for a recording_writer, which is @self. */
int recording_write(void *self, const struct event_span *span, struct uft_err *err);

void recording_run(struct recording *rec, const struct pipeline_config *config, struct strbuf *out);

#endif
