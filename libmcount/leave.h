/* A probe that was put into a process that ran already, and that is to leave it as it was. */
#ifndef UTRAIL_LIBMCOUNT_LEAVE_H
#define UTRAIL_LIBMCOUNT_LEAVE_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Changes that must be undone are noted when they are made; nothing happens here in a process that
 * was started with the probe. Any context; no lock. A change stays when there is no memory to note
 * it.
 */

/* @bytes of pages at @at, which are to be unmapped. */
void leave_note_memory(void *at, uint64_t bytes);

/* The same for code that is jumped to. */
void leave_note_code(void *at, uint64_t bytes);

/*
 * @slot held @before and is about to lead to @ours. With @now it is given what stands there
 * instead. @is_protected: its page is read-only.
 */
void leave_note_slot(uint64_t *slot, uint64_t before, const uint64_t *now, uint64_t ours,
		     bool is_protected);

/*
 * A call that may take long enters, and leaves, code of ours with nothing of that in a thread's
 * state.
 */
void leave_enter(void);
void leave_exit(void);

#endif
