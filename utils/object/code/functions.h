/*
 * The functions of a file: their starts, stripped or not, and whether a hook may be put into them.
 */
#ifndef UTRAIL_OBJECT_FUNCTIONS_H
#define UTRAIL_OBJECT_FUNCTIONS_H

#include "arch/insn.h"
#include "utils/format/sym.h"
#include "utils/object/code/code.h"

enum function_kind {
	FUNCTION_WHOLE,
	/*
	 * It is within a function, or the code before it runs into it: a jump there need not be a
	 * call
	 */
	FUNCTION_SHARED,
	/* The loader calls it to choose a function, when no other code may run (STT_GNU_IFUNC) */
	FUNCTION_RESOLVER,
	/*
	 * Its return address must not be replaced: the function returns twice, elsewhere or never,
	 * or reads its return address
	 */
	FUNCTION_SPECIAL,
	/* The program's run time copies it (own_frames.h); set by callers */
	FUNCTION_COPIED,
	FUNCTION_NEEDED, /* the probe calls it itself; set by callers */
	FUNCTION_KINDS
};

/* Returns the reason, as text, why the function is not patched; NULL for FUNCTION_WHOLE. */
const char *function_kind_text(enum function_kind kind);

/*
 * A function; addresses are the file's own.
 *
 * @name: NULL when there is none; lives as long as the file and the given names.
 */
struct function {
	uint64_t start;
	uint64_t end;
	const char *name;
	enum function_kind kind;
};

/* Functions sorted by start, each once. Starts as { 0 }, ends with functions_deinit(). */
struct functions {
	struct function *list;
	size_t nr;
};

void functions_deinit(struct functions *functions);
#define cleanup_functions cleanup(functions_deinit)

/*
 * Find all functions of @code. Their starts come from call frame information, symbols and direct
 * calls. The symbols are those of the file and of @names, which are relative to its map start;
 * NULL: those of the file only. New functions are added to @code. Code that only one function jumps
 * to is a part of that function ("f.cold"), not a function of its own. 0 or -ENOMEM.
 */
int functions_find(struct code *code, struct insns *insns, const struct symtab *names,
		   struct functions *out);

#endif
