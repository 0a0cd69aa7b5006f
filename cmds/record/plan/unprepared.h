/*
 * Functions of programs that were not compiled for tracing: found in the file, and what is to be
 * written at their beginnings.
 */
#ifndef UTRAIL_CMDS_RECORD_PLAN_UNPREPARED_H
#define UTRAIL_CMDS_RECORD_PLAN_UNPREPARED_H

#include "utils/base/containers/strbuf.h"
#include "utils/object/code/functions.h"
#include "utils/object/code/sites.h"

/*
 * One file that is looked at. Starts as { 0 }, ends with unprepared_close().
 *
 * @functions: all that there are, sorted by start, with the file's own addresses; of one without a
 * name @name is NULL
 * @why_not: nothing of the file can be patched, with the reason; NULL otherwise. Lives for ever
 */
struct unprepared {
	struct insns *insns;
	struct code code;
	struct functions functions;
	const char *why_not;
};

/*
 * Find the functions of @file, which @path names; names that the file itself has not come from
 * @names (relative to its map start; NULL: none). @file and @names are borrowed. 0; -ENOSYS: this
 * build reads no machine code; -ENOMEM.
 */
int unprepared_open(struct unprepared *out, const struct elf_file *file, const char *path,
		    const struct symtab *names, struct uft_err *err);
void unprepared_close(struct unprepared *unprepared);
#define cleanup_unprepared cleanup(unprepared_close)

/* The way in which a function is patched, or why it is not. */
enum unprepared_way {
	UNPREPARED_JUMP,
	UNPREPARED_LOOP,   /* with a loop at its beginning, which is moved as a whole */
	UNPREPARED_ISLAND, /* by a short jump to a long one */
	/*
	 * and those that follow it: the sum of this, the function's enum function_kind and its enum
	 * site_refusal
	 */
	UNPREPARED_CANNOT,
	UNPREPARED_WAYS = UNPREPARED_CANNOT + FUNCTION_KINDS + SITE_REFUSALS
};

/* @way: enum unprepared_way; @why_not: in detail, "" when it can be patched. */
struct unprepared_verdict {
	uint8_t way;
	char why_not[SITE_REASON_MAX];
};

/* In words; of what cannot be patched the reason. */
const char *unprepared_way_text(unsigned way);

/* The address of main(), as the program's first instructions say; 0: they do not. */
uint64_t unprepared_main(const struct unprepared *unprepared);

/*
 * Call @fn with each of the functions, in their order: how it is patched, or why not, and its
 * struct found_patch, which are there for the call only. Those that could not be patched in another
 * way than by a short jump to a long one (UNPREPARED_ISLAND) come again afterwards: the second
 * verdict counts. The work is done in several threads, @fn is called by this one. 0 or -ENOMEM.
 */
int unprepared_find_all(const struct unprepared *unprepared,
			void (*fn)(const struct function *function,
				   const struct unprepared_verdict *verdict,
				   const struct strbuf *found, void *arg),
			void *arg, struct uft_err *err);

/*
 * Append the patches of the functions that @chosen selects to @found: struct found_patch. The way
 * in which each is patched, or why it is not, goes to @verdicts (one for each of the functions;
 * NULL: nobody wants to know). 0 or -ENOMEM.
 */
int unprepared_find(const struct unprepared *unprepared, const bool *chosen, struct strbuf *found,
		    struct unprepared_verdict *verdicts, struct uft_err *err);

#endif
