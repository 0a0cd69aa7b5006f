/*
 * Patches: the bytes written into the text of a module, the targets of jumps, and sites that stay
 * unchanged. The module is this program.
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <sys/mman.h>
#include <unistd.h>

#include "arch/arch.h"
#include "libmcount/patch/patches_private.h"
#include "libmcount/patch/text.h"
#include "libmcount/values/point_operands.h"
#include "tests/unit/lib/probe/pair.h"
#include "tests/unit/lib/unit.h"
#include "utils/format/probe/attach.h"

#define ROOM 8192

/* Two pages of code that never runs. */
__asm__(".pushsection .text.patch_room, \"ax\", %progbits\n"
	".balign 4096\n"
	"patch_room: .fill 8192, 1, 0x90\n"
	".popsection\n");
extern const uint8_t patch_room[ROOM] __attribute__((visibility("hidden")));

static struct pair pair;
static uint64_t bias;
static uint8_t before[ROOM];
static uint16_t semaphores[4];
static struct plan_patch plans[8];
static unsigned nr_plans;

static void write_text(uint64_t at, const uint8_t *bytes, uint64_t len)
{
	int fd = text_open();

	assert_true(text_write(fd, at, bytes, len));
	text_close(fd);
}

static int find_bias(struct dl_phdr_info *info, size_t size, void *arg)
{
	bias = info->dlpi_addr;
	return 1;
}

static int setup(void **state)
{
	pair_init(&pair);
	pair_open(&pair);
	dl_iterate_phdr(find_bias, NULL);
	/* Neighbouring bytes differ. */
	for (unsigned i = 0; i < ROOM; i++)
		before[i] = 0x40 + i % 61;
	for (unsigned i = 0; i < ROOM; i += 8)
		write_text((uint64_t)patch_room + i, before + i, 8);
	memset(semaphores, 0, sizeof(semaphores));
	memset(plans, 0, sizeof(plans));
	nr_plans = 0;
	return 0;
}

static int teardown(void **state)
{
	patches_forget();
	pair_stop(&pair);
	pair_close(&pair);
	return 0;
}

static struct plan_patch *add(unsigned at, unsigned what, uint8_t bytes)
{
	struct plan_patch *plan = &plans[nr_plans++];

	*plan = (struct plan_patch){
		.load_bias = bias,
		.site = (uint64_t)patch_room + at,
		.addr = (uint64_t)patch_room + at,
		.what = what,
		.bytes = bytes,
		.event = 1000000 + nr_plans,
	};
	memcpy(plan->original, before + at, bytes);
	return plan;
}

/* Adopt the patches of all plans. Returns the number of places at which this has failed. */
static uint32_t adopt(enum patches_text text)
{
	uint32_t failed = pair.proc->arena->points_failed;

	patches_adopt(plans, nr_plans, NULL, text, NULL);
	return pair.proc->arena->points_failed - failed;
}

/* Check that only the @bytes at each plan's site have changed. */
static void check_rest(void)
{
	for (unsigned i = 0; i < ROOM; i++) {
		bool is_patched = false;

		for (unsigned k = 0; k < nr_plans; k++)
			is_patched |= (uint64_t)patch_room + i - plans[k].site < plans[k].bytes;
		if (!is_patched)
			assert_int_equal(patch_room[i], before[i]);
	}
}

static bool is_as_before(const struct plan_patch *plan)
{
	return memcmp((const void *)plan->site, plan->original, plan->bytes) == 0;
}

/* Returns the target of the jump, or call, at the patch's site. */
static uint64_t leads_to(const struct plan_patch *plan, uint8_t opcode)
{
	const uint8_t *at = (const uint8_t *)plan->site;
	int32_t distance;

	assert_int_equal(at[0], opcode);
	memcpy(&distance, at + 1, sizeof(distance));
	return plan->site + 5 + distance;
}

static uint64_t gate(enum arch_hook hook)
{
	return (uint64_t)patched_modules->memory->gates[hook];
}

static void check_nops(const struct plan_patch *plan, unsigned from)
{
	uint8_t nops[PLAN_PATCH_ORIGINAL];

	arch_write_nops(nops, plan->bytes - from);
	assert_memory_equal((const char *)plan->site + from, nops, plan->bytes - from);
}

TEST_WITH(a_patch_without_code_leads_to_its_hook, setup, teardown)
{
	struct plan_patch *nop = add(8, PATCH_NOP, 5);
	struct plan_patch *call = add(16, PATCH_CALL, 5);
	struct plan_patch *longer = add(24, PATCH_CALL, 8);
	struct plan_patch *entry = add(40, PATCH_XRAY_ENTRY, 11);
	struct plan_patch *exits = add(56, PATCH_XRAY_EXIT, 11);
	struct plan_patch *tail = add(72, PATCH_XRAY_TAIL, 11);

	assert_int_equal(adopt(PATCHES_WRITE), 0);
	check_nops(nop, 0);
	assert_int_equal(leads_to(call, 0xe8), gate(ARCH_HOOK_CALL));
	assert_int_equal(leads_to(longer, 0xe8), gate(ARCH_HOOK_CALL));
	check_nops(longer, 5);
	assert_int_equal(leads_to(entry, 0xe8), gate(ARCH_HOOK_XRAY_ENTRY));
	check_nops(entry, 5);
	assert_int_equal(leads_to(exits, 0xe9), gate(ARCH_HOOK_XRAY_EXIT));
	/* Bytes after the jump are never reached, so they stay. */
	assert_memory_equal((const char *)exits->site + 5, exits->original + 5, 6);
	assert_int_equal(leads_to(tail, 0xe8), gate(ARCH_HOOK_XRAY_TAIL));
	check_nops(tail, 5);
	check_rest();
}

#define NR_MANY	   20000
#define MANY_START 4104 /* the place of the list in the file */

/*
 * Write a list of patches to a file, and map it. Only the patches with the numbers in @good have a
 * place in this program.
 */
static const char *map_many(const unsigned *good, size_t nr_good, size_t *bytes, int *fd)
{
	size_t len = NR_MANY * sizeof(struct plan_patch);
	struct plan_patch *list = calloc(NR_MANY, sizeof(*list));
	void *image;

	assert_non_null(list);
	for (unsigned i = 0; i < NR_MANY; i++) {
		list[i] = (struct plan_patch){ .load_bias = bias,
					       .site = (uint64_t)patch_room + i % 1000 * 8,
					       .addr = (uint64_t)patch_room + i % 1000 * 8,
					       .what = PATCH_ENTRY,
					       .bytes = 5,
					       .len = 3 };
		memset(list[i].original, 0xff, 5);
	}
	for (size_t k = 0; k < nr_good; k++)
		memcpy(list[good[k]].original, before + good[k] % 1000 * 8, 5);
	*bytes = MANY_START + len;
	*fd = memfd_create("plan", MFD_CLOEXEC);
	assert_true(*fd >= 0);
	assert_int_equal(pwrite(*fd, list, len, MANY_START), len);
	free(list);
	image = mmap(NULL, *bytes, PROT_READ, MAP_PRIVATE, *fd, 0);
	assert_true(image != MAP_FAILED);
	return image;
}

/* Count the pages of the mapping that are in this process' memory. */
static unsigned count_pages(const char *image, size_t bytes)
{
	int fd = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
	unsigned nr = 0;

	assert_true(fd >= 0);
	for (size_t at = 0; at < bytes; at += 4096) {
		uint64_t entry;

		assert_int_equal(pread(fd, &entry, 8, ((uintptr_t)image + at) / 4096 * 8), 8);
		nr += entry >> 63;
	}
	close(fd);
	return nr;
}

/*
 * The pages of a long list leave the memory after they were read. A second reading gives the same.
 */
TEST_WITH(many_of_a_file, setup, teardown)
{
	static const unsigned good[] = { 5, 8191, 8192, 8193, 16384, 19999 };
	uint32_t failed = pair.proc->arena->points_failed;
	uint64_t stub_bytes = ARCH_ENTRY_STUB_BYTES + 3;
	struct plan_file file;
	size_t bytes;
	const struct plan_patch *list;

	file.image = map_many(good, 6, &bytes, &file.fd);
	list = (const struct plan_patch *)(file.image + MANY_START);
	patches_adopt(list, NR_MANY, NULL, PATCHES_WRITE, &file);
	assert_int_equal(pair.proc->arena->points_failed - failed, NR_MANY - 6);
	assert_true(count_pages(file.image, bytes) < bytes / 4096 / 2);
	for (unsigned k = 0; k < 6; k++) {
		const struct plan_patch *plan = &list[good[k]];

		assert_int_equal(plan->site, (uint64_t)patch_room + good[k] % 1000 * 8);
		assert_int_equal(leads_to(plan, 0xe9), (uint64_t)patched_modules->memory->stubs +
							       good[k] * stub_bytes +
							       ARCH_ENTRY_STUB_START);
	}
	munmap((void *)file.image, bytes);
	close(file.fd);
}

static void put_code(struct plan_patch *plan, const char *code)
{
	plan->len = strlen(code);
	memcpy(plan->code, code, plan->len);
}

/* A stub has the hook, then the moved code. Stubs follow each other without a gap. */
TEST_WITH(a_patch_with_code_has_a_stub, setup, teardown)
{
	struct plan_patch *event = add(0, PATCH_EVENT, 7);
	struct plan_patch *entry = add(16, PATCH_ENTRY, 5);
	struct plan_patch *by_caller = add(32, PATCH_ENTRY, 5);
	struct plan_patch *last = add(48, PATCH_EVENT, 5);
	const uint8_t *stubs;
	uint64_t at = 0;

	put_code(event, "abcd");
	put_code(entry, "efg");
	put_code(by_caller, "h");
	put_code(last, "ij");
	by_caller->flags = PLAN_PATCH_BY_CALLER;
	assert_int_equal(adopt(PATCHES_WRITE), 0);
	stubs = patched_modules->memory->stubs;
	assert_int_equal(leads_to(event, 0xe9), (uint64_t)stubs);
	assert_memory_equal(stubs + ARCH_POINT_STUB_BYTES, "abcd", 4);
	at = ARCH_POINT_STUB_BYTES + 4;
	assert_int_equal(leads_to(entry, 0xe9), (uint64_t)stubs + at + ARCH_ENTRY_STUB_START);
	assert_memory_equal(stubs + at + ARCH_ENTRY_STUB_BYTES, "efg", 3);
	at += ARCH_ENTRY_STUB_BYTES + 3;
	assert_int_equal(leads_to(by_caller, 0xe8), (uint64_t)stubs + at + ARCH_ENTRY_STUB_START);
	assert_memory_equal(stubs + at + ARCH_ENTRY_STUB_BYTES, "h", 1);
	at += ARCH_ENTRY_STUB_BYTES + 1;
	assert_int_equal(leads_to(last, 0xe9), (uint64_t)stubs + at);
	assert_memory_equal(stubs + at + ARCH_POINT_STUB_BYTES, "ij", 2);
	assert_memory_equal((const char *)event->site + 5, event->original + 5, 2);
	check_rest();
}

/* A 32-bit distance in the moved code still leads to the same place. */
TEST_WITH(distances_in_moved_code_are_mended, setup, teardown)
{
	struct plan_patch *plan = add(0, PATCH_EVENT, 5);
	const uint8_t *code;
	int32_t distance;

	plan->len = 5;
	memcpy(plan->code, "\xe9\x10\0\0\0", 5);
	plan->nr_fixes = 1;
	plan->fixes[0] = 1;
	assert_int_equal(adopt(PATCHES_WRITE), 0);
	code = patched_modules->memory->stubs + ARCH_POINT_STUB_BYTES;
	memcpy(&distance, code + 1, sizeof(distance));
	assert_int_equal((uint64_t)code + distance, plan->site + 0x10);
}

TEST_WITH(a_semaphore_counts_who_looks, setup, teardown)
{
	struct plan_patch *first = add(0, PATCH_EVENT, 5);
	struct plan_patch *second = add(16, PATCH_EVENT, 5);
	struct plan_patch *nowhere = add(32, PATCH_EVENT, 5);

	first->semaphore = second->semaphore = (uint64_t)&semaphores[1];
	nowhere->semaphore = 4096;
	assert_int_equal(adopt(PATCHES_WRITE), 0);
	assert_int_equal(semaphores[1], 2);
	assert_int_equal(semaphores[0] + semaphores[2], 0);
	patches_pass();
	assert_int_equal(semaphores[1], 0);
	patches_pass();
	assert_int_equal(semaphores[1], 0);
}

/* Code that another program has changed, or that comes from another file, is not patched. */
TEST_WITH(what_is_not_as_it_was_is_left_alone, setup, teardown)
{
	struct plan_patch *changed = add(0, PATCH_CALL, 5);
	struct plan_patch *good = add(16, PATCH_CALL, 5);
	struct plan_patch *event = add(32, PATCH_EVENT, 5);

	changed->original[4]++;
	event->original[0]++;
	event->semaphore = (uint64_t)&semaphores[1];
	assert_int_equal(adopt(PATCHES_WRITE), 2);
	assert_memory_equal(patch_room, before, 16);
	assert_int_equal(leads_to(good, 0xe8), gate(ARCH_HOOK_CALL));
	assert_memory_equal(patch_room + 32, before + 32, 16);
	assert_int_equal(semaphores[1], 0);
}

TEST_WITH(patches_of_modules_that_are_not_there_fail, setup, teardown)
{
	struct plan_patch *gone = add(0, PATCH_CALL, 5);
	struct plan_patch *gone_too = add(16, PATCH_CALL, 5);
	struct plan_patch *good = add(32, PATCH_CALL, 5);
	struct plan_patch *outside = add(48, PATCH_CALL, 5);

	gone->load_bias = gone_too->load_bias = bias + 4096;
	outside->load_bias = bias + 8192;
	assert_int_equal(adopt(PATCHES_WRITE), 3);
	assert_true(is_as_before(gone) && is_as_before(gone_too) && is_as_before(outside));
	assert_int_equal(leads_to(good, 0xe8), gate(ARCH_HOOK_CALL));
	assert_null(patched_modules->next);
	/* The address of the patch is not in the code of the module. */
	nr_plans = 0;
	add(0, PATCH_CALL, 5)->site = (uint64_t)semaphores;
	assert_int_equal(adopt(PATCHES_WRITE), 1);
	assert_null(patched_modules->next);
}

/* The stub of the outer patch includes the inner one. No bytes are written for the inner patch. */
TEST_WITH(an_inner_patch_comes_and_goes_with_the_one_before, setup, teardown)
{
	struct plan_patch *outer = add(0, PATCH_EVENT, 7);
	struct plan_patch *inner = add(3, PATCH_EVENT, 5);

	inner->flags = PLAN_PATCH_INNER;
	inner->semaphore = (uint64_t)&semaphores[0];
	assert_int_equal(adopt(PATCHES_WRITE), 0);
	assert_int_equal(leads_to(outer, 0xe9), (uint64_t)patched_modules->memory->stubs);
	assert_memory_equal(patch_room + 5, before + 5, 8);
	assert_int_equal(semaphores[0], 1);
	patches_pass();
	patches_forget();
	outer->original[0]++;
	assert_int_equal(adopt(PATCHES_WRITE), 2);
	assert_int_equal(semaphores[0], 0);
}

/* A short jump leads to the long jump before it, which is silent and not counted. */
TEST_WITH(a_short_patch_leads_to_the_one_before, setup, teardown)
{
	struct plan_patch *island = add(0, PATCH_ENTRY, 5);
	struct plan_patch *small = add(8, PATCH_ENTRY, 2);
	const uint8_t *stubs;

	island->flags = PLAN_PATCH_SILENT;
	small->flags = PLAN_PATCH_INNER | PLAN_PATCH_SHORT;
	put_code(small, "xy");
	assert_int_equal(adopt(PATCHES_WRITE), 0);
	stubs = patched_modules->memory->stubs;
	/* A stub without code continues in the next stub. */
	assert_int_equal(leads_to(island, 0xe9), (uint64_t)stubs + ARCH_ENTRY_STUB_START);
	assert_memory_equal(stubs + ARCH_ENTRY_STUB_BYTES, "xy", 2);
	assert_memory_equal(patch_room + 8, "\xeb\xf6", 2);
	check_rest();
	patches_forget();
	island->original[0]++;
	assert_int_equal(adopt(PATCHES_WRITE), 1);
}

TEST_WITH(a_silent_patch_with_code_has_nothing_in_front_of_it, setup, teardown)
{
	struct plan_patch *silent = add(0, PATCH_ENTRY, 5);

	silent->flags = PLAN_PATCH_SILENT;
	put_code(silent, "abc");
	assert_int_equal(adopt(PATCHES_WRITE), 0);
	assert_int_equal(leads_to(silent, 0xe9), (uint64_t)patched_modules->memory->stubs);
	assert_memory_equal(patched_modules->memory->stubs, "abc", 3);
}

/* Only stubs are made: the recorder decides when the patches are put in. */
TEST_WITH(patches_that_are_out_are_not_written, setup, teardown)
{
	struct plan_patch *plan = add(0, PATCH_EVENT, 5);

	plan->semaphore = (uint64_t)semaphores;
	assert_int_equal(adopt(PATCHES_OUT), 0);
	assert_true(is_as_before(plan));
	assert_int_equal(semaphores[0], 0);
	assert_int_equal(patched_modules->patches[0].is_out, 1);
	assert_false(patched_modules->is_waiting);
	patches_look_again();
	assert_true(is_as_before(plan));
}

/* The recorder read the modules before execve(2), so this module belongs to the earlier program. */
TEST_WITH(patches_that_are_out_do_not_fail_for_a_module_that_is_gone, setup, teardown)
{
	add(0, PATCH_ENTRY, 5)->load_bias = bias + 4096;
	assert_int_equal(adopt(PATCHES_OUT), 0);
	assert_null(patched_modules);
	assert_int_equal(adopt(PATCHES_WRITE), 1);
}

/*
 * At the start there is one thread. Patches are near each other, far apart, across two pages, out
 * of order, and over bytes that differ from the file.
 */
TEST_WITH(patches_at_the_start_are_written_in_runs, setup, teardown)
{
	static const unsigned at[] = { 8, 16, 900, 4094, 5600, 5590, 8187 };
	struct plan_patch *wrong;

	for (unsigned i = 0; i < ARRAY_SIZE(at); i++)
		add(at[i], PATCH_CALL, 5);
	wrong = &plans[2];
	wrong->original[1]++;
	probe.ready = false;
	assert_int_equal(adopt(PATCHES_WRITE), 1);
	probe.ready = true;
	assert_memory_equal((const void *)wrong->site, before + at[2], 5);
	for (unsigned i = 0; i < ARRAY_SIZE(at); i++) {
		if (i != 2)
			assert_int_equal(leads_to(&plans[i], 0xe8), gate(ARCH_HOOK_CALL));
	}
	check_rest();
}

/* A module that was closed and loaded again has its original code. */
TEST_WITH(a_module_that_came_back_is_patched_again, setup, teardown)
{
	struct plan_patch *plan = add(0, PATCH_CALL, 5);
	struct plan_patch *other = add(16, PATCH_CALL, 5);

	patches_look_again();
	assert_int_equal(adopt(PATCHES_WRITE), 0);
	write_text(plan->site, plan->original, 5);
	write_text(other->site, other->original, 5);
	patches_look_again();
	assert_int_equal(leads_to(plan, 0xe8), gate(ARCH_HOOK_CALL));
	assert_int_equal(leads_to(other, 0xe8), gate(ARCH_HOOK_CALL));
	/*
	 * If one jump is still in its place, the module is taken for patched, and the others are
	 * not written.
	 */
	write_text(other->site, other->original, 5);
	patches_look_again();
	assert_true(is_as_before(other));
	patched_modules->path_hash++;
	write_text(plan->site, plan->original, 5);
	patches_look_again();
	assert_true(is_as_before(plan));
	assert_int_equal(pair.proc->arena->points_failed, 0);
}

/* --- a process that is attached to --- */

TEST_WITH(the_recorder_writes_what_is_to_change, setup, teardown)
{
	struct plan_patch *event = add(0, PATCH_EVENT, 7);
	struct plan_patch *inner = add(3, PATCH_EVENT, 5);
	struct plan_patch *island = add(16, PATCH_ENTRY, 5);
	struct plan_patch *small = add(24, PATCH_ENTRY, 2);
	struct plan_patch *call = add(32, PATCH_CALL, 6);
	const struct attach_change *changes;
	uint64_t ranges[4] = { 0 };

	event->clear = 9;
	event->semaphore = (uint64_t)&semaphores[0];
	inner->flags = PLAN_PATCH_INNER;
	inner->semaphore = (uint64_t)&semaphores[1];
	island->flags = PLAN_PATCH_SILENT;
	small->flags = PLAN_PATCH_INNER | PLAN_PATCH_SHORT;
	call->semaphore = (uint64_t)&semaphores[2];
	assert_int_equal(patches_changes(&changes), 0);
	assert_null(changes);
	assert_int_equal(patches_codes(ranges, 2), 0);
	probe.is_attached = true;
	probe.ready = false;
	assert_int_equal(adopt(PATCHES_WRITE), 0);
	assert_memory_equal(patch_room, before, ROOM);
	patches_look_again();
	assert_memory_equal(patch_room, before, ROOM);
	assert_int_equal(patches_codes(ranges, 2), 1);
	assert_int_equal(ranges[0], (uint64_t)patched_modules->memory);
	assert_int_equal(ranges[1], ranges[0] + patched_modules->memory->bytes);
	ranges[0] = 7;
	assert_int_equal(patches_codes(ranges, 0), 1);
	assert_int_equal(ranges[0], 7);

	assert_int_equal(patches_changes(&changes), 4);
	assert_int_equal(changes[0].site, event->site);
	assert_int_equal(changes[0].len, 5);
	assert_int_equal(changes[0].clear, 9);
	assert_int_equal(changes[0].flags, ATTACH_CHANGE_EVENT);
	assert_int_equal(changes[0].out_at, (uint64_t)&patched_modules->patches[0].is_out);
	assert_memory_equal(changes[0].before, before, 5);
	assert_int_equal(changes[0].after[0], 0xe9);
	assert_int_equal(changes[1].site, island->site);
	assert_int_equal(changes[1].flags, ATTACH_CHANGE_ISLAND);
	assert_int_equal(changes[2].site, small->site);
	assert_int_equal(changes[2].len, 2);
	assert_int_equal(changes[2].clear, 2);
	assert_int_equal(changes[2].flags, ATTACH_CHANGE_ON_FORMER);
	assert_int_equal(changes[3].site, call->site);
	assert_int_equal(changes[3].len, 6);
	assert_int_equal(changes[3].flags, 0);
	/* Write all changes but the last one. */
	for (unsigned i = 0; i < 3; i++)
		write_text(changes[i].site, changes[i].after, changes[i].len);
	assert_int_equal(patches_changed(), 1);
	assert_int_equal(semaphores[0], 1);
	assert_int_equal(semaphores[1], 1);
	assert_int_equal(semaphores[2], 0);
	/* A second call counts nothing more. */
	assert_int_equal(patches_changed(), 0);
	assert_int_equal(semaphores[0], 1);
	probe.is_attached = false;
	probe.ready = true;
}

/* A process that takes the patch out may be killed between its writes to the two pages. */
TEST_WITH(a_patch_in_two_pages_is_none_where_it_is_taken_out_again, setup, teardown)
{
	struct plan_patch *across = add(4093, PATCH_CALL, 5);
	struct plan_patch *touching = add(4083, PATCH_CALL, 5);
	struct plan_patch *last = add(4091, PATCH_CALL, 5);

	nr_plans = 2;
	probe.is_attached = true;
	assert_int_equal(adopt(PATCHES_WRITE), 1);
	assert_true(is_as_before(across));
	assert_int_equal(leads_to(touching, 0xe8), gate(ARCH_HOOK_CALL));
	patches_forget();
	plans[0] = *last;
	nr_plans = 1;
	assert_int_equal(adopt(PATCHES_WRITE), 0);
	assert_int_equal(leads_to(&plans[0], 0xe8), gate(ARCH_HOOK_CALL));
	write_text(last->site, last->original, 5);
	patches_forget();
	probe.is_attached = false;
	nr_plans = 0;
	add(4093, PATCH_CALL, 5);
	assert_int_equal(adopt(PATCHES_WRITE), 0);
}

/* --- arguments of events --- */

static struct plan_operand operand(uint64_t value, uint8_t flags)
{
	return (struct plan_operand){ .value = value, .flags = flags, .bytes = 4 };
}

/* Check that operands @first to @last are there. Returns the address after them. */
static const uint8_t *check_operands(const uint8_t *at, unsigned first, unsigned last)
{
	const struct point_operands *there = (const struct point_operands *)at;

	assert_int_equal((uintptr_t)at % 8, 0);
	assert_int_equal(there->nr, last - first + 1);
	for (unsigned i = first; i <= last; i++)
		assert_int_equal(there->list[i - first].value, i);
	return (const uint8_t *)&there->list[there->nr];
}

/* Operands come after all stubs, and each event has its own. Silent patches have none. */
TEST_WITH(events_have_their_operands, setup, teardown)
{
	const struct plan_operand list[] = {
		operand(0, PLAN_OPERAND_LAST),
		operand(1, 0),
		operand(2, 0),
		operand(3, PLAN_OPERAND_LAST),
		operand(4, PLAN_OPERAND_LAST),
	};
	struct plan_patch *three = add(0, PATCH_EVENT, 5);
	struct plan_patch *none = add(16, PATCH_EVENT, 5);
	struct plan_patch *silent = add(32, PATCH_EVENT, 5);
	struct plan_patch *one = add(48, PATCH_EVENT, 5);
	uint32_t failed = pair.proc->arena->points_failed;
	const uint8_t *stubs;
	uint64_t at = 0;

	put_code(three, "abc");
	put_code(none, "d");
	put_code(silent, "ef");
	put_code(one, "gh");
	three->operands = 2;
	silent->operands = 1;
	silent->flags = PLAN_PATCH_SILENT;
	one->operands = 5;
	patches_adopt(plans, nr_plans, list, PATCHES_WRITE, NULL);
	assert_int_equal(pair.proc->arena->points_failed, failed);
	stubs = patched_modules->memory->stubs;
	assert_int_equal(leads_to(three, 0xe9), (uint64_t)stubs);
	at += ARCH_POINT_ARGS_STUB_BYTES;
	assert_memory_equal(stubs + at, "abc", 3);
	at += 3;
	assert_int_equal(leads_to(none, 0xe9), (uint64_t)stubs + at);
	at += ARCH_POINT_STUB_BYTES;
	assert_memory_equal(stubs + at, "d", 1);
	at += 1;
	assert_int_equal(leads_to(silent, 0xe9), (uint64_t)stubs + at);
	assert_memory_equal(stubs + at, "ef", 2);
	at += 2;
	assert_int_equal(leads_to(one, 0xe9), (uint64_t)stubs + at);
	at += ARCH_POINT_ARGS_STUB_BYTES;
	assert_memory_equal(stubs + at, "gh", 2);
	at += 2;
	stubs = check_operands((const uint8_t *)ALIGN_UP((uintptr_t)stubs + at, 8), 1, 3);
	check_operands(stubs, 4, 4);
}

/* --- questions about patches --- */

TEST_WITH(an_entry_knows_its_function, setup, teardown)
{
	static const struct {
		int64_t distance;
		bool is_near;
	} cases[] = {
		{ 0, true },	  { 4, true },	    { -9, true },      { INT16_MAX, true },
		{ -32767, true }, { 32768, false }, { -32768, false }, { 1 << 20, false },
	};

	for (unsigned i = 0; i < ARRAY_SIZE(cases); i++) {
		struct plan_patch *plan;
		const uint8_t *stub;
		uint32_t slot;

		nr_plans = 0;
		plan = add(16, PATCH_ENTRY, 5);
		plan->addr = plan->site + cases[i].distance;
		plan->slot = 7 + i;
		assert_int_equal(adopt(PATCHES_OUT), 0);
		assert_int_equal(patch_function(&patched_modules->patches[0]),
				 cases[i].is_near ? plan->addr : 0);
		stub = patched_modules->memory->stubs;
		assert_memory_equal(stub, &plan->addr, 8);
		assert_memory_equal(stub + 8, &plan->site, 8);
		memcpy(&slot, stub + 16, sizeof(slot));
		assert_int_equal(slot, 7 + i);
		patches_forget();
	}
}

TEST_WITH(a_module_with_patches_is_around_its_code, setup, teardown)
{
	assert_false(patches_are_there());
	assert_false(patches_are_around(patch_room));
	add(0, PATCH_CALL, 5);
	assert_int_equal(adopt(PATCHES_WRITE), 0);
	assert_true(patches_are_there());
	assert_true(patches_are_around(patch_room));
	assert_true(patches_are_around(patch_room + ROOM - 1));
	assert_true(patches_are_around((const void *)setup));
	/* Data of the module, code of another one, and no code at all. */
	assert_false(patches_are_around(semaphores));
	assert_false(patches_are_around(dlsym(RTLD_DEFAULT, "getpid")));
	assert_false(patches_are_around(NULL));
	patches_forget();
	assert_false(patches_are_there());
	assert_false(patches_are_around(patch_room));
}

TEST_WITH(all_bytes_are_in_one_segment, setup, teardown)
{
	ElfW(Phdr) list[] = {
		{ .p_type = PT_NOTE, .p_flags = PF_X, .p_vaddr = 0, .p_memsz = 0x10000 },
		{ .p_type = PT_LOAD, .p_flags = PF_R | PF_X, .p_vaddr = 0x1000, .p_memsz = 0x100 },
		{ .p_type = PT_LOAD, .p_flags = PF_R | PF_W, .p_vaddr = 0x1100, .p_memsz = 0x80 },
	};
	struct dl_phdr_info info = { .dlpi_addr = 0x50000, .dlpi_phdr = list, .dlpi_phnum = 3 };

	assert_true(patches_is_within(&info, 0x51000, 0x100, PF_X));
	assert_true(patches_is_within(&info, 0x510ff, 1, PF_X));
	assert_true(patches_is_within(&info, 0x51000, 1, PF_R));
	assert_false(patches_is_within(&info, 0x50fff, 1, PF_X));
	assert_false(patches_is_within(&info, 0x51000, 0x101, PF_R));
	assert_false(patches_is_within(&info, 0x510ff, 2, PF_X));
	assert_false(patches_is_within(&info, 0x51100, 1, PF_X));
	assert_false(patches_is_within(&info, 0x51000, 1, PF_W));
	assert_true(patches_is_within(&info, 0x51100, 0x80, PF_W));
	assert_false(patches_is_within(&info, 0x51180, 1, PF_W));
	info.dlpi_phnum = 2;
	assert_false(patches_is_within(&info, 0x51100, 1, PF_W));
}
