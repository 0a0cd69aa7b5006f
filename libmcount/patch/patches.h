/* Patches: places in the program's text that are changed, as the plan says. */
#ifndef UTRAIL_LIBMCOUNT_PATCHES_H
#define UTRAIL_LIBMCOUNT_PATCHES_H

#include "utils/format/probe/plan.h"

enum patches_text {
	PATCHES_WRITE, /* the probe puts the patches in; after an attach, the recorder does */
	/* only stubs are made; the recorder puts the patches in when it decides to */
	PATCHES_OUT,
};

/* The file of a plan, mapped at @image; it is only read. */
struct plan_file {
	int fd;
	const char *image;
};

/*
 * COLD. Put a plan's patches into the program: first their stubs, then the jumps to these. If the
 * code differs from that in the file, the patch is left out; failures are counted for the recorder.
 * No other thread may run in that code.
 *
 * @patches, @nr: the patches
 * @operands: the plan's PLAN_OPERANDS
 * @file: the mapping that has @patches, whose pages need not stay in memory; NULL: the patches are
 *        elsewhere
 */
void patches_adopt(const struct plan_patch *patches, uint32_t nr,
		   const struct plan_operand *operands, enum patches_text text,
		   const struct plan_file *file);

/* COLD. True when any module was patched, or that around @function. */
bool patches_are_there(void);
bool patches_are_around(const void *function);

/*
 * COLD, after a dlopen(). A module that was closed and is loaded at the same place has its own code
 * again: put its patches in again.
 */
void patches_look_again(void);

/*
 * For a process that is attached to (utils/format/probe/attach.h). The recorder has a stopped
 * thread call the functions below. All other threads are stopped, too, except during
 * patches_pass().
 */

/* Lead the cells of all stubs past the probe. */
void patches_pass(void);

/*
 * Sets *@first to all changes of the text, in memory that stays until the next call or
 * patches_forget(). Returns their number, or -ENOMEM.
 */
struct attach_change;
int64_t patches_changes(const struct attach_change **first);

/*
 * Stores the first @room pairs of first and last address of the patches' code in @ranges. Returns
 * the number of all pairs.
 */
int64_t patches_codes(uint64_t *ranges, uint64_t room);

/*
 * The recorder has written all patches that it could. Returns the number of patches that are not in
 * place.
 */
uint64_t patches_changed(void);

/* Forget all patches; those in the text stay. */
void patches_forget(void);

#endif
