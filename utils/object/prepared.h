/*
 * Functions that were compiled with room for a hook, or with a call of a hook, and the places in
 * these functions that can be changed.
 */
#ifndef UTRAIL_OBJECT_PREPARED_H
#define UTRAIL_OBJECT_PREPARED_H

#include "utils/format/probe/plan.h"
#include "utils/object/elf_file.h"

/*
 * A place that can be changed. Addresses are as stated in the file, before relocation.
 *
 * @func: start of the function that contains the place
 * @what: prepared_find() sets PATCH_CALL, PATCH_XRAY_ENTRY, PATCH_XRAY_EXIT or PATCH_XRAY_TAIL.
 *        prepared_find_calls() sets PATCH_NOP: a call of mcount() or __fentry__() can become nops
 * @bytes, @original: length and bytes of the code to replace
 */
struct prepared_site {
	uint64_t addr;
	uint64_t func;
	uint8_t what; /* enum plan_patch_what */
	uint8_t bytes;
	uint8_t original[PLAN_PATCH_ORIGINAL];
};

/*
 * Starts as { 0 } and ends with prepared_deinit().
 *
 * @sites: sorted by address
 * @nr_short: number of functions with too few nops
 * @nr_unknown: number of places that the file names, but whose content is unexpected
 */
struct prepared {
	struct prepared_site *sites;
	size_t nr;
	size_t nr_short;
	size_t nr_unknown;
};

void prepared_deinit(struct prepared *prepared);
#define cleanup_prepared cleanup(prepared_deinit)

/*
 * True when functions of @file probably have room for hooks, in at least one of these forms:
 *
 * - places that the section __patchable_function_entries lists (-fpatchable-function-entry=N[,M])
 * - places that the section xray_instr_map lists (clang -fxray-instrument)
 * - nops at the places that the section __mcount_loc lists (-mnop-mcount with -mrecord-mcount)
 * - nops at the start of functions. This form counts only if the program was linked for gprof, has
 *   no section __mcount_loc, and does not call a hook
 */
bool object_is_prepared(const struct elf_file *file);

/*
 * Find all places with room for hooks. A damaged part of the file counts as absent. Returns 0 or
 * -ENOMEM.
 */
int prepared_find(const struct elf_file *file, struct prepared *out);

/* Find the first call of mcount() or __fentry__() in each function. Returns 0 or -ENOMEM. */
int prepared_find_calls(const struct elf_file *file, struct prepared *out);

#endif
