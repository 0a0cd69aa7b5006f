/*
 * The calls that are open at the beginning of a time range, or of a task: exporters begin these
 * calls there.
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
 * The open calls of a task while its records are followed up to the range. All zero at the
 * beginning of a task; ends with opened_deinit().
 *
 * @addrs: addresses of the functions of open calls, the outermost first; 0: its entry was not
 *         recorded. Known ones begin at @first
 * @last_ns: time of the last record before the range
 * @wants_depth: records were lost, and the next one tells the number of open calls
 * @is_out: the task is off the CPU; @out_flags: flags of the event by which it left
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

/* Note an event before the range. False when memory is short. */
bool opened_note(struct opened *opened, const struct event *event);

/*
 * Note records directly from a source's buffer: calls of the program before @until_ns, up to the
 * first other record. False when memory is short.
 */
bool opened_skim(struct opened *opened, struct plain_records *records, uint64_t until_ns);

/*
 * The range begins: calls are not followed any more. Returns the number of events that opened_put()
 * makes of the open calls. @next is the first event in the range. No call is open when the task has
 * become another program since its last record.
 */
size_t opened_begin(struct opened *opened, const struct task *task, const struct event *next,
		    uint64_t start_ns);

/* Write the open calls to @events, as if all of them had begun at @start_ns. */
void opened_put(const struct opened *opened, uint64_t start_ns, struct event *events);

/*
 * A forked child begins within calls of its parent, and so does a recording that is switched on
 * late. The names of these calls become known when the task returns from them. @src is at the
 * beginning of the task. So this function reads it up to these returns, and fills @opened for
 * opened_put(). @opened is all zero before. The function returns early when another thread sets
 * @is_stopped. Returns the number of these calls, or -ENOMEM.
 */
ssize_t opened_find_inherited(struct opened *opened, struct src_user *src,
			      const atomic_bool *is_stopped);

#endif
