/* Memory near a module (see stub_memory.h). */
#include "libmcount/stub_memory.h"

#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "utils/base/compiler.h"

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

static uint64_t whole_bytes(uint64_t stub_bytes)
{
	return ALIGN_UP(sizeof(struct stub_memory) + stub_bytes, 4096UL);
}

struct stub_memory *stub_memory_make(const struct dl_phdr_info *info, uint64_t bytes)
{
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
	memory = map_near(start & ~4095UL, ALIGN_UP(end, 4096UL), whole_bytes(bytes));
	if (!memory)
		return NULL;
	for (unsigned i = 0; i < ARCH_HOOKS; i++) {
		memory->cells[i] = (uint64_t)arch_hooks[i];
		arch_write_gate(memory->gates[i], &memory->cells[i]);
	}
	return memory;
}

bool stub_memory_close(struct stub_memory *memory, uint64_t bytes)
{
	return mprotect(memory, whole_bytes(bytes), PROT_READ | PROT_EXEC) == 0;
}

void stub_memory_drop(struct stub_memory *memory, uint64_t bytes)
{
	munmap(memory, whole_bytes(bytes));
}
