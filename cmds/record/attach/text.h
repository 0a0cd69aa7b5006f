/* Changes of a running process' text: put in and taken out while all its threads are stopped. */
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
 * All threads are stopped, and @maps is up to date. A change is made when the process' memory has
 * the expected bytes, and no thread is inside of them or returns to them. Program counters show
 * that, with return addresses, and addresses that signal handlers have interrupted. A thread inside
 * of the bytes executes instructions until it has left. Each change is written at once, so that it
 * is made or not if we are killed.
 *
 * Returns the number that could not be made because of threads; the others are made, or never can
 * be.
 */
size_t text_put_in(struct text *text, struct attached *w, const struct maps *maps);
size_t text_take_out(struct text *text, struct attached *w, const struct maps *maps);

/* True when the change is in the text just now. */
bool text_is_in(const struct attached *w, const struct attach_change *change);

#endif
