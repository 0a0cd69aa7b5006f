/* The `<module>.dbg` text: debug information about the functions of one module. */
#ifndef UTRAIL_FORMAT_DBG_H
#define UTRAIL_FORMAT_DBG_H

#include <stddef.h>
#include <stdint.h>

#include "utils/base/err.h"
#include "utils/base/containers/strbuf.h"

/*
 * One function (doc/formats/symbols.md, "Debug information files").
 *
 * @addr: relative to the module's map start, as in the symbol file
 * @args, @retval: specifications without the leading '@' (utils/spec/args/argspec.h); NULL: none
 * @structs: keys of struct definitions, "KEY,,KEY;KEY": a key (or nothing) for each argument, and
 *           after the ';' a key for the return value; NULL: none
 * @file: NULL: file and line are not known
 * @first_inlined, @nr_inlined: the calls in dbg->inlined that were inlined into the function
 */
struct dbg_func {
	uint64_t addr;
	const char *name;
	const char *args;
	const char *retval;
	const char *structs;
	const char *file;
	uint32_t line;
	uint32_t nr_inlined;
	size_t first_inlined;
};

/* An inlined call. */
struct dbg_inline {
	const char *name;
	const char *file; /* NULL: not known */
	uint32_t line;
};

/*
 * Starts as { 0 }, ends with dbg_deinit().
 *
 * @path, @build_id: NULL: not in the file
 * @enums: definitions of enums, "enum NAME {A=1,B}" (utils/spec/args/enumdef.h)
 * @structs: definitions of structs (utils/spec/args/structdef.h)
 * @funcs: sorted by address
 * @text: memory of strings from a file; NULL: the caller owns the strings
 */
struct dbg {
	const char *path;
	const char *build_id;
	const char **enums;
	size_t nr_enums;
	const char **structs;
	size_t nr_structs;
	struct dbg_func *funcs;
	size_t nr_funcs;
	struct dbg_inline *inlined;
	size_t nr_inlined;
	char *text;
};

void dbg_deinit(struct dbg *dbg);
#define cleanup_dbg cleanup(dbg_deinit)

/* Append a function. Its strings are borrowed. Returns 0 or -ENOMEM. */
int dbg_add_func(struct dbg *dbg, const struct dbg_func *func);
/* Add an inlined call to the function that dbg_add_func() has appended last. */
int dbg_add_inline(struct dbg *dbg, const struct dbg_inline *call);
int dbg_add_enum(struct dbg *dbg, const char *definition);
int dbg_add_struct(struct dbg *dbg, const char *definition);

/* Find the function that begins at @addr. Returns NULL if there is none. */
const struct dbg_func *dbg_find(const struct dbg *dbg, uint64_t addr);

/* Sort the functions by address, for dbg_find(). */
void dbg_sort(struct dbg *dbg);

/* Write the text of the file. */
void dbg_encode(const struct dbg *dbg, struct strbuf *out);

/*
 * Parse the text of a file into the empty @dbg, and sort it. Lines of unknown kinds are skipped.
 *
 * Returns 0, -EINVAL with the number of the invalid line in @err, or -ENOMEM. After an error, @dbg
 * is empty.
 */
int dbg_decode(const char *text, size_t len, struct dbg *dbg, struct uft_err *err);

#endif
