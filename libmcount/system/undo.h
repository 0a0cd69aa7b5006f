/* The changes of a probe that was attached; they are undone when it leaves. */
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
 * A note. @value: the number of bytes of memory, or the former value of a slot. @now: the address
 * of the value that the slot gets instead, or NULL. @ours: see undo_note_slot()
 */
struct undo {
	_Atomic uint32_t kind; /* stored last */
	uint64_t address;
	uint64_t value;
	const uint64_t *now;
	uint64_t ours;
};

/*
 * Changes that must be undone are noted when they are made. In a process that was started with the
 * probe nothing is noted. Any context; no lock. Without memory for a note the change stays.
 */

/* Remember that @bytes of pages at @at are to be unmapped. */
void undo_note_memory(void *at, uint64_t bytes);

/*
 * Returns new zeroed memory, in whole pages, and notes it. Unused pages cost nothing. NULL: there
 * is none.
 */
void *undo_new_memory(uint64_t bytes);

/* Remember that @bytes of pages at @at, with code that is jumped to, are to be unmapped. */
void undo_note_code(void *at, uint64_t bytes);

/*
 * Remember that @slot held @before and is about to lead to @ours. The slot gets @before back, or,
 * with @now, the value at the address @now. @is_protected: the slot's page is read-only.
 */
void undo_note_slot(uint64_t *slot, uint64_t before, const uint64_t *now, uint64_t ours,
		    bool is_protected);

/* Count a call within our code that may take long, and that no thread's state shows. */
void undo_enter(void);
void undo_exit(void);

/* The number of calls between undo_enter() and undo_exit(). */
uint32_t undo_inside(void);

/* COLD. Visit each noted change, the newest first; and forget all changes after they are undone. */
void undo_each(void (*fn)(struct undo *undo, void *arg), void *arg);
void undo_forget(void);

#endif
