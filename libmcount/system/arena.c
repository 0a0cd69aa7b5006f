/* Mapping the process' arena, piece by piece (see arena.h). */
#include "libmcount/system/arena.h"

#include <errno.h>
#include <sched.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "libmcount/system/own_syscall.h"

/*
 * An arena needs gigabytes of address space, and the program may lower its RLIMIT_AS at any moment.
 * So only the header is mapped at first. Rings are mapped when threads need them. The first piece
 * has one ring. Each later piece usually has as many rings as all earlier pieces together.
 *
 * mremap(2) with an old size of 0 maps shared memory once more, with any length. So the probe need
 * not keep a descriptor of the memory. Each new mapping begins with the page before the new rings:
 * the header, or the last page of the former piece.
 *
 * @first: the number of this piece's first ring; rings are counted from the start of the arena
 */
struct piece {
	char *rings;
	uint32_t first;
	uint32_t nr;
};

/* The largest number of pieces. Usually each piece doubles the number of mapped rings. */
#define PIECES_MAX 64

static struct piece pieces[PIECES_MAX];
static _Atomic uint32_t nr_pieces; /* grows, by a release store, when a piece is complete */
static _Atomic uint32_t is_growing;
static bool keeps_rings; /* arena_replace_ring() was called: do not unmap the rings */

static bool is_arena(const struct arena *a, uint64_t bytes)
{
	return a->magic == ARENA_MAGIC && a->nr_rings && a->nr_segments &&
	       a->nr_segments <= RING_SEGMENTS_MAX && a->segment_bytes >= RING_PAGE &&
	       a->segment_bytes % RING_PAGE == 0 &&
	       a->ring_stride == ring_stride(a->nr_segments, a->segment_bytes) &&
	       a->nr_rings <= (bytes - RING_PAGE) / a->ring_stride;
}

static void unmap_rings(void *at, uint64_t bytes)
{
	own_syscall(SYS_munmap, at, bytes);
}

/*
 * Empties the list of pieces, and then unmaps the rings. With the opposite order, another thread
 * might fork between the two steps. The child would have the old list, and would later unmap the
 * listed addresses again, although the child may have other memory there.
 */
static void unmap_all(struct arena *a)
{
	uint32_t nr = atomic_exchange(&nr_pieces, 0);

	for (uint32_t i = 0; i < nr; i++)
		unmap_rings(pieces[i].rings - RING_PAGE, RING_PAGE + pieces[i].nr * a->ring_stride);
}

bool arena_adopt(int fd)
{
	struct stat st;
	/*
	 * A forked child may have several threads when one of them calls this function. The other
	 * threads may write to the header at probe.arena at any moment, so there must always be a
	 * header at this address. With MAP_FIXED, the new header replaces the old one in one step.
	 */
	struct arena *old = probe.arena;

	if (fd < 0 || fstat(fd, &st) < 0 || st.st_size < 2 * RING_PAGE)
		return false;

	struct arena *a = (struct arena *)syscall(
		SYS_mmap, old, RING_PAGE, PROT_READ | PROT_WRITE,
		MAP_SHARED | MAP_NORESERVE | (old ? MAP_FIXED : 0), fd, 0L);

	if (a == MAP_FAILED)
		return false;
	if (!is_arena(a, st.st_size))
		return false;
	/*
	 * Exclude the arena from core dumps. Only the header is mapped so far. Later, mremap(2)
	 * maps rings, which inherit MADV_DONTDUMP from this mapping.
	 */
	own_syscall(SYS_madvise, a, (unsigned long)RING_PAGE, MADV_DONTDUMP);
	if (old && !keeps_rings)
		unmap_all(old);
	keeps_rings = false;
	atomic_store(&nr_pieces, 0);
	atomic_store(&is_growing, 0);
	probe.arena = a;
	return true;
}

void arena_replace_ring(struct ring *ring)
{
	uint64_t bytes = probe.arena->ring_stride;
	void *copy = (void *)own_syscall(SYS_mmap, NULL, bytes, PROT_READ | PROT_WRITE,
					 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0L);

	keeps_rings = true;
	if (copy == MAP_FAILED)
		return;
	memcpy(copy, ring, RING_PAGE);
	if (own_syscall(SYS_mremap, copy, bytes, bytes, MREMAP_MAYMOVE | MREMAP_FIXED, ring) < 0) {
		own_syscall(SYS_munmap, copy, bytes);
		return;
	}
	atomic_store(&ring->tail, atomic_load(&ring->head));
}

void arena_drop(void)
{
	struct arena *a = probe.arena;

	if (!a)
		return;
	probe.arena = NULL;
	unmap_all(a);
	unmap_rings(a, RING_PAGE);
}

/*
 * Returns the last page of the mapped rings, or the arena's header if no ring is mapped. Stores the
 * number of mapped rings in @nr.
 */
static char *end_of_mapped(uint32_t *nr)
{
	uint32_t n = atomic_load(&nr_pieces);

	*nr = 0;
	if (n == 0)
		return (char *)probe.arena;

	const struct piece *last = &pieces[n - 1];

	*nr = last->first + last->nr;
	return last->rings + last->nr * probe.arena->ring_stride - RING_PAGE;
}

static bool map_piece(char *from, uint32_t first, uint32_t nr)
{
	uint64_t bytes = RING_PAGE + nr * probe.arena->ring_stride;
	uint32_t n = atomic_load(&nr_pieces);
	char *at = (char *)own_syscall(SYS_mremap, from, 0UL, bytes, MREMAP_MAYMOVE, 0UL);

	if (at == MAP_FAILED)
		return false;
	pieces[n] = (struct piece){ at + RING_PAGE, first, nr };
	atomic_store_explicit(&nr_pieces, n + 1, memory_order_release);
	return true;
}

static bool grow_arena(void)
{
	uint32_t have;
	char *from = end_of_mapped(&have);
	uint32_t nr = MIN(MAX(have, 1U), probe.arena->nr_rings - have);

	if (atomic_load(&nr_pieces) == PIECES_MAX)
		return false;
	while (nr && !map_piece(from, have, nr))
		nr /= 2;
	return nr != 0;
}

/*
 * Maps one more piece if there are exactly @seen pieces. If several threads call this function, one
 * of them maps the piece, and the others wait. Returns true when there are more pieces than @seen.
 */
static bool grow_beyond(uint32_t seen)
{
	uint32_t idle = 0;
	uint64_t mask;
	/* Signals are blocked. If a handler jumped out, other threads would wait for ever. */
	bool is_quiet = own_quiet_begin(&mask);
	bool is_ours = atomic_compare_exchange_strong(&is_growing, &idle, 1);

	if (is_ours) {
		if (atomic_load(&nr_pieces) == seen)
			grow_arena();
		atomic_store(&is_growing, 0);
	}
	if (is_quiet)
		own_quiet_end(mask);
	while (!is_ours && atomic_load(&is_growing))
		own_syscall(SYS_sched_yield);
	return atomic_load(&nr_pieces) > seen;
}

static struct ring *claim_in(const struct piece *p)
{
	for (uint32_t i = 0; i < p->nr; i++) {
		struct ring *r = (struct ring *)(p->rings + i * probe.arena->ring_stride);
		uint32_t expected = RING_FREE;

		if (atomic_load(&r->state) != RING_FREE ||
		    !atomic_compare_exchange_strong(&r->state, &expected, RING_CLAIMED))
			continue;
		r->index = p->first + i;
		return r;
	}
	return NULL;
}

struct ring *arena_claim_ring(void)
{
	uint32_t seen = 0;

	do {
		for (uint32_t nr = atomic_load(&nr_pieces); seen < nr; seen++) {
			struct ring *r = claim_in(&pieces[seen]);

			if (r)
				return r;
		}
	} while (seal_may_begin() && grow_beyond(seen));
	return NULL;
}
