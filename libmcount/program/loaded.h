/* Functions of a loaded module, found by its hash table, without a call of libc. */
#ifndef UTRAIL_LIBMCOUNT_LOADED_H
#define UTRAIL_LIBMCOUNT_LOADED_H

#include <link.h>
#include <stdbool.h>
#include <stdint.h>

/*
 * The tables that a module's dynamic section leads to: those of gABI chapter 5, and the GNU
 * extensions DT_GNU_HASH and symbol versions (LSB core). NULL: the module has no such table.
 */
struct loaded {
	uintptr_t base;
	const ElfW(Sym) * symbols;
	const char *names;
	const uint32_t *hash;
	const ElfW(Half) * versions; /* indexed like @symbols */
	const ElfW(Verdef) * defined;
	const ElfW(Verneed) * needed;
	const ElfW(Rela) * rela;
	const ElfW(Rela) * plt;
	size_t rela_bytes;
	size_t plt_bytes;
};

/* Fill @m for the module that is loaded at @base, from its dynamic section. */
void loaded_read(struct loaded *m, const ElfW(Dyn) * dynamic, uintptr_t base);

/* The hash of a name, as DT_GNU_HASH has it. */
uint32_t loaded_hash(const char *name);

/* Does the work of strcmp(3), which may be one of the functions that are not bound yet. */
bool loaded_is_same(const char *a, const char *b);

/*
 * Returns the symbol number of the function called @name, with hash @hash, that @accepts accepts by
 * its version; 0: there is none. Needs the symbols, names and hash table.
 */
typedef bool loaded_accepts(const struct loaded *m, uint32_t index, const void *arg);
uint32_t loaded_find(const struct loaded *m, const char *name, uint32_t hash,
		     loaded_accepts *accepts, const void *arg);

/* Does the work of loaded_find() for a variable. */
uint32_t loaded_find_data(const struct loaded *m, const char *name, uint32_t hash,
			  loaded_accepts *accepts, const void *arg);

/* The address of symbol @index; an indirect function (STT_GNU_IFUNC) is called to get it. */
uint64_t loaded_address(const struct loaded *m, uint32_t index);

#endif
