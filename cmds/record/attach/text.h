/* Changes of a running process' text: put in and taken out while all its threads stand. */
#ifndef UTRAIL_CMDS_RECORD_ATTACH_TEXT_H
#define UTRAIL_CMDS_RECORD_ATTACH_TEXT_H

#include "cmds/record/attach/maps.h"
#include "cmds/record/attach/attached.h"
#include "utils/format/probe/attach.h"

/* Starts as { 0 }. */
struct text {
	struct attach_change *changes;
	size_t nr;
};

void text_deinit(struct text *text);

/* The probe has made @nr changes at @address. 0 or negative errno, with a text. */
int text_read(struct text *text, const struct attached *w, uint64_t address, uint64_t nr,
	      struct uft_err *err);

/*
 * All threads are stopped, and @maps is of now. A change is made when the process' memory holds
 * what it should, and no thread is, or will come back to, within the bytes. The program counter
 * says so, a return address, or the place that a handler of a signal has interrupted. A thread that
 * is there executes instructions until it has left. Each is written at once, so that it is there or
 * not should we be killed.
 *
 * Returns the number that could not be made because of threads; the others will never be, or are.
 */
size_t text_put_in(struct text *text, struct attached *w, const struct maps *maps);
size_t text_take_out(struct text *text, struct attached *w, const struct maps *maps);

/* It is there just now. */
bool text_is_in(const struct attached *w, const struct attach_change *change);

#endif
