/*
 * Changes in the machine code of a running process. The changes are made and undone while the
 * threads of the process are stopped.
 */
#ifndef UTRAIL_CMDS_RECORD_ATTACH_TEXT_H
#define UTRAIL_CMDS_RECORD_ATTACH_TEXT_H

#include "cmds/record/attach/maps.h"
#include "cmds/record/attach/attached.h"
#include "utils/format/probe/attach.h"

/* The changes in one process. The struct starts as { 0 }. */
struct text {
	struct attach_change *changes;
	size_t nr;
};

void text_deinit(struct text *text);

/* Read the @nr changes that the probe lists at @address. Returns 0 or a negative errno. */
int text_read(struct text *text, const struct attached *w, uint64_t address, uint64_t nr,
	      struct uft_err *err);

/*
 * Make the changes, or undo them. All threads must be stopped, and @maps must be up to date. A
 * thread within the bytes of a change is first led out of these bytes. Each change is made by one
 * write, so a recorder that is killed leaves no half change.
 *
 * A thread that stays within the bytes of a change, or will return to these bytes, prevents the
 * change. Both functions return the number of prevented changes. Changes that can never be made are
 * not counted.
 */
size_t text_put_in(struct text *text, struct attached *w, const struct maps *maps);
size_t text_take_out(struct text *text, struct attached *w, const struct maps *maps);

/* True when the code of the process now contains @change. */
bool text_is_in(const struct attached *w, const struct attach_change *change);

#endif
