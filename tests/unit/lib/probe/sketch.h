/* Plans that are written as a few letters, calls of eight functions, and records of these calls. */
#ifndef UTRAIL_TESTS_SKETCH_H
#define UTRAIL_TESTS_SKETCH_H

#include "libmcount/hot/planned.h"
#include "tests/unit/lib/probe/pair.h"

#define SKETCH_FUNCS   8
#define SKETCH_LEVELS  4
#define SKETCH_ADDR(n) (0x400000UL + 16 * (n))

/*
 * A plan. @rules has a letter for each function: 'f'ilter, 'n'otrace, 'd'epth=1, 't'ime=1us,
 * 'c'onditional filter (its condition holds), 'l'eft out, '-' for no rule, '.' for a function that
 * is not listed. An upper case letter, or '+' for no rule, captures argument and result, too.
 * @flags: in addition to those of the process
 */
struct sketch {
	const char *rules;
	uint64_t threshold_ns;
	uint32_t depth;
	uint32_t flags;
	bool is_more; /* the plan is added to another one: no settings */
};

/* Make a memfd with the image of the plan, for this process; the caller closes it. */
int sketch_image(const struct sketch *sketch);

/*
 * Call function @func as a stub announces it, with its address as the argument. Its result is the
 * address + 1.
 */
void sketch_call(uint64_t *slot, unsigned func);
void sketch_leave(uint64_t *slot, unsigned func);

/* Call functions @func to 7 as a tree: 1 calls 2 and 3, and so on. */
void sketch_tree(uint64_t *slot, unsigned func);

/*
 * The records of a thread are in @file, from @at on.
 */
struct sketch_reader {
	struct strbuf file;
	size_t at;
	uint64_t open[SKETCH_LEVELS];
	unsigned depth;
	unsigned payloads;
};

/*
 * Read the next record and return its function. An EXIT must be that of the innermost ENTRY, at the
 * same depth. Captured values must be those of the call.
 */
unsigned sketch_read(struct sketch_reader *r);

/*
 * Check all records from here on. The last call of function 0 has a payload at its entry and at its
 * end. After this call there is one tree, captured completely.
 */
void sketch_check_end(struct sketch_reader *r);

#endif
