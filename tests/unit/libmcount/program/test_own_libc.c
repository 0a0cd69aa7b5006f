/*
 * Calls of the probe are bound to the C library. The probe's module and the C library are
 * simulated: tests/unit/meson.build gives the linker's symbols of the probe other names.
 */
#include "libmcount/program/own_libc.h"

#include <dlfcn.h>
#include <gnu/libc-version.h>
#include <link.h>
#include <sys/mman.h>

#include "libmcount/program/loaded.h"
#include "utils/base/compiler.h"
#include "tests/unit/lib/unit.h"

/* Versions of symbols by their hashes. */
#define OLD   0x100
#define NEW   0x200
#define OTHER 0x300

/* Numbers of the versions in each module. No table defines NONE. */
enum {
	OUR_OTHER = 4,
	OUR_OLD,
	OUR_NEW,
	LIBC_OLD,
	LIBC_NEW,
	NONE
};
#define HIDDEN 0x8000

enum {
	ONE = 1,
	TWO,
	OWN,
	VARIABLE,
	PLAIN,
	MISSING,
	MPROTECT,
	NR_SYMBOLS
};

static const char names[] = "\0one\0two\0own\0variable\0plain\0missing\0mprotect";

/* A module with its tables. Addresses in the tables are counted from the beginning of the struct. */
struct module {
	ElfW(Ehdr) elf;
	ElfW(Phdr) segments[3];
	ElfW(Sym) symbols[NR_SYMBOLS + 1];
	ElfW(Half) versions[NR_SYMBOLS + 1];
	char names[sizeof(names)];
	struct {
		uint32_t nr_buckets, first, nr_blooms, shift;
		ElfW(Addr) bloom;
		uint32_t bucket;
		uint32_t chain[NR_SYMBOLS];
	} hash;
	ElfW(Verdef) defined[2];
	ElfW(Verneed) needed[2];
	ElfW(Vernaux) needs[4];
	ElfW(Rela) rela[6];
	ElfW(Rela) plt[3];
	char functions[NR_SYMBOLS + 1]; /* only their addresses are used, for comparisons */
	void *slots[9];
};

/* The names by which own_libc.c knows the probe's module and its dynamic section. */
struct module simulated_elf __attribute__((aligned(4096)));
ElfW(Dyn) simulated_dynamic[12];

static struct module libc;
static ElfW(Dyn) libc_dynamic[8];

static struct dl_phdr_info modules[3];
static ElfW(Phdr) segments[3][3];
static int nr_modules;

/* Takes the place of libc's function, since the program's own comes first. */
int dl_iterate_phdr(int (*fn)(struct dl_phdr_info *info, size_t size, void *arg), void *arg)
{
	static int (*next)(int (*)(struct dl_phdr_info *, size_t, void *), void *);
	int ret = 0;

	if (!nr_modules) {
		if (!next)
			*(void **)&next = dlsym(RTLD_NEXT, "dl_iterate_phdr");
		return next(fn, arg);
	}
	for (int i = 0; i < nr_modules && !ret; i++)
		ret = fn(&modules[i], sizeof(modules[i]), arg);
	return ret;
}

static unsigned nr_protects;
static struct {
	uintptr_t start;
	size_t bytes;
	int access;
} protects[4];
static int protect_result;

static int note_protect(void *start, size_t bytes, int access)
{
	assert_true(nr_protects < ARRAY_SIZE(protects));
	protects[nr_protects].start = (uintptr_t)start;
	protects[nr_protects].bytes = bytes;
	protects[nr_protects++].access = access;
	return protect_result;
}

static void add_symbol(struct module *m, unsigned number, unsigned as, ElfW(Half) version,
		       unsigned type)
{
	unsigned at = 0;

	for (unsigned i = 0; i < as; i++)
		at += strlen(names + at) + 1;
	m->symbols[number].st_name = at;
	m->symbols[number].st_info = ELF64_ST_INFO(STB_GLOBAL, type);
	m->symbols[number].st_value = (uintptr_t)&m->functions[number] - (uintptr_t)m;
	m->symbols[number].st_shndx = m == &libc ? 1 : SHN_UNDEF;
	m->versions[number] = version;
	memcpy(m->names, names, sizeof(names));
}

static void begin_libc(void)
{
	const ElfW(Dyn) dynamic[] = {
		{ DT_SYMTAB, { (uintptr_t)libc.symbols } },
		{ DT_STRTAB, { (uintptr_t)libc.names } },
		{ DT_GNU_HASH, { (uintptr_t)&libc.hash } },
		{ DT_VERSYM, { (uintptr_t)libc.versions } },
		{ DT_VERDEF, { (uintptr_t)libc.defined } },
		{ DT_NULL, { 0 } },
	};

	memset(&libc, 0, sizeof(libc));
	add_symbol(&libc, 1, ONE, LIBC_NEW, STT_FUNC);
	add_symbol(&libc, 2, ONE, LIBC_OLD | HIDDEN, STT_FUNC);
	add_symbol(&libc, 3, TWO, LIBC_NEW, STT_FUNC);
	add_symbol(&libc, 4, OWN, LIBC_OLD, STT_FUNC);
	add_symbol(&libc, 5, VARIABLE, LIBC_OLD, STT_FUNC);
	add_symbol(&libc, 6, PLAIN, NONE, STT_FUNC);
	add_symbol(&libc, 7, MISSING, LIBC_OLD, STT_FUNC);
	add_symbol(&libc, 8, MPROTECT, LIBC_OLD, STT_FUNC);
	libc.symbols[8].st_value = (uintptr_t)note_protect - (uintptr_t)&libc;
	libc.defined[0] = (ElfW(Verdef)){
		.vd_ndx = LIBC_OLD,
		.vd_hash = OLD,
		.vd_next = sizeof(*libc.defined),
	};
	libc.defined[1] = (ElfW(Verdef)){ .vd_ndx = LIBC_NEW, .vd_hash = NEW };
	libc.hash.nr_buckets = libc.hash.first = libc.hash.nr_blooms = libc.hash.bucket = 1;
	libc.hash.bloom = -1;
	for (unsigned i = 0; i < NR_SYMBOLS; i++)
		libc.hash.chain[i] = loaded_hash(libc.names + libc.symbols[i + 1].st_name) & ~1U;
	libc.hash.chain[NR_SYMBOLS - 1] |= 1;
	memcpy(libc_dynamic, dynamic, sizeof(dynamic));
}

static void add_slot(ElfW(Rela) * relocation, unsigned slot, uint64_t symbol)
{
	struct module *ours = &simulated_elf;

	relocation->r_offset = (uintptr_t)&ours->slots[slot] - (uintptr_t)ours;
	relocation->r_info = ELF64_R_INFO(symbol, 1);
}

/*
 * The version OTHER is of another library. The entries after the list of this library do not belong
 * to it.
 */
static void begin_versions(struct module *ours)
{
	ours->needs[0].vna_other = OUR_OTHER;
	ours->needs[0].vna_hash = OTHER;
	ours->needs[0].vna_next = sizeof(*ours->needs);
	ours->needs[1].vna_other = OUR_NEW;
	ours->needs[1].vna_hash = OTHER;
	ours->needs[2].vna_other = OUR_OLD;
	ours->needs[2].vna_hash = OLD;
	ours->needs[2].vna_next = sizeof(*ours->needs);
	ours->needs[3].vna_other = OUR_NEW;
	ours->needs[3].vna_hash = NEW;
	ours->needed[0].vn_cnt = 1;
	ours->needed[0].vn_aux = (char *)&ours->needs[0] - (char *)&ours->needed[0];
	ours->needed[0].vn_next = sizeof(*ours->needed);
	ours->needed[1].vn_cnt = 2;
	ours->needed[1].vn_aux = (char *)&ours->needs[2] - (char *)&ours->needed[1];
}

static void begin_ours(void)
{
	struct module *ours = &simulated_elf;
	const ElfW(Dyn) dynamic[] = {
		{ DT_SYMTAB, { (uintptr_t)ours->symbols } },
		{ DT_STRTAB, { (uintptr_t)ours->names } },
		{ DT_VERSYM, { (uintptr_t)ours->versions } },
		{ DT_VERNEED, { (uintptr_t)ours->needed } },
		{ DT_RELA, { (uintptr_t)ours->rela } },
		{ DT_RELASZ, { sizeof(ours->rela) } },
		{ DT_JMPREL, { (uintptr_t)ours->plt } },
		{ DT_PLTRELSZ, { sizeof(ours->plt) - sizeof(*ours->plt) } },
		{ DT_NULL, { 0 } },
	};

	memset(ours, 0, sizeof(*ours));
	add_symbol(ours, ONE, ONE, OUR_OLD, STT_FUNC);
	add_symbol(ours, TWO, TWO, OUR_NEW | HIDDEN, STT_FUNC);
	add_symbol(ours, OWN, OWN, OUR_OLD, STT_FUNC);
	ours->symbols[OWN].st_shndx = 1;
	add_symbol(ours, VARIABLE, VARIABLE, OUR_OLD, STT_OBJECT);
	ours->symbols[VARIABLE].st_shndx = 1;
	add_symbol(ours, PLAIN, PLAIN, 1, STT_FUNC);
	add_symbol(ours, MISSING, MISSING, OUR_OTHER, STT_FUNC);
	add_symbol(ours, MPROTECT, MPROTECT, OUR_OLD, STT_FUNC);
	add_slot(&ours->rela[0], 0, ONE);
	add_slot(&ours->rela[1], 1, 0);
	add_slot(&ours->rela[2], 2, TWO);
	add_slot(&ours->rela[3], 3, OWN);
	add_slot(&ours->rela[4], 4, VARIABLE);
	add_slot(&ours->rela[5], 5, PLAIN);
	add_slot(&ours->plt[0], 6, MISSING);
	add_slot(&ours->plt[1], 7, MPROTECT);
	/* This entry is beyond the size of the table (DT_PLTRELSZ). */
	add_slot(&ours->plt[2], 8, ONE);
	begin_versions(ours);
	memcpy(simulated_dynamic, dynamic, sizeof(dynamic));

	ours->elf.e_phoff = offsetof(struct module, segments);
	ours->elf.e_phnum = 3;
	ours->segments[1].p_type = PT_LOAD;
	ours->segments[1].p_memsz = 0x70000;
	ours->segments[2].p_type = PT_GNU_RELRO;
	ours->segments[2].p_vaddr = 0x10ff0;
	ours->segments[2].p_memsz = 0x2010;
}

static int setup(void **state)
{
	uintptr_t wanted = (uintptr_t)gnu_get_libc_version;

	begin_libc();
	begin_ours();
	for (int i = 0; i < 3; i++) {
		modules[i] = (struct dl_phdr_info){
			.dlpi_addr = (uintptr_t)&libc,
			.dlpi_phdr = segments[i],
			.dlpi_phnum = 3,
		};
		memset(segments[i], 0, sizeof(segments[i]));
	}
	/* Only the second module has the function. */
	segments[0][1].p_type = PT_LOAD;
	segments[0][1].p_vaddr = wanted + 1 - (uintptr_t)&libc;
	segments[0][1].p_memsz = 4096;
	segments[1][0].p_type = PT_DYNAMIC;
	segments[1][0].p_vaddr = (uintptr_t)libc_dynamic - (uintptr_t)&libc;
	segments[1][2].p_type = PT_LOAD;
	segments[1][2].p_vaddr = wanted - (uintptr_t)&libc;
	segments[1][2].p_memsz = 1;
	segments[2][0] = segments[0][1];
	nr_protects = 0;
	protect_result = 0;
	return 0;
}

static void bind(void)
{
	nr_modules = 3;
	own_libc_bind();
	nr_modules = 0;
}

/* The function that each slot leads to afterwards. NULL: the slot is left alone. */
static const void *const bound[9] = {
	&libc.functions[2],
	NULL,
	&libc.functions[3],
	&simulated_elf.functions[OWN],
	&libc.functions[5],
	&libc.functions[6],
	NULL,
	note_protect,
	NULL,
};

static void expect_slots(const void *const *slots)
{
	for (unsigned i = 0; i < ARRAY_SIZE(bound); i++)
		assert_ptr_equal(simulated_elf.slots[i], slots[i]);
}

static void expect_protects(uintptr_t start, size_t bytes)
{
	assert_int_equal(nr_protects, 2);
	for (unsigned i = 0; i < 2; i++) {
		assert_int_equal(protects[i].start, (uintptr_t)&simulated_elf + start);
		assert_int_equal(protects[i].bytes, bytes);
	}
	assert_int_equal(protects[0].access, PROT_READ | PROT_WRITE);
	assert_int_equal(protects[1].access, PROT_READ);
}

static void expect_nothing(void)
{
	static const void *const none[9];

	bind();
	expect_slots(none);
	assert_int_equal(nr_protects, 0);
}

TEST_WITH(slots_lead_to_the_version_that_was_needed, setup, NULL)
{
	bind();
	expect_slots(bound);
	expect_protects(0x10000, 0x3000);
	/* Nothing is left to be done. */
	nr_protects = 0;
	bind();
	expect_slots(bound);
	assert_int_equal(nr_protects, 0);
}

/* Slots are set if a single one differs, as when a library interposes one function. */
TEST_WITH(one_difference_is_enough, setup, NULL)
{
	for (unsigned i = 0; i < ARRAY_SIZE(bound); i++) {
		memcpy(simulated_elf.slots, bound, sizeof(bound));
		simulated_elf.slots[i] = NULL;
		nr_protects = 0;
		bind();
		expect_slots(bound);
		assert_int_equal(nr_protects, bound[i] ? 2 : 0);
	}
}

TEST_WITH(the_read_only_part_is_of_whole_pages, setup, NULL)
{
	static const struct {
		int segment;
		uint64_t vaddr, memsz, start, bytes;
	} cases[] = {
		{ 0, 0x3000, 0x1000, 0x3000, 0x1000 },
		{ 1, 0x3001, 0x1fff, 0x3000, 0x2000 },
		{ 2, 0x3fff, 0x1001, 0x3000, 0x2000 },
		{ 2, 0x3000, 0x1fff, 0x3000, 0x1000 },
		{ 2, 0x3000, 0xfff, 0, 0 },
		{ 2, 0x3001, 0xffe, 0, 0 },
		{ 3, 0x3000, 0x1000, 0, 0 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		ElfW(Phdr) *ph = simulated_elf.segments;

		setup(NULL);
		memset(ph, 0, sizeof(simulated_elf.segments));
		simulated_elf.elf.e_phnum = MIN(cases[i].segment + 1, 3);
		if (cases[i].segment < 3)
			ph[cases[i].segment] = (ElfW(Phdr)){
				.p_type = PT_GNU_RELRO,
				.p_vaddr = cases[i].vaddr,
				.p_memsz = cases[i].memsz,
			};
		bind();
		expect_slots(bound);
		if (cases[i].bytes)
			expect_protects(cases[i].start, cases[i].bytes);
		else
			assert_int_equal(nr_protects, 0);
	}
}

TEST_WITH(memory_that_stays_read_only, setup, NULL)
{
	static const void *const none[9];

	protect_result = -1;
	bind();
	expect_slots(none);
	assert_int_equal(nr_protects, 1);

	/* The C library does not define mprotect(), or our module has no reference to it. */
	setup(NULL);
	libc.symbols[8].st_shndx = SHN_UNDEF;
	expect_nothing();
	setup(NULL);
	simulated_elf.plt[1].r_info = ELF64_R_INFO(ONE, 1);
	expect_nothing();
}

TEST_WITH(tables_that_are_missing, setup, NULL)
{
	for (unsigned i = 2; i <= 4; i++) {
		setup(NULL);
		libc_dynamic[i].d_tag = DT_DEBUG;
		expect_nothing();
	}
	for (unsigned i = 2; i <= 3; i++) {
		setup(NULL);
		simulated_dynamic[i].d_tag = DT_DEBUG;
		expect_nothing();
	}
}

TEST_WITH(a_c_library_that_is_not_found, setup, NULL)
{
	/* The function lies after the end of the library's segment. */
	segments[1][2].p_memsz = 0;
	expect_nothing();
	setup(NULL);
	segments[1][2].p_type = PT_NOTE;
	expect_nothing();
	/* The first module that has the function has no dynamic section. */
	setup(NULL);
	memcpy(segments[0], segments[1], sizeof(segments[0]));
	segments[0][0].p_type = PT_NOTE;
	expect_nothing();
}
