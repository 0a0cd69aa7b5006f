/* Library call stubs: the PLT entries of a module as symbols. */
#ifndef UTRAIL_OBJECT_PLT_H
#define UTRAIL_OBJECT_PLT_H

#include "utils/format/sym.h"
#include "utils/object/elf_file.h"

/*
 * A way to call a library function: through a PLT entry, or directly through a GOT slot.
 * Addresses are as stated in the file, before relocation.
 *
 * @addr: the address that recorded calls have (doc/formats/symbols.md, "Library calls"): the
 *         address of the PLT entry, or (-fno-plt) of the GOT slot's relocation entry
 * @size: number of bytes at @addr
 * @slot: GOT slot that holds the address of the function
 * @reloc: for a PLT entry, the index of its relocation in DT_JMPREL; for calls directly through the
 *         GOT slot, PLT_NO_RELOC
 * @name: lives as long as the struct elf_file
 */
struct plt_entry {
	uint64_t addr;
	uint64_t size;
	uint64_t slot;
	uint32_t reloc;
	const char *name;
	size_t name_len;
};

#define PLT_NO_RELOC UINT32_MAX

/* Starts as { 0 } and ends with plt_entries_deinit(). */
struct plt_entries {
	struct plt_entry *entries;
	size_t nr;
	size_t cap;
};

void plt_entries_deinit(struct plt_entries *plt);
#define cleanup_plt_entries cleanup(plt_entries_deinit)

/*
 * Load the PLT entries of @file, and then the GOT slots of imported functions. Returns 0 or
 * -ENOMEM. A GOT slot does not prove that calls go directly through the slot: see
 * plt_is_bypassed().
 */
int plt_entries_load(const struct elf_file *file, struct plt_entries *out);

/*
 * True when calls go through the GOT, and none through the PLT: the module was compiled with
 * -fno-plt.
 */
bool plt_is_bypassed(const struct elf_file *file, const struct plt_entries *plt);

/*
 * Add a symbol of type 'P' for each entry. Returns 0, -ENOMEM, or -EFBIG when the names are too
 * long (elf_has_too_long_names()).
 */
int plt_add_symbols(const struct elf_file *file, struct symtab *out);

#endif
