/*
 * The origin of a line of a log: its process and thread. Lines have no field for it, but many
 * programs put it into their common format.
 */
#ifndef UTRAIL_FSTRACE_ORIGIN_H
#define UTRAIL_FSTRACE_ORIGIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "trace/seam/reader.h"

/* The largest pid of Linux (PID_MAX_LIMIT). */
#define FST_PID_LIMIT 4194304

/*
 * @pid: 0 when the line has none
 * @thread: the value of %T: the result of pthread_self(), or a thread's number if the program
 *          writes that
 */
struct fst_origin {
	int32_t pid;
	bool has_thread;
	uint64_t thread;
};

/*
 * Find the origin by the words "PID=1234" and "TID=...", in any order, at the beginning of the text
 * after the event's name.
 */
void fst_origin_find(const char *body, size_t len, struct fst_origin *origin);

/*
 * Find the origin by the common format, whose directives have no arguments (fst_format_is_bare()).
 * Returns NULL, or the error in the text, at the byte @wrong_at.
 */
const char *fst_origin_by_format(const struct fst_format *format, const char *body, size_t len,
				 struct fst_origin *origin, size_t *wrong_at);

#endif
