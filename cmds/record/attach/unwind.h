/*
 * The calls that are open in a stopped thread, by the call frame information of the modules that
 * are mapped.
 */
#ifndef UTRAIL_CMDS_RECORD_ATTACH_UNWIND_H
#define UTRAIL_CMDS_RECORD_ATTACH_UNWIND_H

#include "cmds/record/attach/maps.h"
#include "utils/object/elf_file.h"

/*
 * A call that is open.
 *
 * @pc: where it goes on; that of a call inside of it returns there, unless @is_interrupted: it
 * stands there, or a signal has come
 * @sp: its stack pointer there. Below it is the return slot of the call inside, at a fixed distance
 */
struct unwind_frame {
	uint64_t pc;
	uint64_t sp;
	bool is_interrupted;
};

/*
 * The module at @pc: the file's name in /proc/PID/maps, the distance from the file's own addresses,
 * and the open file.
 */
struct unwind_module {
	const char *path;
	uint64_t bias;
	struct elf_file file;
};

struct unwinder;

/* True when this build can do any of it. Otherwise the functions below are not to be called. */
extern const bool unwind_is_possible;

/* For the threads of @w, and what @maps says is mapped; both are borrowed. NULL with a text. */
struct unwinder *unwinder_open(const struct attached *w, const struct maps *maps,
			       struct uft_err *err);
void unwinder_close(struct unwinder *u);

/*
 * The calls that are open in @thread, innermost first, as far as to the one that nothing has
 * called; they stay until the next time. Returns their number, or -ENOENT with a text: not all of
 * them are known. Nothing of the process is believed; there may be anything in the list.
 */
int unwind_thread(struct unwinder *u, const struct attached_thread *thread,
		  const struct unwind_frame **frames, struct uft_err *err);

/* The module that has @pc. False: there is none. */
bool unwind_module(struct unwinder *u, uint64_t pc, struct unwind_module *module);

#endif
