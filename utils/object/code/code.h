/*
 * The code of an ELF file: its bytes in memory, the extents of functions, and the landing pads of
 * exceptions.
 */
#ifndef UTRAIL_OBJECT_CODE_H
#define UTRAIL_OBJECT_CODE_H

#include "utils/object/elf_file.h"

/*
 * A section that is in a running program's memory, with its bytes; addresses are the file's own.
 *
 * @is_glue: its code is the linker's (.plt, .init, .fini), not of functions
 * @own: memory of the bytes, on the heap; NULL when they belong to the file
 */
struct code_section {
	uint64_t start;
	uint64_t end;
	const uint8_t *bytes;
	bool is_code;
	bool is_glue;
	void *own;
};

/*
 * A table of landing pads of exceptions. @addr: the file's own address of the table. @base: the
 * default base of the table's relative addresses.
 */
struct code_table {
	uint64_t addr;
	uint64_t base;
};

/*
 * A range of code that is one function, or a part of one ("f.cold").
 *
 * @name: NULL when no symbol begins there
 * @table: the index of its table of landing pads, counted from 1 on; 0
 *         when it has none
 * @has_frames: its start is from call frame information
 * @is_framed: call frame information tells that no call enters it: a frame exists already at the
 *             start, or it never returns
 * @has_own_unwinder: exceptions go to a personality function without tables, which must be the
 *                    program's own: compiled languages have tables
 * @is_guessed: its end is unknown, so it extends to the next one
 */
struct code_func {
	uint64_t start;
	uint64_t end;
	const char *name;
	uint32_t table;
	bool has_frames;
	bool is_framed;
	bool has_own_unwinder;
	bool is_guessed;
};

/*
 * A symbol of code that adds to the functions: it is within a function, has no size, or is a
 * special function.
 */
struct code_start {
	uint64_t addr;
	const char *name;
	bool is_resolver; /* it chooses a function for the loader (STT_GNU_IFUNC) */
	bool is_special;  /* code_is_special() */
};

/*
 * True when the function @name uses its return address in a special way, or is entered in a special
 * way. @name may be NULL.
 */
bool code_is_special(const char *name);

/*
 * The division of work on a large file. The results do not depend on it. Members that are 0 are
 * chosen by the number of CPUs and the file.
 */
struct code_work {
	unsigned nr_threads;
	unsigned piece; /* number of functions that are read at a time */
};

/*
 * @funcs: sorted by start. They come from call frame information (.eh_frame, which stripped files
 *         have, too), and otherwise from symbols. None is within another one.
 * @sections: the sections that a running program has, without those of call frame information
 * @starts: sorted by address
 * @file: borrowed
 * @tick: called with @tick_arg some hundred times during the work on a large file, by the working
 *        thread; set before code_load(), like @work. NULL: none
 *
 * Starts as { 0 }, ends with code_deinit(). Names and bytes live as long as the file is open.
 */
struct code {
	const struct elf_file *file;
	struct code_section *sections;
	size_t nr_sections;
	struct code_func *funcs;
	size_t nr_funcs;
	struct code_table *tables;
	size_t nr_tables;
	struct code_start *starts;
	size_t nr_starts;
	void (*tick)(void *arg);
	void *tick_arg;
	struct code_work work;
};

/*
 * Returns the useful number of threads for @nr functions, and the number of functions in a piece.
 */
unsigned code_threads(const struct code *code, size_t nr);
size_t code_piece(const struct code *code);

/*
 * Run @fn in @nr threads, of which the calling thread is one. While the calling thread waits for
 * the others, it calls @code->tick a few times a second.
 */
void code_run(const struct code *code, unsigned nr, void (*fn)(void *arg, unsigned index),
	      void *arg);

#define CODE_TICKS 64 /* functions, or sites, for one tick */

static inline void code_tick(const struct code *code, size_t index)
{
	if (code->tick && index % CODE_TICKS == 0)
		code->tick(code->tick_arg);
}

/* Load the code of @file into @out. 0 or -ENOMEM. A damaged part of the file counts as absent. */
int code_load(const struct elf_file *file, struct code *out);

/* Free @code->starts, the symbols, which are needed no longer. */
void code_forget_starts(struct code *code);

/* Add functions from other sources. 0 or -ENOMEM. */
int code_add_funcs(struct code *code, const struct code_func *funcs, size_t nr);

void code_deinit(struct code *code);
#define cleanup_code cleanup(code_deinit)

/* Find the section that contains @addr, or NULL. */
const struct code_section *code_section_at(const struct code *code, uint64_t addr);

/* Find the @len bytes from @addr on; NULL when they are not within one section. */
const uint8_t *code_bytes(const struct code *code, uint64_t addr, uint64_t len);

/* Find the function that contains @addr, or NULL. */
const struct code_func *code_func_at(const struct code *code, uint64_t addr);

/*
 * Like code_func_at(), for mostly ascending addresses: *@near, initially 0, is where the search
 * begins.
 */
const struct code_func *code_func_from(const struct code *code, uint64_t addr, size_t *near);

/* Find the beginning of the first function after @addr, or the end of the section of @addr. */
uint64_t code_next_start(const struct code *code, uint64_t addr);

/*
 * Call @fn with each address at which an exception may be caught in @func. False when that is
 * unknown: the table is damaged, or of an unknown kind.
 */
bool code_landings(const struct code *code, const struct code_func *func,
		   void (*fn)(uint64_t addr, void *arg), void *arg);

#endif
