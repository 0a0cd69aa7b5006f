/*
 * The process and the thread that have written a line of a log. A line has no fields for the pid
 * and the thread's number. Instead, many programs put both numbers into a common format
 * (fstrace_set_common_format()). The text of the common format comes before the text of each event.
 */
#ifndef UTRAIL_FSTRACE_ORIGIN_H
#define UTRAIL_FSTRACE_ORIGIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "trace/seam/reader.h"

/* All pids of Linux are below this number (PID_MAX_LIMIT). */
#define FST_PID_LIMIT 4194304

/*
 * @pid: the pid of the process, or 0 when it is unknown
 * @thread: the thread's number in the line. The directive %T writes the result of pthread_self().
 *          A program may also write a number of its own
 */
struct fst_origin {
	int32_t pid;
	bool has_thread;
	uint64_t thread;
};

/* Find the origin in the words "PID=1234" and "TID=..." at the beginning of @body, in any order. */
void fst_origin_find(const char *body, size_t len, struct fst_origin *origin);

/*
 * Find the origin in @body, which begins with the text of the common format @format. The directives
 * of @format have no arguments (fst_format_is_bare()).
 *
 * Returns NULL on success, or the text of an error. The error is at byte *@wrong_at of @body.
 */
const char *fst_origin_by_format(const struct fst_format *format, const char *body, size_t len,
				 struct fst_origin *origin, size_t *wrong_at);

#endif
