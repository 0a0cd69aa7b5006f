/*
 * Records in the cells of a stream. Any number of writers and readers use the cells without a lock.
 * The memory is untrusted.
 *
 * A writer claims the cells for a record by one atomic change of the word of the record's first
 * cell. From this change on, the word holds the pid of the writer and the number of cells, and any
 * process can move @head past the record. When @tail is moved past a record, the record's cells are
 * released. @tail never moves past a record that is being written. See doc/posix-trace.md, "Cells".
 */
#include "posix/posix.h"

#include <errno.h>
#include <string.h>

/*
 * The word of a cell consists of the round, the state, the number of cells of the record, and the
 * pid of the writer. The first pass through the ring is round 1. Cells that were never used have
 * round 0.
 */
#define PID_BITS   22
#define COUNT_BITS 14
#define STATE_BITS 2
#define ROUND_BITS (64 - PID_BITS - COUNT_BITS - STATE_BITS)

enum state {
	RESERVED = 1,
	COMMITTED,
	CONTINUED,
};

/* The maximum number of tries to claim cells. All tries fail only if the memory is damaged. */
#define TRIES_MAX 100000

/*
 * The time for which a thread gives way to another thread. In this time, the other thread can write
 * some dozens of events. A longer time gains little.
 */
#define GIVE_WAY_NS 3000

static uint64_t make_word(const struct pxt_view *view, uint64_t at, enum state state,
			  uint32_t count, uint32_t pid)
{
	return (at >> view->shift) << (64 - ROUND_BITS) |
	       (uint64_t)state << (PID_BITS + COUNT_BITS) | (uint64_t)count << PID_BITS |
	       (pid & ((1u << PID_BITS) - 1));
}

static enum state state_of(uint64_t word)
{
	return word >> (PID_BITS + COUNT_BITS) & ((1 << STATE_BITS) - 1);
}

static uint32_t count_of(uint64_t word)
{
	return word >> PID_BITS & ((1u << COUNT_BITS) - 1);
}

static pid_t pid_of(uint64_t word)
{
	return (pid_t)(word & ((1u << PID_BITS) - 1));
}

/*
 * Compares the round of a word with the round of position @at. Returns 0 if the rounds are equal, 1
 * if the word's round is later, or -1 if the word's round is earlier.
 */
static int rounds_ahead(const struct pxt_view *view, uint64_t word, uint64_t at)
{
	uint64_t here = (at >> view->shift) << (64 - ROUND_BITS);
	uint64_t there = word >> (64 - ROUND_BITS) << (64 - ROUND_BITS);
	int64_t ahead = (int64_t)(there - here);

	return ahead < 0 ? -1 : ahead > 0;
}

static struct pxt_cell *cell_at(const struct pxt_view *view, uint64_t at)
{
	return &view->cells[at & (view->nr_cells - 1)];
}

static bool is_count(const struct pxt_view *view, uint32_t count)
{
	return count > 0 && count <= view->nr_cells;
}

uint32_t pxt_cells_of(uint32_t len)
{
	return len <= PT_INLINE_DATA ? 1
				     : 1 + (len - PT_INLINE_DATA + PT_CELL_DATA - 1) / PT_CELL_DATA;
}

/*
 * HOT. Copies bytes in atomic pieces, because a reader may copy the record at the same time. The
 * reader then checks that the record's cells were not released meanwhile.
 */
static inline __attribute__((always_inline)) void put_bytes(_Atomic pxt_piece *to,
							    const unsigned char *from, size_t len)
{
	pxt_piece piece;

	for (; len >= sizeof(piece); len -= sizeof(piece), from += sizeof(piece)) {
		memcpy(&piece, from, sizeof(piece));
		atomic_store_explicit(to++, piece, memory_order_relaxed);
	}
	if (!len)
		return;
	piece = 0;
	for (size_t nr = 0; nr < len; nr++)
		piece |= (pxt_piece)from[nr] << (8 * nr);
	atomic_store_explicit(to, piece, memory_order_relaxed);
}

static void get_bytes(unsigned char *to, const _Atomic pxt_piece *from, size_t len)
{
	pxt_piece piece;

	for (; len >= sizeof(piece); len -= sizeof(piece), to += sizeof(piece)) {
		piece = atomic_load_explicit(from++, memory_order_relaxed);
		memcpy(to, &piece, sizeof(piece));
	}
	if (!len)
		return;
	piece = atomic_load_explicit(from, memory_order_relaxed);
	for (size_t nr = 0; nr < len; nr++)
		to[nr] = (unsigned char)(piece >> (8 * nr));
}

static void put_record(const struct pxt_view *view, uint64_t at, const struct pxt_event *event,
		       const void *data)
{
	struct pxt_head head = {
		.time_ns = event->time_ns,
		.address = event->address,
		.thread = event->thread,
		.len = event->len,
		.id = (uint16_t)event->id,
		.flags = (uint16_t)event->flags,
	};
	size_t len = event->len < PT_INLINE_DATA ? event->len : PT_INLINE_DATA;
	struct pxt_cell *cell = cell_at(view, at);
	const unsigned char *from = data;

	put_bytes(cell->data, (const unsigned char *)&head, sizeof(head));
	put_bytes(cell->data + sizeof(head) / sizeof(pxt_piece), from, len);
	for (size_t done = len; done < event->len; done += len) {
		cell = cell_at(view, ++at);
		len = event->len - done < PT_CELL_DATA ? event->len - done : PT_CELL_DATA;
		put_bytes(cell->data, from + done, len);
		atomic_store_explicit(&cell->word, make_word(view, at, CONTINUED, 0, 0),
				      memory_order_relaxed);
	}
}

static inline void pause_cpu(void)
{
#if defined(__x86_64__) || defined(__i386__)
	__builtin_ia32_pause();
#elif defined(__aarch64__) || defined(__arm__)
	__asm__ volatile("yield");
#endif
}

/*
 * Waits while another thread writes. Called when this other thread has claimed the cells that the
 * thread of @event wanted. Called at most once for each event. If the two threads wrote events
 * alternately, the CPUs would spend most of the time on moving cache lines.
 */
static __attribute__((noinline, cold)) void give_way(const struct pxt_view *view,
						     struct pxt_event *event)
{
	uint64_t until_ns = pxt_now_ns() + GIVE_WAY_NS;
	uint64_t now_ns;

	do {
		for (int nr = 0; nr < 16; nr++)
			pause_cpu();
		now_ns = pxt_now_ns();
	} while (now_ns < until_ns);
	event->time_ns = now_ns + view->offset_ns;
}

/*
 * Claims @count cells at the head for @event. Returns 0 and stores the position of the first cell
 * in *@at, or returns an error as pxt_ring_put() does.
 */
static inline __attribute__((always_inline)) int claim_cells(const struct pxt_view *view,
							     struct pxt_stream *stream,
							     uint32_t count,
							     struct pxt_event *event, uint64_t *at)
{
	for (int nr = 0; nr < TRIES_MAX; nr++) {
		uint64_t head = atomic_load_explicit(&stream->head, memory_order_acquire);
		struct pxt_cell *cell = cell_at(view, head);
		uint64_t word = atomic_load_explicit(&cell->word, memory_order_acquire);
		int ahead = rounds_ahead(view, word, head);

		if (ahead == 0) {
			/* Another thread has claimed cells here. Move the head past these cells. */
			if (is_count(view, count_of(word)))
				atomic_compare_exchange_strong(&stream->head, &head,
							       head + count_of(word));
			if (!nr)
				give_way(view, event);
			continue;
		}
		if (ahead > 0)
			continue; /* the head has moved since it was read */
		if (head + count - atomic_load_explicit(&stream->tail, memory_order_acquire) >
		    view->nr_cells) {
			/* If the head has moved since it was read, the ring only looks full. */
			if (head == atomic_load(&stream->head))
				return -ENOSPC;
			continue;
		}
		if (atomic_compare_exchange_strong(
			    &cell->word, &word,
			    make_word(view, head, RESERVED, count, event->pid))) {
			*at = head;
			return 0;
		}
		if (!nr)
			give_way(view, event);
	}
	return -EBUSY;
}

/*
 * HOT. The record must be written before the check for waiting readers. A memory barrier between
 * the two is needed. The atomic change of stream->head is this barrier. If another thread has
 * already moved the head, the atomic change of stream->fence is the barrier.
 */
int pxt_ring_put(struct pxt_view *view, struct pxt_event *event, const void *data)
{
	struct pxt_stream *stream = atomic_load_explicit(&view->stream, memory_order_relaxed);
	uint32_t count = pxt_cells_of(event->len);
	uint64_t at;
	int error = claim_cells(view, stream, count, event, &at);

	if (PT_UNLIKELY(error))
		return error;
	/* The cell of the next record is probably not in the cache any more. */
	__builtin_prefetch(cell_at(view, at + count), 1);
	put_record(view, at, event, data);
	atomic_store_explicit(&cell_at(view, at)->word,
			      make_word(view, at, COMMITTED, count, event->pid),
			      memory_order_release);
	if (!atomic_compare_exchange_strong(&stream->head, &(uint64_t){ at }, at + count))
		atomic_fetch_add(&stream->fence, 1);
	if (PT_UNLIKELY(atomic_load(&stream->nr_waiting)))
		pxt_wake_readers(stream);
	return 0;
}

static void get_record(const struct pxt_view *view, uint64_t at, uint64_t word,
		       struct pxt_event *event, void *data)
{
	uint32_t room = PT_INLINE_DATA + (count_of(word) - 1) * PT_CELL_DATA;
	const struct pxt_cell *cell = cell_at(view, at);
	struct pxt_head head;
	uint32_t done, len;

	get_bytes((unsigned char *)&head, cell->data, sizeof(head));
	*event = (struct pxt_event){
		.time_ns = head.time_ns,
		.address = head.address,
		.thread = head.thread,
		.pid = (uint32_t)pid_of(word),
		.id = head.id,
		.len = head.len < room ? head.len : room,
		.flags = head.flags,
	};
	if (event->len > pxt_data_room(view))
		event->len = pxt_data_room(view);
	if (!data)
		return;
	len = event->len < PT_INLINE_DATA ? event->len : PT_INLINE_DATA;
	get_bytes(data, cell->data + sizeof(head) / sizeof(pxt_piece), len);
	for (done = len; done < event->len; done += len) {
		len = event->len - done < PT_CELL_DATA ? event->len - done : PT_CELL_DATA;
		get_bytes((unsigned char *)data + done, cell_at(view, ++at)->data, len);
	}
}

int pxt_ring_peek(const struct pxt_view *view, uint64_t at, struct pxt_event *event, void *data,
		  uint32_t *nr_cells)
{
	uint64_t word = atomic_load(&cell_at(view, at)->word);
	int ahead = rounds_ahead(view, word, at);

	if (ahead < 0)
		return 0;
	if (ahead > 0 || !is_count(view, count_of(word)))
		return -ESTALE;
	*nr_cells = count_of(word);
	if (state_of(word) != COMMITTED)
		return -EAGAIN;
	get_record(view, at, word, event, data);
	return 1;
}

bool pxt_ring_take(const struct pxt_view *view, uint64_t at, uint32_t nr_cells)
{
	struct pxt_stream *stream = atomic_load_explicit(&view->stream, memory_order_relaxed);

	return atomic_compare_exchange_strong(&stream->tail, &at, at + nr_cells);
}

static bool is_unfinished(const struct pxt_view *view, uint64_t word, uint64_t at)
{
	return rounds_ahead(view, word, at) == 0 && state_of(word) == RESERVED &&
	       is_count(view, count_of(word));
}

/*
 * The writer may have committed its record before it died. So the cell's word is read again after
 * the writer is known to be dead: a dead process cannot change the word any more.
 */
bool pxt_ring_skip_dead(const struct pxt_view *view, uint64_t at)
{
	_Atomic uint64_t *word = &cell_at(view, at)->word;
	uint64_t reserved = atomic_load(word);

	return is_unfinished(view, reserved, at) && pxt_process_is_dead(pid_of(reserved)) &&
	       atomic_load(word) == reserved && pxt_ring_take(view, at, count_of(reserved));
}

bool pxt_ring_skip_of(const struct pxt_view *view, uint64_t at, pid_t pid)
{
	uint64_t reserved = atomic_load(&cell_at(view, at)->word);

	return is_unfinished(view, reserved, at) && (!pid || pid_of(reserved) == pid) &&
	       pxt_ring_take(view, at, count_of(reserved));
}

/*
 * Counts a lost event. Two lost events belong to the same gap if pxt_end_gap() is not called
 * between them. The time of a gap is the time of the gap's first lost event.
 */
void pxt_note_lost(struct pxt_stream *stream, uint64_t at, uint64_t time_ns)
{
	uint64_t none = 0;

	atomic_fetch_add_explicit(&stream->lost, 1, memory_order_relaxed);
	atomic_store_explicit(&stream->is_overrun, 1, memory_order_relaxed);
	if (atomic_load_explicit(&stream->gap, memory_order_relaxed) == 0 &&
	    atomic_compare_exchange_strong(&stream->gap, &none, at + 1))
		atomic_store(&stream->gap_ns, time_ns);
}

uint64_t pxt_end_gap(struct pxt_stream *stream, uint64_t before_ns)
{
	uint64_t lost_ns;

	atomic_store(&stream->gap, 0);
	lost_ns = atomic_exchange(&stream->gap_ns, 0);
	return lost_ns ? lost_ns : before_ns;
}

bool pxt_ring_evict_before(const struct pxt_view *view, uint64_t end)
{
	struct pxt_stream *stream = atomic_load_explicit(&view->stream, memory_order_relaxed);
	uint64_t tail = atomic_load_explicit(&stream->tail, memory_order_acquire);
	struct pxt_event event;
	uint32_t count;
	int found;

	if (tail >= end)
		return false;
	found = pxt_ring_peek(view, tail, &event, NULL, &count);
	if (found == 1) {
		/* Cleared records do not count as lost. */
		if (pxt_ring_take(view, tail, count) &&
		    tail >= atomic_load_explicit(&stream->clear_at, memory_order_relaxed))
			pxt_note_lost(stream, tail + count, event.time_ns);
		return true;
	}
	if (found == -EAGAIN) {
		/*
		 * The oldest record is not finished. pxt_ring_skip_dead() reads /proc, which is
		 * expensive, and the writer is usually alive. So pxt_ring_skip_dead() is called
		 * only when the number of lost events is a multiple of 1024.
		 */
		uint64_t lost = atomic_load_explicit(&stream->lost, memory_order_relaxed);

		return lost % 1024 == 0 && pxt_ring_skip_dead(view, tail);
	}
	/* There is no record at the tail: the tail was moved meanwhile, or is nonsense. */
	return tail != atomic_load(&stream->tail);
}

bool pxt_ring_evict(const struct pxt_view *view)
{
	return pxt_ring_evict_before(view, UINT64_MAX);
}
