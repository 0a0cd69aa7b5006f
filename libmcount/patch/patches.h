/* Patches: places in the program's text that are changed, as the plan says. */
#ifndef UTRAIL_LIBMCOUNT_PATCHES_H
#define UTRAIL_LIBMCOUNT_PATCHES_H

#include "utils/format/probe/plan.h"

enum patches_text {
	PATCHES_WRITE, /* they are put in, by the probe or by the recorder that has attached */
	/*
	 * stubs are made; whether and when they are put in is the recorder's business from then on
	 */
	PATCHES_OUT,
};

/* The file of a plan, which is mapped at @image, to be read only. */
struct plan_file {
	int fd;
	const char *image;
};

/*
 * COLD. Put the @nr patches of a plan into the program, whose PLAN_OPERANDS are @operands: stubs
 * first, for those that have any, then what leads there. One whose code is not as the recorder has
 * seen it in the file is left alone; what fails is counted for the recorder. There may be other
 * threads, but they must not run in that code: at the start there are none, and a library that was
 * just loaded is run by those that its own constructors have started. @file: they are in this
 * mapping, whose pages need not stay in memory; NULL: they are elsewhere.
 */
void patches_adopt(const struct plan_patch *patches, uint32_t nr,
		   const struct plan_operand *operands, enum patches_text text,
		   const struct plan_file *file);

/* COLD. True when any module was patched; or the one with that function. */
bool patches_are_there(void);
bool patches_are_around(const void *function);

/*
 * COLD, after a dlopen(). A module that was closed and came back to the same place has its own code
 * again: put its patches in again.
 */
void patches_look_again(void);

/*
 * For a process that is attached to (see utils/format/probe/attach.h). The recorder puts in the
 * patches that exist at the beginning; so a thread that it has stopped calls these, and
 * patches_pass() while all others run.
 */

/* Nothing that is patched leads to the probe any more. */
void patches_pass(void);

/*
 * All changes of the text, in memory that stays until the next call or patches_forget(). Returns
 * their number; negative errno when there is no memory for them.
 */
struct attach_change;
int64_t patches_changes(const struct attach_change **first);

/*
 * The places of their code: the first @room pairs of first and last address go to @ranges. Returns
 * the number of all.
 */
int64_t patches_codes(uint64_t *ranges, uint64_t room);

/* The recorder has written those that could be. Returns the number that are not there. */
uint64_t patches_changed(void);

/* Forget all of them; those in the text stay. */
void patches_forget(void);

#endif
