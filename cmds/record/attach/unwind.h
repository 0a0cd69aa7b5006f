/*
 * Finds the open calls of a stopped thread: the calls that have not returned. The call frame
 * information of the mapped modules shows these calls. In a build without libdw, every function
 * fails.
 */
#ifndef UTRAIL_CMDS_RECORD_ATTACH_UNWIND_H
#define UTRAIL_CMDS_RECORD_ATTACH_UNWIND_H

#include "cmds/record/attach/maps.h"
#include "utils/object/elf_file.h"

/*
 * An open call.
 *
 * @pc: the address at which the function goes on
 * @sp: the stack pointer at @pc. If @pc is a return address, @pc is stored on the stack, at a fixed
 *      distance below @sp
 * @is_interrupted: @pc is not a return address. The thread was stopped at @pc, or got a signal
 *      there
 */
struct unwind_frame {
	uint64_t pc;
	uint64_t sp;
	bool is_interrupted;
};

/*
 * The module at an address.
 *
 * @path: the name of the module's file, as in /proc/PID/maps
 * @bias: the address in memory minus the address in the file
 * @file: the open file
 */
struct unwind_module {
	const char *path;
	uint64_t bias;
	struct elf_file file;
};

struct unwinder;

/*
 * Open an unwinder for the threads of @w. @w and @maps must stay valid until unwinder_close().
 * Returns NULL, with a text in @err, on failure.
 */
struct unwinder *unwinder_open(const struct attached *w, const struct maps *maps,
			       struct uft_err *err);
void unwinder_close(struct unwinder *u);

/*
 * Find the open calls of @thread. *@frames gets the list of these calls, innermost first. Returns
 * the number of calls. If some open calls cannot be found, returns -ENOENT with a text in @err.
 *
 * The list is valid until this function is called again. The addresses in the list come from the
 * memory of the process, so callers must not trust these addresses.
 */
int unwind_thread(struct unwinder *u, const struct attached_thread *thread,
		  const struct unwind_frame **frames, struct uft_err *err);

/* Find the module that contains @pc. Returns false when there is none. */
bool unwind_module(struct unwinder *u, uint64_t pc, struct unwind_module *module);

#endif
