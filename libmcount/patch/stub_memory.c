/* Memory near a module (see stub_memory.h). */
#include "libmcount/patch/stub_memory.h"

#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "libmcount/hot/probe.h"
#include "libmcount/system/own_syscall.h"
#include "utils/base/compiler.h"

/*
 * Memory for stubs lies within 2 GiB of the whole module, but not where the heap may grow (brk(2)).
 */
#define NEAR_ENOUGH    ((2ULL << 30) - (16 << 20))
#define SMALL_STEP     (64ULL << 10)
#define STEP	       (1ULL << 20)
#define ROOM_FOR_HEAP  (1ULL << 30)
#define LOWEST_ADDRESS (64ULL << 10)
#define MARK	       0x315f737475627475ULL /* "utubts_1" */

/*
 * @bytes: the size of the stub memory, including struct stub_memory
 * @draft: memory of @bytes bytes for code that is compared with the stub memory of an earlier
 *         probe. NULL before the first comparison
 */
struct wanted {
	uint64_t bytes;
	uint64_t heap;
	stub_writer write;
	void *arg;
	struct stub_memory *draft;
};

static uint64_t whole_bytes(uint64_t stub_bytes)
{
	return ALIGN_UP(sizeof(struct stub_memory) + stub_bytes, STUB_MEMORY_PAGE);
}

static void *map(void *at, uint64_t bytes, int flags)
{
	return mmap(at, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | flags, -1, 0);
}

static void *map_at(uint64_t addr, const struct wanted *w)
{
	void *at = (void *)addr;
	void *p;

	if (addr < LOWEST_ADDRESS || (addr < w->heap + ROOM_FOR_HEAP && addr + w->bytes > w->heap))
		return NULL;
	p = map(at, w->bytes, MAP_FIXED_NOREPLACE);
	if (p == at)
		return p;
	/* Kernels before 4.17 take the address only as a hint. */
	if (p != MAP_FAILED)
		munmap(p, w->bytes);
	return NULL;
}

/* Writes to @to all code of stub memory. The code is made for execution at the address @as. */
static bool write_code(const struct wanted *w, struct stub_memory *to, const struct stub_memory *as)
{
	arch_write_pass(to->pass);
	/*
	 * A gate contains only the distance between the gate and its cell. This distance is the
	 * same at @to and at @as, so a gate that was written for @to also works at @as.
	 */
	for (unsigned i = 0; i < ARCH_HOOKS; i++)
		arch_write_gate(to->gates[i], (const uint64_t *)&to->cells[i]);
	return w->write(to, as, w->arg);
}

/*
 * Takes over the stub memory that an earlier probe has left at @addr. Returns NULL if there is no
 * such memory, or if its code is not the code that this probe would write.
 */
static struct stub_memory *take_over(uint64_t addr, struct wanted *w)
{
	struct stub_memory *there = (struct stub_memory *)addr;
	uint64_t code = offsetof(struct stub_memory, pass);

	/*
	 * Only a probe that was put into a running process can find the stub memory of an earlier
	 * probe.
	 */
	if (!probe.is_attached || !own_is_readable(addr) || atomic_load(&there->mark) != MARK ||
	    there->bytes != w->bytes || !own_is_readable(addr + w->bytes - sizeof(uint64_t)))
		return NULL;
	if (!w->draft)
		w->draft = map(NULL, w->bytes, 0);
	if (w->draft == MAP_FAILED) {
		w->draft = NULL;
		return NULL;
	}
	if (!write_code(w, w->draft, there) ||
	    memcmp((char *)w->draft + code, (char *)there + code, w->bytes - code) != 0)
		return NULL;
	return there;
}

/* Writes the code, makes it executable, and removes the permission to write. */
static bool close_code(struct stub_memory *memory, const struct wanted *w)
{
	uint64_t code = offsetof(struct stub_memory, pass);

	memory->bytes = w->bytes;
	if (!write_code(w, memory, memory) ||
	    mprotect((char *)memory + code, w->bytes - code, PROT_READ | PROT_EXEC) < 0)
		return false;
	atomic_store(&memory->mark, MARK);
	return true;
}

static struct stub_memory *try_address(uint64_t addr, struct wanted *w, bool *is_over)
{
	struct stub_memory *old = take_over(addr, w);
	struct stub_memory *new = old ? NULL : map_at(addr, w);

	if (new && !close_code(new, w)) {
		munmap(new, w->bytes);
		new = NULL;
		*is_over = true;
	}
	return old ? old : new;
}

static struct stub_memory *find_memory(uint64_t start, uint64_t end, struct wanted *w)
{
	uint64_t reach = NEAR_ENOUGH - MIN(end - start + w->bytes, NEAR_ENOUGH);
	struct stub_memory *memory = NULL;
	bool is_over = false;

	for (uint64_t away = 0; !memory && !is_over && away < reach;
	     away += away < STEP ? SMALL_STEP : STEP) {
		if (start > w->bytes + away)
			memory = try_address(start - w->bytes - away, w, &is_over);
		if (!memory && !is_over)
			memory = try_address(end + away, w, &is_over);
	}
	return memory;
}

struct stub_memory *stub_memory_make(const struct dl_phdr_info *info, uint64_t bytes,
				     stub_writer write, void *arg)
{
	struct wanted w = { whole_bytes(bytes), own_syscall(SYS_brk, 0), write, arg, NULL };
	struct stub_memory *memory;
	uint64_t start = UINT64_MAX;
	uint64_t end = 0;

	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *ph = &info->dlpi_phdr[i];

		if (ph->p_type != PT_LOAD)
			continue;
		start = MIN(start, (uint64_t)(info->dlpi_addr + ph->p_vaddr));
		end = MAX(end, (uint64_t)(info->dlpi_addr + ph->p_vaddr + ph->p_memsz));
	}
	memory = find_memory(start & ~4095UL, ALIGN_UP(end, 4096UL), &w);
	if (w.draft)
		munmap(w.draft, w.bytes);
	for (unsigned i = 0; memory && i < ARCH_HOOKS; i++)
		atomic_store(&memory->cells[i], (uint64_t)arch_hooks[i]);
	return memory;
}

void stub_memory_pass(struct stub_memory *memory)
{
	for (unsigned i = 0; i < ARCH_HOOKS; i++)
		atomic_store(&memory->cells[i], (uint64_t)memory->pass);
}
