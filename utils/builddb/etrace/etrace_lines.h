/* Writes lines of process and file events (doc/formats/etrace.md). */
#ifndef UTRAIL_BUILDDB_ETRACE_LINES_H
#define UTRAIL_BUILDDB_ETRACE_LINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "utils/base/compiler.h"
#include "utils/base/containers/strbuf.h"
#include "utils/format/text.h"

/* The maximum number of bytes of a text in one line. Longer texts are written in several lines. */
#define ETRACE_PART 900

/*
 * The state of the writing. Starts as { .out = ... }.
 *
 * @is_bare: the option --bare: lines do not begin with "0: ", and have "Env|" instead of "Env[0]"
 * @upid, @cpu: the task of the lines, and its CPU
 * @next_ns: the time of the next line; all lines have different times, because readers sort lines
 *         by time
 */
struct etrace_lines {
	struct strbuf *out;
	bool is_bare;
	uint64_t upid;
	int cpu;
	uint64_t next_ns;
};

/*
 * Set the task and the CPU of the next lines to @upid and @cpu. The first of these lines gets the
 * time @time_ns, or lines->next_ns if lines->next_ns is later.
 */
void etrace_begin(struct etrace_lines *lines, uint64_t upid, int cpu, uint64_t time_ns);

/* Write a line. */
void etrace_put(struct etrace_lines *lines, const char *fmt, ...) PRINTF_FORMAT(2, 3);

/* Write @text, which may be empty, as one or more lines with @tag. */
void etrace_put_text(struct etrace_lines *lines, const char *tag, struct text text);

/* Write an environment variable as one or more lines with the tag Env. @text: "NAME=value" */
void etrace_put_variable(struct etrace_lines *lines, struct text text);

/* Write argument @number, counted from 0. An empty argument has no lines. */
void etrace_put_arg(struct etrace_lines *lines, size_t number, struct text text);

#endif
