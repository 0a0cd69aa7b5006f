/* The code of an ELF file: its bytes in memory, where functions begin and end, and where exceptions land. */
#ifndef UTRAIL_OBJECT_CODE_H
#define UTRAIL_OBJECT_CODE_H

#include "utils/object/elf_file.h"

/* A section that a running program has in memory, with its bytes; addresses are the file's own. */
struct code_section {
	uint64_t start;
	uint64_t end;
	const uint8_t *bytes;
	bool is_code;
};

/*
 * A stretch of code of which one function is made, or a part of one ("f.cold").
 *
 * @landings: the file's own address of the table of where exceptions land in it; 0 when it has none
 * @landings_base: what it is relative to, unless it says so itself
 * @name: NULL when no symbol begins there
 */
struct code_func {
	uint64_t start;
	uint64_t end;
	uint64_t landings;
	uint64_t landings_base;
	const char *name;
};

/*
 * @funcs: sorted by start. What call frame information says (.eh_frame, which stripped files have, too), and symbols where it says
 *         nothing. None is within another one.
 * @file: borrowed
 *
 * Starts as { 0 }, ends with code_deinit(). Names and bytes live as long as the file is open.
 */
struct code {
	const struct elf_file *file;
	struct code_section *sections;
	size_t nr_sections;
	struct code_func *funcs;
	size_t nr_funcs;
};

/* 0 or -ENOMEM. What is damaged in the file is as if absent. */
int code_load(const struct elf_file *file, struct code *out);

void code_deinit(struct code *code);
#define cleanup_code cleanup(code_deinit)

/* The section that has @addr, or NULL. */
const struct code_section *code_section_at(const struct code *code, uint64_t addr);

/* The bytes from @addr on, of which there are @len; NULL when they are not of one section. */
const uint8_t *code_bytes(const struct code *code, uint64_t addr, uint64_t len);

/* The function that has @addr, or NULL. */
const struct code_func *code_func_at(const struct code *code, uint64_t addr);

/* Where the first function begins that does so behind @addr, or the end of the section of @addr. */
uint64_t code_next_start(const struct code *code, uint64_t addr);

/*
 * Call @fn with each address at which an exception may be caught in @func. False when that cannot be told: the table is
 * damaged, or of a kind that is not known.
 */
bool code_landings(const struct code *code, const struct code_func *func,
		   void (*fn)(uint64_t addr, void *arg), void *arg);

#endif
