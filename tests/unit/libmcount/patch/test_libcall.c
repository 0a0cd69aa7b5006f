/*
 * Library calls: the addresses in GOT slots, the place where the dynamic linker stores addresses,
 * and the slots that stay unchanged.
 */
#include <errno.h>
#include <link.h>
#include <sys/mman.h>
#include <unistd.h>

#include "libmcount/hot/probe.h"
#include "libmcount/program/definition.h"
#include "tests/unit/lib/probe/pair.h"
#include "tests/unit/lib/unit.h"
#include "utils/base/compiler.h"

typedef int called_fn(int a);

extern const char own_dlopen[], own_prctl[], own_mcount[];

static struct pair pair;
static struct thread *t;
static uint64_t bias; /* of this program */

static int find_bias(struct dl_phdr_info *info, size_t size, void *arg)
{
	bias = info->dlpi_addr;
	return 1;
}

static int setup(void **state)
{
	pair_init(&pair);
	pair_open(&pair);
	t = self = pair_thread();
	assert_non_null(t);
	dl_iterate_phdr(find_bias, NULL);
	return 0;
}

static int teardown(void **state)
{
	pair_stop(&pair);
	pair_close(&pair);
	atomic_store(&probe_threads, NULL);
	return 0;
}

NOINLINE static int twice(int a)
{
	return 2 * a;
}

NOINLINE static int thrice(int a)
{
	return 3 * a;
}

/* Slots of a module, like those in its GOT. The compiler must not know their content. */
static called_fn *volatile slots[6];

static struct plan_call_site site_of(called_fn *volatile *slot, uint64_t addr, uint32_t flags)
{
	return (struct plan_call_site){
		.load_bias = bias,
		.slot = (uint64_t)slot,
		.addr = addr,
		.reloc = PLAN_NO_RELOC,
		.flags = flags,
	};
}

/*
 * Expect new records, ENTRY and EXIT, for @nr calls of the function at @addr.
 */
static void expect_calls(uint64_t addr, unsigned nr)
{
	static int32_t tid;
	static size_t at;

	if (tid != t->ring->tid) {
		tid = t->ring->tid;
		at = 0;
	}
	pair_look(&pair, true);

	struct strbuf file cleanup_strbuf = pair_data(&pair, tid);

	assert_int_equal(file.len - at, nr * 2 * sizeof(struct record));
	for (; at < file.len; at += sizeof(struct record))
		assert_int_equal(record_addr(((const struct record *)(file.data + at))->data),
				 addr);
}

TEST_WITH(a_bound_call_goes_through_us, setup, teardown)
{
	struct plan_call_site sites[3];

	slots[0] = slots[2] = twice;
	slots[1] = thrice;
	for (unsigned i = 0; i < 3; i++)
		sites[i] = site_of(&slots[i], 0x600000 + 16 * i, 0);
	libcall_hook(sites, 3, true);
	for (unsigned i = 0; i < 3; i++) {
		assert_ptr_not_equal(slots[i], i == 1 ? thrice : twice);
		assert_int_equal(slots[i](5), i == 1 ? 15 : 10);
		expect_calls(0x600000 + 16 * i, 1);
	}
	/* The dynamic linker may store another function in the slot at any moment. */
	for (unsigned i = 0; probe.calls[i].target; i++) {
		if (probe.calls[i].addr == 0x600000)
			probe.calls[i].target = (uint64_t)thrice;
	}
	assert_int_equal(slots[0](5), 15);
	expect_calls(0x600000, 1);
	/* Another slot is found later. The earlier slots stay hooked. */
	slots[3] = thrice;
	sites[0] = site_of(&slots[3], 0x600100, 0);
	libcall_hook(sites, 1, true);
	assert_int_equal(slots[3](7), 21);
	expect_calls(0x600100, 1);
	assert_int_equal(slots[2](7), 14);
	expect_calls(0x600020, 1);
}

TEST_WITH(calls_have_frames_where_their_returns_are_seen, setup, teardown)
{
	const struct plan_call_site sites[] = {
		site_of(&slots[0], 0x610000, 0),
		site_of(&slots[1], 0x610010, PLAN_CALL_NO_RETURN_HOOK),
		site_of(&slots[2], 0x610020, PLAN_CALL_LANDING),
		site_of(&slots[3], 0x610030, PLAN_CALL_BY_CALLER),
	};

	for (unsigned i = 0; i < 4; i++)
		slots[i] = twice;
	libcall_hook(sites, 4, true);
	assert_true(libcall_has_frames(0x610000));
	assert_false(libcall_has_frames(0x610010));
	assert_false(libcall_has_frames(0x610020));
	assert_true(libcall_has_frames(0x610030));
	assert_false(libcall_has_frames(0x610040));
	assert_int_equal(slots[1](4), 8);
	expect_calls(0x610010, 1);
	assert_int_equal(slots[2](4), 8);
	expect_calls(0, 0);
}

/* The result is the same as if the probe had been in the program from the start. */
TEST_WITH(a_slot_may_lead_to_a_function_of_ours, setup, teardown)
{
	const struct plan_call_site sites[] = {
		site_of(&slots[0], 0, PLAN_CALL_HOOK | PLAN_HOOK_DLOPEN << PLAN_CALL_HOOK_SHIFT),
		site_of(&slots[1], 0, PLAN_CALL_HOOK | PLAN_HOOK_PRCTL << PLAN_CALL_HOOK_SHIFT),
		site_of(&slots[2], 0, PLAN_CALL_HOOK | PLAN_HOOK_MCOUNT << PLAN_CALL_HOOK_SHIFT),
		site_of(&slots[3], 0, PLAN_CALL_HOOK | PLAN_HOOKS << PLAN_CALL_HOOK_SHIFT),
		site_of(&slots[4], 0x620000, 0),
	};

	for (unsigned i = 0; i < 5; i++)
		slots[i] = twice;
	libcall_hook(sites, 5, true);
	assert_ptr_equal(slots[0], own_dlopen);
	assert_ptr_equal(slots[1], own_prctl);
	assert_ptr_equal(slots[2], own_mcount);
	assert_ptr_equal(slots[3], twice);
	assert_int_equal(slots[4](1), 2);
	expect_calls(0x620000, 1);
}

TEST_WITH(what_is_not_where_it_should_be_is_left_alone, setup, teardown)
{
	struct plan_call_site sites[3];

	slots[0] = slots[1] = slots[2] = twice;
	sites[0] = site_of(&slots[0], 0x630000, 0);
	sites[1] = site_of(&slots[1], 0x630010, 0);
	sites[2] = site_of(&slots[2], 0x630020, 0);
	/*
	 * A module that was unloaded, a relocation of another slot, and one without a target: no
	 * slot changes.
	 */
	sites[0].load_bias += 8;
	sites[1].reloc = 1000000;
	sites[2].reloc = 0;
	libcall_hook(sites, 3, true);
	for (unsigned i = 0; i < 3; i++)
		assert_ptr_equal(slots[i], twice);
	/* Too many sites at a time. */
	libcall_hook(sites + 1, 1U << 21, true);
	assert_ptr_equal(slots[1], twice);
	libcall_hook(sites, 0, true);
}

static struct call_site *call_at(uint64_t addr)
{
	for (unsigned i = 0; i < 1000; i++) {
		if (probe.calls[i].addr == addr)
			return &probe.calls[i];
	}
	fail_msg("there is no site of %lx", (unsigned long)addr);
	return NULL;
}

extern const char own_vfork[];

/* Calls of vfork() have frames, since the probe's vfork() keeps its return address elsewhere. */
TEST_WITH(vfork_is_led_to_ours, setup, teardown)
{
	const uint32_t vfork_flags = PLAN_CALL_NO_RETURN_HOOK | PLAN_CALL_VFORK;
	const struct plan_call_site sites[] = {
		site_of(&slots[0], 0x650000, vfork_flags),
		site_of(&slots[1], 0x650010, PLAN_CALL_NO_RETURN_HOOK),
	};

	slots[0] = slots[1] = twice;
	probe.is_attached = true;
	libcall_hook(sites, 2, true);
	probe.is_attached = false;
	assert_int_equal(call_at(0x650000)->target, own_vfork);
	assert_int_equal(call_at(0x650000)->unbound, twice);
	assert_int_equal(call_at(0x650000)->flags, 0);
	assert_int_equal(call_at(0x650010)->target, twice);
	assert_int_equal(call_at(0x650010)->flags, PLAN_CALL_NO_RETURN_HOOK);
	assert_true(libcall_has_frames(0x650000));
	assert_false(libcall_has_frames(0x650010));
	assert_ptr_not_equal(slots[0], twice);
	assert_int_equal(slots[1](3), 6);
	expect_calls(0x650010, 1);
}

/* After dlclose(3) another function may be at the address of a function that was unloaded. */
TEST_WITH(patched_functions_may_be_unloaded, setup, teardown)
{
	static const struct {
		bool is_bound;
		uint64_t flags, after;
	} cases[] = {
		{ false, CALL_OF_PATCHED, CALL_OF_UNKNOWN },
		{ false, CALL_OF_PATCHED | PLAN_CALL_LANDING, CALL_OF_UNKNOWN | PLAN_CALL_LANDING },
		{ true, CALL_OF_PATCHED, CALL_OF_PATCHED },
		{ false, PLAN_CALL_LANDING, PLAN_CALL_LANDING },
		{ false, 0, 0 },
	};
	struct plan_call_site sites[ARRAY_SIZE(cases)];

	for (unsigned i = 0; i < ARRAY_SIZE(cases); i++) {
		slots[i] = twice;
		sites[i] = site_of(&slots[i], 0x660000 + 16 * i, 0);
	}
	libcall_hook(sites, ARRAY_SIZE(cases), true);
	for (unsigned i = 0; i < ARRAY_SIZE(cases); i++) {
		struct call_site *site = call_at(0x660000 + 16 * i);

		site->flags = cases[i].flags;
		site->function = (uint64_t)twice;
		if (cases[i].is_bound)
			site->target = (uint64_t)thrice;
	}
	libcall_before_dlclose();
	for (unsigned i = 0; i < ARRAY_SIZE(cases); i++) {
		const struct call_site *site = call_at(0x660000 + 16 * i);
		bool is_forgotten = cases[i].flags != cases[i].after;

		assert_int_equal(site->flags, cases[i].after);
		assert_int_equal(site->function, is_forgotten ? NULL : twice);
	}
}

/* The sites of one module come one after the other. A module that is gone does not end the list. */
TEST_WITH(sites_of_several_modules, setup, teardown)
{
	struct plan_call_site sites[6];

	for (unsigned i = 0; i < 6; i++) {
		slots[i] = i % 2 ? thrice : twice;
		sites[i] = site_of(&slots[i], 0x670000 + 16 * i, 0);
	}
	sites[2].load_bias = sites[3].load_bias = bias + 8;
	libcall_hook(sites, 6, true);
	for (unsigned i = 0; i < 6; i++) {
		bool is_gone = i == 2 || i == 3;

		assert_int_equal(slots[i] == (i % 2 ? thrice : twice), is_gone);
		assert_int_equal(slots[i](5), i % 2 ? 15 : 10);
		expect_calls(0x670000 + 16 * i, !is_gone);
	}
}

/* --- a slot that the dynamic linker would bind --- */

static ElfW(Dyn) * dynamic(int64_t tag)
{
	for (ElfW(Dyn) *d = _DYNAMIC; d->d_tag != DT_NULL; d++) {
		if (d->d_tag == tag)
			return d;
	}
	return NULL;
}

static const ElfW(Rela) * table(void)
{
	const ElfW(Dyn) *d = dynamic(DT_JMPREL);

	return (const void *)(d->d_un.d_ptr < bias ? bias + d->d_un.d_ptr : d->d_un.d_ptr);
}

/* Returns the name of the symbol of a relocation in table(). */
static const char *name_of(const ElfW(Rela) * reloc)
{
	const ElfW(Sym) *symbols = (const void *)dynamic(DT_SYMTAB)->d_un.d_ptr;
	const char *names = (const char *)dynamic(DT_STRTAB)->d_un.d_ptr;

	return names + symbols[ELF64_R_SYM(reloc->r_info)].st_name;
}

static bool is_protected(const void *at)
{
	int fds[2];
	bool is;

	assert_int_equal(pipe(fds), 0);
	assert_int_equal(write(fds[1], at, 8), 8);
	is = read(fds[0], (void *)at, 8) < 0 && errno == EFAULT;
	close(fds[0]);
	close(fds[1]);
	return is;
}

/*
 * The module gets a copy of its table of relocations. In the copy, the slot's relocation leads to
 * the call site. The function is found without dlsym(3), for which another thread may hold a lock.
 */
TEST_WITH(the_linker_stores_where_we_look, setup, teardown)
{
	const ElfW(Dyn) *size = dynamic(DT_PLTRELSZ);
	struct plan_call_site site;
	const ElfW(Rela) * before;
	const ElfW(Rela) * after;
	uint64_t *slot;
	uint64_t held;
	uint64_t nr;
	uint32_t reloc = 0;
	unsigned dlsyms;
	bool was_protected;

	if (!dynamic(DT_JMPREL) || !size || size->d_un.d_val < 2 * sizeof(*before))
		skip_because("this program has no relocations of that kind");
	before = table();
	nr = size->d_un.d_val / sizeof(*before);
	/* Find the slot of a function that this test does not call. */
	while (reloc + 1 < nr && strcmp(name_of(&before[reloc]), "wait4") != 0)
		reloc++;
	if (strcmp(name_of(&before[reloc]), "wait4") != 0)
		skip_because("this program calls no wait4(2) of a library");
	slot = (uint64_t *)(bias + before[reloc].r_offset);
	held = *slot;
	was_protected = is_protected(slot);
	site = site_of((called_fn *volatile *)slot, 0x640000, 0);
	site.reloc = reloc;
	dlsyms = pair_dlsyms();
	libcall_hook(&site, 1, true);
	assert_int_equal(pair_dlsyms(), dlsyms);
	after = table();
	assert_ptr_not_equal(after, before);
	for (uint32_t i = 0; i < nr; i++) {
		assert_int_equal(after[i].r_info, before[i].r_info);
		if (i != reloc)
			assert_int_equal(after[i].r_offset, before[i].r_offset);
	}

	const struct call_site *ours = (const void *)(after[reloc].r_offset + bias -
						      offsetof(struct call_site, target));

	assert_int_equal(ours->addr, 0x640000);
	assert_int_equal(ours->target, held);
	assert_int_equal(ours->function, definition_find("wait4"));
	assert_int_not_equal(*slot, held);
	assert_int_equal(is_protected(slot), was_protected);
	assert_true(is_protected((const void *)*slot));
}
