/* Changes that an attached probe makes to the process. When the probe leaves, it undoes them. */
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
	_Atomic uint32_t kind; /* written last, after the other members are complete */
	uint64_t address;
	uint64_t value;
	const uint64_t *now;
	uint64_t ours;
};

/*
 * The functions below note changes. When the probe leaves, it undoes the noted changes. A preloaded
 * probe notes nothing, because it never leaves. If there is no memory for a note, the change is not
 * undone. The functions take no lock, and may be called in any context.
 */

/* Adds a note: when the probe leaves, it unmaps @bytes bytes of pages at @at. */
void undo_note_memory(void *at, uint64_t bytes);

/*
 * Returns new zeroed memory, in whole pages, and notes that it is to be unmapped. Returns NULL
 * when memory is short.
 */
void *undo_new_memory(uint64_t bytes);

/* Does the work of undo_note_memory() for pages with code that the program jumps to. */
void undo_note_code(void *at, uint64_t bytes);

/*
 * Adds a note that @slot held @before and is about to get the value @ours. When the probe leaves,
 * it restores @slot if @slot still has the value @ours.
 *
 * @now: points to the value that is restored; NULL: @before is restored
 * @is_protected: the slot's page is read-only
 */
void undo_note_slot(uint64_t *slot, uint64_t before, const uint64_t *now, uint64_t ours,
		    bool is_protected);

/*
 * A thread calls undo_enter() before a long piece of work in the probe, and undo_exit() after this
 * work. Meanwhile the thread counts as inside of the probe, although t->busy is not set.
 */
void undo_enter(void);
void undo_exit(void);

/* Returns the number of threads between undo_enter() and undo_exit(). */
uint32_t undo_inside(void);

/* COLD. Visit each noted change, the newest first. */
void undo_each(void (*fn)(struct undo *undo, void *arg), void *arg);

/* COLD. Free all notes. Call this function after the changes are undone. */
void undo_forget(void);

#endif
