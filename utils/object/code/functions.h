/*
 * The functions of a file: where each begins, stripped or not, and which of them may be entered by
 * a hook.
 */
#ifndef UTRAIL_OBJECT_FUNCTIONS_H
#define UTRAIL_OBJECT_FUNCTIONS_H

#include "arch/insn.h"
#include "utils/format/sym.h"
#include "utils/object/code/code.h"

enum function_kind {
	FUNCTION_WHOLE,
	/*
	 * Within another one, or the code before it goes on in it: a jump there need not be a call
	 */
	FUNCTION_SHARED,
	/*
	 * It chooses a function for the loader, at times when nothing else may run (STT_GNU_IFUNC)
	 */
	FUNCTION_RESOLVER,
	/*
	 * Its return address is not for others: it returns twice, elsewhere or never, or looks at
	 * it
	 */
	FUNCTION_SPECIAL,
	/* The program's run time copies it (own_frames.h); set by callers that know it */
	FUNCTION_COPIED,
	FUNCTION_NEEDED, /* its recorder calls it itself; set by callers that know it */
	FUNCTION_KINDS
};

/* In words, the reason why the function is left alone; NULL for FUNCTION_WHOLE. */
const char *function_kind_text(enum function_kind kind);

/*
 * @name: NULL when there is none; lives as long as the file and the names that were given.
 *        Addresses are the file's own.
 */
struct function {
	uint64_t start;
	uint64_t end;
	const char *name;
	enum function_kind kind;
};

/* Sorted by start, each once. Starts as { 0 }, ends with functions_deinit(). */
struct functions {
	struct function *list;
	size_t nr;
};

void functions_deinit(struct functions *functions);
#define cleanup_functions cleanup(functions_deinit)

/*
 * All functions of @code. They begin where call frame information, symbols and direct calls say so.
 * The symbols are those of the file and of @names, relative to its map start (NULL: no others);
 * @code gets those that it did not know. Code that is only ever jumped to, and by a function
 * around, is a part of one ("f.cold"), and no function of its own. 0 or -ENOMEM.
 */
int functions_find(struct code *code, struct insns *insns, const struct symtab *names,
		   struct functions *out);

#endif
