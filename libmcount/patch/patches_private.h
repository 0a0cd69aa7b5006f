/* The declarations that patches.c and patches_leave.c share. */
#ifndef UTRAIL_LIBMCOUNT_PATCHES_PRIVATE_H
#define UTRAIL_LIBMCOUNT_PATCHES_PRIVATE_H

#include <link.h>

#include "libmcount/patch/patches.h"
#include "libmcount/patch/stub_memory.h"

/*
 * The part of a struct plan_patch that is still needed after the stub of the patch was written.
 *
 * @leads_to: an address in the patch's stub. If the patch has no stub: the address of a gate
 *            (stub_memory.h). Unused for PATCH_NOP
 * @is_raised: the patch has raised its @semaphore
 * @is_out: the patch must not be in the module's code now. The recorder changes @is_out when the
 *          recorder writes the patch into the module's code, or removes the patch from the code
 * @to_function: the distance in bytes from @site to the address that the function has in records.
 *               INT16_MIN: the distance is too large
 */
struct patch {
	uint64_t site;
	uint64_t semaphore;
	uint64_t leads_to;
	uint8_t what;
	uint8_t flags;
	uint8_t bytes;
	uint8_t clear;
	bool is_raised;
	_Atomic uint8_t is_out;
	int16_t to_function;
	uint8_t original[PLAN_PATCH_ORIGINAL];
};

/*
 * The patches of one plan for one module, as an element of the list patched_modules. Nothing is
 * removed from this list before patches_drop(). The module lock protects the list (module_lock.h).
 * Functions that the recorder calls in a stopped thread need no lock.
 *
 * @path_hash: shows whether a module that is loaded later comes from the same file as this module
 * @is_waiting: the patches are not in the module's code yet. The recorder will write these patches
 *              while all threads are stopped
 */
struct patched_module {
	struct patched_module *next;
	struct stub_memory *memory;
	uint64_t load_bias;
	uint64_t path_hash; /* to recognise the file again */
	bool is_waiting;
	uint32_t nr;
	struct patch patches[];
};

extern struct patched_module *patched_modules;

/*
 * True when all of the @len bytes at @addr lie in one segment of the module, and the segment has
 * @flag.
 */
bool patches_is_within(const struct dl_phdr_info *info, uint64_t addr, uint64_t len, uint32_t flag);

/* True when @patch writes no bytes at its site (PLAN_PATCH_INNER). */
static inline bool patch_has_no_text(const struct patch *patch)
{
	return plan_patch_has_no_text(patch->flags);
}

static inline uint64_t patch_function(const struct patch *patch)
{
	return patch->to_function == INT16_MIN ? 0 : patch->site + patch->to_function;
}

/*
 * Stores the bytes for the site of @patch in @to, which has room for PLAN_PATCH_ORIGINAL bytes.
 * Returns the number of bytes, or 0 when the bytes cannot be made.
 */
uint32_t patch_make_bytes(const struct patch *patch, uint8_t *to);

/* Forgets all patches. */
void patches_drop(void);

/*
 * If @patch has a semaphore, adds 1 to the semaphore. While a semaphore is 0, the program may skip
 * the event at the site of the patch.
 */
void patch_raise_semaphore(const struct dl_phdr_info *info, struct patch *patch);

/* True when the bytes at the site of @patch are those that patch_make_bytes() makes. */
bool patch_is_there(const struct dl_phdr_info *info, const struct patch *patch);

/*
 * True when the module in @info is loaded at the address of @module, and has executable memory at
 * the site of the first patch of @module. Another module that was loaded there later may meet both
 * conditions.
 */
bool patched_module_is_at(const struct dl_phdr_info *info, const struct patched_module *module);

#endif
