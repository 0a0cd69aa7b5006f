/* Symbol table of a module, and the `<module>.sym` text that stores it (see sym.h). */
#include "utils/format/sym.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "utils/base/containers/order.h"
#include "utils/base/containers/vec.h"
#include "utils/format/text.h"

#define NAME_CHUNK_BYTES 65536
/*
 * Longer names in .sym files are truncated. Readers print a function's name once for each call of
 * the function, so a very long name would make the output huge.
 */
#define SYMBOL_NAME_MAX	 65535

/* Names are appended to the newest chunk and never move, so that symbols can point to them. */
struct name_chunk {
	struct name_chunk *older;
	size_t used;
	size_t cap;
	char data[];
};

/*
 * symtab_find() looks for the symbol that contains an address. The function checks the last
 * FIND_BACK_MAX symbols that do not begin after this address. One symbol is not enough, because a
 * short symbol may be inside of a long symbol. If the short symbol ends before the address, only
 * the long symbol contains the address.
 */
#define FIND_BACK_MAX 8

void symtab_deinit(struct symtab *tab)
{
	struct name_chunk *chunk = tab->names;

	while (chunk) {
		struct name_chunk *older = chunk->older;

		free(chunk);
		chunk = older;
	}
	free(tab->syms);
	free(tab->aliases);
	*tab = (struct symtab){ 0 };
}

static const char *symtab_keep_name(struct symtab *tab, const char *name, size_t len)
{
	struct name_chunk *chunk = tab->names;

	if (!chunk || chunk->cap - chunk->used <= len) {
		size_t cap = MAX(len + 1, (size_t)NAME_CHUNK_BYTES);

		chunk = malloc(sizeof(*chunk) + cap);
		if (!chunk)
			return NULL;
		chunk->older = tab->names;
		chunk->used = 0;
		chunk->cap = cap;
		tab->names = chunk;
	}

	char *kept = chunk->data + chunk->used;

	memcpy(kept, name, len);
	kept[len] = '\0';
	chunk->used += len + 1;
	tab->name_bytes += len;
	return kept;
}

int symtab_add(struct symtab *tab, uint64_t addr, uint64_t size, char type, const char *name,
	       size_t name_len)
{
	struct symbol *syms = vec_room(tab->syms, tab->nr, &tab->cap, sizeof(*syms));

	if (!syms)
		return -ENOMEM;
	tab->syms = syms;

	const char *kept = symtab_keep_name(tab, name, name_len);

	if (!kept)
		return -ENOMEM;
	tab->syms[tab->nr++] = (struct symbol){
		.addr = addr,
		.size = size,
		.name = kept,
		.type = type,
	};
	return 0;
}

/*
 * True when @next has a better name than @kept for the same address, by the rules of uftrace
 * (doc/formats/symbols.md, "Which symbols").
 */
static bool is_better_name(const struct symbol *kept, const struct symbol *next)
{
	if (kept->type == '?' || next->type == '?')
		return next->type != '?';
	if (next->name[0] != '_' || kept->name[0] != '_')
		return next->name[0] != '_';
	return next->name[1] != 'Z' && kept->name[1] != 'Z';
}

/* A line that begins with this text names an alias. */
#define ALIAS "# alias: "

#define RADIX_BITS 11
#define RADIX	   (1U << RADIX_BITS)

/*
 * One pass of a radix sort. Copies the @nr symbols at @from to @to, sorted by one digit of the
 * address. This digit begins at bit @shift. Symbols with equal digits keep their order.
 */
static void sort_by_digit(const struct symbol *from, struct symbol *to, size_t nr, unsigned shift)
{
	size_t starts[RADIX] = { 0 };
	size_t sum = 0;

	for (size_t i = 0; i < nr; i++)
		starts[(from[i].addr >> shift) % RADIX]++;
	for (size_t d = 0; d < RADIX; d++) {
		size_t count = starts[d];

		starts[d] = sum;
		sum += count;
	}
	for (size_t i = 0; i < nr; i++)
		to[starts[(from[i].addr >> shift) % RADIX]++] = from[i];
}

/* Sort by address. Symbols of the same address keep their order. Returns 0 or -ENOMEM. */
static int sort_by_addr(struct symtab *tab)
{
	struct symbol *spare = reallocarray(NULL, tab->cap, sizeof(*spare));
	uint64_t used_bits = 0;

	if (!spare)
		return -ENOMEM;
	for (size_t i = 0; i < tab->nr; i++)
		used_bits |= tab->syms[i].addr;
	for (unsigned shift = 0; shift < 64 && used_bits >> shift; shift += RADIX_BITS) {
		struct symbol *sorted = spare;

		sort_by_digit(tab->syms, sorted, tab->nr, shift);
		spare = tab->syms;
		tab->syms = sorted;
	}
	free(spare);
	return 0;
}

/*
 * True for two variants of a constructor or destructor ("C1", "C2"), which are one function in the
 * source. Only mangled names of C++ ("_Z") have variants.
 */
static bool is_same_to_people(const char *a, const char *b)
{
	size_t i = 0;

	if (strncmp(a, "_Z", 2) != 0)
		return false;
	while (a[i] && a[i] == b[i])
		i++;
	return i && (a[i - 1] == 'C' || a[i - 1] == 'D') && a[i] >= '0' && a[i] <= '5' &&
	       b[i] >= '0' && b[i] <= '5' && strcmp(a + i + 1, b + i + 1) == 0;
}

static int add_alias(struct symtab *tab, uint64_t addr, const char *name)
{
	struct symbol_alias *aliases = vec_room(tab->aliases, tab->nr_aliases, &tab->cap_aliases,
						sizeof(*aliases));

	if (!aliases)
		return -ENOMEM;
	tab->aliases = aliases;
	aliases[tab->nr_aliases++] = (struct symbol_alias){ addr, name };
	return 0;
}

/*
 * Compare the names of two symbols with the same address. *@kept becomes the symbol with the better
 * name. If both symbols are functions and their names differ, the other name becomes an alias.
 * Returns 0 or -ENOMEM.
 */
static int keep_better(struct symtab *tab, struct symbol *kept, const struct symbol *next)
{
	struct symbol other = *next;

	if (is_better_name(kept, next)) {
		other = *kept;
		*kept = *next;
	}
	if (!symbol_is_function(kept) || !symbol_is_function(&other) ||
	    strcmp(kept->name, other.name) == 0)
		return 0;
	return add_alias(tab, other.addr, other.name);
}

static int by_addr_and_name(const void *a, const void *b)
{
	const struct symbol_alias *one = a;
	const struct symbol_alias *other = b;

	if (one->addr != other->addr)
		return one->addr < other->addr ? -1 : 1;
	return strcmp(one->name, other->name);
}

/*
 * Sort aliases. Keep one of several equal aliases. Drop an alias if no function begins at the
 * alias's address. Drop an alias that is the function's name or a variant of the function's name
 * (is_same_to_people()).
 */
static void sort_aliases(struct symtab *tab)
{
	size_t kept = 0;
	size_t sym = 0;

	if (tab->nr_aliases)
		qsort(tab->aliases, tab->nr_aliases, sizeof(*tab->aliases), by_addr_and_name);
	for (size_t i = 0; i < tab->nr_aliases; i++) {
		struct symbol_alias alias = tab->aliases[i];

		while (sym < tab->nr && tab->syms[sym].addr < alias.addr)
			sym++;
		if (sym == tab->nr || tab->syms[sym].addr != alias.addr ||
		    !symbol_is_function(&tab->syms[sym]) ||
		    strcmp(tab->syms[sym].name, alias.name) == 0 ||
		    is_same_to_people(tab->syms[sym].name, alias.name) ||
		    (kept && by_addr_and_name(&tab->aliases[kept - 1], &alias) == 0))
			continue;
		tab->aliases[kept++] = alias;
	}
	tab->nr_aliases = kept;
}

size_t symtab_find_alias(const struct symtab *tab, uint64_t addr)
{
	return order_count_below(tab->aliases, tab->nr_aliases, sizeof(*tab->aliases), addr);
}

void symtab_swap_alias(struct symtab *tab, size_t index, size_t alias)
{
	const char *name = tab->syms[index].name;

	tab->syms[index].name = tab->aliases[alias].name;
	tab->aliases[alias].name = name;
}

int symtab_sort(struct symtab *tab)
{
	size_t sorted = 1;

	/* Files are written sorted, so the sort can often be skipped. */
	while (sorted < tab->nr && tab->syms[sorted - 1].addr < tab->syms[sorted].addr)
		sorted++;
	if (sorted >= tab->nr) {
		sort_aliases(tab);
		return 0;
	}
	if (sort_by_addr(tab) < 0)
		return -ENOMEM;

	size_t last = 0;

	for (size_t i = 1; i < tab->nr; i++) {
		if (tab->syms[i].addr != tab->syms[last].addr)
			tab->syms[++last] = tab->syms[i];
		else if (keep_better(tab, &tab->syms[last], &tab->syms[i]) < 0)
			return -ENOMEM;
	}
	tab->nr = last + 1;
	sort_aliases(tab);
	return 0;
}

int symtab_add_all(struct symtab *tab, const struct symtab *from)
{
	int ret = 0;

	for (size_t i = 0; ret == 0 && i < from->nr; i++) {
		const struct symbol *sym = &from->syms[i];

		ret = symtab_add(tab, sym->addr, sym->size, sym->type, sym->name,
				 strlen(sym->name));
	}
	for (size_t i = 0; ret == 0 && i < from->nr_aliases; i++) {
		const char *name = from->aliases[i].name;
		const char *kept = symtab_keep_name(tab, name, strlen(name));

		ret = kept ? add_alias(tab, from->aliases[i].addr, kept) : -ENOMEM;
	}
	return ret == 0 ? symtab_sort(tab) : ret;
}

const struct symbol *symtab_find(const struct symtab *tab, uint64_t addr)
{
	size_t low = order_count_until(tab->syms, tab->nr, sizeof(*tab->syms), addr);

	for (size_t back = 0; back < FIND_BACK_MAX && back < low; back++) {
		const struct symbol *sym = &tab->syms[low - 1 - back];

		if (addr - sym->addr < sym->size)
			return sym;
	}
	return NULL;
}

/* The most bytes of padding between functions. A larger gap belongs to no symbol. */
#define PADDING_MAX 64

/*
 * True when a gap follows the symbol, or when the symbol is the last one. The written file has no
 * sizes, so readers extend each symbol to the next line. A line of type '?' must therefore mark the
 * end of such a symbol.
 */
static bool is_followed_by_gap(const struct symtab *tab, size_t index)
{
	uint64_t end = tab->syms[index].addr + tab->syms[index].size;

	return index + 1 == tab->nr ||
	       (end <= tab->syms[index + 1].addr && tab->syms[index + 1].addr - end > PADDING_MAX);
}

static void put_line(struct strbuf *out, uint64_t addr, char type, const char *name)
{
	text_put_hex(out, addr, 16);
	strbuf_addch(out, ' ');
	strbuf_addch(out, type);
	strbuf_addch(out, ' ');
	text_put_name(out, name, strlen(name));
	strbuf_addch(out, '\n');
}

/* Write an alias as a comment line, which other readers, such as uftrace 0.13, skip. */
static void put_alias(struct strbuf *out, const struct symbol_alias *alias)
{
	strbuf_addstr(out, ALIAS);
	text_put_hex(out, alias->addr, 16);
	strbuf_addch(out, ' ');
	text_put_name(out, alias->name, strlen(alias->name));
	strbuf_addch(out, '\n');
}

void sym_file_encode(const struct symtab *tab, const char *path, const char *build_id,
		     struct strbuf *out)
{
	size_t lines = 0;

	for (size_t i = 0; i < tab->nr; i++)
		lines += 1 + is_followed_by_gap(tab, i);
	strbuf_addstr(out, "# symbols: ");
	strbuf_addu64(out, lines);
	strbuf_addstr(out, "\n# path name: ");
	text_put_name(out, path, strlen(path));
	strbuf_addch(out, '\n');
	if (build_id) {
		strbuf_addstr(out, "# build-id: ");
		strbuf_addstr(out, build_id);
		strbuf_addch(out, '\n');
	}
	for (size_t i = 0, alias = 0; i < tab->nr; i++) {
		const struct symbol *sym = &tab->syms[i];

		put_line(out, sym->addr, sym->type, sym->name);
		for (; alias < tab->nr_aliases && tab->aliases[alias].addr <= sym->addr; alias++)
			put_alias(out, &tab->aliases[alias]);
		if (is_followed_by_gap(tab, i))
			put_line(out, sym->addr + sym->size, '?', "__sym_end");
	}
}

/* Parse the line of an alias. Returns 1 on success, 0 if the line is not an alias, or -ENOMEM. */
static int alias_decode(struct text line, struct symtab *tab)
{
	uint64_t addr;
	const char *name;

	if (!text_word(&line, ALIAS) || !text_hex(&line, &addr) || !text_word(&line, " ") ||
	    !text_left(&line) || memchr(line.at, '\0', text_left(&line)))
		return 0;
	name = symtab_keep_name(tab, line.at, text_left(&line));
	return name && add_alias(tab, addr, name) == 0 ? 1 : -ENOMEM;
}

static int head_decode(struct text line, struct sym_file_head *head)
{
	char **slot = NULL;

	if (!head)
		return 0;
	if (text_word(&line, "# path name: "))
		slot = &head->path;
	else if (text_word(&line, "# build-id: "))
		slot = &head->build_id;
	if (!slot || *slot)
		return 0;
	*slot = text_dup(&line);
	return *slot ? 0 : -ENOMEM;
}

/* Parse "<addr> [<size> ]<type> <name>". *@sized becomes true if the line has a size. */
static bool line_decode(struct text line, struct symbol *sym, struct text *name, bool *sized)
{
	if (!text_hex(&line, &sym->addr) || !text_word(&line, " "))
		return false;

	/* A type is one letter, which may be a hex digit. A size has at least two digits. */
	*sized = text_left(&line) >= 2 && line.at[1] != ' ';
	if (*sized && (!text_hex(&line, &sym->size) || !text_word(&line, " ")))
		return false;
	if (text_left(&line) < 3 || line.at[1] != ' ')
		return false;
	sym->type = line.at[0];
	line.at += 2;
	*name = line;
	name->end = name->at + MIN(text_left(name), (size_t)SYMBOL_NAME_MAX);
	return !memchr(line.at, '\0', text_left(&line));
}

/*
 * If the symbol file has no sizes, set the sizes of the symbols: each symbol extends to the next
 * symbol. A symbol of type '?' only marks the end of the previous symbol, and is dropped.
 */
static void derive_sizes(struct symtab *tab)
{
	size_t kept = 0;

	for (size_t i = 0; i < tab->nr; i++) {
		struct symbol sym = tab->syms[i];

		if (i + 1 < tab->nr)
			sym.size = tab->syms[i + 1].addr - sym.addr;
		if (sym.type != '?')
			tab->syms[kept++] = sym;
	}
	tab->nr = kept;
}

static int sym_lines_decode(struct text in, struct symtab *tab, struct sym_file_head *head,
			    struct uft_err *err)
{
	struct text line;
	bool whole;
	bool old_form = false;

	for (size_t nr = 1; text_line(&in, &line, &whole); nr++) {
		struct symbol sym = { 0 };
		struct text name;
		bool sized;
		int ret;

		if (line.at == line.end)
			continue;
		if (*line.at == '#') {
			ret = alias_decode(line, tab);
			if (ret == 0)
				ret = head_decode(line, head);
		} else if (!line_decode(line, &sym, &name, &sized)) {
			return err_set(err, -EINVAL,
				       "line %zu: expected '<address> [<size>] <type> <name>'", nr);
		} else {
			old_form |= !sized;
			ret = symtab_add(tab, sym.addr, sym.size, sym.type, name.at,
					 text_left(&name));
		}
		if (ret < 0)
			return err_set_errno(err, ret, "line %zu", nr);
	}

	if (symtab_sort(tab) < 0)
		return err_set_errno(err, -ENOMEM, "symbols");
	if (old_form)
		derive_sizes(tab);
	return 0;
}

int sym_file_decode(const char *text, size_t len, struct symtab *tab, struct sym_file_head *head,
		    struct uft_err *err)
{
	if (head)
		*head = (struct sym_file_head){ 0 };

	int ret = sym_lines_decode(text_of(text, len), tab, head, err);

	if (ret < 0) {
		symtab_deinit(tab);
		if (head) {
			free(head->path);
			free(head->build_id);
			*head = (struct sym_file_head){ 0 };
		}
	}
	return ret;
}
