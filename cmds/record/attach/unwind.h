/* Finds the open calls of a stopped thread by the call frame information of the mapped modules. */
#ifndef UTRAIL_CMDS_RECORD_ATTACH_UNWIND_H
#define UTRAIL_CMDS_RECORD_ATTACH_UNWIND_H

#include "cmds/record/attach/maps.h"
#include "utils/object/elf_file.h"

/*
 * An open call.
 *
 * @pc: the address where the function goes on
 * @sp: the stack pointer at @pc. The return slot of the call inside is below, at a fixed distance
 * @is_interrupted: @pc is no return address: the thread was stopped, or got a signal there
 */
struct unwind_frame {
	uint64_t pc;
	uint64_t sp;
	bool is_interrupted;
};

/*
 * The module at an address: the file's name in /proc/PID/maps, the distance of memory from the
 * file's own addresses, and the open file.
 */
struct unwind_module {
	const char *path;
	uint64_t bias;
	struct elf_file file;
};

struct unwinder;

/* True when this build can unwind. Otherwise the functions below may not be called. */
extern const bool unwind_is_possible;

/* Open an unwinder for the threads of @w. @w and @maps are borrowed. NULL: failure, with a text. */
struct unwinder *unwinder_open(const struct attached *w, const struct maps *maps,
			       struct uft_err *err);
void unwinder_close(struct unwinder *u);

/*
 * Find the open calls in @thread, innermost first. Returns their number, or -ENOENT with a text
 * when some are unknown. The list is valid until the next call. Its content is not trusted: it
 * comes from the process' memory.
 */
int unwind_thread(struct unwinder *u, const struct attached_thread *thread,
		  const struct unwind_frame **frames, struct uft_err *err);

/* Find the module that has @pc. Returns false when there is none. */
bool unwind_module(struct unwinder *u, uint64_t pc, struct unwind_module *module);

#endif
