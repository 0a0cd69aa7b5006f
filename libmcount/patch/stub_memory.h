/* Memory for code of ours near a module: the stubs of its patches, and what its calls lead to. */
#ifndef UTRAIL_LIBMCOUNT_STUB_MEMORY_H
#define UTRAIL_LIBMCOUNT_STUB_MEMORY_H

#include <link.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "arch/arch.h"

#define STUB_MEMORY_PAGE 4096

/*
 * One module's. Stubs and gates lead on through cells, since the probe may be further away than a
 * jump reaches. The cells have a page of their own that can be written; memory that is executed
 * cannot be.
 *
 * It is never unmapped once something leads there: a thread may be within it for as long as it
 * likes, in a handler of a signal, say. A probe that leaves a process has the cells lead to @pass;
 * the next probe takes over what it would write itself, byte by byte.
 *
 * @mark: STUB_MEMORY_MARK, written last
 * @bytes: of all
 * @cells: by enum arch_hook, the hook's address, or that of @pass
 * @pass: code that does nothing in place of any hook
 * @gates: by enum arch_hook, code that jumps there
 */
struct stub_memory {
	_Atomic uint64_t mark;
	uint64_t bytes;
	_Atomic uint64_t cells[ARCH_HOOKS];
	uint8_t pass[ARCH_PASS_BYTES] __attribute__((aligned(STUB_MEMORY_PAGE)));
	uint8_t gates[ARCH_HOOKS][ARCH_GATE_BYTES];
	uint8_t stubs[];
};

/* Write stubs to @to, which are to be executed in @as. False when that cannot be. */
typedef bool (*stub_writer)(struct stub_memory *to, const struct stub_memory *as, void *arg);

/*
 * COLD. Memory within 2 GiB of all of the module that has @bytes of stubs, written by @write, and
 * cells that lead to the hooks. NULL: there is none.
 */
struct stub_memory *stub_memory_make(const struct dl_phdr_info *info, uint64_t bytes,
				     stub_writer write, void *arg);

/* Nothing that comes there comes to the probe any more. */
void stub_memory_pass(struct stub_memory *memory);

#endif
