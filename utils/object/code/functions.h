/* The functions of a file, stripped or not: their starts, and whether they can get a hook. */
#ifndef UTRAIL_OBJECT_FUNCTIONS_H
#define UTRAIL_OBJECT_FUNCTIONS_H

#include "arch/insn.h"
#include "utils/format/sym.h"
#include "utils/object/code/code.h"

enum function_kind {
	FUNCTION_WHOLE,
	/* Not only calls enter it: it is within a function, or the code before runs on into it */
	FUNCTION_SHARED,
	/* The loader calls it to choose a function, when no other code may run (STT_GNU_IFUNC) */
	FUNCTION_RESOLVER,
	/* It returns twice, elsewhere or never, or reads its return address, which must stay */
	FUNCTION_SPECIAL,
	FUNCTION_COPIED, /* the program's run time copies it (own_frames.h); set by callers */
	FUNCTION_NEEDED, /* the probe calls it; set by callers */
	FUNCTION_KINDS
};

/* Returns the reason why such a function is not patched, as text; NULL for FUNCTION_WHOLE. */
const char *function_kind_text(enum function_kind kind);

/*
 * @start, @end: the file's own addresses
 * @name: NULL: none; lives as long as the file and the given names
 */
struct function {
	uint64_t start;
	uint64_t end;
	const char *name;
	enum function_kind kind;
};

/*
 * Functions sorted by start, without duplicates. Starts as { 0 } and ends with functions_deinit().
 */
struct functions {
	struct function *list;
	size_t nr;
};

void functions_deinit(struct functions *functions);
#define cleanup_functions cleanup(functions_deinit)

/*
 * Find all functions of @code by call frame information, symbols and direct calls, and add new ones
 * to @code. Returns 0 or -ENOMEM. Code to which only one function jumps ("f.cold") is a part of
 * that function.
 *
 * @names: symbols from elsewhere, relative to the file's map start, or NULL
 */
int functions_find(struct code *code, struct insns *insns, const struct symtab *names,
		   struct functions *out);

#endif
