/* Library calls that lead to patched functions (see calls_patched.h). */
#include <sys/mman.h>

#include "libmcount/patch/calls_patched.h"
#include "libmcount/patch/patches_private.h"
#include "libmcount/hot/probe.h"
#include "utils/base/compiler.h"

/*
 * The address of a function in records may be a few bytes after the function's first byte. A
 * landing pad and a call of the hook may come first. These are the possible distances in bytes.
 */
static const uint8_t begins[] = { 0, 4, 5, 9 };

/*
 * The targets of library calls (hooked_function()), and the patch of each target. This is a hash
 * table with open addressing. The table is at most half full.
 */
struct functions {
	struct entry {
		uint64_t function; /* 0: the place is free */
		const struct patch *patch;
	} * entries;
	uint64_t nr; /* a power of two */
};

static struct entry *entry_of(const struct functions *f, uint64_t function)
{
	uint64_t at = function * 0x9e3779b97f4a7c15ULL >> 20;

	for (;; at++) {
		struct entry *entry = &f->entries[at & (f->nr - 1)];

		if (entry->function == function || !entry->function)
			return entry;
	}
}

/*
 * Returns the function whose patch may record the call. If site->function belongs to the probe,
 * returns the function that the call would reach without the probe, if known.
 */
static uint64_t hooked_function(const struct call_site *site)
{
	return site->behind ? site->behind : site->function;
}

static bool functions_init(struct functions *f, const struct call_site *sites, uint32_t nr)
{
	*f = (struct functions){ .nr = 2 };
	while (f->nr < 2 * (uint64_t)nr)
		f->nr *= 2;
	f->entries = mmap(NULL, f->nr * sizeof(*f->entries), PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (f->entries == MAP_FAILED)
		return false;
	for (uint32_t i = 0; i < nr; i++) {
		uint64_t function = hooked_function(&sites[i]);

		if (function)
			entry_of(f, function)->function = function;
	}
	return true;
}

/*
 * True when two conditions hold: @patch records calls of its function, and the bytes at the patch's
 * site show whether the patch is in place.
 */
static bool is_entrance(const struct patch *patch)
{
	switch (patch->what) {
	case PATCH_ENTRY:
		return !(patch->flags & (PLAN_PATCH_BY_CALLER | PLAN_PATCH_SILENT)) &&
		       (!(patch->flags & PLAN_PATCH_INNER) || (patch->flags & PLAN_PATCH_SHORT));
	case PATCH_CALL:
	case PATCH_XRAY_ENTRY:
		return true;
	}
	return false;
}

static void note_patch(const struct functions *f, const struct patch *patch)
{
	for (size_t i = 0; i < ARRAY_SIZE(begins); i++) {
		struct entry *entry = entry_of(f, patch_function(patch) - begins[i]);

		if (entry->function) {
			entry->patch = patch;
			return;
		}
	}
}

static void note_entrance(struct call_site *site, const struct patch *patch)
{
	site->hook = (const uint8_t *)patch->site;
	site->unpatched = patch->original[0];
	site->flags |= CALL_OF_PATCHED;
}

/* False when the site's flags require a record of the library call. */
static bool may_be_left_alone(const struct call_site *site)
{
	return !(site->flags & ~(uint64_t)PLAN_CALL_NO_RETURN_HOOK);
}

void calls_find_patched(struct call_site *sites, uint32_t nr)
{
	struct functions f;

	if (!nr || !patched_modules || !functions_init(&f, sites, nr))
		return;
	for (const struct patched_module *module = patched_modules; module; module = module->next) {
		for (uint32_t i = 0; i < module->nr; i++) {
			if (is_entrance(&module->patches[i]))
				note_patch(&f, &module->patches[i]);
		}
	}
	for (uint32_t i = 0; i < nr; i++) {
		struct call_site *site = &sites[i];
		uint64_t function = hooked_function(site);
		const struct patch *patch = function ? entry_of(&f, function)->patch : NULL;

		if (!may_be_left_alone(site))
			continue;
		if (patch)
			note_entrance(site, patch);
		else if (!site->function)
			site->flags |= CALL_OF_UNKNOWN;
	}
	munmap(f.entries, f.nr * sizeof(*f.entries));
}

static const struct patch *find_entrance(uint64_t function)
{
	for (const struct patched_module *module = patched_modules; module; module = module->next) {
		for (uint32_t i = 0; i < module->nr; i++) {
			if (patch_function(&module->patches[i]) - function <=
				    begins[ARRAY_SIZE(begins) - 1] &&
			    is_entrance(&module->patches[i]))
				return &module->patches[i];
		}
	}
	return NULL;
}

/*
 * Finds the patch of the function to which the site @arg is bound now. Clears CALL_OF_UNKNOWN, so
 * that later calls do not search again.
 */
static void learn_site(void *arg)
{
	struct call_site *site = arg;
	const struct patch *patch;

	site->function = __atomic_load_n(&site->target, __ATOMIC_RELAXED);
	patch = find_entrance(site->function);
	if (patch)
		note_entrance(site, patch);
	site->flags &= ~(uint64_t)CALL_OF_UNKNOWN;
}

bool calls_is_left_alone(struct call_site *site, uint64_t target)
{
	if ((site->flags & CALL_OF_UNKNOWN) && target != site->unbound)
		slow_call(learn_site, site);
	/*
	 * A site that is not bound leads to the dynamic linker, which will most likely find
	 * site->function.
	 */
	return (site->flags & CALL_OF_PATCHED) &&
	       (target == site->function || target == site->unbound) &&
	       *site->hook != site->unpatched;
}
