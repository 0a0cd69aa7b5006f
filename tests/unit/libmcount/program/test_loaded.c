/* Functions of the C library are found by its hash table, in each version. */
#include "libmcount/program/loaded.h"

#include <dlfcn.h>
#include <string.h>

#include "tests/unit/lib/unit.h"

static int find_libc(struct dl_phdr_info *info, size_t size, void *arg)
{
	if (!strstr(info->dlpi_name, "/libc.so"))
		return 0;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *ph = &info->dlpi_phdr[i];

		if (ph->p_type != PT_DYNAMIC)
			continue;
		loaded_read(arg, (const void *)(info->dlpi_addr + ph->p_vaddr), info->dlpi_addr);
		return 1;
	}
	return 0;
}

static struct loaded libc_module(void)
{
	struct loaded libc = { 0 };

	assert_int_equal(dl_iterate_phdr(find_libc, &libc), 1);
	assert_non_null(libc.hash);
	return libc;
}

static bool takes_default(const struct loaded *m, uint32_t index, const void *arg)
{
	return !(m->versions[index] & 0x8000);
}

static uint32_t find(const struct loaded *libc, const char *name, bool is_data)
{
	struct loaded_name wanted = { name, loaded_hash(name), is_data };

	return loaded_find(libc, &wanted, takes_default, NULL);
}

static bool takes_none(const struct loaded *m, uint32_t index, const void *arg)
{
	unsigned *asked = (unsigned *)arg;

	(*asked)++;
	return false;
}

/*
 * The expected addresses come from libc itself: a sanitizer interposes functions with these names.
 */
TEST(test_functions)
{
	static const char *const names[] = { "isatty", "qsort", "strlen", "memcpy" };
	struct loaded libc = libc_module();
	void *handle = dlopen("libc.so.6", RTLD_NOW | RTLD_NOLOAD);

	assert_non_null(handle);
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		uint32_t index = find(&libc, names[i], false);

		assert_int_not_equal(index, 0);
		assert_ptr_equal((void *)loaded_address(&libc, index), dlsym(handle, names[i]));
	}
	dlclose(handle);
}

/* glibc has two versions of memcpy(), and both are offered. Data and unknown names are not. */
TEST(test_offered)
{
	struct loaded libc = libc_module();
	static const struct {
		const char *name;
		unsigned versions;
	} names[] = {
		{ "memcpy", 2 }, { "isatty", 1 }, { "environ", 0 }, { "no_such", 0 }, { "", 0 }
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		unsigned asked = 0;

		struct loaded_name wanted = { names[i].name, loaded_hash(names[i].name), false };

		assert_int_equal(loaded_find(&libc, &wanted, takes_none, &asked), 0);
		assert_int_equal(asked, names[i].versions);
	}
	assert_int_not_equal(find(&libc, "environ", true), 0);
	assert_int_equal(find(&libc, "isatty", true), 0);
}

TEST(test_same)
{
	assert_true(loaded_is_same("", ""));
	assert_true(loaded_is_same("abc", "abc"));
	assert_false(loaded_is_same("abc", "ab"));
	assert_false(loaded_is_same("ab", "abc"));
	assert_false(loaded_is_same("abd", "abc"));
}
