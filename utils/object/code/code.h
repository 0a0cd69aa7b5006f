/*
 * The code of an ELF file: its bytes in memory, where functions begin and end, and where exceptions
 * land.
 */
#ifndef UTRAIL_OBJECT_CODE_H
#define UTRAIL_OBJECT_CODE_H

#include "utils/object/elf_file.h"

/*
 * A section that a running program has in memory, with its bytes; addresses are the file's own.
 *
 * @is_glue: its code is the linker's (.plt, .init, .fini), not of functions
 * @own: memory of the bytes, or NULL when they are the file's
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
 * A table of the places where exceptions land: the file's own address, and the base that it is
 * relative to, unless it says so itself.
 */
struct code_table {
	uint64_t addr;
	uint64_t base;
};

/*
 * A stretch of code of which one function is made, or a part of one ("f.cold").
 *
 * @name: NULL when no symbol begins there
 * @table: the one of the code's tables that says where exceptions land in it, counted from 1 on; 0
 *         when it has none
 * @has_frames: call frame information says where it begins
 * @is_framed: it also says that a frame is there already, or that nobody returns from it: so it is
 *             not entered by calls
 * @has_own_unwinder: exceptions are handed to a function that needs no table: one of the program's,
 *                    for compilers' languages have tables
 * @is_guessed: nobody says where it ends, so it goes as far as the next one
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
 * A symbol of code that says more than a function of the same place. It is within another one, has
 * no size, or is no function like others.
 */
struct code_start {
	uint64_t addr;
	const char *name;
	bool is_resolver; /* it chooses a function for the loader (STT_GNU_IFUNC) */
	bool is_special;  /* code_is_special() */
};

/*
 * True when a function of this name (or NULL) has a return address that is not for others, or is
 * entered in a way of its own.
 */
bool code_is_special(const char *name);

/*
 * The way in which the work on a large file is shared out. Results do not depend on it. Zeros: as
 * CPUs and files are.
 */
struct code_work {
	unsigned nr_threads;
	unsigned piece; /* so many functions are done at a time */
};

/*
 * @funcs: sorted by start. They come from call frame information (.eh_frame, which stripped files
 *         have, too), and from symbols where it says nothing. None is within another one.
 * @sections: those that a running program has, without call frame information
 * @starts: sorted by address
 * @file: borrowed
 * @tick: called with @tick_arg some hundred times while a large file is looked at, by the thread
 *        that looks; set before code_load(), like @work. NULL: nobody wants to know
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
 * The number of threads that are of use for @nr functions, and the number of functions in a piece.
 */
unsigned code_threads(const struct code *code, size_t nr);
size_t code_piece(const struct code *code);

/* Do this in @nr threads, with the ticks of @code while this one waits for the others. */
void code_run(const struct code *code, unsigned nr, void (*fn)(void *arg, unsigned index),
	      void *arg);

#define CODE_TICKS 64 /* functions, or sites, for one tick */

static inline void code_tick(const struct code *code, size_t index)
{
	if (code->tick && index % CODE_TICKS == 0)
		code->tick(code->tick_arg);
}

/* 0 or -ENOMEM. A damaged part of the file counts as absent. */
int code_load(const struct elf_file *file, struct code *out);

/* Symbols are of no use any more. */
void code_forget_starts(struct code *code);

/* Add functions that are known from elsewhere. 0 or -ENOMEM. */
int code_add_funcs(struct code *code, const struct code_func *funcs, size_t nr);

void code_deinit(struct code *code);
#define cleanup_code cleanup(code_deinit)

/* The section that has @addr, or NULL. */
const struct code_section *code_section_at(const struct code *code, uint64_t addr);

/* The bytes from @addr on, of which there are @len; NULL when they are not of one section. */
const uint8_t *code_bytes(const struct code *code, uint64_t addr, uint64_t len);

/* The function that has @addr, or NULL. */
const struct code_func *code_func_at(const struct code *code, uint64_t addr);

/*
 * The same for addresses in a row, which hardly ever go down: *@near, 0 at first, is where to look.
 */
const struct code_func *code_func_from(const struct code *code, uint64_t addr, size_t *near);

/* The beginning of the first function after @addr, or the end of the section of @addr. */
uint64_t code_next_start(const struct code *code, uint64_t addr);

/*
 * Call @fn with each address at which an exception may be caught in @func. False when that cannot
 * be told: the table is damaged, or of a kind that is not known.
 */
bool code_landings(const struct code *code, const struct code_func *func,
		   void (*fn)(uint64_t addr, void *arg), void *arg);

#endif
