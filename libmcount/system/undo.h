/* The changes that an attached probe makes to the process. They are undone when it leaves. */
#ifndef UTRAIL_LIBMCOUNT_UNDO_H
#define UTRAIL_LIBMCOUNT_UNDO_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

enum undo_kind {
	UNDO_NOTHING, /* the note is not complete */
	UNDO_MEMORY,
	UNDO_CODE,
	UNDO_SLOT,
	UNDO_PROTECTED_SLOT,
};

/*
 * A note of one change.
 *
 * @value: the number of bytes of memory, or the former value of a slot
 * @now, @ours: see undo_note_slot()
 */
struct undo {
	_Atomic uint32_t kind; /* stored after the other members */
	uint64_t address;
	uint64_t value;
	const uint64_t *now;
	uint64_t ours;
};

/*
 * Changes are noted when they are made. A probe that was preloaded notes nothing. Any context; no
 * lock. A change without memory for its note is not undone.
 */

/* Note that @bytes of pages at @at are to be unmapped. */
void undo_note_memory(void *at, uint64_t bytes);

/*
 * Returns new zeroed memory, in whole pages, and makes a note of it. Returns NULL when there is
 * none.
 */
void *undo_new_memory(uint64_t bytes);

/* Note that @bytes of pages at @at, with code that the program jumps to, are to be unmapped. */
void undo_note_code(void *at, uint64_t bytes);

/*
 * Makes a note that @slot held @before and is about to lead to @ours. When the probe leaves, @slot
 * gets a value back.
 *
 * @now: the address of the value for @slot; NULL: the value is @before
 * @is_protected: the slot's page is read-only
 */
void undo_note_slot(uint64_t *slot, uint64_t before, const uint64_t *now, uint64_t ours,
		    bool is_protected);

/* Count this thread as inside of the probe, for long calls that set no `busy`. */
void undo_enter(void);
void undo_exit(void);

/* Returns the number of threads between undo_enter() and undo_exit(). */
uint32_t undo_inside(void);

/* COLD. Visit each noted change, the newest first. */
void undo_each(void (*fn)(struct undo *undo, void *arg), void *arg);

/* COLD. Forget all changes, after they are undone. */
void undo_forget(void);

#endif
