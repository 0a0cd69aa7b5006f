/* Calls that were open before there was a probe (see earlier_calls.h). */
#include "libmcount/system/earlier_calls.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "libmcount/system/undo.h"
#include "libmcount/system/own_syscall.h"
#include "libmcount/hot/planned.h"
#include "utils/format/probe/attach.h"

#define BLOCK_BYTES (64UL << 10)
#define BYTES_MAX   (64UL << 20)
#define PAGE	    4096UL

/* A piece of memory for notes, which are stored one after another. */
struct block {
	struct block *next;
	uint32_t used;
	_Alignas(8) uint8_t notes[];
};
#define NOTES_BYTES (BLOCK_BYTES - sizeof(struct block))
_Static_assert(ATTACH_THREAD_BYTES_MAX <= NOTES_BYTES, "a note fits in a block");

/*
 * The list of the blocks that store notes, the oldest block first. A note is a struct attach_thread
 * with its calls. All notes are stored before probe.ready is set.
 */
static struct block *first;
static struct block *last;
static uint64_t total;

static struct block *block_with_room(uint64_t bytes)
{
	if (last && NOTES_BYTES - last->used >= bytes)
		return last;
	if (total >= BYTES_MAX)
		return NULL;

	struct block *block = undo_new_memory(BLOCK_BYTES);

	if (!block)
		return NULL;
	total += BLOCK_BYTES;
	*(last ? &last->next : &first) = block;
	last = block;
	return block;
}

int64_t earlier_calls_note(const void *from, uint64_t bytes)
{
	struct attach_thread head;

	if (bytes < sizeof(head) || bytes > ATTACH_THREAD_BYTES_MAX)
		return -EINVAL;
	memcpy(&head, from, sizeof(head));
	if (bytes != attach_thread_bytes(head.nr))
		return -EINVAL;

	struct block *block = block_with_room(bytes);

	if (!block)
		return -ENOMEM;
	memcpy(block->notes + block->used, from, bytes);
	block->used += bytes;
	return 0;
}

void earlier_calls_drop(void)
{
	first = last = NULL;
	total = 0;
}

/*
 * The range in which the next call of a note can have its return slot. A note lists the calls of a
 * thread, the outermost first.
 *
 * @low: the thread's stack pointer. A call with a return slot at or below @low has returned
 * @high: the return slot of the previous call in the note. The next call's slot is not above @high
 * @page: an address in the page that was last found to be readable
 */
struct walk {
	uint64_t low;
	uint64_t high;
	uint64_t page;
};

static bool is_open(struct walk *walk, const struct attach_call *call)
{
	uint64_t slot = call->slot;

	if (slot <= walk->low || slot > walk->high || slot % sizeof(slot) ||
	    (call->sp && (call->sp <= walk->low || call->sp > slot || call->sp % sizeof(slot))))
		return false;
	if (slot / PAGE != walk->page / PAGE && !own_is_readable(slot))
		return false;
	walk->page = slot;
	walk->high = slot;
	return *(const uint64_t *)slot == call->ret;
}

/*
 * Pushes a frame for @call. Skips a library call for which libcall_has_frames() is false. Returns
 * false when there is no room for a frame, or when @call has returned. In both cases the calls
 * inside of @call get no frames.
 */
static bool push_unseen_call(struct thread *t, struct walk *walk, const struct attach_call *call)
{
	uint64_t slot = call->sp ? call->sp | FRAME_EXPLICIT : call->slot;
	uint64_t data = record_data(RECORD_ENTRY, t->top - t->frames, call->addr) | FRAME_UNSEEN;

	if (t->top >= t->limit || !is_open(walk, call))
		return false;
	if (call->is_library_call && !libcall_has_frames(call->addr))
		return true;
	if (t->planned) {
		planned_push_unseen(t, slot, call->ret, call->addr);
		return true;
	}
	t->top[1] = (struct frame){ .slot = slot, .ret = call->ret, .data = data };
	t->top++;
	t->written = t->top;
	return true;
}

static void push_all(struct thread *t, struct walk *walk, struct attach_thread *note)
{
	for (uint32_t i = 0; i < note->nr && push_unseen_call(t, walk, &note->calls[i]); i++)
		;
	/* The note must not be used again, since another thread may get the same tid later. */
	note->tid = 0;
}

void earlier_calls_begin(struct thread *t)
{
	struct walk walk = { (uint64_t)__builtin_frame_address(0), INT64_MAX, 0 };
	int32_t tid = t->ring->tid;

	for (struct block *block = first; block; block = block->next) {
		for (uint32_t at = 0; at < block->used;) {
			struct attach_thread *note = (struct attach_thread *)(block->notes + at);

			at += attach_thread_bytes(note->nr);
			if (note->tid == tid)
				push_all(t, &walk, note);
		}
	}
}
