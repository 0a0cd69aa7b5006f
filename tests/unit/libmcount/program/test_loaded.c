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

/* --- a module that the test makes --- */

static uint64_t chosen(void)
{
	return 0x7777;
}

enum {
	NONE,
	ALPHA,
	ALPHA_AGAIN,
	ALPHA_WITHOUT_TYPE,
	BETA,
	GAMMA,
	DELTA,
	SYMBOLS
};

static const char names[] = "\0alpha\0beta\0gamma\0delta";

/* All symbols are in the chain of the only bucket. */
static struct {
	uint32_t nr_buckets, first, nr_blooms, shift;
	uint64_t bloom;
	uint32_t bucket;
	uint32_t chain[SYMBOLS - 1];
} hashes;

static ElfW(Sym) symbols[SYMBOLS];

static struct loaded make_module(void)
{
	static const struct {
		uint32_t name;
		unsigned type;
		uint16_t section;
	} all[SYMBOLS] = {
		[ALPHA] = { 1, STT_FUNC, 1 },
		[ALPHA_AGAIN] = { 1, STT_FUNC, 1 },
		[ALPHA_WITHOUT_TYPE] = { 1, STT_NOTYPE, 1 },
		[BETA] = { 7, STT_OBJECT, 1 },
		[GAMMA] = { 12, STT_FUNC, SHN_UNDEF },
		[DELTA] = { 18, STT_GNU_IFUNC, 1 },
	};

	memset(&hashes, 0, sizeof(hashes));
	hashes.nr_buckets = hashes.first = hashes.nr_blooms = hashes.bucket = 1;
	hashes.shift = 6;
	hashes.bloom = UINT64_MAX;
	for (unsigned i = 1; i < SYMBOLS; i++) {
		symbols[i] = (ElfW(Sym)){
			.st_name = all[i].name,
			.st_info = ELF64_ST_INFO(STB_GLOBAL, all[i].type),
			.st_shndx = all[i].section,
			.st_value = 0x100 * i,
		};
		hashes.chain[i - 1] = loaded_hash(names + all[i].name) & ~1U;
	}
	hashes.chain[SYMBOLS - 2] |= 1;
	return (struct loaded){
		.base = 0x10000,
		.symbols = symbols,
		.names = names,
		.hash = &hashes.nr_buckets,
	};
}

static bool takes_all(const struct loaded *m, uint32_t index, const void *arg)
{
	return true;
}

static bool takes_one(const struct loaded *m, uint32_t index, const void *arg)
{
	return index == *(const uint32_t *)arg;
}

static uint32_t find_made(const struct loaded *m, const char *name, bool is_data)
{
	struct loaded_name wanted = { name, loaded_hash(name), is_data };

	return loaded_find(m, &wanted, takes_all, NULL);
}

TEST(symbols_of_a_module)
{
	const uint32_t again = ALPHA_AGAIN;
	const uint32_t typeless = ALPHA_WITHOUT_TYPE;
	struct loaded_name alpha = { "alpha", loaded_hash("alpha"), false };
	struct loaded m = make_module();

	assert_int_equal(find_made(&m, "alpha", false), ALPHA);
	assert_int_equal(find_made(&m, "alpha", true), 0);
	assert_int_equal(loaded_find(&m, &alpha, takes_one, &again), ALPHA_AGAIN);
	assert_int_equal(loaded_find(&m, &alpha, takes_one, &typeless), 0);
	assert_int_equal(find_made(&m, "beta", true), BETA);
	assert_int_equal(find_made(&m, "beta", false), 0);
	/* The module uses gamma(), and does not define it. */
	assert_int_equal(find_made(&m, "gamma", false), 0);
	assert_int_equal(find_made(&m, "delta", false), DELTA);
	assert_int_equal(find_made(&m, "delta", true), 0);
	assert_int_equal(find_made(&m, "omega", false), 0);
	assert_int_equal(loaded_address(&m, ALPHA), 0x10100);
	assert_int_equal(loaded_address(&m, BETA), 0x10400);
	symbols[DELTA].st_value = (uint64_t)chosen - m.base;
	assert_int_equal(loaded_address(&m, DELTA), 0x7777);
}

TEST(ends_of_chains)
{
	const uint32_t again = ALPHA_AGAIN;
	struct loaded_name alpha = { "alpha", loaded_hash("alpha"), false };
	struct loaded m = make_module();

	hashes.chain[ALPHA - 1] |= 1;
	assert_int_equal(loaded_find(&m, &alpha, takes_one, &again), 0);
	assert_int_equal(find_made(&m, "alpha", false), ALPHA);
	assert_int_equal(find_made(&m, "delta", false), 0);
	/* The chain begins with a later symbol. */
	m = make_module();
	hashes.bucket = DELTA;
	assert_int_equal(find_made(&m, "alpha", false), 0);
	assert_int_equal(find_made(&m, "delta", false), DELTA);
	/* An empty bucket, and one with a symbol that is in no chain. */
	m = make_module();
	hashes.bucket = 0;
	assert_int_equal(find_made(&m, "alpha", false), 0);
	m = make_module();
	hashes.first = 2;
	assert_int_equal(find_made(&m, "alpha", false), 0);
	/* Another hash in the chain. */
	m = make_module();
	hashes.chain[DELTA - 1] ^= 4;
	assert_int_equal(find_made(&m, "delta", false), 0);
}

/* Both bits of a name must be set in the filter. An empty table has no symbol. */
TEST(names_that_are_not_there)
{
	uint32_t hash = loaded_hash("alpha");
	struct loaded m = make_module();

	hashes.bloom = ~(1ULL << hash % 64);
	assert_int_equal(find_made(&m, "alpha", false), 0);
	hashes.bloom = ~(1ULL << (hash >> 6) % 64);
	assert_int_equal(find_made(&m, "alpha", false), 0);
	hashes.bloom = 1ULL << hash % 64 | 1ULL << (hash >> 6) % 64;
	assert_int_equal(find_made(&m, "alpha", false), ALPHA);
	hashes.nr_buckets = 0;
	assert_int_equal(find_made(&m, "alpha", false), 0);
	m = make_module();
	hashes.nr_blooms = 0;
	assert_int_equal(find_made(&m, "alpha", false), 0);
}

/* Addresses below that of the module are offsets. Sizes are never moved. */
TEST(sections_are_read)
{
	static const ElfW(Dyn) dynamic[] = {
		{ DT_SYMTAB, { 0x10000 } }, { DT_STRTAB, { 0xffff } }, { DT_GNU_HASH, { 0x20000 } },
		{ DT_VERSYM, { 0x100 } },   { DT_RELASZ, { 0x300 } },  { DT_PLTRELSZ, { 0x20008 } },
		{ DT_JMPREL, { 0x400 } },   { DT_SONAME, { 0x500 } },  { DT_NULL, { 0 } },
		{ DT_RELA, { 0x600 } },
	};
	struct loaded m;

	memset(&m, 0xff, sizeof(m));
	loaded_read(&m, dynamic, 0x10000);
	assert_int_equal(m.base, 0x10000);
	assert_int_equal(m.symbols, 0x10000);
	assert_int_equal(m.names, 0x1ffff);
	assert_int_equal(m.hash, 0x20000);
	assert_int_equal(m.versions, 0x10100);
	assert_int_equal(m.plt, 0x10400);
	assert_int_equal(m.rela_bytes, 0x300);
	assert_int_equal(m.plt_bytes, 0x20008);
	assert_null(m.rela);
	assert_null(m.defined);
	assert_null(m.needed);
}
