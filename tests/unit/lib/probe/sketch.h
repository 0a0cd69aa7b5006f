/* Plans in few words, calls of eight functions under them, and their records. */
#ifndef UTRAIL_TESTS_SKETCH_H
#define UTRAIL_TESTS_SKETCH_H

#include "libmcount/hot/planned.h"
#include "tests/unit/lib/probe/pair.h"

#define SKETCH_FUNCS   8
#define SKETCH_LEVELS  4
#define SKETCH_ADDR(n) (0x400000UL + 16 * (n))

/*
 * A plan. @rules has a letter for each function: 'f'ilter, 'n'otrace, 'd'epth=1, 't'ime=1us,
 * 'c'onditional filter (whose condition holds), 'l'eft out, '-' for none, '.' for a function that
 * it does not list; an upper case letter or '+' for one whose argument and result are captured.
 * @flags: in addition to those of the process
 */
struct sketch {
	const char *rules;
	uint64_t threshold_ns;
	uint32_t depth;
	uint32_t flags;
	bool is_more; /* no settings: it adds to a plan */
};

/* Make a memfd with its image, for this process; the caller closes it. */
int sketch_image(const struct sketch *sketch);

/*
 * Call function @func as a stub would announce it, with its address as the argument; it returns
 * that + 1.
 */
void sketch_call(uint64_t *slot, unsigned func);
void sketch_leave(uint64_t *slot, unsigned func);

/* Call functions @func to 7 as a tree: 1 calls 2 and 3, and so on. */
void sketch_tree(uint64_t *slot, unsigned func);

/* The records of a thread, in @file, from @at on. */
struct sketch_reader {
	struct strbuf file;
	size_t at;
	uint64_t open[SKETCH_LEVELS];
	unsigned depth;
	unsigned payloads;
};

/*
 * Read the next record and return its function. An EXIT must be that of the innermost ENTRY, at its
 * depth, and captured values must be those of that call.
 */
unsigned sketch_read(struct sketch_reader *r);

/*
 * Check all records from here on: the last call of function 0 ends with a payload as it began, and
 * one tree follows, wholly captured.
 */
void sketch_check_end(struct sketch_reader *r);

#endif
