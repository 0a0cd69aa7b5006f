/* Patches (see patches.h). */
#include "libmcount/patch/patches.h"

#include <stddef.h>
#include <string.h>
#include <sys/mman.h>

#include "libmcount/system/module_hash.h"
#include "libmcount/patch/patches_private.h"
#include "libmcount/values/point_operands.h"
#include "libmcount/hot/probe.h"
#include "libmcount/patch/text.h"

#define TEXT_PAGE 4096

struct patched_module *patched_modules;

bool patches_is_within(const struct dl_phdr_info *info, uint64_t addr, uint64_t len, uint32_t flag)
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

bool patched_module_is_at(const struct dl_phdr_info *info, const struct patched_module *module)
{
	return info->dlpi_addr == module->load_bias &&
	       patches_is_within(info, module->patches[0].site, PLAN_PATCH_JUMP, PF_X);
}

/* --- stubs --- */

static bool has_stub(const struct plan_patch *plan)
{
	return plan->what == PATCH_EVENT || plan->what == PATCH_ENTRY;
}

/* The size of the stub's code that comes before the moved code. */
static uint32_t head_bytes(const struct plan_patch *plan)
{
	if (plan->flags & PLAN_PATCH_SILENT)
		return 0;
	if (plan->what == PATCH_ENTRY)
		return ARCH_ENTRY_STUB_BYTES;
	return plan->operands ? ARCH_POINT_ARGS_STUB_BYTES : ARCH_POINT_STUB_BYTES;
}

static uint64_t stub_bytes(const struct plan_patch *plan)
{
	return has_stub(plan) ? head_bytes(plan) + plan->len : 0;
}

/*
 * Returns the cell of @hook, from which a stub loads the address of the hook. The distance between
 * a stub and its cell is the same in the memory where the stub is written and in the memory where
 * it is executed.
 */
static const uint64_t *cell_of(const struct stub_memory *memory, enum arch_hook hook)
{
	return (const uint64_t *)&memory->cells[hook];
}

/*
 * Writes the stub to the address @at. The stub will run at the address @as. The stub loads the
 * addresses of hooks from memory->cells. @operands: the address of the event's arguments, if the
 * event has arguments
 */
static bool write_stub(const struct plan_patch *plan, uint8_t *at, uint64_t as,
		       const struct stub_memory *memory, const void *operands)
{
	uint8_t *code = at + head_bytes(plan);
	uint64_t moved = plan->site - (as + head_bytes(plan));

	if (head_bytes(plan) && plan->what == PATCH_ENTRY)
		arch_write_entry_stub(at, plan->addr, plan->site, plan->slot,
				      cell_of(memory, ARCH_HOOK_ENTRY));
	else if (head_bytes(plan) && plan->operands)
		arch_write_point_args_stub(at, plan->event, plan->site,
					   cell_of(memory, ARCH_HOOK_POINT_ARGS), operands);
	else if (head_bytes(plan))
		arch_write_point_stub(at, plan->event, plan->site,
				      cell_of(memory, ARCH_HOOK_POINT));
	memcpy(code, plan->code, plan->len);
	for (uint32_t i = 0; i < plan->nr_fixes; i++) {
		if (!arch_move_distance(code + plan->fixes[i], moved))
			return false;
	}
	return true;
}

/*
 * Returns the address to which the patch leads. @at: the address of the patch's stub, if there is a
 * stub
 */
static uint64_t target_of(const struct plan_patch *plan, uint64_t at,
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
	/*
	 * A stub of arch_write_entry_stub() is entered at the offset ARCH_ENTRY_STUB_START. The
	 * stub of a patch with PLAN_PATCH_SILENT contains only the moved code, and is entered at
	 * its first byte. If no code was moved, this stub is empty. The stub of the next patch then
	 * begins at @at, and both patches lead to it. Both patches have the same plan->what.
	 */
	return at + (plan->what == PATCH_ENTRY && (head_bytes(plan) || !plan->len)
			     ? ARCH_ENTRY_STUB_START
			     : 0);
}

/* The state of patches_adopt() for the patches of one module. @file: see patches_adopt() */
struct adoption {
	const struct plan_file *file;
	struct patched_module *module;
	const struct plan_patch *plans;
	const struct plan_operand *operands;
	enum patches_text text;
	bool is_loaded;
	uint32_t failed;
};

/*
 * Releases the memory of patches that have been read: maps the pages of these patches anew. Does
 * not call madvise(2), which a seccomp filter of the program may forbid.
 */
static void let_go(const struct plan_file *file, const struct plan_patch *from,
		   const struct plan_patch *until)
{
	uintptr_t start = ALIGN_UP((uintptr_t)from, (uintptr_t)TEXT_PAGE);
	uintptr_t end = (uintptr_t)until & ~(uintptr_t)(TEXT_PAGE - 1);

	if (file && end > start)
		mmap((void *)start, end - start, PROT_READ, MAP_PRIVATE | MAP_FIXED, file->fd,
		     start - (uintptr_t)file->image);
}

/* After each group of this many patches (about 1 MB), the memory of the group is released. */
#define LET_GO 8192

/*
 * Returns patch @i of the plan. Callers ask for patches in order, so the memory of earlier patches
 * can be released.
 */
static const struct plan_patch *plan_at(const struct adoption *a, uint32_t i)
{
	if (i && i % LET_GO == 0)
		let_go(a->file, &a->plans[i - LET_GO], &a->plans[i]);
	return &a->plans[i];
}

/* The size of all stubs together. */
static uint64_t all_stub_bytes(const struct adoption *a)
{
	uint64_t bytes = 0;

	for (uint32_t i = 0; i < a->module->nr; i++)
		bytes += stub_bytes(plan_at(a, i));
	return bytes;
}

static uint32_t count_operands(const struct adoption *a, const struct plan_patch *plan)
{
	uint32_t nr = 0;

	if (!plan->operands || !head_bytes(plan))
		return 0;
	while (!(a->operands[plan->operands - 1 + nr++].flags & PLAN_OPERAND_LAST))
		;
	return nr;
}

/*
 * The size of all operands. The operands come after all stubs, since execution may continue from
 * the end of a stub into the next stub (PLAN_PATCH_INNER).
 */
static uint64_t all_operands_bytes(const struct adoption *a)
{
	uint64_t bytes = 0;

	for (uint32_t i = 0; i < a->module->nr; i++)
		bytes += point_operands_bytes(count_operands(a, plan_at(a, i)));
	return bytes;
}

/* Writes the operands of one patch. Returns their size. */
static uint64_t write_operands(const struct adoption *a, const struct plan_patch *plan, uint8_t *to)
{
	struct point_operands *out = (struct point_operands *)to;
	uint32_t nr = count_operands(a, plan);

	if (nr) {
		out->nr = nr;
		memcpy(out->list, &a->operands[plan->operands - 1], nr * sizeof(*out->list));
	}
	return point_operands_bytes(nr);
}

/* The offset from the first stub to the operands, whose address must be a multiple of 8. */
static uint64_t operands_start(const struct adoption *a)
{
	return ALIGN_UP(offsetof(struct stub_memory, stubs) + all_stub_bytes(a), 8U) -
	       offsetof(struct stub_memory, stubs);
}

static bool write_stubs(struct stub_memory *to, const struct stub_memory *as, void *arg)
{
	const struct adoption *a = arg;
	uint64_t operands = operands_start(a);
	uint64_t at = 0;

	for (uint32_t i = 0; i < a->module->nr; i++) {
		const struct plan_patch *plan = plan_at(a, i);

		if (has_stub(plan) && !write_stub(plan, to->stubs + at, (uint64_t)as->stubs + at,
						  to, to->stubs + operands))
			return false;
		operands += write_operands(a, plan, to->stubs + operands);
		at += stub_bytes(plan);
	}
	return true;
}

/*
 * Makes all stubs of the module. If a stub cannot be made, no stub of the module is used, and the
 * result is false.
 */
static bool make_stubs(const struct dl_phdr_info *info, struct adoption *a)
{
	struct patched_module *module = a->module;
	uint64_t at;

	module->memory = stub_memory_make(info, operands_start(a) + all_operands_bytes(a),
					  write_stubs, a);
	if (!module->memory)
		return false;
	at = (uint64_t)module->memory->stubs;
	for (uint32_t i = 0; i < module->nr; i++) {
		const struct plan_patch *plan = plan_at(a, i);

		module->patches[i].leads_to = target_of(plan, at, module->memory);
		at += stub_bytes(plan);
	}
	return true;
}

/* --- the text --- */

static bool is_original(const struct dl_phdr_info *info, const struct patch *patch)
{
	return patches_is_within(info, patch->site, patch->bytes, PF_X) &&
	       memcmp((const void *)patch->site, patch->original, patch->bytes) == 0;
}

uint32_t patch_make_bytes(const struct patch *patch, uint8_t *to)
{
	/* A short jump leads to the long jump of the patch before this one. */
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

/*
 * True for a patch that lies in two pages. If a recorder is killed while it takes such a patch out,
 * the recorder may have written only one of the pages.
 */
static bool is_in_two_pages(const struct patch *patch)
{
	return patch->site % TEXT_PAGE + patch->bytes > TEXT_PAGE;
}

bool patch_is_there(const struct dl_phdr_info *info, const struct patch *patch)
{
	uint8_t bytes[PLAN_PATCH_ORIGINAL];
	uint32_t len = patch_make_bytes(patch, bytes);

	return len && patches_is_within(info, patch->site, patch->bytes, PF_X) &&
	       memcmp((const void *)patch->site, bytes, len) == 0;
}

/* @is_ahead: write_ahead() may have put the patch in already */
static bool put_patch(const struct dl_phdr_info *info, int fd, const struct patch *patch,
		      bool is_ahead)
{
	uint8_t bytes[PLAN_PATCH_ORIGINAL];
	uint32_t len;

	_Static_assert(PLAN_PATCH_JUMP == ARCH_JUMP_BYTES, "that is the least that is replaced");
	if (is_ahead && patch_is_there(info, patch))
		return true;
	if (!is_original(info, patch) || (probe.is_attached && is_in_two_pages(patch)))
		return false;
	len = patch_make_bytes(patch, bytes);
	return len && text_write(fd, patch->site, bytes, len);
}

void patch_raise_semaphore(const struct dl_phdr_info *info, struct patch *patch)
{
	if (!patch->semaphore || !patches_is_within(info, patch->semaphore, sizeof(uint16_t), PF_W))
		return;
	__atomic_fetch_add((uint16_t *)patch->semaphore, 1, __ATOMIC_RELAXED);
	patch->is_raised = true;
}

/*
 * Patches near each other are written together, because each write takes 2 us. Such a write
 * includes the bytes between the patches. One write has at most RUN_BYTES bytes. From the end of a
 * patch to the next patch in the same write, there are at most RUN_GAP bytes.
 */
#define RUN_BYTES 4096
#define RUN_GAP	  1024

struct run {
	uint64_t start;
	uint64_t end;
	uint8_t bytes[RUN_BYTES];
};

/* Writes the bytes in @run. If the write fails, put_in() later writes the patches one by one. */
static void run_flush(struct run *run, int fd)
{
	if (run->end > run->start)
		text_write_unused(fd, run->start, run->bytes, run->end - run->start);
	run->start = run->end = 0;
}

static void run_add(struct run *run, uint64_t site, const uint8_t *bytes, uint32_t len)
{
	uint64_t gap = 0;

	if (run->end > run->start)
		gap = site - run->end;
	else
		run->start = run->end = site;
	memcpy(run->bytes + (run->end - run->start), (const void *)run->end, gap);
	memcpy(run->bytes + (site - run->start), bytes, len);
	run->end = site + len;
}

static bool run_has_room(const struct run *run, const struct patch *patch)
{
	return run->end == run->start ||
	       (patch->site >= run->end && patch->site - run->end <= RUN_GAP &&
		patch->site + PLAN_PATCH_ORIGINAL - run->start <= RUN_BYTES);
}

/*
 * Writes patches while no other thread can be in the text. Patches that depend on other patches are
 * not written. Afterwards, put_in() sees from the text which patches are in place.
 */
static void write_ahead(const struct dl_phdr_info *info, int fd, struct patched_module *module)
{
	static struct run run; /* static: the stack may be small, and no other thread exists */

	for (uint32_t i = 0; i < module->nr; i++) {
		const struct patch *patch = &module->patches[i];
		uint8_t bytes[PLAN_PATCH_ORIGINAL];
		uint32_t len;

		if (atomic_load(&patch->is_out) || (patch->flags & PLAN_PATCH_INNER))
			continue;
		if (!run_has_room(&run, patch))
			run_flush(&run, fd);
		if (!is_original(info, patch))
			continue;
		len = patch_make_bytes(patch, bytes);
		if (len)
			run_add(&run, patch->site, bytes, len);
	}
	run_flush(&run, fd);
}

/*
 * Writes the patches of @module into the text. Returns the number of patches that could not be put
 * in place. Patches with PLAN_PATCH_SILENT are not counted. @is_alone: there is no other thread
 */
static uint32_t put_in(const struct dl_phdr_info *info, struct patched_module *module,
		       bool is_alone)
{
	int fd = text_open();
	uint32_t failed = 0;
	bool is_in = false; /* true: the most recent put_patch() has succeeded */

	if (is_alone)
		write_ahead(info, fd, module);
	for (uint32_t i = 0; i < module->nr; i++) {
		struct patch *patch = &module->patches[i];

		if (atomic_load(&patch->is_out))
			continue;
		if (!(patch->flags & PLAN_PATCH_INNER))
			is_in = put_patch(info, fd, patch, is_alone);
		else if (patch->flags & PLAN_PATCH_SHORT)
			is_in = is_in && put_patch(info, fd, patch, is_alone);
		if (is_in)
			patch_raise_semaphore(info, patch);
		else if (!(patch->flags & PLAN_PATCH_SILENT))
			failed++;
	}
	text_close(fd);
	return failed;
}

/* --- modules --- */

static int adopt_module(struct dl_phdr_info *info, size_t size, void *arg)
{
	struct adoption *a = arg;
	struct patched_module *module = a->module;

	if (!patched_module_is_at(info, module))
		return 0;
	a->is_loaded = true;
	module->path_hash = module_path_hash(info->dlpi_name);
	if (make_stubs(info, a)) {
		/*
		 * When the recorder attaches to a running process, the recorder writes the patches
		 * later, while all threads are stopped.
		 */
		module->is_waiting = a->text == PATCHES_WRITE && probe.is_attached && !probe.ready;
		a->failed = module->is_waiting || a->text == PATCHES_OUT
				    ? 0
				    : put_in(info, module, !probe.is_attached && !probe.ready);
		module->next = patched_modules;
		patched_modules = module;
	}
	return 1;
}

static uint64_t module_bytes(uint32_t nr)
{
	return sizeof(struct patched_module) + (uint64_t)nr * sizeof(struct patch);
}

void patches_drop(void)
{
	for (struct patched_module *module = patched_modules, *next; module; module = next) {
		next = module->next;
		munmap(module, module_bytes(module->nr));
	}
	patched_modules = NULL;
}

static int16_t distance_to_function(const struct plan_patch *plan)
{
	int64_t distance = plan->addr - plan->site;

	return distance > INT16_MIN && distance <= INT16_MAX ? distance : INT16_MIN;
}

static struct patched_module *make_module(const struct adoption *a, uint32_t nr)
{
	struct patched_module *module = mmap(NULL, module_bytes(nr), PROT_READ | PROT_WRITE,
					     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (module == MAP_FAILED)
		return NULL;
	module->load_bias = a->plans[0].load_bias;
	module->nr = nr;
	for (uint32_t i = 0; i < nr; i++) {
		const struct plan_patch *plan = plan_at(a, i);
		struct patch *patch = &module->patches[i];

		patch->site = plan->site;
		patch->semaphore = plan->semaphore;
		patch->what = plan->what;
		patch->flags = plan->flags;
		patch->bytes = plan->bytes;
		patch->clear = plan->clear;
		patch->to_function = distance_to_function(plan);
		patch->is_out = a->text == PATCHES_OUT;
		memcpy(patch->original, plan->original, sizeof(patch->original));
	}
	return module;
}

void patches_adopt(const struct plan_patch *patches, uint32_t nr,
		   const struct plan_operand *operands, enum patches_text text,
		   const struct plan_file *file)
{
	uint32_t of_module;

	/*
	 * plan_open() has read the whole plan, so all pages of the plan take memory. Release the
	 * pages that contain patches. The kernel reads such a page from the file again when a
	 * patch in the page is needed.
	 */
	let_go(file, patches, patches + nr);
	for (uint32_t start = 0; start < nr; start += of_module) {
		struct adoption a = {
			.plans = &patches[start], .operands = operands, .text = text, .file = file
		};

		for (of_module = 1; start + of_module < nr &&
				    plan_at(&a, of_module)->load_bias == patches[start].load_bias;)
			of_module++;
		a.failed = of_module;
		a.module = make_module(&a, of_module);
		if (a.module)
			dl_iterate_phdr(adopt_module, &a);
		/* A module that is not in the list has no patch in place. */
		if (a.module && a.module != patched_modules)
			munmap(a.module, module_bytes(of_module));
		/*
		 * If the process executed another program or closed the module after the recorder
		 * had made the module's patches, there is nothing to patch.
		 */
		if (a.module && !a.is_loaded && text == PATCHES_OUT)
			continue;
		atomic_fetch_add(&probe.arena->points_failed, a.failed);
	}
}

bool patches_are_there(void)
{
	return patched_modules != NULL;
}

/* Returns 1 for the module that contains the address *@arg, if the module has patches. */
static int is_patched_around(struct dl_phdr_info *info, size_t size, void *arg)
{
	if (!patches_is_within(info, *(const uint64_t *)arg, 1, PF_X))
		return 0;
	for (const struct patched_module *module = patched_modules; module; module = module->next) {
		if (module->load_bias == info->dlpi_addr)
			return 1;
	}
	return 0;
}

bool patches_are_around(const void *function)
{
	uint64_t address = (uint64_t)function;

	return patched_modules && dl_iterate_phdr(is_patched_around, &address);
}

/*
 * True when the text has the module's own bytes at the first patch that should be in place. In this
 * case the module was loaded anew, or the patch could not be put in.
 */
static bool is_new(const struct dl_phdr_info *info, const struct patched_module *module)
{
	for (uint32_t i = 0; i < module->nr; i++) {
		if (!atomic_load(&module->patches[i].is_out))
			return is_original(info, &module->patches[i]);
	}
	return false;
}

static int look_at_module(struct dl_phdr_info *info, size_t size, void *arg)
{
	uint64_t path_hash = module_path_hash(info->dlpi_name);

	for (struct patched_module *module = patched_modules; module; module = module->next) {
		if (!module->is_waiting && module->load_bias == info->dlpi_addr &&
		    module->path_hash == path_hash && is_new(info, module))
			put_in(info, module, false);
	}
	return 0;
}

void patches_look_again(void)
{
	if (patched_modules)
		dl_iterate_phdr(look_at_module, NULL);
}
