/* The definition of a name (see definition.h). */
#include "libmcount/definition.h"

#include <link.h>
#include <string.h>

#include "libmcount/interpose.h"

/* The tables that a module's dynamic section leads to. */
struct tables {
	const ElfW(Sym) * symbols;
	const char *names;
	const uint32_t *hash;
	const uint16_t *versions; /* NULL: it has none */
};

/* The table of DT_GNU_HASH; each array follows the one before it. */
struct hash_table {
	uint32_t nr_buckets;
	uint32_t first; /* the symbols before it are in no chain */
	uint32_t nr_blooms;
	uint32_t shift;
	const uint64_t *blooms;
	const uint32_t *buckets;
	const uint32_t *chain;
};

/*
 * The version is not the default one: a program that is linked today does not get it (Elf symbol
 * versioning, Versym).
 */
#define HIDDEN_VERSION 0x8000

struct search {
	const char *name;
	uint32_t hash;
	uint64_t found;
};

static uint32_t hash_of(const char *name)
{
	uint32_t hash = 5381;

	for (const uint8_t *c = (const uint8_t *)name; *c; c++)
		hash = hash * 33 + *c;
	return hash;
}

static struct hash_table hash_table_at(const uint32_t *words)
{
	struct hash_table t = { words[0], words[1], words[2], words[3] };

	t.blooms = (const uint64_t *)(words + 4);
	t.buckets = (const uint32_t *)(t.blooms + t.nr_blooms);
	t.chain = t.buckets + t.nr_buckets;
	return t;
}

static bool may_have(const struct hash_table *t, uint32_t hash)
{
	uint64_t word = t->blooms[hash / 64 % t->nr_blooms];

	return word >> hash % 64 & word >> (hash >> t->shift) % 64 & 1;
}

static bool is_definition(const struct tables *tables, uint32_t index, const char *name)
{
	const ElfW(Sym) *sym = &tables->symbols[index];
	unsigned type = ELF64_ST_TYPE(sym->st_info);

	return sym->st_shndx != SHN_UNDEF && (type == STT_FUNC || type == STT_GNU_IFUNC) &&
	       !(tables->versions && tables->versions[index] & HIDDEN_VERSION) &&
	       strcmp(tables->names + sym->st_name, name) == 0;
}

/* The symbol's number, or 0. */
static uint32_t find_symbol(const struct tables *tables, const struct search *s)
{
	struct hash_table t = hash_table_at(tables->hash);
	uint32_t index;

	if (!t.nr_buckets || !t.nr_blooms || !may_have(&t, s->hash))
		return 0;
	index = t.buckets[s->hash % t.nr_buckets];
	for (; index >= t.first && index; index++) {
		uint32_t hash = t.chain[index - t.first];

		if ((hash | 1) == (s->hash | 1) && is_definition(tables, index, s->name))
			return index;
		if (hash & 1)
			break;
	}
	return 0;
}

/* The dynamic linker has relocated the entry, or not. */
static const void *address_of(const ElfW(Dyn) * entry, uint64_t bias)
{
	return (const void *)(entry->d_un.d_ptr + (entry->d_un.d_ptr < bias ? bias : 0));
}

static bool find_tables(const ElfW(Dyn) * entry, uint64_t bias, struct tables *out)
{
	*out = (struct tables){ 0 };
	for (; entry->d_tag != DT_NULL; entry++) {
		switch (entry->d_tag) {
		case DT_SYMTAB:
			out->symbols = address_of(entry, bias);
			break;
		case DT_STRTAB:
			out->names = address_of(entry, bias);
			break;
		case DT_GNU_HASH:
			out->hash = address_of(entry, bias);
			break;
		case DT_VERSYM:
			out->versions = address_of(entry, bias);
			break;
		}
	}
	return out->symbols && out->names && out->hash;
}

static const ElfW(Dyn) * dynamic_of(const struct dl_phdr_info *info)
{
	for (int i = 0; i < info->dlpi_phnum; i++) {
		if (info->dlpi_phdr[i].p_type == PT_DYNAMIC)
			return (const ElfW(Dyn) *)(info->dlpi_addr + info->dlpi_phdr[i].p_vaddr);
	}
	return NULL;
}

/* Nothing is bound to the kernel's module, which is no file and has a name all the same. */
static bool is_of_kernel(const struct dl_phdr_info *info)
{
	const char *c = info->dlpi_name;

	if (!c || !*c)
		return false;
	while (*c && *c != '/')
		c++;
	return !*c;
}

static int look_into(struct dl_phdr_info *info, size_t size, void *arg)
{
	struct search *s = arg;
	const ElfW(Dyn) *dynamic = dynamic_of(info);
	struct tables tables;
	const ElfW(Sym) * sym;
	uint32_t index;

	if (!dynamic || is_of_kernel(info) || interpose_is_own((uint64_t)dynamic) ||
	    !find_tables(dynamic, info->dlpi_addr, &tables))
		return 0;
	index = find_symbol(&tables, s);
	if (!index)
		return 0;
	sym = &tables.symbols[index];
	s->found = info->dlpi_addr + sym->st_value;
	if (ELF64_ST_TYPE(sym->st_info) == STT_GNU_IFUNC)
		s->found = ((uint64_t(*)(void))s->found)();
	return 1;
}

uint64_t definition_find(const char *name)
{
	struct search s = { name, hash_of(name), 0 };

	dl_iterate_phdr(look_into, &s);
	return s.found;
}
