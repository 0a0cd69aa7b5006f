/*
 * Memory near a module, with code of the probe: stubs and gates. Patches of the module jump to
 * stubs or to gates. Gates jump to hooks.
 */
#ifndef UTRAIL_LIBMCOUNT_STUB_MEMORY_H
#define UTRAIL_LIBMCOUNT_STUB_MEMORY_H

#include <link.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "arch/arch.h"

#define STUB_MEMORY_PAGE 4096

/*
 * The stub memory of one module. The hooks in the probe may be too far from the module for a direct
 * jump. So each hook has a cell with the hook's address. A stub or gate reads the address from the
 * cell, and jumps to the address.
 *
 * After stub_memory_make() has returned the memory, the memory is never unmapped, because a thread
 * may be in a stub at any moment. When a probe leaves the process, the probe stores the address of
 * @pass in each cell. A later probe in the process uses the memory again, if the memory holds the
 * code that the later probe would write.
 *
 * @mark: MARK of stub_memory.c, written last
 * @bytes: the size of the whole memory
 * @cells: for each enum arch_hook, the address of the hook or of @pass. Only the page of the cells
 *         is writable
 * @pass: code that only returns. After the probe has left, this code runs instead of each hook
 * @gates: for each enum arch_hook, code that jumps to the address in the cell
 */
struct stub_memory {
	_Atomic uint64_t mark;
	uint64_t bytes;
	_Atomic uint64_t cells[ARCH_HOOKS];
	uint8_t pass[ARCH_PASS_BYTES] __attribute__((aligned(STUB_MEMORY_PAGE)));
	uint8_t gates[ARCH_HOOKS][ARCH_GATE_BYTES];
	uint8_t stubs[];
};

/* Writes stubs to @to, for execution at @as. Returns false when a stub would not work at @as. */
typedef bool (*stub_writer)(struct stub_memory *to, const struct stub_memory *as, void *arg);

/*
 * COLD. Makes stub memory within 2 GiB of the whole module. @write writes the stubs, which need
 * @bytes bytes. The address of each hook is stored in the hook's cell. Returns the memory, or NULL
 * on failure.
 */
struct stub_memory *stub_memory_make(const struct dl_phdr_info *info, uint64_t bytes,
				     stub_writer write, void *arg);

void stub_memory_pass(struct stub_memory *memory);

#endif
