/* The code of an ELF file: its bytes, its functions, and the landing pads of exceptions. */
#ifndef UTRAIL_OBJECT_CODE_H
#define UTRAIL_OBJECT_CODE_H

#include "utils/object/elf_file.h"

/*
 * A section of the ELF file. A running program has this section in memory.
 *
 * @start, @end: virtual addresses, as in the section headers of the file
 * @is_glue: the linker made the code (.plt, .init, .fini), so it does not belong to a function
 * @own: the memory of @bytes, on the heap; NULL: @bytes points into the file
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
 * A table of landing pads of exceptions.
 *
 * @addr: its own address in the file
 * @base: the base of its relative addresses, unless the table names another base
 */
struct code_table {
	uint64_t addr;
	uint64_t base;
};

/*
 * A range of code: a function, or a part of a function ("f.cold").
 *
 * @name: NULL when no symbol has the address @start
 * @table: the index of the function's table of landing pads, counted from 1; 0: none
 * @has_frames: an entry of the call frame information (FDE) begins at @start
 * @is_framed: no call enters the function. The call frame information shows this in one of two
 *         ways. The CIE says that signals enter the function, or the FDE adds rules that hold from
 *         the function's first byte on (DWARF 4, 6.4.2)
 * @has_own_unwinder: the function has a personality routine that uses no tables. The personality
 *         routines of compilers use tables, so this routine belongs to the program's own unwinder
 * @is_guessed: the true end is unknown; @end is the start of the next function, or the end of the
 *         section
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
 * A symbol of code. A symbol that has exactly the range of a function with call frame information
 * is left out, unless it names a resolver or a special function.
 */
struct code_start {
	uint64_t addr;
	const char *name;
	bool is_resolver; /* the code chooses a function for the loader (STT_GNU_IFUNC) */
	bool is_special;  /* code_is_special() */
};

/*
 * True when @name names a special function:
 * - a function that returns twice (setjmp), or does not return to its caller (longjmp);
 * - a function that reads its own return address (dlsym);
 * - a function that the loader calls (_dl_runtime_resolve), or that a compiler calls through
 *   inserted instructions (mcount).
 *
 * @name may be NULL.
 */
bool code_is_special(const char *name);

/*
 * The division of the work on a large file among threads. The members change the speed, but not
 * the functions that are found. If a member is 0, code_threads() or code_piece() chooses the value.
 */
struct code_work {
	unsigned nr_threads;
	unsigned piece; /* number of functions that are read at a time */
};

/*
 * Starts as { 0 } and ends with code_deinit(). Names and bytes live as long as the file is open.
 *
 * @file: borrowed
 * @sections: the sections that a running program has in memory, except those that are call frame
 *         information
 * @funcs: sorted by start, without overlap. Symbols and .eh_frame show where functions are. A
 *         stripped file keeps .eh_frame
 * @starts: sorted by address
 * @tick: a function that is called with @tick_arg, some hundred times for a large file; may be
 *         NULL. Only the caller's thread runs this function, not the other threads of code_run().
 *         @tick and @work must be set before code_load()
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
 * code_threads() returns the number of threads that are useful for @nr functions.
 * code_piece() returns the number of functions that a thread takes at a time.
 */
unsigned code_threads(const struct code *code, size_t nr);
size_t code_piece(const struct code *code);

/*
 * Run @fn in @nr threads, one of which is the calling thread. While the calling thread waits for
 * the other threads, it calls @code->tick a few times a second.
 */
void code_run(const struct code *code, unsigned nr, void (*fn)(void *arg, unsigned index),
	      void *arg);

#define CODE_TICKS 64 /* @tick is called for every 64th function or site */

static inline void code_tick(const struct code *code, size_t index)
{
	if (code->tick && index % CODE_TICKS == 0)
		code->tick(code->tick_arg);
}

/* Load the code of @file. Returns 0 or -ENOMEM. A damaged part of the file counts as absent. */
int code_load(const struct elf_file *file, struct code *out);

/* Free @code->starts, which needs much memory. Call this after the last use of @code->starts. */
void code_forget_starts(struct code *code);

/* Add functions that were found in other ways than by code_load(). Returns 0 or -ENOMEM. */
int code_add_funcs(struct code *code, const struct code_func *funcs, size_t nr);

void code_deinit(struct code *code);
#define cleanup_code cleanup(code_deinit)

const struct code_section *code_section_at(const struct code *code, uint64_t addr);

/* Returns the bytes of the code at @addr, or NULL when not all @len bytes are in one section. */
const uint8_t *code_bytes(const struct code *code, uint64_t addr, uint64_t len);

const struct code_func *code_func_at(const struct code *code, uint64_t addr);

/*
 * Like code_func_at(). If @addr mostly increases from call to call, code_func_from() is faster than
 * code_func_at(). The caller sets *@near to 0 before the first call. Each call begins the search at
 * *@near, and updates *@near.
 */
const struct code_func *code_func_from(const struct code *code, uint64_t addr, size_t *near);

/*
 * Returns the start of the first function after @addr in the section that contains @addr. If no
 * function follows, returns the end of the section. If no section contains @addr, returns @addr.
 */
uint64_t code_next_start(const struct code *code, uint64_t addr);

/*
 * Call @fn with each address in @func at which the program may go on after an exception. Returns
 * false when the function's exception table is damaged, or has an unknown form.
 */
bool code_landings(const struct code *code, const struct code_func *func,
		   void (*fn)(uint64_t addr, void *arg), void *arg);

#endif
