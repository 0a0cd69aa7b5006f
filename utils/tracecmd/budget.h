/*
 * Limits for reading a trace.dat: one for unpacked bytes, and one for memory.
 *
 * The records of CPUs, the tables of instances (version 6), and the sections (version 7) must not
 * overlap in the file. So no byte is read twice. As an exception, a section of the type
 * TRACEDAT_BUFFER may overlap other parts, because such a section contains records of CPUs.
 */
#ifndef UTRAIL_TRACECMD_BUDGET_H
#define UTRAIL_TRACECMD_BUDGET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "utils/base/err.h"

/*
 * The limit of memory for kallsyms, saved_cmdlines, and records. The records of each CPU need
 * memory for one chunk of pages at a time. The formats of events have a separate limit
 * (TRACEDAT_FILES_MAX_BYTES).
 */
#define TRACEDAT_MEMORY_MAX_BYTES (256UL << 20)
/*
 * The limit of unpacked bytes: the larger one of a minimum and a multiple of the file's size.
 * An unpacked trace of trace-cmd is 5 to 20 times as large as the packed one.
 */
#define TRACEDAT_UNPACK_MIN_BYTES (64UL << 20)
#define TRACEDAT_UNPACK_TIMES	  100

enum tracedat_limit {
	TRACEDAT_LIMITED,
	TRACEDAT_UNLIMITED, /* --no-limit */
};

struct tracedat_extent {
	uint64_t at;
	uint64_t end;
};

/*
 * @taken: the parts [at, end) of the file that are reserved, sorted, without overlap
 *
 * Starts with budget_begin() and ends with budget_deinit().
 */
struct tracedat_budget {
	enum tracedat_limit limit;
	uint64_t unpack_max;
	uint64_t unpack_left;
	uint64_t memory_left;
	struct tracedat_extent *taken;
	size_t nr_taken;
};

void budget_begin(struct tracedat_budget *budget, uint64_t file_bytes, enum tracedat_limit limit);
void budget_deinit(struct tracedat_budget *budget);

/* Count @bytes as unpacked. Returns 0, or -EDQUOT with a text that names the limit. */
int budget_unpack(struct tracedat_budget *budget, uint64_t bytes, struct uft_err *err);

/*
 * Count @bytes as memory in use, until they are given back. Returns 0, or -EDQUOT with a text that
 * names the limit.
 */
int budget_hold(struct tracedat_budget *budget, uint64_t bytes, struct uft_err *err);
void budget_give_back(struct tracedat_budget *budget, uint64_t bytes);

/*
 * Reserve a part of the file: @bytes bytes from the offset @at on. Returns 0, -ENOMEM, or -EBADMSG
 * with a text in @err when some of these bytes are already reserved.
 */
int budget_take_part(struct tracedat_budget *budget, uint64_t at, uint64_t bytes,
		     struct uft_err *err);

#endif
