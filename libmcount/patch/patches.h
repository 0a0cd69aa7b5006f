/* Patches: places in the program's text that are changed, as the plan says. */
#ifndef UTRAIL_LIBMCOUNT_PATCHES_H
#define UTRAIL_LIBMCOUNT_PATCHES_H

#include "utils/format/probe/plan.h"

enum patches_text {
	PATCHES_WRITE, /* the probe, or the recorder that has attached, puts them in */
	/* stubs are made; from then on the recorder decides when they are put in */
	PATCHES_OUT,
};

/* The file of a plan, mapped at @image; it is only read. */
struct plan_file {
	int fd;
	const char *image;
};

/*
 * COLD. Put the @nr patches of a plan into the program, whose PLAN_OPERANDS are @operands: stubs
 * first, for those that have any, then the jumps to them. A patch whose code differs from that in
 * the file is left alone; failures are counted for the recorder. There may be other threads, but
 * they must not run in that code: at the start there are none, and only threads that its own
 * constructors have started run a library that was just loaded. @file: they are in this mapping,
 * whose pages need not stay in memory; NULL: they are elsewhere.
 */
void patches_adopt(const struct plan_patch *patches, uint32_t nr,
		   const struct plan_operand *operands, enum patches_text text,
		   const struct plan_file *file);

/* COLD. True when any module was patched; or the module with that function. */
bool patches_are_there(void);
bool patches_are_around(const void *function);

/*
 * COLD, after a dlopen(). A module that was closed and loaded at the same place has its own code
 * again: put its patches in again.
 */
void patches_look_again(void);

/*
 * For a process that is attached to (see utils/format/probe/attach.h). The recorder puts in the
 * patches that exist at the beginning; so a thread that it has stopped calls these, and
 * patches_pass() while all others run.
 */

/* Make the cells of all stubs lead past the probe. */
void patches_pass(void);

/*
 * Returns the number of all changes of the text, in memory that stays until the next call or
 * patches_forget(); negative errno when there is no memory for them.
 */
struct attach_change;
int64_t patches_changes(const struct attach_change **first);

/*
 * The places of their code: the first @room pairs of first and last address go to @ranges. Returns
 * the number of all.
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
