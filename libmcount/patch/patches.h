/* Patches: changes in the machine code of the program. The plan lists the changes. */
#ifndef UTRAIL_LIBMCOUNT_PATCHES_H
#define UTRAIL_LIBMCOUNT_PATCHES_H

#include "utils/format/probe/plan.h"

enum patches_text {
	/*
	 * While a recorder attaches to a running process, the recorder writes the patches into the
	 * program's code. In all other cases, the probe writes the patches.
	 */
	PATCHES_WRITE,
	/*
	 * The probe makes the stubs of the patches, but writes no patches. The recorder may later
	 * write the patches into the program's code.
	 */
	PATCHES_OUT,
};

/* The file of a plan. @image: a read-only mapping of the file */
struct plan_file {
	int fd;
	const char *image;
};

/*
 * COLD. Puts a plan's patches into the program: first the stubs, then the jumps to the stubs. A
 * patch is left out if the code in memory differs from the code in the module's file. Failures are
 * counted for the recorder. No other thread may run in the patched code.
 *
 * @patches, @nr: the patches
 * @operands: the plan's PLAN_OPERANDS
 * @file: the plan's file, whose mapping contains @patches. patches_adopt() releases the memory of
 *        the pages that contain @patches. The kernel reads a released page from the file again when
 *        the page is needed. NULL: @patches are not in the mapping of a file
 */
void patches_adopt(const struct plan_patch *patches, uint32_t nr,
		   const struct plan_operand *operands, enum patches_text text,
		   const struct plan_file *file);

/*
 * COLD. patches_are_there() is true when any module was patched. patches_are_around() is true when
 * the module of @function was patched.
 */
bool patches_are_there(void);
bool patches_are_around(const void *function);

/*
 * COLD, after a dlopen(). If a module was closed and is loaded again at the same address, the newly
 * loaded code has no patches. This function puts the patches of such a module in again.
 */
void patches_look_again(void);

/*
 * The functions below are for a recorder that attaches to a process (utils/format/probe/attach.h).
 * The recorder stops a thread of the process, and lets this thread execute one of the functions.
 * Other threads may run during patches_pass(). During the other functions, all other threads are
 * stopped.
 */

/*
 * Makes all stubs continue without the probe: from now on no stub calls a hook. Lowers the
 * semaphores that patches have raised.
 */
void patches_pass(void);

/*
 * Sets *@first to a list of all changes that the recorder has to make in the program's code. The
 * list stays in memory until patches_changes() is called again, or patches_forget() is called.
 * Returns the number of changes, or -ENOMEM.
 */
struct attach_change;
int64_t patches_changes(const struct attach_change **first);

/*
 * Finds the ranges of memory that contain the stubs of patches. Stores the first @room ranges in
 * @ranges: for each range, the address of its start and of its end. Returns the number of all
 * ranges.
 */
int64_t patches_codes(uint64_t *ranges, uint64_t room);

/*
 * Called when the recorder has written all patches that it could. Returns the number of patches
 * that are not in place.
 */
uint64_t patches_changed(void);

/* Forgets all patches. Patches that are in the program's code stay there. */
void patches_forget(void);

#endif
