/* Patches that the recorder puts into an attached process, and takes out (see patches.h). */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include "libmcount/patch/patches_private.h"
#include "libmcount/hot/probe.h"
#include "utils/format/probe/attach.h"

static struct {
	struct attach_change *list;
	uint64_t bytes;
} changes;

static void for_each_module(int (*fn)(struct dl_phdr_info *info, size_t size, void *module))
{
	for (struct patched_module *module = patched_modules; module; module = module->next)
		dl_iterate_phdr(fn, module);
}

/* --- calls bypass the probe --- */

static int lower_semaphores(struct dl_phdr_info *info, size_t size, void *arg)
{
	struct patched_module *module = arg;

	if (!patched_module_is_at(info, module))
		return 0;
	for (uint32_t i = 0; i < module->nr; i++) {
		struct patch *patch = &module->patches[i];

		if (patch->is_raised &&
		    patches_is_within(info, patch->semaphore, sizeof(uint16_t), PF_W))
			__atomic_fetch_sub((uint16_t *)patch->semaphore, 1, __ATOMIC_RELAXED);
		patch->is_raised = false;
	}
	return 1;
}

void patches_pass(void)
{
	for (struct patched_module *module = patched_modules; module; module = module->next)
		stub_memory_pass(module->memory);
	for_each_module(lower_semaphores);
}

/* --- the changes that the recorder has to make --- */

static void drop_changes(void)
{
	if (changes.list)
		munmap(changes.list, changes.bytes);
	changes.list = NULL;
}

static bool make_change(struct patch *patch, struct attach_change *change)
{
	_Static_assert(ATTACH_CHANGE_MAX >= PLAN_PATCH_ORIGINAL, "a patch is a change");
	if (patch_has_no_text(patch))
		return false;
	change->site = patch->site;
	change->len = patch_make_bytes(patch, change->after);
	change->clear = MAX(patch->clear, change->len);
	change->out_at = (uint64_t)&patch->is_out;
	memcpy(change->before, patch->original, change->len);
	/*
	 * A patch with PLAN_PATCH_SILENT and @clear 0 is an island: a long jump in padding, to the
	 * stub of another patch. No thread runs in the padding before the island is written.
	 */
	if (patch->flags & PLAN_PATCH_SHORT)
		change->flags |= ATTACH_CHANGE_ON_FORMER;
	else if ((patch->flags & PLAN_PATCH_SILENT) && !patch->clear)
		change->flags |= ATTACH_CHANGE_ISLAND;
	if (patch->what == PATCH_EVENT)
		change->flags |= ATTACH_CHANGE_EVENT;
	return change->len;
}

int64_t patches_changes(const struct attach_change **first)
{
	uint64_t room = 0;
	int64_t nr = 0;

	drop_changes();
	for (const struct patched_module *module = patched_modules; module; module = module->next)
		room += module->nr;
	*first = NULL;
	if (!room)
		return 0;
	changes.bytes = room * sizeof(*changes.list);
	changes.list = mmap(NULL, changes.bytes, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (changes.list == MAP_FAILED) {
		changes.list = NULL;
		return -ENOMEM;
	}
	for (struct patched_module *module = patched_modules; module; module = module->next) {
		for (uint32_t i = 0; i < module->nr; i++)
			nr += make_change(&module->patches[i], &changes.list[nr]);
	}
	*first = changes.list;
	return nr;
}

int64_t patches_codes(uint64_t *ranges, uint64_t room)
{
	uint64_t nr = 0;

	for (const struct patched_module *module = patched_modules; module; module = module->next) {
		if (!module->memory)
			continue;
		if (nr < room) {
			ranges[2 * nr] = (uint64_t)module->memory;
			ranges[2 * nr + 1] = (uint64_t)module->memory + module->memory->bytes;
		}
		nr++;
	}
	return nr;
}

void patches_forget(void)
{
	drop_changes();
	patches_drop();
}

/* --- the results of the changes --- */

static int look_at_changed(struct dl_phdr_info *info, size_t size, void *arg)
{
	struct patched_module *module = arg;
	uint32_t failed = 0;
	bool is_in = false;

	if (!module->is_waiting || !patched_module_is_at(info, module))
		return 0;
	module->is_waiting = false;
	for (uint32_t i = 0; i < module->nr; i++) {
		struct patch *patch = &module->patches[i];

		if (!patch_has_no_text(patch))
			is_in = patch_is_there(info, patch);
		if (is_in)
			patch_raise_semaphore(info, patch);
		else if (!(patch->flags & PLAN_PATCH_SILENT))
			failed++;
	}
	atomic_fetch_add(&probe.arena->points_failed, failed);
	return 1;
}

uint64_t patches_changed(void)
{
	uint32_t before = atomic_load(&probe.arena->points_failed);

	for_each_module(look_at_changed);
	return atomic_load(&probe.arena->points_failed) - before;
}
