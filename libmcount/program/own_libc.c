/* Binding the probe's undefined functions to the C library (see own_libc.h). */
#include "libmcount/program/own_libc.h"

#include <link.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/mman.h>

#include "libmcount/program/interpose.h"
#include "libmcount/program/loaded.h"
#include "libmcount/hot/probe.h"

/* Only glibc has this function. */
extern const char *gnu_get_libc_version(void) __attribute__((weak));

/* The C library is the module with gnu_get_libc_version(), which no other module defines. */
static int find_libc(struct dl_phdr_info *info, size_t size, void *arg)
{
	struct loaded *libc = arg;
	uintptr_t wanted = (uintptr_t)gnu_get_libc_version;
	const ElfW(Dyn) *dynamic = NULL;
	bool has_it = false;

	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *ph = &info->dlpi_phdr[i];
		uintptr_t start = info->dlpi_addr + ph->p_vaddr;

		if (ph->p_type == PT_DYNAMIC)
			dynamic = (const ElfW(Dyn) *)start;
		else if (ph->p_type == PT_LOAD && wanted - start < ph->p_memsz)
			has_it = true;
	}
	if (!has_it || !dynamic)
		return has_it;
	loaded_read(libc, dynamic, info->dlpi_addr);
	return 1;
}

/* Returns the hash of the version that symbol @index needs, or 0. */
static uint32_t needed_version(const struct loaded *m, uint32_t index)
{
	uint16_t wanted = m->versions[index] & 0x7fff;

	for (const ElfW(Verneed) *need = m->needed; need;) {
		const ElfW(Vernaux) *aux = (const void *)((const char *)need + need->vn_aux);

		for (int i = 0; i < need->vn_cnt; i++) {
			if (aux->vna_other == wanted)
				return aux->vna_hash;
			aux = (const void *)((const char *)aux + aux->vna_next);
		}
		if (!need->vn_next)
			break;
		need = (const void *)((const char *)need + need->vn_next);
	}
	return 0;
}

static uint32_t defined_version(const struct loaded *m, uint32_t index)
{
	uint16_t wanted = m->versions[index] & 0x7fff;

	for (const ElfW(Verdef) *def = m->defined; def;) {
		if (def->vd_ndx == wanted)
			return def->vd_hash;
		if (!def->vd_next)
			break;
		def = (const void *)((const char *)def + def->vd_next);
	}
	return 0;
}

struct wanted_version {
	const struct loaded *libc;
	uint32_t version;
};

static bool has_version(const struct loaded *in, uint32_t index, const void *arg)
{
	const struct wanted_version *wanted = arg;

	return defined_version(wanted->libc, index) == wanted->version;
}

/* Returns the function @name with the version whose hash is @version, or NULL. */
static void *find_function(const struct loaded *libc, const char *name, uint32_t version)
{
	struct wanted_version wanted = { libc, version };
	struct loaded_name named = { name, loaded_hash(name), false };
	uint32_t index = loaded_find(libc, &named, has_version, &wanted);

	return index ? (void *)loaded_address(libc, index) : NULL;
}

/*
 * Called for each function of libc that the probe calls.
 *
 * @slot: the slot from which the probe's call takes the address of the function. If a library
 *         interposes the function, the slot contains at first the address of the library's function
 * @function: the function that the probe must call: the function of libc or, if the probe itself
 *         defines the function, the probe's definition
 */
typedef void visit_fn(void **slot, void *function, void *arg);

static void visit_relocations(const struct loaded *ours, const struct loaded *libc,
			      const ElfW(Rela) * rela, size_t bytes, const char *only, visit_fn *fn,
			      void *arg)
{
	for (size_t i = 0; i < bytes / sizeof(*rela); i++) {
		uint32_t index = ELF64_R_SYM(rela[i].r_info);
		const ElfW(Sym) *sym = &ours->symbols[index];
		const char *name = ours->names + sym->st_name;
		void *function;

		if (!index || (only && !loaded_is_same(name, only)))
			continue;
		/*
		 * If the probe itself defines the function, @fn gets the probe's definition, which
		 * calls libc's function.
		 */
		if (sym->st_shndx != SHN_UNDEF && ELF64_ST_TYPE(sym->st_info) == STT_FUNC)
			function = (void *)(ours->base + sym->st_value);
		else
			function = find_function(libc, name, needed_version(ours, index));
		if (function)
			fn((void **)(ours->base + rela[i].r_offset), function, arg);
	}
}

/*
 * Calls @fn for each function of libc that the probe calls. If @only is not NULL, calls @fn only
 * for the function with that name.
 */
static void visit_all(const struct loaded *ours, const struct loaded *libc, const char *only,
		      visit_fn *fn, void *arg)
{
	visit_relocations(ours, libc, ours->rela, ours->rela_bytes, only, fn, arg);
	visit_relocations(ours, libc, ours->plt, ours->plt_bytes, only, fn, arg);
}

typedef int mprotect_fn(void *address, size_t len, int access);

static void note_function(void **slot, void *function, void *arg)
{
	*(void **)arg = function;
}

static void note_difference(void **slot, void *function, void *arg)
{
	*(bool *)arg |= *slot != function;
}

static void bind(void **slot, void *function, void *arg)
{
	if (*slot != function)
		*slot = function;
}

/*
 * After loading, a part of the probe's module is read-only (RELRO). Returns the number of bytes in
 * the whole pages of this part. *@start gets the address of the first page.
 */
static size_t sealed_part(const struct loaded *ours, void **start)
{
	const ElfW(Ehdr) *elf = (const void *)__ehdr_start;
	const ElfW(Phdr) *ph = (const void *)(__ehdr_start + elf->e_phoff);
	uintptr_t page = 4096;

	for (int i = 0; i < elf->e_phnum; i++) {
		uintptr_t from = (ours->base + ph[i].p_vaddr) & ~(page - 1);
		uintptr_t to = (ours->base + ph[i].p_vaddr + ph[i].p_memsz) & ~(page - 1);

		if (ph[i].p_type != PT_GNU_RELRO)
			continue;
		*start = (void *)from;
		return to > from ? to - from : 0;
	}
	return 0;
}

void own_libc_bind(void)
{
	struct loaded ours = { 0 };
	struct loaded libc = { 0 };
	mprotect_fn *protect = NULL;
	void *start = NULL;
	bool is_interposed = false;
	size_t bytes;

	if (!gnu_get_libc_version)
		return;
	loaded_read(&ours, _DYNAMIC, (uintptr_t)__ehdr_start);
	if (!dl_iterate_phdr(find_libc, &libc) || !libc.hash || !libc.versions || !libc.defined ||
	    !ours.versions || !ours.needed)
		return;
	/*
	 * If no library interposes a function that the probe calls, no memory has to become
	 * writable.
	 */
	visit_all(&ours, &libc, NULL, note_difference, &is_interposed);
	if (!is_interposed)
		return;
	bytes = sealed_part(&ours, &start);
	visit_all(&ours, &libc, "mprotect", note_function, &protect);
	if (!protect || (bytes && protect(start, bytes, PROT_READ | PROT_WRITE) < 0))
		return;
	visit_all(&ours, &libc, NULL, bind, NULL);
	if (bytes)
		protect(start, bytes, PROT_READ);
}
