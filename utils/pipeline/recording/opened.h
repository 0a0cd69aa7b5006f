/*
 * The calls that are open when a time range begins, or when a task begins. Exports show these calls
 * as if the calls began at that time.
 */
#ifndef UTRAIL_PIPELINE_OPENED_H
#define UTRAIL_PIPELINE_OPENED_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "utils/pipeline/event.h"
#include "utils/pipeline/sources/src_user.h"

/*
 * The state of a task at the last record before the time range: the open calls, and whether the
 * task is on a CPU. Starts as { 0 } at the beginning of the task, and ends with opened_deinit().
 *
 * @addrs: addresses of the open calls, the outermost first; 0: the entry was not recorded
 * @first: all calls from this index on have addresses
 * @last_ns: time of the last record before the range
 * @wants_depth: records were lost, and the next record tells the number of open calls
 * @is_out: the task is off the CPU
 * @out_flags: if @is_out is true: the flags of the SCHED_OUT
 * @is_done: the range has begun
 */
struct opened {
	uint64_t *addrs;
	size_t nr;
	size_t first;
	size_t cap;
	uint64_t last_ns;
	bool wants_depth;
	bool is_out;
	uint8_t out_flags;
	bool is_done;
};

void opened_deinit(struct opened *opened);

/* Update @opened for an event before the time range. Returns false when memory is short. */
bool opened_note(struct opened *opened, const struct event *event);

/*
 * Update @opened for the program's calls before @until_ns, directly from the buffer of a source.
 * Stop at the first record that has a payload, or that is no call of the program. Returns false
 * when memory is short.
 */
bool opened_skim(struct opened *opened, struct plain_records *records, uint64_t until_ns);

/*
 * Begin the time range. @next is the first event in the range. If the task has executed another
 * program since the last record before the range, no call is open. Returns the number of events
 * that opened_put() makes.
 */
size_t opened_begin(struct opened *opened, const struct task *task, const struct event *next,
		    uint64_t start_ns);

/*
 * Write to @events an ENTRY at @start_ns for each open call from index opened->first on, and a
 * SCHED_OUT if the task is off the CPU.
 */
void opened_put(const struct opened *opened, uint64_t start_ns, struct event *events);

/*
 * Find the calls that were open when the task's records began, after a fork or a late start of the
 * recording.
 *
 * @opened: must be all zero; gets the calls, for opened_put()
 * @src: the records of the task, from the first record on. Only the record of a call's return shows
 *       which function was called. So the records are read until all these calls have returned
 * @is_stopped: another thread may set this variable, to end the search
 *
 * Returns the number of events that opened_put() makes, or -ENOMEM.
 */
ssize_t opened_find_inherited(struct opened *opened, struct src_user *src,
			      const atomic_bool *is_stopped);

#endif
