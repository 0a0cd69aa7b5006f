/* Finds functions and variables of a loaded module by its hash table, without calls of libc. */
#ifndef UTRAIL_LIBMCOUNT_LOADED_H
#define UTRAIL_LIBMCOUNT_LOADED_H

#include <link.h>
#include <stdbool.h>
#include <stdint.h>

/*
 * The tables of a module's dynamic section (gABI chapter 5; DT_GNU_HASH and symbol versions: LSB
 * core). A member is NULL when the module has no such table.
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

/*
 * False for a module that another thread is loading or unloading. dl_iterate_phdr(3) shows a module
 * before the module is relocated. The code of such a module must not be called yet, and the slots
 * for the module's library calls may be read-only or empty. If the loading fails, the module goes
 * away. With a glibc before 2.35, always returns true: no function of this glibc tells that a
 * module is being loaded.
 */
bool loaded_is_complete(const struct dl_phdr_info *info);

/* Fills @m from the dynamic section of the module that is loaded at @base. */
void loaded_read(struct loaded *m, const ElfW(Dyn) * dynamic, uintptr_t base);

/* Returns a name's hash, by the function that DT_GNU_HASH uses. */
uint32_t loaded_hash(const char *name);

/*
 * True when the strings are equal. Does not call strcmp(3), because calls of libc may still be
 * unbound.
 */
bool loaded_is_same(const char *a, const char *b);

/* The name of a symbol, the loaded_hash() of that name, and the kind of the symbol. */
struct loaded_name {
	const char *name;
	uint32_t hash;
	bool is_data; /* a variable; false: a function */
};

/*
 * Returns the number of the symbol with the name @wanted and a version that @accepts() allows, or 0
 * when there is none. @m must have the symbols, the names and the hash table.
 */
typedef bool loaded_accepts(const struct loaded *m, uint32_t index, const void *arg);
uint32_t loaded_find(const struct loaded *m, const struct loaded_name *wanted,
		     loaded_accepts *accepts, const void *arg);

/*
 * Returns the address of symbol @index. For an indirect function (STT_GNU_IFUNC), that function is
 * called to get the address.
 */
uint64_t loaded_address(const struct loaded *m, uint32_t index);

#endif
