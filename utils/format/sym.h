/* The symbol table of a module, and the text of `<module>.sym`. */
#ifndef UTRAIL_FORMAT_SYM_H
#define UTRAIL_FORMAT_SYM_H

#include <stddef.h>
#include <stdint.h>

#include "utils/base/err.h"
#include "utils/base/containers/strbuf.h"

/*
 * @addr: relative to the start of the module's map (FEAT_SYM_REL_ADDR)
 * @size: in bytes
 * @name: mangled, as in the object file; lives as long as the table
 * @type: doc/formats/symbols.md, "Symbol types": t T w P K d D v u ?
 */
struct symbol {
	uint64_t addr;
	uint64_t size;
	const char *name;
	char type;
};

/* True for code: a function of the module, or a library call (PLT). */
static inline bool symbol_is_function(const struct symbol *sym)
{
	return sym->type == 't' || sym->type == 'T' || sym->type == 'w' || sym->type == 'P';
}

/* Another name of the function at @addr; @name lives as long as the table. */
struct symbol_alias {
	uint64_t addr;
	const char *name;
};

/*
 * Starts as { 0 }, ends with symtab_deinit().
 *
 * @syms: sorted by address after symtab_sort()
 * @aliases: sorted by address, then by name
 * @names: the memory of all names; private to sym.c
 * @name_bytes: bytes of all added names
 */
struct symtab {
	struct symbol *syms;
	size_t nr;
	size_t cap;
	struct symbol_alias *aliases;
	size_t nr_aliases;
	size_t cap_aliases;
	void *names;
	size_t name_bytes;
};

void symtab_deinit(struct symtab *tab);
#define cleanup_symtab cleanup(symtab_deinit)

/* Append a symbol. @name, of @name_len bytes, is copied. Returns 0 or -ENOMEM. */
int symtab_add(struct symtab *tab, uint64_t addr, uint64_t size, char type, const char *name,
	       size_t name_len);

/* Append all symbols and aliases of @from to @tab, and sort @tab. Returns 0 or -ENOMEM. */
int symtab_add_all(struct symtab *tab, const struct symtab *from);

/*
 * Sort by address and keep one symbol per address, as uftrace does (doc/formats/symbols.md, "Which
 * symbols"). Further names of a function become aliases. Returns 0 or -ENOMEM.
 */
int symtab_sort(struct symtab *tab);

/* Returns the index of the first alias at @addr or after it. The table must be sorted. */
size_t symtab_find_alias(const struct symtab *tab, uint64_t addr);

/* Swap the names of the symbol @index and its alias @alias. */
void symtab_swap_alias(struct symtab *tab, size_t index, size_t alias);

/*
 * Find the symbol whose [addr, addr + size) contains @addr. If there are several, returns the one
 * that begins last. Only the last 8 symbols that begin at @addr or before it are checked. Returns
 * NULL if none of them contains @addr. The table must be sorted.
 */
const struct symbol *symtab_find(const struct symtab *tab, uint64_t addr);

/*
 * The values of `#` lines of the file. Strings are on the heap, or NULL if there is no such line.
 */
struct sym_file_head {
	char *path;
	char *build_id; /* lowercase hex */
};

/*
 * Write the text of a .sym file (doc/formats/symbols.md, "Symbol files"). Its lines have no sizes,
 * because uftrace up to 0.13 cannot read lines with sizes. @build_id may be NULL.
 */
void sym_file_encode(const struct symtab *tab, const char *path, const char *build_id,
		     struct strbuf *out);

/*
 * Parse the text of a .sym file, with or without sizes, into the empty @tab, and sort @tab.
 *
 * @head: may be NULL; the caller frees its strings
 *
 * Returns 0, -EINVAL with the number of the invalid line in @err, or -ENOMEM.
 */
int sym_file_decode(const char *text, size_t len, struct symtab *tab, struct sym_file_head *head,
		    struct uft_err *err);

#endif
