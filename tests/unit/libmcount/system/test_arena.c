/*
 * An arena is mapped piece by piece. Malformed ones are refused, and each ring is given to one
 * thread.
 */
#include "libmcount/system/arena.h"

#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "libmcount/hot/probe.h"
#include "tests/unit/lib/probe/pair.h"
#include "tests/unit/lib/unit.h"

#define NR_RINGS    5
#define NR_SEGMENTS 2

static struct arena good(void)
{
	return (struct arena){
		.magic = ARENA_MAGIC,
		.nr_rings = NR_RINGS,
		.nr_segments = NR_SEGMENTS,
		.segment_bytes = RING_PAGE,
		.ring_stride = ring_stride(NR_SEGMENTS, RING_PAGE),
	};
}

static int make(const struct arena *header, uint64_t bytes)
{
	int fd = memfd_create("arena", MFD_CLOEXEC);

	assert_true(fd >= 0);
	assert_int_equal(ftruncate(fd, bytes), 0);
	assert_int_equal(pwrite(fd, header, sizeof(*header), 0), sizeof(*header));
	return fd;
}

static bool is_taken(struct arena header, uint64_t bytes)
{
	int fd = make(&header, bytes);
	bool is = arena_adopt(fd);

	close(fd);
	if (is)
		arena_drop();
	assert_null(probe.arena);
	return is;
}

#define BYTES arena_bytes(NR_RINGS, ring_stride(NR_SEGMENTS, RING_PAGE))

TEST(what_is_no_arena_is_refused)
{
	struct arena a = good();

	assert_true(is_taken(a, BYTES));
	assert_false(is_taken(a, BYTES - 1));
	assert_true(is_taken(a, BYTES + 1));
	assert_false(is_taken(a, RING_PAGE));
	a.magic++;
	assert_false(is_taken(a, BYTES));
	a = good();
	a.nr_rings = 0;
	assert_false(is_taken(a, BYTES));
	a.nr_rings = NR_RINGS + 1;
	assert_false(is_taken(a, BYTES));
	a = good();
	a.nr_segments = 0;
	a.ring_stride = ring_stride(0, RING_PAGE);
	assert_false(is_taken(a, BYTES));
	a = good();
	a.ring_stride += 8;
	assert_false(is_taken(a, BYTES * 2));
	a = good();
	a.nr_rings = 1;
	a.nr_segments = RING_SEGMENTS_MAX;
	a.ring_stride = ring_stride(RING_SEGMENTS_MAX, RING_PAGE);
	assert_true(is_taken(a, 1 << 20));
	a.nr_segments++;
	a.ring_stride = ring_stride(RING_SEGMENTS_MAX + 1, RING_PAGE);
	assert_false(is_taken(a, 1 << 20));
	a = good();
	a.nr_rings = 1;
	a.segment_bytes = RING_PAGE / 2;
	a.ring_stride = ring_stride(NR_SEGMENTS, RING_PAGE / 2);
	assert_false(is_taken(a, BYTES));
	a.segment_bytes = RING_PAGE * 3 / 2;
	a.ring_stride = ring_stride(NR_SEGMENTS, RING_PAGE * 3 / 2);
	assert_false(is_taken(a, BYTES));
	assert_false(arena_adopt(-1));
}

/* Check that the rings are those of the file, in the same order. In memory they are elsewhere. */
static void check_rings(int fd)
{
	uint64_t stride = ring_stride(NR_SEGMENTS, RING_PAGE);

	for (uint32_t i = 0; i < NR_RINGS; i++) {
		struct ring *r = arena_claim_ring();
		uint64_t at = RING_PAGE + i * stride;
		uint32_t number = 0;

		assert_non_null(r);
		assert_int_equal(r->index, i);
		assert_int_equal(r->state, RING_CLAIMED);
		/* Write to the ring's header, and fill all its data up to the last byte. */
		r->tid = 100 + i;
		memset(ring_data(r), 'a' + i, NR_SEGMENTS * RING_PAGE);
		assert_int_equal(pread(fd, &number, 4, at + offsetof(struct ring, tid)), 4);
		assert_int_equal(number, 100 + i);
		assert_int_equal(pread(fd, &number, 4, at + stride - 4), 4);
		assert_int_equal(number & 0xff, 'a' + i);
	}
	assert_null(arena_claim_ring());
	assert_null(arena_claim_ring());
}

TEST(each_ring_is_claimed_once)
{
	struct arena header = good();
	int fd = make(&header, BYTES);
	struct ring *r;

	assert_true(arena_adopt(fd));
	check_rings(fd);
	/* A ring that is free again is given to a thread once more. */
	for (unsigned i = 0; i < NR_RINGS; i++) {
		const uint32_t unused = RING_FREE;

		assert_int_equal(pwrite(fd, &unused, 4, RING_PAGE + i * header.ring_stride), 4);
		r = arena_claim_ring();
		assert_non_null(r);
		assert_int_equal(r->index, i);
		assert_int_equal(r->tid, 100 + i);
		assert_null(arena_claim_ring());
	}
	arena_drop();
	assert_null(probe.arena);
	arena_drop();
	close(fd);
}

/* A child's arena replaces that of its parent, of which nothing stays mapped. */
TEST(another_arena_takes_its_place)
{
	struct arena header = good();
	int first = make(&header, BYTES);
	int second = make(&header, BYTES);
	struct arena *place;
	char *data;

	assert_true(arena_adopt(first));
	place = probe.arena;
	check_rings(first);
	data = (char *)arena_claim_ring();
	assert_null(data);
	assert_true(arena_adopt(second));
	assert_ptr_equal(probe.arena, place);
	check_rings(second);
	place->finish_wanted = 7;
	assert_int_equal(pread(first, &header, sizeof(header), 0), sizeof(header));
	assert_int_equal(header.finish_wanted, 0);
	assert_int_equal(pread(second, &header, sizeof(header), 0), sizeof(header));
	assert_int_equal(header.finish_wanted, 7);
	arena_drop();
	assert_int_not_equal(msync(place, RING_PAGE, MS_ASYNC), 0);
	close(first);
	close(second);
}

/*
 * @place: the address of the arena's first ring
 * @fd: the arena of the child that is forked while its parent unmaps its rings
 * @nr: the number of system calls that the parent has made to unmap its rings
 */
struct fork_halfway {
	char *place;
	int fd;
	unsigned nr;
	int status;
};

/* Returns 0 when this child keeps the memory that it maps for itself at @place. */
static int be_forked_halfway(const struct fork_halfway *f)
{
	char *own = mmap(f->place, RING_PAGE, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);

	if (own != f->place)
		return 1;
	own[0] = 'x';
	if (!arena_adopt(f->fd))
		return 2;
	return own[0] == 'x' ? 0 : 3;
}

/* Before the second munmap(2), the parent has unmapped the first piece already. */
static int fork_at_second_call(void *arg)
{
	struct fork_halfway *f = arg;
	pid_t pid;

	if (++f->nr != 2)
		return 0;
	pid = fork();
	if (pid == 0) {
		pair_before(0, NULL, NULL);
		_exit(be_forked_halfway(f));
	}
	assert_true(pid > 0);
	assert_int_equal(waitpid(pid, &f->status, 0), pid);
	return 0;
}

TEST(a_child_of_another_thread_unmaps_nothing_again)
{
	struct arena header = good();
	int first = make(&header, BYTES);
	int second = make(&header, BYTES);
	struct fork_halfway f = { .fd = make(&header, BYTES), .status = -1 };

	assert_true(arena_adopt(first));
	f.place = (char *)arena_claim_ring();
	assert_non_null(f.place);
	while (arena_claim_ring())
		;
	pair_before(SYS_munmap, fork_at_second_call, &f);
	assert_true(arena_adopt(second));
	pair_before(0, NULL, NULL);
	assert_true(f.nr >= 2);
	assert_int_equal(f.status, 0);
	arena_drop();
	close(first);
	close(second);
	close(f.fd);
}
