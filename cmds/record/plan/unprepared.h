/* Finds functions and their patches in programs that were not compiled for tracing. */
#ifndef UTRAIL_CMDS_RECORD_PLAN_UNPREPARED_H
#define UTRAIL_CMDS_RECORD_PLAN_UNPREPARED_H

#include "utils/base/containers/strbuf.h"
#include "utils/object/code/functions.h"
#include "utils/object/code/sites.h"

/*
 * A file whose functions may be patched. The struct starts as { 0 }.
 *
 * @functions: all functions, sorted by start. Their addresses are those in the file, before
 *             relocation. The @name of a function may be NULL
 * @why_not: the reason why nothing in the file can be patched, as a constant text, or NULL
 */
struct unprepared {
	struct insns *insns;
	struct code code;
	struct functions functions;
	const char *why_not;
};

/*
 * Find the functions of @file, whose path is @path. @file and @names must stay valid until
 * unprepared_close(). Returns 0, -ENOMEM, or -ENOSYS when this build cannot read machine code.
 *
 * @names: more symbols, which are not in @file, or NULL. The addresses of these symbols are
 *         relative to the start of the mapping of @file
 */
int unprepared_open(struct unprepared *out, const struct elf_file *file, const char *path,
		    const struct symtab *names, struct uft_err *err);
void unprepared_close(struct unprepared *unprepared);
#define cleanup_unprepared cleanup(unprepared_close)

/* The way in which a function is patched, or the reason why it is not. */
enum unprepared_way {
	UNPREPARED_JUMP,
	UNPREPARED_LOOP,   /* patched with a jump. A loop at the start is moved as a whole */
	UNPREPARED_ISLAND, /* patched with a short jump, which leads to a long jump */
	/*
	 * Values from here on mean that the function is not patched. If the reason is the
	 * function's enum function_kind, the value is UNPREPARED_CANNOT plus the kind. If the
	 * reason is an enum site_refusal, the value is UNPREPARED_CANNOT + FUNCTION_KINDS plus the
	 * refusal.
	 */
	UNPREPARED_CANNOT,
	UNPREPARED_WAYS = UNPREPARED_CANNOT + FUNCTION_KINDS + SITE_REFUSALS
};

/*
 * Tells how a function is patched, or why the function is not patched.
 *
 * @way: enum unprepared_way
 * @why_not: the reason in detail; "" when the function can be patched
 */
struct unprepared_verdict {
	uint8_t way;
	char why_not[SITE_REASON_MAX];
};

/*
 * Returns a text that describes the way in which a function is patched, or the reason why it cannot
 * be patched.
 */
const char *unprepared_way_text(unsigned way);

/* Returns the address that the program's start code passes to libc as main(), or 0 if unknown. */
uint64_t unprepared_main(const struct unprepared *unprepared);

/*
 * Call @fn for each function in order, on the caller's thread. @fn gets the function, its verdict,
 * and its list of struct found_patch, which is valid during the call. After @fn was called for a
 * function, the search may find the verdict UNPREPARED_ISLAND. In this case @fn is called again for
 * the function, and the new verdict replaces the old verdict. Returns 0 or -ENOMEM.
 */
int unprepared_find_all(const struct unprepared *unprepared,
			void (*fn)(const struct function *function,
				   const struct unprepared_verdict *verdict,
				   const struct strbuf *found, void *arg),
			void *arg, struct uft_err *err);

#endif
