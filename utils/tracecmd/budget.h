/*
 * The total cost limits for reading a trace.dat: unpacked bytes, memory, and parts that are read
 * twice.
 */
#ifndef UTRAIL_TRACECMD_BUDGET_H
#define UTRAIL_TRACECMD_BUDGET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "utils/base/err.h"

/*
 * The limit of memory in use: names, formats, and a chunk of pages for each CPU of each buffer that
 * is read at the same time.
 */
#define TRACEDAT_MEMORY_MAX_BYTES (256UL << 20)
/*
 * The limit of unpacked bytes: a minimum, plus a multiple of the file's size. Traces of trace-cmd
 * become 5 to 20 times as large.
 */
#define TRACEDAT_UNPACK_MIN_BYTES (64UL << 20)
#define TRACEDAT_UNPACK_TIMES	  100

enum tracedat_limit {
	TRACEDAT_LIMITED,
	TRACEDAT_UNLIMITED, /* --no-limit */
};

/* Bytes [@at, @end) of the file. */
struct tracedat_extent {
	uint64_t at;
	uint64_t end;
};

/*
 * Starts with budget_begin(), ends with budget_deinit().
 *
 * @unpack_left, @memory_left: remaining bytes
 * @taken: the parts of the file already reserved, sorted, without overlap
 */
struct tracedat_budget {
	enum tracedat_limit limit;
	uint64_t unpack_max;
	uint64_t unpack_left;
	uint64_t memory_left;
	struct tracedat_extent *taken;
	size_t nr_taken;
};

/* @file_bytes: size of the file */
void budget_begin(struct tracedat_budget *budget, uint64_t file_bytes, enum tracedat_limit limit);
void budget_deinit(struct tracedat_budget *budget);

/* Take @bytes off the limit of unpacked bytes. 0, or -EDQUOT with a text that names the limit. */
int budget_unpack(struct tracedat_budget *budget, uint64_t bytes, struct uft_err *err);

/* Reserve @bytes more of memory, until released. 0, or -EDQUOT with a text that names the limit. */
int budget_hold(struct tracedat_budget *budget, uint64_t bytes, struct uft_err *err);
void budget_give_back(struct tracedat_budget *budget, uint64_t bytes);

/*
 * Reserve the part [@at, @at + @bytes) of the file. 0; -EBADMSG with a text when it overlaps a
 * reserved part; -ENOMEM. A part of no bytes never overlaps.
 */
int budget_take_part(struct tracedat_budget *budget, uint64_t at, uint64_t bytes,
		     struct uft_err *err);

#endif
