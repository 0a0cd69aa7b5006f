/* Symbols of the kernel (see kallsyms.h). */
#include "utils/format/kernel/kallsyms.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "utils/base/compiler.h"
#include "utils/format/text.h"

/* Linux's KSYM_NAME_LEN. Longer names are truncated. */
#define NAME_MAX_BYTES 512

/* Parse "<address> <type> <name>", then a tab and the module. */
static bool read_line(struct text line, uint64_t *addr, struct text *name)
{
	if (!text_hex(&line, addr) || *addr == 0 || text_left(&line) < 4 || line.at[0] != ' ' ||
	    line.at[2] != ' ' || !strchr("tTwW", line.at[1]))
		return false;
	line.at += 3;

	const char *tab = memchr(line.at, '\t', text_left(&line));

	*name = (struct text){ line.at, tab ? tab : line.end };
	name->end = name->at + MIN(text_left(name), (size_t)NAME_MAX_BYTES);
	return text_left(name);
}

static int compare_symbols(const void *a, const void *b)
{
	const struct symbol *x = a;
	const struct symbol *y = b;

	if (x->addr != y->addr)
		return x->addr < y->addr ? -1 : 1;
	/* Until the table is sorted, @size is the symbol's position in the file. */
	return (x->size > y->size) - (x->size < y->size);
}

/*
 * Keep one symbol per address. Each symbol extends to the next one, and the last one to the top
 * address.
 */
static void settle_sizes(struct symtab *tab)
{
	size_t kept = 0;

	for (size_t i = 0; i < tab->nr; i++) {
		if (kept && tab->syms[kept - 1].addr == tab->syms[i].addr)
			continue;
		tab->syms[kept++] = tab->syms[i];
	}
	for (size_t i = 0; i < kept; i++)
		tab->syms[i].size = (i + 1 < kept ? tab->syms[i + 1].addr : 0) - tab->syms[i].addr;
	tab->nr = kept;
}

int kallsyms_decode(const char *text, size_t len, struct symtab *tab)
{
	struct text in = text_of(text, len);
	struct text line;
	struct text name;
	uint64_t addr;
	bool whole;

	while (text_line(&in, &line, &whole)) {
		if (!read_line(line, &addr, &name))
			continue;

		int ret = symtab_add(tab, addr, tab->nr, 'K', name.at, text_left(&name));

		if (ret < 0)
			return ret;
	}
	if (tab->nr)
		qsort(tab->syms, tab->nr, sizeof(*tab->syms), compare_symbols);
	settle_sizes(tab);
	return 0;
}
