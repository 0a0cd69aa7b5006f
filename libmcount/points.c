/* Points (see points.h). */
#include "libmcount/points.h"

#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "libmcount/frames.h"
#include "libmcount/guard.h"
#include "libmcount/modules.h"
#include "libmcount/planned_fast.h"
#include "libmcount/stacks.h"

#define POINTS_MAX (1U << 16) /* address space set aside, in points */

/*
 * @path_hash: of the module, to know it again
 * @stub: NULL when there is none, of any point of the module
 */
struct point {
	struct plan_point plan;
	uint64_t path_hash;
	uint8_t *stub;
};

/* By index, which stubs carry; what is added is published by the jumps that lead to it. Grows under modules.c's lock. */
static struct point *all_points;
static uint32_t nr_points;

/* --- an event, HOT --- */

/* Whether calls here and now would be recorded, were they long enough. */
static inline bool is_wanted(struct thread *t)
{
	const struct planned *p = t->planned;

	if (likely(probe.plain))
		return true;
	if (p && unlikely(!planned_is_current(p)))
		planned_take_up(t);
	return p && probe.tracing && probe.is_on && !p->now.out && (!p->has_filter || p->now.in) &&
	       !atomic_load_explicit(&probe.control->finished, memory_order_relaxed);
}

/* Frames inside of the stack pointer were left without returning. */
static void leave_jumped_out(struct thread *t, uint64_t sp)
{
	bool estimates = probe.plan.flags & PLAN_ESTIMATE;

	if (estimates)
		planned_begin_estimate(t);
	frames_leave_inside(t, sp);
	if (estimates)
		planned_end_estimate(t);
}

static void record_event(struct thread *t, uint32_t id)
{
	char *at;

	/* What is open and was held back comes first: times never go back. */
	if (t->planned)
		planned_write_entries(t, t->top);
	else if (unlikely(t->top > t->written))
		frames_write_entries(t, t->top);
	at = hot_reserve(t, sizeof(struct record));
	if (likely(at))
		hot_commit(t, put_record(at, hot_clock(t), record_data(RECORD_EVENT, 0, id)));
	else
		note_lost(t, 1);
}

void probe_point(uint32_t index, uint64_t sp)
{
	struct thread *t = likely(probe.tracing) ? guard_enter() : NULL;

	if (unlikely(!t))
		return;
	if (unlikely(stack_may_differ(t, sp)))
		t = stacks_enter(t, sp);
	if (unlikely(t->top->slot < sp))
		leave_jumped_out(t, sp);
	if (is_wanted(t))
		record_event(t, all_points[index].plan.event);
	guard_leave(t);
}

/* --- putting them in, COLD --- */

static bool reserve_points(uint32_t nr)
{
	if (!all_points) {
		void *p = mmap(NULL, POINTS_MAX * sizeof(struct point), PROT_READ | PROT_WRITE,
			       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

		if (p == MAP_FAILED)
			return false;
		all_points = p;
	}
	return nr <= POINTS_MAX - nr_points;
}

static bool is_within(const struct dl_phdr_info *info, uint64_t addr, uint64_t len, uint32_t flag)
{
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *ph = &info->dlpi_phdr[i];
		uint64_t start = info->dlpi_addr + ph->p_vaddr;

		if (ph->p_type == PT_LOAD && (ph->p_flags & flag) && addr >= start &&
		    addr - start + len <= ph->p_memsz)
			return true;
	}
	return false;
}

/*
 * Memory for stubs lies within 2 GiB of all of the module that they are for. Where the heap is to grow (brk(2)) nothing may be
 * put.
 */
#define NEAR_ENOUGH    ((2ULL << 30) - (16 << 20))
#define SMALL_STEP     (64ULL << 10)
#define STEP	       (1ULL << 20)
#define ROOM_FOR_HEAP  (1ULL << 30)
#define LOWEST_ADDRESS (64ULL << 10)

static void *map_at(uint64_t addr, uint64_t bytes, uint64_t heap)
{
	void *at = (void *)addr;
	void *p;

	if (addr < LOWEST_ADDRESS || (addr < heap + ROOM_FOR_HEAP && addr + bytes > heap))
		return NULL;
	p = mmap(at, bytes, PROT_READ | PROT_WRITE,
		 MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
	if (p == at)
		return p;
	/* Kernels before 4.17 take the address for a wish. */
	if (p != MAP_FAILED)
		munmap(p, bytes);
	return NULL;
}

static void *map_near(uint64_t start, uint64_t end, uint64_t bytes)
{
	uint64_t heap = syscall(SYS_brk, 0);
	uint64_t reach = NEAR_ENOUGH - MIN(end - start + bytes, NEAR_ENOUGH);
	void *p = NULL;

	for (uint64_t away = 0; !p && away < reach; away += away < STEP ? SMALL_STEP : STEP) {
		if (start > bytes + away)
			p = map_at(start - bytes - away, bytes, heap);
		if (!p)
			p = map_at(end + away, bytes, heap);
	}
	return p;
}

/* The memory of one module's stubs: the cell they call through, then the stubs. */
struct stub_memory {
	uint64_t cell;
	uint64_t pad;
	uint8_t stubs[];
};

static uint64_t stub_bytes(const struct plan_point *plan)
{
	return (plan->flags & PLAN_POINT_SILENT ? 0 : ARCH_POINT_STUB_BYTES) + plan->len;
}

static bool write_stub(const struct point *point, uint8_t *at, uint32_t index, const uint64_t *cell)
{
	const struct plan_point *plan = &point->plan;
	uint8_t *code = at;

	if (!(plan->flags & PLAN_POINT_SILENT)) {
		arch_write_point_stub(at, index, plan->site, cell);
		code += ARCH_POINT_STUB_BYTES;
	}
	memcpy(code, plan->code, plan->len);
	for (uint32_t i = 0; i < plan->nr_fixes; i++) {
		if (!arch_move_distance(code + plan->fixes[i], plan->site - (uint64_t)code))
			return false;
	}
	return true;
}

/* Stubs for the points from @first on, all of them or none that is of use. */
static bool write_stubs(const struct dl_phdr_info *info, uint32_t first, uint32_t nr)
{
	uint64_t start = UINT64_MAX;
	uint64_t end = 0;
	uint64_t bytes = sizeof(struct stub_memory);

	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *ph = &info->dlpi_phdr[i];

		if (ph->p_type != PT_LOAD)
			continue;
		start = MIN(start, (uint64_t)(info->dlpi_addr + ph->p_vaddr));
		end = MAX(end, (uint64_t)(info->dlpi_addr + ph->p_vaddr + ph->p_memsz));
	}
	for (uint32_t i = first; i < first + nr; i++)
		bytes += stub_bytes(&all_points[i].plan);
	bytes = ALIGN_UP(bytes, 4096UL);

	struct stub_memory *memory = map_near(start & ~4095UL, ALIGN_UP(end, 4096UL), bytes);
	uint8_t *at;

	if (!memory)
		return false;
	memory->cell = (uint64_t)arch_point;
	at = memory->stubs;
	for (uint32_t i = first; i < first + nr; i++) {
		if (!write_stub(&all_points[i], at, i, &memory->cell))
			return false;
		at += stub_bytes(&all_points[i].plan);
	}
	/* Never writable and executable at a time. */
	if (mprotect(memory, bytes, PROT_READ | PROT_EXEC) < 0)
		return false;
	at = memory->stubs;
	for (uint32_t i = first; i < first + nr; i++) {
		all_points[i].stub = at;
		at += stub_bytes(&all_points[i].plan);
	}
	return true;
}

/*
 * Text is written through /proc/self/mem where that is allowed, so that no page is ever writable, and else by changing the page's
 * protection for a moment. @fd: -1 for the second.
 */
static bool write_text(int fd, uint64_t addr, const void *bytes, uint64_t len)
{
	uint64_t start = addr & ~4095UL;
	uint64_t end = ALIGN_UP(addr + len, 4096UL);
	volatile uint8_t *to = (volatile uint8_t *)addr;

	if (fd >= 0 && syscall(SYS_pwrite64, fd, bytes, len, addr) == (long)len)
		return true;
	/* Executable all the while: what does this may lie in the same page. */
	if (mprotect((void *)start, end - start, PROT_READ | PROT_WRITE | PROT_EXEC) < 0)
		return false;
	for (uint64_t i = 0; i < len; i++)
		to[i] = ((const uint8_t *)bytes)[i];
	return mprotect((void *)start, end - start, PROT_READ | PROT_EXEC) == 0;
}

/* In one piece where it lies within a word; else the first byte, before which nothing has changed for who comes by, is the last. */
static bool write_jump(int fd, uint64_t site, const uint8_t *jump, uint64_t len)
{
	uint64_t word = site & ~7UL;
	uint8_t bytes[8];

	if (site - word <= sizeof(bytes) - len) {
		memcpy(bytes, (const void *)word, sizeof(bytes));
		memcpy(bytes + (site - word), jump, len);
		return write_text(fd, word, bytes, sizeof(bytes));
	}
	return write_text(fd, site + 1, jump + 1, len - 1) && write_text(fd, site, jump, 1);
}

static bool is_original(const struct dl_phdr_info *info, const struct plan_point *plan)
{
	return is_within(info, plan->site, sizeof(plan->original), PF_X) &&
	       memcmp((const void *)plan->site, plan->original, sizeof(plan->original)) == 0;
}

static bool put_jump(const struct dl_phdr_info *info, int fd, const struct point *point)
{
	const struct plan_point *plan = &point->plan;
	uint8_t jump[ARCH_JUMP_BYTES];
	uint8_t short_jump[ARCH_SHORT_JUMP_BYTES];

	_Static_assert(PLAN_POINT_BYTES == ARCH_JUMP_BYTES, "that is what is replaced");
	if (!point->stub || !is_original(info, plan))
		return false;
	if (plan->flags & PLAN_POINT_SHORT)
		return arch_write_short_jump(short_jump, plan->site, point[-1].plan.site) &&
		       write_jump(fd, plan->site, short_jump, sizeof(short_jump));
	arch_write_jump(jump, plan->site, (uint64_t)point->stub);
	return write_jump(fd, plan->site, jump, sizeof(jump));
}

/* A program may pass by without a look as long as nobody is there. */
static void raise_semaphore(const struct dl_phdr_info *info, const struct plan_point *plan)
{
	if (plan->semaphore && is_within(info, plan->semaphore, sizeof(uint16_t), PF_W))
		__atomic_fetch_add((uint16_t *)plan->semaphore, 1, __ATOMIC_RELAXED);
}

/* Those from @first on, of one module. How many could not be. */
static uint32_t put_in(const struct dl_phdr_info *info, uint32_t first, uint32_t nr)
{
	int fd = syscall(SYS_openat, AT_FDCWD, "/proc/self/mem", O_WRONLY | O_CLOEXEC, 0);
	uint32_t failed = 0;
	bool is_in = false; /* the jump that leads to the next one, if that is an inner one */

	for (uint32_t i = first; i < first + nr; i++) {
		const struct plan_point *plan = &all_points[i].plan;

		if (!(plan->flags & PLAN_POINT_INNER))
			is_in = put_jump(info, fd, &all_points[i]);
		else if (plan->flags & PLAN_POINT_SHORT)
			is_in = is_in && put_jump(info, fd, &all_points[i]);
		if (is_in)
			raise_semaphore(info, plan);
		else if (!(plan->flags & PLAN_POINT_SILENT))
			failed++;
	}
	if (fd >= 0)
		syscall(SYS_close, fd);
	return failed;
}

/* The points of one module, on their way into it. */
struct adoption {
	uint64_t load_bias;
	uint32_t first;
	uint32_t nr;
	uint32_t failed;
};

static int adopt_module(struct dl_phdr_info *info, size_t size, void *arg)
{
	struct adoption *a = arg;

	if (info->dlpi_addr != a->load_bias ||
	    !is_within(info, all_points[a->first].plan.site, ARCH_JUMP_BYTES, PF_X))
		return 0;
	for (uint32_t i = a->first; i < a->first + a->nr; i++)
		all_points[i].path_hash = module_path_hash(info->dlpi_name);
	if (write_stubs(info, a->first, a->nr))
		a->failed = put_in(info, a->first, a->nr);
	return 1;
}

void points_adopt(const struct plan_point *points, uint32_t nr)
{
	if (!nr)
		return;
	if (!reserve_points(nr)) {
		atomic_fetch_add(&probe.arena->points_failed, nr);
		return;
	}
	for (uint32_t start = 0; start < nr;) {
		struct adoption a = { points[start].load_bias, nr_points, 0, 0 };

		while (start < nr && points[start].load_bias == a.load_bias)
			all_points[a.first + a.nr++].plan = points[start++];
		nr_points += a.nr;
		a.failed = a.nr;
		dl_iterate_phdr(adopt_module, &a);
		atomic_fetch_add(&probe.arena->points_failed, a.failed);
	}
}

/* Does its first point hold what its file has, though it had been put in? */
static int look_at_module(struct dl_phdr_info *info, size_t size, void *arg)
{
	uint64_t path_hash = module_path_hash(info->dlpi_name);
	uint32_t nr;

	for (uint32_t i = 0; i < nr_points; i += nr) {
		const struct point *first = &all_points[i];

		for (nr = 1; i + nr < nr_points &&
			     all_points[i + nr].plan.load_bias == first->plan.load_bias &&
			     all_points[i + nr].path_hash == first->path_hash;)
			nr++;
		if (first->plan.load_bias != info->dlpi_addr || first->path_hash != path_hash ||
		    !is_original(info, &first->plan))
			continue;
		put_in(info, i, nr);
	}
	return 0;
}

void points_look_again(void)
{
	if (nr_points)
		dl_iterate_phdr(look_at_module, NULL);
}
