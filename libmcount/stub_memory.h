/* Memory for code of ours near a module: the stubs of its patches, and what its calls lead to. */
#ifndef UTRAIL_LIBMCOUNT_STUB_MEMORY_H
#define UTRAIL_LIBMCOUNT_STUB_MEMORY_H

#include <link.h>
#include <stdbool.h>

#include "arch/arch.h"

/*
 * One module's. Stubs and gates lead on through cells, since the probe may be further away than a jump reaches.
 *
 * @cells: by enum arch_hook, the hook's address
 * @gates: by enum arch_hook, code that jumps there
 */
struct stub_memory {
	uint64_t cells[ARCH_HOOKS];
	uint8_t gates[ARCH_HOOKS][ARCH_GATE_BYTES];
	uint8_t stubs[];
};

/* COLD. Memory within 2 GiB of all of the module, with cells and gates, and @bytes of stubs to be written. NULL: there is none. */
struct stub_memory *stub_memory_make(const struct dl_phdr_info *info, uint64_t bytes);

/* COLD. The stubs are written: from here on they can be executed, and nothing can be written. */
bool stub_memory_close(struct stub_memory *memory, uint64_t bytes);

/* COLD. Nothing leads there yet. */
void stub_memory_drop(struct stub_memory *memory, uint64_t bytes);

#endif
