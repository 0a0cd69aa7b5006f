/*
 * dl_iterate_phdr(3), interposed. When AddressSanitizer's library (libasan) asks for the list of
 * modules, the probe is the last module in the list.
 */
#include <link.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "libmcount/program/interpose.h"
#include "libmcount/hot/probe.h"

/*
 * libasan replaces functions of other libraries. If a library that may define one of these
 * functions stands before libasan in the list of modules, libasan ends the program. The probe is
 * such a library, and the dynamic linker may have loaded the probe before libasan. This order does
 * no harm, because the probe's functions call the functions of libasan. So when libasan asks for
 * the list, dl_iterate_phdr() shows the probe as the last module.
 */
typedef int visit_fn(struct dl_phdr_info *info, size_t size, void *arg);
typedef int iterate_fn(visit_fn *visit, void *arg);

EXPORTED int dl_iterate_phdr(visit_fn *visit, void *arg);

struct owner {
	uint64_t address;
	bool is_asan;
};

static bool has_address(const struct dl_phdr_info *info, uint64_t address)
{
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *ph = &info->dlpi_phdr[i];

		if (ph->p_type == PT_LOAD && address - info->dlpi_addr - ph->p_vaddr < ph->p_memsz)
			return true;
	}
	return false;
}

static int find_owner(struct dl_phdr_info *info, size_t size, void *arg)
{
	struct owner *owner = arg;

	if (!has_address(info, owner->address))
		return 0;
	owner->is_asan = info->dlpi_name && (strstr(info->dlpi_name, "libasan") ||
					     strstr(info->dlpi_name, "libclang_rt.asan"));
	return 1;
}

/* A call of dl_iterate_phdr() by libasan. The probe's module (@ours) is shown last. */
struct walk {
	visit_fn *visit;
	void *arg;
	struct dl_phdr_info ours;
	size_t ours_size;
};

static int visit_others(struct dl_phdr_info *info, size_t size, void *arg)
{
	struct walk *w = arg;

	if (!has_address(info, (uint64_t)visit_others))
		return w->visit(info, size, w->arg);
	w->ours_size = MIN(size, sizeof(w->ours));
	memcpy(&w->ours, info, w->ours_size);
	return 0;
}

static int iterate_ours_last(iterate_fn *next, visit_fn *visit, void *arg)
{
	struct walk w = { .visit = visit, .arg = arg };
	int ret = next(visit_others, &w);

	if (ret == 0 && w.ours_size)
		ret = visit(&w.ours, w.ours_size, arg);
	return ret;
}

int dl_iterate_phdr(visit_fn *visit, void *arg)
{
	static void *cache;
	/*
	 * The return address of the latest call of dl_iterate_phdr() that did not come from
	 * libasan. If a later call has the same return address, dl_iterate_phdr() does not look for
	 * the caller's module again. Unwinders call dl_iterate_phdr() many times from one address.
	 */
	static _Atomic uint64_t other;
	iterate_fn *next = interposed(&cache, "dl_iterate_phdr");
	struct owner owner = { .address = (uint64_t)__builtin_return_address(0) };

	if (!next)
		return 0;
	if (atomic_load_explicit(&other, memory_order_relaxed) == owner.address)
		return next(visit, arg);
	next(find_owner, &owner);
	if (owner.is_asan)
		return iterate_ours_last(next, visit, arg);
	atomic_store_explicit(&other, owner.address, memory_order_relaxed);
	return next(visit, arg);
}
