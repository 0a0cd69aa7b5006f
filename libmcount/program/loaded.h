/* Functions of a loaded module, found by its hash table, without a call of libc. */
#ifndef UTRAIL_LIBMCOUNT_LOADED_H
#define UTRAIL_LIBMCOUNT_LOADED_H

#include <link.h>
#include <stdbool.h>
#include <stdint.h>

/*
 * The tables that a module's dynamic section leads to: gABI chapter 5, and the GNU extensions
 * DT_GNU_HASH and symbol versions (LSB core). A table that the module lacks is NULL.
 */
struct loaded {
	uintptr_t base;
	const ElfW(Sym) * symbols;
	const char *names;
	const uint32_t *hash;
	const ElfW(Half) * versions; /* by symbol */
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

/* strcmp(3) may be one of the functions that are not bound yet. */
bool loaded_is_same(const char *a, const char *b);

/*
 * Returns the number of the function called @name with hash @hash that @accepts takes, or 0. Needs
 * the symbols, names and hash table. @accepts: asked about the symbol's version
 */
typedef bool loaded_accepts(const struct loaded *m, uint32_t index, const void *arg);
uint32_t loaded_find(const struct loaded *m, const char *name, uint32_t hash,
		     loaded_accepts *accepts, const void *arg);

/* The same for a variable's address. */
uint32_t loaded_find_data(const struct loaded *m, const char *name, uint32_t hash,
			  loaded_accepts *accepts, const void *arg);

/* The address of symbol @index; an indirect function (STT_GNU_IFUNC) is asked. */
uint64_t loaded_address(const struct loaded *m, uint32_t index);

#endif
