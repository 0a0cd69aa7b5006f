/*
 * Lines of process and file events as text (doc/formats/etrace.md): heads, numbers, and texts in
 * parts.
 */
#ifndef UTRAIL_BUILDDB_ETRACE_LINES_H
#define UTRAIL_BUILDDB_ETRACE_LINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "utils/base/compiler.h"
#include "utils/base/containers/strbuf.h"
#include "utils/format/text.h"

/* A text of at least this length is written in parts of at most this length. In bytes. */
#define ETRACE_PART 900

/*
 * Appends lines of events. Starts as { .out = ... }.
 *
 * @is_bare: as the published description has it: no "0: " in front, and "Env|" instead of "Env[0]"
 * @upid: the task of the lines, and @cpu: its CPU
 * @next_ns: the time of the next line: no two have the same, since readers sort them
 */
struct etrace_lines {
	struct strbuf *out;
	bool is_bare;
	uint64_t upid;
	int cpu;
	uint64_t next_ns;
};

/* The lines that follow are of @upid on @cpu, and of @time_ns or as little later as it takes. */
void etrace_begin(struct etrace_lines *lines, uint64_t upid, int cpu, uint64_t time_ns);

/* A line of that text. */
void etrace_put(struct etrace_lines *lines, const char *fmt, ...) PRINTF_FORMAT(2, 3);

/* @text, which may be empty, as one or more lines of @tag. */
void etrace_put_text(struct etrace_lines *lines, const char *tag, struct text text);

/* @text, "NAME=value", as one or more lines of Env. */
void etrace_put_variable(struct etrace_lines *lines, struct text text);

/* Argument @number, counted from 0. One that is empty has no lines. */
void etrace_put_arg(struct etrace_lines *lines, size_t number, struct text text);

#endif
