/* Patches: places in the program's text that are changed, as the plan says. */
#ifndef UTRAIL_LIBMCOUNT_PATCHES_H
#define UTRAIL_LIBMCOUNT_PATCHES_H

#include "utils/format/probe/plan.h"

enum patches_text {
	PATCHES_WRITE, /* the probe puts the patches in, or the recorder that has attached does */
	/* stubs are made; afterwards the recorder decides when their patches are put in */
	PATCHES_OUT,
};

/* The file of a plan, mapped at @image; it is only read. */
struct plan_file {
	int fd;
	const char *image;
};

/*
 * COLD. Put the @nr patches of a plan, whose PLAN_OPERANDS are @operands, into the program: first
 * their stubs, then the jumps to these. A patch is left out where the code differs from that in the
 * file; failures are counted for the recorder. Other threads must not run in that code. At the
 * start there are none, and a library that was just loaded is run only by threads of its own
 * constructors. @file: the mapping that has @patches, whose pages need not stay in memory; NULL:
 * they are elsewhere.
 */
void patches_adopt(const struct plan_patch *patches, uint32_t nr,
		   const struct plan_operand *operands, enum patches_text text,
		   const struct plan_file *file);

/* COLD. True when any module was patched; true when the module around @function was patched. */
bool patches_are_there(void);
bool patches_are_around(const void *function);

/*
 * COLD, after a dlopen(). A module that was closed and loaded at the same place has its own code
 * again: put its patches in again.
 */
void patches_look_again(void);

/*
 * For a process that is attached to (see utils/format/probe/attach.h). There the recorder puts the
 * first patches in. A thread that it has stopped calls the functions below; all other threads are
 * stopped, too, except during patches_pass().
 */

/* Make the cells of all stubs lead past the probe. */
void patches_pass(void);

/*
 * Sets *@first to all changes of the text, in memory that stays until the next call or
 * patches_forget(). Returns their number; negative errno when there is no memory for them.
 */
struct attach_change;
int64_t patches_changes(const struct attach_change **first);

/*
 * Store the places of the patches' code: the first @room pairs of first and last address go to
 * @ranges. Returns the number of all pairs.
 */
int64_t patches_codes(uint64_t *ranges, uint64_t room);

/*
 * The recorder has written all patches that it could. Returns the number of those that are not in
 * place.
 */
uint64_t patches_changed(void);

/* Forget all patches; those in the text stay. */
void patches_forget(void);

#endif
