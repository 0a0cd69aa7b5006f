/*
 * Library functions that look at their return address see the module of the caller, and their
 * results come back.
 */
#include "libmcount/program/caller.h"

#include <dlfcn.h>
#include <link.h>
#include <pthread.h>

#include "libmcount/hot/old_returns.h"
#include "tests/unit/lib/probe/pair.h"
#include "tests/unit/lib/unit.h"
#include "utils/base/compiler.h"

static const void *seen_return;
static const void *seen_a;
static uint64_t seen_b;

NOINLINE static void *look_at_it(const void *a, uint64_t b)
{
	seen_return = __builtin_return_address(0);
	seen_a = a;
	seen_b = b;
	return (char *)a + b;
}

/*
 * The module that has @address begins at @base.
 */
struct module {
	uint64_t address;
	uint64_t base;
	bool is_code;
};

static int find(struct dl_phdr_info *info, size_t size, void *arg)
{
	struct module *m = arg;

	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *ph = &info->dlpi_phdr[i];

		if (ph->p_type == PT_LOAD &&
		    m->address - info->dlpi_addr - ph->p_vaddr < ph->p_memsz) {
			m->base = info->dlpi_addr;
			m->is_code = ph->p_flags & PF_X;
			return 1;
		}
	}
	return 0;
}

static struct module module_of(const void *address)
{
	struct module m = { .address = (uint64_t)address };

	assert_int_equal(dl_iterate_phdr(find, &m), 1);
	return m;
}

TEST(the_function_returns_into_the_module_of_its_caller)
{
	/* One call from libc, one from this program. */
	const void *const callers[] = { dlsym(RTLD_NEXT, "qsort"), (const void *)module_of };
	char text[8];

	for (unsigned i = 0; i < 2; i++) {
		seen_return = NULL;
		assert_ptr_equal(caller_pretend((void *)look_at_it, text, 5, callers[i], 0),
				 text + 5);
		assert_ptr_equal(seen_a, text);
		assert_int_equal(seen_b, 5);
		assert_int_equal(module_of(seen_return).base, module_of(callers[i]).base);
		assert_true(module_of(seen_return).is_code);
	}
}

/* For code outside of all modules, no caller is pretended. */
TEST(code_of_no_module_is_as_good_as_ours)
{
	static const uint64_t nowhere[] = { 0, 4096, UINT64_MAX };
	const char text[] = "a";

	for (unsigned i = 0; i < ARRAY_SIZE(nowhere); i++) {
		assert_ptr_equal(
			caller_pretend((void *)look_at_it, text, 0, (const void *)nowhere[i], 0),
			text);
		assert_int_equal(module_of(seen_return).base,
				 module_of((void *)arch_return_trampoline).base);
	}
	/* Bytes that cannot be executed are no code, in any module. */
	assert_non_null(caller_pretend((void *)look_at_it, text, 0, &seen_a, 0));
	assert_int_equal(module_of(seen_return).base,
			 module_of((void *)arch_return_trampoline).base);
}

/* A stub calls caller_call() with a jump, so its return address is that of the program's call. */
TEST(a_call_that_is_not_recorded_has_its_caller)
{
	struct call_site site = { .target = (uint64_t)look_at_it };
	const char text[] = "ab";

	seen_return = NULL;
	assert_ptr_equal(caller_call(text, 1, &site, 0), text + 1);
	assert_ptr_equal(seen_a, text);
	assert_int_equal(seen_b, 1);
	assert_int_equal(module_of(seen_return).base, module_of((void *)module_of).base);
	assert_true(module_of(seen_return).is_code);
	/* Without a caller, the function would return to other code, which is the probe's own. */
	const void *of_nobody;

	caller_pretend((void *)look_at_it, text, 0, NULL, 0);
	of_nobody = seen_return;
	caller_call(text, 0, &site, 0);
	assert_ptr_not_equal(seen_return, of_nobody);
}

/* --- return addresses of frames that were given up --- */

TEST(what_was_given_up_is_found)
{
	assert_int_equal(old_returns_get(0x1000), 0);
	for (uint64_t i = 1; i <= 1000; i++)
		old_returns_put(i * 8, i);
	for (uint64_t i = 1; i <= 1000; i++)
		assert_int_equal(old_returns_get(i * 8), i);
	/* If a slot had several return addresses, the newest one is found. */
	old_returns_put(80, 4711);
	assert_int_equal(old_returns_get(80), 4711);
	assert_int_equal(old_returns_get(88), 11);
	assert_int_equal(old_returns_get(8 * 1001), 0);
}

#define SLOTS	32
#define WRITERS 2
#define ROUNDS	300000

/* Slots with the same first place in the table. */
static uint64_t rivals[SLOTS];

static void find_rivals(void)
{
	unsigned nr = 0;

	for (uint64_t slot = 0x100000; nr < SLOTS; slot += 8) {
		if ((slot >> 3) * 0x9e3779b97f4a7c15ULL >> 48 == 4711)
			rivals[nr++] = slot;
	}
}

/* Puts the address of each slot, and gets it again. Returns how often another address was found. */
static void *put_rivals(void *arg)
{
	uintptr_t first = (uintptr_t)arg;
	uintptr_t nr_bad = 0;

	for (unsigned round = 0; round < ROUNDS; round++) {
		uint64_t slot = rivals[(first + round * WRITERS) % SLOTS];
		uint64_t ret;

		old_returns_put(slot, slot + 3);
		ret = old_returns_get(slot);
		nr_bad += ret && ret != slot + 3;
	}
	return (void *)nr_bad;
}

/* Several threads write to the same places of the table. No slot gets another slot's address. */
TEST(addresses_of_several_threads_are_each_the_right_one)
{
	pthread_t writers[WRITERS];
	void *nr_bad;

	find_rivals();
	for (uintptr_t i = 0; i < WRITERS; i++)
		assert_int_equal(pthread_create(&writers[i], NULL, put_rivals, (void *)i), 0);
	for (unsigned i = 0; i < WRITERS; i++) {
		assert_int_equal(pthread_join(writers[i], &nr_bad), 0);
		assert_null(nr_bad);
	}
	for (unsigned i = 0; i < SLOTS; i++) {
		uint64_t ret = old_returns_get(rivals[i]);

		assert_true(!ret || ret == rivals[i] + 3);
	}
}
