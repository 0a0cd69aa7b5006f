/* Decides which calls get another return address (see callers.h). */
#include "libmcount/hot/callers.h"

#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <string.h>

#include "libmcount/hot/probe.h"

#define KEPT_MAX 128

struct callers callers;

/*
 * @kept: pieces of code. A return address in one of these pieces is not replaced. If there are more
 *        than KEPT_MAX pieces, a return address is replaced only if it lies in the range that
 *        begins at callers.low
 * @strangers: pages. Before the next callers_forget(), no return address in one of these pages is
 *             replaced. The index is the page's number modulo CALLERS_PAGES
 */
static struct {
	bool is_any;
	_Atomic uint32_t nr_kept;
	struct plan_callers kept[KEPT_MAX];
	uint64_t strangers[CALLERS_PAGES];
} found;

static bool is_kept(uint64_t low, uint64_t high)
{
	uint32_t nr = atomic_load_explicit(&found.nr_kept, memory_order_acquire);

	if (nr > KEPT_MAX)
		return true;
	for (uint32_t i = 0; i < nr; i++) {
		if (low < found.kept[i].end && high > found.kept[i].start)
			return true;
	}
	return false;
}

struct look_up {
	uint64_t low;
	uint64_t high;
	bool is_text;
};

/*
 * True when all of [low, high) is text that was loaded from a module's file. Text in a writable
 * segment does not count.
 *
 * @ph: the segments of the module
 */
static bool is_text(const struct look_up *l, uint64_t bias, const ElfW(Phdr) * ph, unsigned nr)
{
	const uint64_t mask = (1UL << CALLERS_PAGE_SHIFT) - 1;

	for (unsigned i = 0; i < nr; i++) {
		uint64_t start = (bias + ph[i].p_vaddr) & ~mask;
		uint64_t end = (bias + ph[i].p_vaddr + ph[i].p_filesz + mask) & ~mask;

		if (ph[i].p_type == PT_LOAD && (ph[i].p_flags & PF_X) && !(ph[i].p_flags & PF_W) &&
		    l->low >= start && l->high <= end)
			return true;
	}
	return false;
}

static int look_at_module(struct dl_phdr_info *info, size_t size, void *arg)
{
	struct look_up *l = arg;

	l->is_text = is_text(l, info->dlpi_addr, info->dlpi_phdr, info->dlpi_phnum);
	return l->is_text;
}

/*
 * _dl_find_object() takes no lock, and exists since glibc 2.35. An older glibc has only
 * dl_iterate_phdr(3).
 */
#ifdef DLFO_STRUCT_HAS_EH_DBASE
extern int _dl_find_object(void *pc, struct dl_find_object *out) __attribute__((weak));

static bool look_at_object(struct look_up *l)
{
	struct dl_find_object object;

	if (!_dl_find_object)
		return false;
	if (_dl_find_object((void *)l->low, &object) != 0)
		return true;

	const ElfW(Ehdr) *head = object.dlfo_map_start;

	if (memcmp(head->e_ident, ELFMAG, SELFMAG) != 0)
		return false;
	l->is_text = is_text(l, object.dlfo_link_map->l_addr,
			     (const void *)((const char *)head + head->e_phoff), head->e_phnum);
	return true;
}
#else
static bool look_at_object(struct look_up *l)
{
	return false;
}
#endif

static void look_up(void *arg)
{
	struct look_up *l = arg;

	if (!look_at_object(l))
		dl_iterate_phdr(look_at_module, l);
}

bool callers_look_up(uint64_t ret)
{
	uint64_t page = ret >> CALLERS_PAGE_SHIFT;
	uint64_t *stranger = &found.strangers[page % CALLERS_PAGES];
	struct look_up l = { page << CALLERS_PAGE_SHIFT, (page + 1) << CALLERS_PAGE_SHIFT, false };

	if (__atomic_load_n(stranger, __ATOMIC_RELAXED) == page)
		return false;
	if (!found.is_any)
		slow_call(look_up, &l);
	if ((l.is_text || found.is_any) && !is_kept(l.low, l.high)) {
		__atomic_store_n(&callers.pages[page % CALLERS_PAGES], page, __ATOMIC_RELAXED);
		return true;
	}
	__atomic_store_n(stranger, page, __ATOMIC_RELAXED);
	return false;
}

void callers_forget(void)
{
	for (unsigned i = 0; i < CALLERS_PAGES; i++) {
		__atomic_store_n(&callers.pages[i], 0, __ATOMIC_RELAXED);
		__atomic_store_n(&found.strangers[i], 0, __ATOMIC_RELAXED);
	}
}

/*
 * Removes the code of @kept from the range of addresses that begins at callers.low. The larger of
 * the two remaining pieces becomes the range.
 */
static void cut(const struct plan_callers *kept)
{
	uint64_t low = callers.low;
	uint64_t high = low + callers.bytes;

	if (kept->start >= high || kept->end <= low)
		return;

	uint64_t before = kept->start > low ? kept->start - low : 0;
	uint64_t behind = kept->end < high ? high - kept->end : 0;

	/*
	 * The range stays empty while its start changes, so that no thread finds an address of
	 * @kept in the range.
	 */
	__atomic_store_n(&callers.bytes, 0, __ATOMIC_SEQ_CST);
	__atomic_store_n(&callers.low, before >= behind ? low : kept->end, __ATOMIC_SEQ_CST);
	__atomic_store_n(&callers.bytes, MAX(before, behind), __ATOMIC_SEQ_CST);
}

void callers_keep(const struct plan_callers *list, uint32_t nr)
{
	if (!nr)
		return;
	for (uint32_t i = 0; i < nr; i++) {
		uint32_t at = atomic_load(&found.nr_kept);

		cut(&list[i]);
		if (at < KEPT_MAX)
			found.kept[at] = list[i];
		atomic_store(&found.nr_kept, at + (at <= KEPT_MAX));
	}
	callers_forget();
}

static int find_program(struct dl_phdr_info *info, size_t size, void *arg)
{
	for (unsigned i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *ph = &info->dlpi_phdr[i];

		if (ph->p_type == PT_LOAD && (ph->p_flags & PF_X) && !(ph->p_flags & PF_W) &&
		    ph->p_filesz > callers.bytes) {
			callers.low = info->dlpi_addr + ph->p_vaddr;
			callers.bytes = ph->p_filesz;
		}
	}
	return 1;
}

void callers_begin(bool is_any)
{
	found.is_any = is_any;
	atomic_store(&found.nr_kept, 0);
	callers.low = callers.bytes = 0;
	dl_iterate_phdr(find_program, NULL);
	callers_forget();
}
