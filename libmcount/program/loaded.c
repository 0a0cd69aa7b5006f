/* Functions of a loaded module (see loaded.h). */
#include "libmcount/program/loaded.h"

#include <dlfcn.h>
#include <stddef.h>

/*
 * The table of DT_GNU_HASH. In the module's memory, the members of this struct follow one another
 * in the same order, with the three arrays in place of the pointers.
 */
struct hash_table {
	uint32_t nr_buckets;
	uint32_t first; /* the number of symbols that are in no chain */
	uint32_t nr_blooms;
	uint32_t shift;
	const ElfW(Addr) * blooms;
	const uint32_t *buckets;
	const uint32_t *chain;
};

#define BLOOM_BITS (8 * sizeof(ElfW(Addr)))

uint32_t loaded_hash(const char *name)
{
	uint32_t hash = 5381;

	for (const uint8_t *c = (const uint8_t *)name; *c; c++)
		hash = hash * 33 + *c;
	return hash;
}

bool loaded_is_same(const char *a, const char *b)
{
	while (*a && *a == *b) {
		a++;
		b++;
	}
	return *a == *b;
}

/*
 * The entries that loaded_read() looks for in the dynamic section. An entry contains the address of
 * a table, or a size in bytes.
 */
static const struct {
	uint32_t tag;
	uint16_t member; /* the member's offset in struct loaded */
	bool is_size;
} entries[] = {
	{ DT_SYMTAB, offsetof(struct loaded, symbols), false },
	{ DT_STRTAB, offsetof(struct loaded, names), false },
	{ DT_GNU_HASH, offsetof(struct loaded, hash), false },
	{ DT_VERSYM, offsetof(struct loaded, versions), false },
	{ DT_VERDEF, offsetof(struct loaded, defined), false },
	{ DT_VERNEED, offsetof(struct loaded, needed), false },
	{ DT_RELA, offsetof(struct loaded, rela), false },
	{ DT_JMPREL, offsetof(struct loaded, plt), false },
	{ DT_RELASZ, offsetof(struct loaded, rela_bytes), true },
	{ DT_PLTRELSZ, offsetof(struct loaded, plt_bytes), true },
};

/*
 * _dl_find_object() takes no lock. The function finds a module if the relocation of the module is
 * complete and the module was not unloaded.
 */
#ifdef DLFO_STRUCT_HAS_EH_DBASE
extern int _dl_find_object(void *pc, struct dl_find_object *out) __attribute__((weak));

bool loaded_is_complete(const struct dl_phdr_info *info)
{
	struct dl_find_object object;

	for (int i = 0; _dl_find_object && i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *ph = &info->dlpi_phdr[i];

		if (ph->p_type == PT_LOAD)
			return _dl_find_object((void *)(info->dlpi_addr + ph->p_vaddr), &object) ==
			       0;
	}
	return true;
}
#else
bool loaded_is_complete(const struct dl_phdr_info *info)
{
	return true;
}
#endif

void loaded_read(struct loaded *m, const ElfW(Dyn) * d, uintptr_t base)
{
	*m = (struct loaded){ .base = base };
	for (; d->d_tag != DT_NULL; d++) {
		for (unsigned i = 0; i < sizeof(entries) / sizeof(*entries); i++) {
			/*
			 * An address below @base is an offset from @base: the dynamic linker has
			 * not relocated this address.
			 */
			bool is_moved = entries[i].is_size || d->d_un.d_ptr >= base;

			if (d->d_tag == entries[i].tag)
				*(uintptr_t *)((char *)m + entries[i].member) =
					d->d_un.d_ptr + (is_moved ? 0 : base);
		}
	}
}

static struct hash_table hash_table_at(const uint32_t *words)
{
	struct hash_table t = { words[0], words[1], words[2], words[3] };

	t.blooms = (const ElfW(Addr) *)(words + 4);
	t.buckets = (const uint32_t *)(t.blooms + t.nr_blooms);
	t.chain = t.buckets + t.nr_buckets;
	return t;
}

static bool may_have(const struct hash_table *t, uint32_t hash)
{
	ElfW(Addr) word = t->blooms[hash / BLOOM_BITS % t->nr_blooms];

	return word >> hash % BLOOM_BITS & word >> (hash >> t->shift) % BLOOM_BITS & 1;
}

static bool is_wanted(const struct loaded *m, uint32_t index, const struct loaded_name *wanted)
{
	const ElfW(Sym) *sym = &m->symbols[index];
	unsigned type = ELF64_ST_TYPE(sym->st_info);
	bool is_data = type == STT_OBJECT;

	return sym->st_shndx != SHN_UNDEF && is_data == wanted->is_data &&
	       (is_data || type == STT_FUNC || type == STT_GNU_IFUNC) &&
	       loaded_is_same(m->names + sym->st_name, wanted->name);
}

uint32_t loaded_find(const struct loaded *m, const struct loaded_name *wanted,
		     loaded_accepts *accepts, const void *arg)
{
	uint32_t hash = wanted->hash;
	struct hash_table t = hash_table_at(m->hash);
	uint32_t index;

	if (!t.nr_buckets || !t.nr_blooms || !may_have(&t, hash))
		return 0;
	index = t.buckets[hash % t.nr_buckets];
	for (; index >= t.first && index; index++) {
		uint32_t its = t.chain[index - t.first];

		if ((its | 1) == (hash | 1) && is_wanted(m, index, wanted) &&
		    accepts(m, index, arg))
			return index;
		if (its & 1)
			break;
	}
	return 0;
}

uint64_t loaded_address(const struct loaded *m, uint32_t index)
{
	const ElfW(Sym) *sym = &m->symbols[index];
	uint64_t at = m->base + sym->st_value;

	return ELF64_ST_TYPE(sym->st_info) == STT_GNU_IFUNC ? ((uint64_t(*)(void))at)() : at;
}
