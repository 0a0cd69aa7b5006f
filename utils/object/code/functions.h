/*
 * Finds the functions of a file, even if the file is stripped. For each function, the result has
 * the addresses and the kind. The kind tells whether the function can get a hook.
 */
#ifndef UTRAIL_OBJECT_FUNCTIONS_H
#define UTRAIL_OBJECT_FUNCTIONS_H

#include "arch/insn.h"
#include "utils/format/sym.h"
#include "utils/object/code/code.h"

enum function_kind {
	FUNCTION_WHOLE,
	/*
	 * A function that execution can enter without a call: the function begins within another
	 * function, or the code before the function continues into the function
	 */
	FUNCTION_SHARED,
	/*
	 * A function that the loader calls to choose another function (STT_GNU_IFUNC). No hook may
	 * run during this call, because the loader is still relocating modules
	 */
	FUNCTION_RESOLVER,
	/*
	 * A function that is entered or left in an unusual way, or that reads its return address.
	 * Either code_is_special() is true for the function's name, or call frame information shows
	 * that no call enters the function (code_func.is_framed)
	 */
	FUNCTION_SPECIAL,
	/*
	 * FUNCTION_COPIED: the runtime of a language copies the function (own_frames.h).
	 * FUNCTION_NEEDED: the probe calls the function. functions_find() never sets these two
	 * kinds. The callers of functions_find() may set these kinds in the result
	 */
	FUNCTION_COPIED,
	FUNCTION_NEEDED,
	FUNCTION_KINDS
};

/*
 * Returns the reason why a function of this kind is not patched, as text. Returns NULL for
 * FUNCTION_WHOLE.
 */
const char *function_kind_text(enum function_kind kind);

/*
 * A function.
 *
 * @start, @end: virtual addresses, as in the section headers of the file. @end is the address after
 *         the last byte of the function
 * @name: the name, or NULL. The name is valid as long as the file is open and the @names of
 *        functions_find() exist
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
 * Find all functions of @code by call frame information, symbols and direct calls. Functions that
 * @code lacks are added to @code. @out gets all functions except these:
 *
 * - parts of functions: "f.cold", and unnamed code to which only conditional jumps lead
 * - the program's entry point, functions of start files, and code that the linker has made
 * - unnamed functions with code_func.is_framed
 *
 * Returns 0 or -ENOMEM.
 *
 * @names: symbols from another file, such as a debug file; may be NULL. The addresses of these
 *         symbols are relative to code->file->base
 */
int functions_find(struct code *code, struct insns *insns, const struct symtab *names,
		   struct functions *out);

#endif
