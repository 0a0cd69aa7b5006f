/* Patches (see patches.h). */
#include "libmcount/patches.h"

#include <link.h>
#include <string.h>
#include <sys/mman.h>

#include "libmcount/modules.h"
#include "libmcount/probe.h"
#include "libmcount/stub_memory.h"
#include "libmcount/text.h"

/*
 * What is kept of a struct plan_patch once its stub is written.
 *
 * @leads_to: the stub, or the gate to the hook; not for PATCH_NOP
 */
struct patch {
	uint64_t site;
	uint64_t semaphore;
	uint64_t leads_to;
	uint8_t what;
	uint8_t flags;
	uint8_t bytes;
	uint8_t original[PLAN_PATCH_ORIGINAL];
};

/* Those that one plan has for one module; there may be more for it. Nothing is taken out of the list. Under modules.c's lock. */
struct patched_module {
	struct patched_module *next;
	uint64_t load_bias;
	uint64_t path_hash; /* to know it again */
	uint32_t nr;
	struct patch patches[];
};

static struct patched_module *patched_modules;

static bool is_within(const struct dl_phdr_info *info, uint64_t addr, uint64_t len, uint32_t flag)
{
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *ph = &info->dlpi_phdr[i];
		uint64_t start = info->dlpi_addr + ph->p_vaddr;

		if (ph->p_type == PT_LOAD && (ph->p_flags & flag) && addr >= start &&
		    addr - start + len <= ph->p_memsz)
			return true;
	}
	return false;
}

/* --- stubs --- */

static bool has_stub(const struct plan_patch *plan)
{
	return plan->what == PATCH_EVENT || plan->what == PATCH_ENTRY;
}

/* Of the stub in front of the moved code. */
static uint32_t head_bytes(const struct plan_patch *plan)
{
	if (plan->flags & PLAN_PATCH_SILENT)
		return 0;
	return plan->what == PATCH_EVENT ? ARCH_POINT_STUB_BYTES : ARCH_ENTRY_STUB_BYTES;
}

static uint64_t stub_bytes(const struct plan_patch *plan)
{
	return has_stub(plan) ? head_bytes(plan) + plan->len : 0;
}

static bool write_stub(const struct plan_patch *plan, uint8_t *at, const struct stub_memory *memory)
{
	uint8_t *code = at + head_bytes(plan);

	if (head_bytes(plan) && plan->what == PATCH_EVENT)
		arch_write_point_stub(at, plan->event, plan->site, &memory->cells[ARCH_HOOK_POINT]);
	else if (head_bytes(plan))
		arch_write_entry_stub(at, plan->addr, plan->site, plan->slot,
				      &memory->cells[ARCH_HOOK_ENTRY]);
	memcpy(code, plan->code, plan->len);
	for (uint32_t i = 0; i < plan->nr_fixes; i++) {
		if (!arch_move_distance(code + plan->fixes[i], plan->site - (uint64_t)code))
			return false;
	}
	return true;
}

/* Where the patch leads to; @at: its stub, if it has one. */
static uint64_t target_of(const struct plan_patch *plan, const uint8_t *at,
			  const struct stub_memory *memory)
{
	static const uint8_t hooks[PATCH_KINDS] = {
		[PATCH_CALL] = ARCH_HOOK_CALL,
		[PATCH_XRAY_ENTRY] = ARCH_HOOK_XRAY_ENTRY,
		[PATCH_XRAY_EXIT] = ARCH_HOOK_XRAY_EXIT,
		[PATCH_XRAY_TAIL] = ARCH_HOOK_XRAY_TAIL,
	};

	if (!has_stub(plan))
		return (uint64_t)memory->gates[hooks[plan->what]];
	/* In front of a silent one's code is nothing; one without code leads to the stub behind it, which is of the same kind. */
	return (uint64_t)at + (plan->what == PATCH_ENTRY && (head_bytes(plan) || !plan->len)
				       ? ARCH_ENTRY_STUB_START
				       : 0);
}

/* All stubs of the module, or none that is of use. */
static bool write_stubs(const struct dl_phdr_info *info, const struct plan_patch *plans,
			struct patched_module *module)
{
	uint64_t bytes = 0;
	struct stub_memory *memory;
	uint8_t *at;

	for (uint32_t i = 0; i < module->nr; i++)
		bytes += stub_bytes(&plans[i]);
	memory = stub_memory_make(info, bytes);
	if (!memory)
		return false;
	at = memory->stubs;
	for (uint32_t i = 0; i < module->nr; i++) {
		if (has_stub(&plans[i]) && !write_stub(&plans[i], at, memory))
			goto failed;
		module->patches[i].leads_to = target_of(&plans[i], at, memory);
		at += stub_bytes(&plans[i]);
	}
	/* Never writable and executable at a time. */
	if (stub_memory_close(memory, bytes))
		return true;
failed:
	stub_memory_drop(memory, bytes);
	return false;
}

/* --- the text --- */

static bool is_original(const struct dl_phdr_info *info, const struct patch *patch)
{
	return is_within(info, patch->site, patch->bytes, PF_X) &&
	       memcmp((const void *)patch->site, patch->original, patch->bytes) == 0;
}

/* What is to stand at the site, at most PLAN_PATCH_ORIGINAL bytes; how many, 0: that cannot be. */
static uint32_t make_bytes(const struct patch *patch, uint8_t *to)
{
	/* A short one leads to the long jump of the patch before it. */
	if (patch->flags & PLAN_PATCH_SHORT)
		return arch_write_short_jump(to, patch->site, patch[-1].site)
			       ? ARCH_SHORT_JUMP_BYTES
			       : 0;
	switch (patch->what) {
	case PATCH_NOP:
		arch_write_nops(to, patch->bytes);
		return patch->bytes;
	case PATCH_CALL:
	case PATCH_XRAY_ENTRY:
	case PATCH_XRAY_TAIL:
		arch_write_call(to, patch->site, patch->leads_to);
		arch_write_nops(to + ARCH_JUMP_BYTES, patch->bytes - ARCH_JUMP_BYTES);
		return patch->bytes;
	}
	if (patch->flags & PLAN_PATCH_BY_CALLER)
		arch_write_call(to, patch->site, patch->leads_to);
	else
		arch_write_jump(to, patch->site, patch->leads_to);
	return ARCH_JUMP_BYTES;
}

static bool put_patch(const struct dl_phdr_info *info, int fd, const struct patch *patch)
{
	uint8_t bytes[PLAN_PATCH_ORIGINAL];
	uint32_t len;

	_Static_assert(PLAN_PATCH_JUMP == ARCH_JUMP_BYTES, "that is the least that is replaced");
	if (!is_original(info, patch))
		return false;
	len = make_bytes(patch, bytes);
	return len && text_write(fd, patch->site, bytes, len);
}

/* A program may pass by without a look as long as nobody is there. */
static void raise_semaphore(const struct dl_phdr_info *info, const struct patch *patch)
{
	if (patch->semaphore && is_within(info, patch->semaphore, sizeof(uint16_t), PF_W))
		__atomic_fetch_add((uint16_t *)patch->semaphore, 1, __ATOMIC_RELAXED);
}

/* How many could not be. */
static uint32_t put_in(const struct dl_phdr_info *info, const struct patched_module *module)
{
	int fd = text_open();
	uint32_t failed = 0;
	bool is_in = false; /* what leads to the next one, if that is an inner one */

	for (uint32_t i = 0; i < module->nr; i++) {
		const struct patch *patch = &module->patches[i];

		if (!(patch->flags & PLAN_PATCH_INNER))
			is_in = put_patch(info, fd, patch);
		else if (patch->flags & PLAN_PATCH_SHORT)
			is_in = is_in && put_patch(info, fd, patch);
		if (is_in)
			raise_semaphore(info, patch);
		else if (!(patch->flags & PLAN_PATCH_SILENT))
			failed++;
	}
	text_close(fd);
	return failed;
}

/* --- modules --- */

/* The patches of one module, on their way into it. */
struct adoption {
	struct patched_module *module;
	const struct plan_patch *plans;
	uint32_t failed;
};

static int adopt_module(struct dl_phdr_info *info, size_t size, void *arg)
{
	struct adoption *a = arg;
	struct patched_module *module = a->module;

	if (info->dlpi_addr != module->load_bias ||
	    !is_within(info, module->patches[0].site, ARCH_JUMP_BYTES, PF_X))
		return 0;
	module->path_hash = module_path_hash(info->dlpi_name);
	if (write_stubs(info, a->plans, module)) {
		a->failed = put_in(info, module);
		module->next = patched_modules;
		patched_modules = module;
	}
	return 1;
}

static uint64_t module_bytes(uint32_t nr)
{
	return sizeof(struct patched_module) + (uint64_t)nr * sizeof(struct patch);
}

static struct patched_module *make_module(const struct plan_patch *plans, uint32_t nr)
{
	struct patched_module *module = mmap(NULL, module_bytes(nr), PROT_READ | PROT_WRITE,
					     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (module == MAP_FAILED)
		return NULL;
	module->load_bias = plans[0].load_bias;
	module->nr = nr;
	for (uint32_t i = 0; i < nr; i++) {
		struct patch *patch = &module->patches[i];

		patch->site = plans[i].site;
		patch->semaphore = plans[i].semaphore;
		patch->what = plans[i].what;
		patch->flags = plans[i].flags;
		patch->bytes = plans[i].bytes;
		memcpy(patch->original, plans[i].original, sizeof(patch->original));
	}
	return module;
}

void patches_adopt(const struct plan_patch *patches, uint32_t nr)
{
	uint32_t of_module;

	for (uint32_t start = 0; start < nr; start += of_module) {
		struct adoption a = { .plans = &patches[start] };

		for (of_module = 1;
		     start + of_module < nr &&
		     patches[start + of_module].load_bias == patches[start].load_bias;)
			of_module++;
		a.failed = of_module;
		a.module = make_module(a.plans, of_module);
		if (a.module)
			dl_iterate_phdr(adopt_module, &a);
		/* It is in no list: nothing of it came in. */
		if (a.module && a.module != patched_modules)
			munmap(a.module, module_bytes(of_module));
		atomic_fetch_add(&probe.arena->points_failed, a.failed);
	}
}

/* Does its first patch hold what its file has, though it had been put in? */
static int look_at_module(struct dl_phdr_info *info, size_t size, void *arg)
{
	uint64_t path_hash = module_path_hash(info->dlpi_name);

	for (const struct patched_module *module = patched_modules; module; module = module->next) {
		if (module->load_bias == info->dlpi_addr && module->path_hash == path_hash &&
		    is_original(info, &module->patches[0]))
			put_in(info, module);
	}
	return 0;
}

void patches_look_again(void)
{
	if (patched_modules)
		dl_iterate_phdr(look_at_module, NULL);
}
