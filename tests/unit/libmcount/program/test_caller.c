/*
 * Library functions that look at their return address see the module of the caller, and their
 * results come back.
 */
#include "libmcount/program/caller.h"

#include <dlfcn.h>
#include <link.h>

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
	/* Bytes that may not be executed are no code, in any module. */
	assert_non_null(caller_pretend((void *)look_at_it, text, 0, &seen_a, 0));
	assert_int_equal(module_of(seen_return).base,
			 module_of((void *)arch_return_trampoline).base);
}

/* --- return addresses of frames that were given up --- */

TEST(what_was_given_up_is_found)
{
	assert_int_equal(old_returns_get(0x1000), 0);
	for (uint64_t i = 1; i <= 1000; i++)
		old_returns_put(i * 8, i);
	for (uint64_t i = 1; i <= 1000; i++)
		assert_int_equal(old_returns_get(i * 8), i);
	/* The newest call with a slot counts. */
	old_returns_put(80, 4711);
	assert_int_equal(old_returns_get(80), 4711);
	assert_int_equal(old_returns_get(88), 11);
	assert_int_equal(old_returns_get(8 * 1001), 0);
}
