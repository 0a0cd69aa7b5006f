/*
 * Library calls: the program's GOT slots lead to stubs of the probe, and still lead there after the
 * dynamic linker has bound the slots.
 */
#include <dlfcn.h>
#include <link.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "libmcount/patch/calls_patched.h"
#include "libmcount/program/definition.h"
#include "libmcount/program/interpose.h"
#include "libmcount/system/undo.h"
#include "libmcount/hot/probe.h"

/*
 * Each hooked GOT slot has a struct call_site and a stub. If the slot is bound, it holds the
 * address of a function. The probe stores this address in call_site.target, and stores the address
 * of the stub in the slot.
 *
 * A slot that is not bound yet leads to the dynamic linker. At the first call the linker would
 * overwrite the address of the stub. The linker finds the slot by a relocation in the table at
 * DT_JMPREL. So the probe gives the module a copy of that table. In the copy, the relocation of a
 * hooked slot points to call_site.target, and the linker stores the function's address there.
 * Binding works or fails as it would without the probe.
 */

/*
 * The least and the greatest number of sites for which address space is reserved. Sites keep their
 * addresses, so the probe reserves space once. The space includes room for the sites of modules
 * that are loaded later.
 */
#define CALLS_ROOM 65536
#define CALLS_MAX  (1U << 20)

/* The stubs of one batch of sites, preceded by the cell through which these stubs jump. */
struct stub_page {
	uint64_t cell;
	uint64_t pad;
	uint8_t stubs[];
};

static uint32_t nr_calls;
static uint32_t room_calls;

/* All sites are in one array, so that a stub needs only an index. Unused space takes no memory. */
static bool reserve_sites(uint32_t nr)
{
	if (!probe.calls && nr <= CALLS_MAX) {
		uint32_t room = MIN(MAX(4 * nr, (uint32_t)CALLS_ROOM), CALLS_MAX);

		probe.calls = undo_new_memory(room * sizeof(struct call_site));
		if (!probe.calls)
			return false;
		room_calls = room;
	}
	return nr <= room_calls - nr_calls;
}

static struct stub_page *write_stubs(uint32_t first, uint32_t nr)
{
	size_t bytes = sizeof(struct stub_page) + (size_t)nr * ARCH_CALL_STUB_BYTES;
	struct stub_page *page = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
				      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (page == MAP_FAILED)
		return NULL;
	page->cell = (uint64_t)arch_libcall;
	for (uint32_t i = 0; i < nr; i++)
		arch_write_call_stub(page->stubs + i * ARCH_CALL_STUB_BYTES, first + i,
				     &page->cell);
	/*
	 * The page is never writable and executable at the same time. If the system does not let it
	 * become executable, no library calls are recorded.
	 */
	if (mprotect(page, bytes, PROT_READ | PROT_EXEC) < 0) {
		munmap(page, bytes);
		return NULL;
	}
	undo_note_code(page, bytes);
	return page;
}

/* Facts from a module's program headers. */
struct module {
	uint64_t bias;
	ElfW(Dyn) * dynamic;
	uint64_t relro_start; /* start of the module's pages that are read-only after relocation */
	uint64_t relro_end;
	uint64_t text_start; /* the start of the first executable segment */
	uint64_t text_end;   /* the end of the last executable segment */
	bool found;
};

static int find_module(struct dl_phdr_info *info, size_t size, void *arg)
{
	struct module *m = arg;
	uint64_t page = sysconf(_SC_PAGESIZE);

	if (info->dlpi_addr != m->bias)
		return 0;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *ph = &info->dlpi_phdr[i];
		uint64_t start = info->dlpi_addr + ph->p_vaddr;

		if (ph->p_type == PT_DYNAMIC)
			m->dynamic = (ElfW(Dyn) *)start;
		if (ph->p_type == PT_LOAD && (ph->p_flags & PF_X)) {
			m->text_start = m->text_end ? m->text_start : start;
			m->text_end = start + ph->p_memsz;
		}
		if (ph->p_type == PT_GNU_RELRO) {
			m->relro_start = start & ~(page - 1);
			m->relro_end = (start + ph->p_memsz) & ~(page - 1);
		}
	}
	m->found = m->dynamic != NULL;
	return m->found;
}

/*
 * Changes the protection of the module's pages that the dynamic linker makes read-only after
 * relocation. These pages are writable only while hook_module() writes to the module.
 */
static bool protect_relro(const struct module *m, int protection)
{
	return m->relro_end <= m->relro_start ||
	       mprotect((void *)m->relro_start, m->relro_end - m->relro_start, protection) == 0;
}

static ElfW(Dyn) * find_dynamic(const struct module *m, int64_t tag)
{
	for (ElfW(Dyn) *d = m->dynamic; d->d_tag != DT_NULL; d++) {
		if (d->d_tag == tag)
			return d;
	}
	return NULL;
}

/*
 * Returns the address of a table of the module, or NULL when the module has no such table. In the
 * module's file, the dynamic entry for the table contains an offset. In memory, the dynamic linker
 * may have replaced that offset by the table's address (as on x86).
 */
static const void *table_at(const struct module *m, int64_t tag)
{
	ElfW(Dyn) *entry = find_dynamic(m, tag);

	if (!entry)
		return NULL;
	return (const void *)(entry->d_un.d_ptr + (entry->d_un.d_ptr < m->bias ? m->bias : 0));
}

/*
 * Makes a copy of the module's table of lazy relocations, for publish_relocations(). Returns NULL
 * when there is no table, or no memory.
 */
static ElfW(Rela) * copy_relocations(const struct module *m, ElfW(Dyn) * *jmprel, uint64_t *nr)
{
	ElfW(Dyn) *size = find_dynamic(m, DT_PLTRELSZ);
	ElfW(Dyn) *kind = find_dynamic(m, DT_PLTREL);

	*jmprel = find_dynamic(m, DT_JMPREL);
	if (!*jmprel || !size || !size->d_un.d_val || !kind || kind->d_un.d_val != DT_RELA)
		return NULL;

	ElfW(Rela) *copy = undo_new_memory(size->d_un.d_val);

	if (!copy)
		return NULL;
	memcpy(copy, table_at(m, DT_JMPREL), size->d_un.d_val);
	*nr = size->d_un.d_val / sizeof(*copy);
	return copy;
}

static bool is_protected(const struct module *m, uint64_t address)
{
	return address >= m->relro_start && address < m->relro_end;
}

static void publish_relocations(const struct module *m, ElfW(Dyn) * jmprel, ElfW(Rela) * copy)
{
	bool is_address = jmprel->d_un.d_ptr >= m->bias;
	uint64_t ours = (uint64_t)copy - (is_address ? 0 : m->bias);

	undo_note_slot(&jmprel->d_un.d_ptr, jmprel->d_un.d_ptr, NULL, ours,
		       is_protected(m, (uint64_t)&jmprel->d_un.d_ptr));
	__atomic_store_n(&jmprel->d_un.d_ptr, ours, __ATOMIC_RELEASE);
}

/*
 * The functions of the probe to which the probe can redirect calls of the program, as HOOK(ID,
 * NAME). In enum plan_hook, the value PLAN_HOOK_<ID> stands for the probe's function NAME().
 */
#define HOOKS(HOOK)                               \
	HOOK(MCOUNT, mcount)                      \
	HOOK(FENTRY, __fentry__)                  \
	HOOK(CYG_ENTER, __cyg_profile_func_enter) \
	HOOK(CYG_EXIT, __cyg_profile_func_exit)   \
	HOOK(DLOPEN, dlopen)                      \
	HOOK(LONGJMP, longjmp)                    \
	HOOK(LONGJMP_BSD, _longjmp)               \
	HOOK(SIGLONGJMP, siglongjmp)              \
	HOOK(LONGJMP_CHK, __longjmp_chk)          \
	HOOK(PRCTL, prctl)                        \
	HOOK(DLCLOSE, dlclose)

/* See OWN_NAME() in interpose.h. */
#define OWN(id, name)	 extern const char own_##name[] __attribute__((visibility("hidden")));
#define OWN_OF(id, name) [PLAN_HOOK_##id] = own_##name,

HOOKS(OWN)
OWN(, vfork)

/* Returns the address of @hook, an untrusted enum plan_hook, or 0 when there is no such hook. */
static uint64_t hook_address(uint32_t hook)
{
	const char *const hooks[PLAN_HOOKS] = { HOOKS(OWN_OF) };

	return hook < PLAN_HOOKS ? (uint64_t)hooks[hook] : 0;
}

/*
 * Stores the address of the site's hook in the site's slot. From then on the program may call the
 * hook.
 */
static void lead_to_hook(const struct module *m, const struct plan_call_site *site)
{
	uint64_t *slot = (uint64_t *)site->slot;
	uint64_t ours = hook_address(site->flags >> PLAN_CALL_HOOK_SHIFT);

	if (!ours)
		return;
	undo_note_slot(slot, *slot, NULL, ours, is_protected(m, site->slot));
	__atomic_store_n(slot, ours, __ATOMIC_RELEASE);
}

/*
 * Finds the function to which the dynamic linker will most likely bind a call of @name.
 *
 * Calls dlsym(3) only before probe.ready is set. Later, dlsym(3) would wait for the linker's lock.
 * The thread that holds the linker's lock may wait for module_lock, which the calling thread holds.
 */
static uint64_t find_called(const char *name)
{
	if (probe.is_attached)
		return definition_find(name);
	return probe.ready ? definition_find_or_own(name) : (uint64_t)dlsym(RTLD_DEFAULT, name);
}

/*
 * True when the program's calls of vfork(2) reach the probe's function own_vfork(). During such a
 * call, own_vfork() keeps the return address in a register, and not on the stack.
 */
static bool has_own_vfork(void)
{
	return probe.is_attached || find_called("vfork") == (uint64_t)own_vfork;
}

/*
 * True when the probe must lead a call of vfork(2) to own_vfork(). If the probe was attached to a
 * running process, this is necessary: the dynamic linker binds the call to the C library's vfork().
 */
static bool is_led_to_own_vfork(const struct plan_call_site *site)
{
	return probe.is_attached && (site->flags & PLAN_CALL_VFORK);
}

/* Returns the site's flags of enum plan_call, as they apply in this process. */
static uint32_t flags_of(const struct plan_call_site *site)
{
	if ((site->flags & PLAN_CALL_VFORK) && has_own_vfork())
		return site->flags & ~(PLAN_CALL_VFORK | PLAN_CALL_NO_RETURN_HOOK);
	return site->flags & ~PLAN_CALL_VFORK;
}

static const char *name_of(const struct module *m, const ElfW(Rela) * rela)
{
	const ElfW(Sym) *symbols = table_at(m, DT_SYMTAB);
	const char *names = table_at(m, DT_STRTAB);
	uint64_t index = ELF64_R_SYM(rela->r_info);

	if (!symbols || !names || !index)
		return NULL;
	return names + symbols[index].st_name;
}

/*
 * If site->function is 0, sets site->function to the function to which the linker will most likely
 * bind the call of @name. If site->function is then a function of the probe, @site also gets the
 * function that the call would reach without the probe. If @name is NULL, does nothing.
 */
static void find_function(struct call_site *site, const char *name)
{
	if (!name)
		return;
	if (!site->function)
		site->function = find_called(name);
	if (interpose_is_own(site->function))
		site->behind = definition_find(name);
}

/*
 * True when @target, the content of a slot of @m, is outside the code of @m. Such a slot is bound,
 * because an unbound slot leads to code of @m.
 */
static bool is_elsewhere(const struct module *m, uint64_t target)
{
	return target < m->text_start || target >= m->text_end;
}

/*
 * Hooks the sites of one module. The first site gets the index @first in probe.calls.
 *
 * @finds: as for libcall_hook() (probe.h)
 */
static void hook_module(const struct plan_call_site *sites, uint32_t nr, uint32_t first,
			struct stub_page *page, bool finds)
{
	struct module m = { .bias = sites->load_bias };
	ElfW(Dyn) * jmprel;
	uint64_t nr_relocs = 0;

	dl_iterate_phdr(find_module, &m);
	if (!m.found || !protect_relro(&m, PROT_READ | PROT_WRITE))
		return;

	ElfW(Rela) *relocs = copy_relocations(&m, &jmprel, &nr_relocs);

	for (uint32_t i = 0; i < nr; i++) {
		struct call_site *site = &probe.calls[first + i];

		if (sites[i].flags & PLAN_CALL_HOOK) {
			lead_to_hook(&m, &sites[i]);
			continue;
		}

		*site = (struct call_site){
			.target = *(uint64_t *)sites[i].slot,
			.addr = sites[i].addr,
			.flags = flags_of(&sites[i]),
			.unbound = *(uint64_t *)sites[i].slot,
		};
		if (sites[i].reloc >= nr_relocs || is_elsewhere(&m, site->target))
			site->function = site->target;
		if (finds && sites[i].reloc < nr_relocs)
			find_function(site, name_of(&m, &relocs[sites[i].reloc]));
		if (is_led_to_own_vfork(&sites[i]))
			site->target = (uint64_t)own_vfork;
		if (sites[i].reloc < nr_relocs &&
		    relocs[sites[i].reloc].r_offset + m.bias == sites[i].slot)
			relocs[sites[i].reloc].r_offset = (uint64_t)&site->target - m.bias;
	}
	/* The linker must have the new relocations before calls come to the stubs. */
	if (relocs)
		publish_relocations(&m, jmprel, relocs);
	for (uint32_t i = 0; i < nr; i++) {
		uint64_t stub = (uint64_t)page->stubs + (uint64_t)i * ARCH_CALL_STUB_BYTES;
		bool is_lazy = sites[i].reloc != PLAN_NO_RELOC;

		if (sites[i].flags & PLAN_CALL_HOOK)
			continue;

		/*
		 * Skip a lazy slot if the relocation with the index sites[i].reloc is not for this
		 * slot. The linker would bind such a slot without our knowledge.
		 */
		if (is_lazy && (sites[i].reloc >= nr_relocs ||
				relocs[sites[i].reloc].r_offset + m.bias !=
					(uint64_t)&probe.calls[first + i].target))
			continue;
		undo_note_slot((uint64_t *)sites[i].slot, probe.calls[first + i].unbound,
			       is_led_to_own_vfork(&sites[i]) ? NULL
							      : &probe.calls[first + i].target,
			       stub, is_protected(&m, sites[i].slot));
		__atomic_store_n((uint64_t *)sites[i].slot, stub, __ATOMIC_RELEASE);
	}
	protect_relro(&m, PROT_READ);
}

void libcall_hook(const struct plan_call_site *sites, uint32_t nr, bool finds)
{
	if (!reserve_sites(nr))
		return;
	for (uint32_t start = 0; start < nr;) {
		uint32_t end = start + 1;

		while (end < nr && sites[end].load_bias == sites[start].load_bias)
			end++;

		struct stub_page *page = write_stubs(nr_calls, end - start);

		if (!page)
			return;
		hook_module(sites + start, end - start, nr_calls, page, finds);
		nr_calls += end - start;
		start = end;
	}
}

bool libcall_has_frames(uint64_t addr)
{
	for (uint32_t i = 0; i < nr_calls; i++) {
		const struct call_site *site = &probe.calls[i];

		if (site->target && site->addr == addr)
			return !(site->flags & (PLAN_CALL_NO_RETURN_HOOK | PLAN_CALL_LANDING));
	}
	return false;
}

void libcall_find_patched(void)
{
	calls_find_patched(probe.calls, nr_calls);
}

void libcall_before_dlclose(void)
{
	for (uint32_t i = 0; i < nr_calls; i++) {
		struct call_site *site = &probe.calls[i];

		/* If the function is unloaded, the call may be bound to another function later. */
		if (site->target == site->unbound && (site->flags & CALL_OF_PATCHED)) {
			site->flags = (site->flags & ~CALL_OF_PATCHED) | CALL_OF_UNKNOWN;
			site->function = 0;
		}
	}
}
