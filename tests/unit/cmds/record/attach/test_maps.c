/*
 * Unit tests of cmds/record/attach/maps.c: lines of /proc/self/maps, and modules made by hand in a
 * file that stands for the memory of a process.
 */
#include "tests/unit/lib/unit.h"

#include <elf.h>
#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>

#include "cmds/record/attach/maps.h"
#include "utils/base/compiler.h"

/* --- lines --- */

static struct mapping lines[] = {
	{ 0x1000, 0x2000, false, (char *)"/usr/bin/libc.so/prog" },
	{ 0x2000, 0x3000, true, (char *)"/usr/bin/libc.so/prog" },
	{ 0x3000, 0x4000, true, (char *)"" },
	{ 0x5000, 0x6000, false, (char *)"libc.so.6" },
	{ 0x6000, 0x7000, false, (char *)"/lib/libc-2.so" },
	{ 0x7000, 0x8000, false, (char *)"/lib/libc.so.6" },
	{ 0x8000, 0x9000, true, (char *)"/lib/libc.so.6" },
	{ 0x9000, 0xa000, true, (char *)"/lib/libc.so.6" },
	{ 0xa000, 0xb000, false, (char *)"/lib/libdata.so" },
};
static const struct maps maps = { lines, ARRAY_SIZE(lines) };

TEST(an_address_is_found_between_start_and_end)
{
	assert_ptr_equal(maps_find(&maps, 0x1000), &lines[0]);
	assert_ptr_equal(maps_find(&maps, 0x1fff), &lines[0]);
	assert_ptr_equal(maps_find(&maps, 0x2000), &lines[1]);
	assert_ptr_equal(maps_find(&maps, 0xafff), &lines[8]);
	assert_null(maps_find(&maps, 0xfff));
	assert_null(maps_find(&maps, 0x4000));
	assert_null(maps_find(&maps, 0x4fff));
	assert_null(maps_find(&maps, 0xb000));
	assert_null(maps_find(&(struct maps){ 0 }, 0x1000));
}

TEST(a_module_is_the_first_file_whose_own_name_begins_so)
{
	const char *const libc[] = { "libc.so", NULL };
	const char *const either[] = { "libnone", "libc.so.6", "libc-", NULL };
	const char *const none[] = { "libx", NULL };
	const char *const last[] = { "libdata.so", NULL };
	const char *const nothing[] = { NULL };

	assert_ptr_equal(maps_module(&maps, libc), &lines[5]);
	assert_ptr_equal(maps_module(&maps, either), &lines[4]);
	assert_ptr_equal(maps_module(&maps, last), &lines[8]);
	assert_null(maps_module(&maps, none));
	assert_null(maps_module(&maps, nothing));
}

TEST(the_code_of_a_module_is_its_own_first_executable_line)
{
	assert_ptr_equal(maps_code(&maps, &lines[0]), &lines[1]);
	assert_ptr_equal(maps_code(&maps, &lines[5]), &lines[6]);
	assert_ptr_equal(maps_code(&maps, &lines[7]), &lines[7]);
	assert_null(maps_code(&maps, &lines[4]));
	assert_null(maps_code(&maps, &lines[8]));
}

TEST(the_lines_of_a_process_are_read)
{
	struct maps own = { 0 };
	const size_t len = 3 * sysconf(_SC_PAGESIZE);
	int fd = memfd_create("with a blank", MFD_CLOEXEC);

	assert_true(fd >= 0);
	assert_int_equal(ftruncate(fd, len), 0);

	char *data = mmap(NULL, len, PROT_READ, MAP_PRIVATE, fd, 0);

	assert_ptr_not_equal(data, MAP_FAILED);
	/* The second reading replaces the lines of the first one. */
	assert_int_equal(maps_read(&own, getpid()), 0);
	assert_int_equal(maps_read(&own, getpid()), 0);

	const struct mapping *m = maps_find(&own, (uintptr_t)data);
	const struct mapping *code = maps_find(&own, (uintptr_t)maps_read);
	const struct mapping *stack = maps_find(&own, (uintptr_t)&own);

	assert_non_null(m);
	assert_int_equal(m->start, (uintptr_t)data);
	assert_int_equal(m->end, (uintptr_t)data + len);
	assert_false(m->is_code);
	assert_string_equal(m->path, "/memfd:with a blank (deleted)");
	assert_non_null(code);
	assert_true(code->is_code);
	assert_int_equal(code->path[0], '/');
	assert_non_null(stack);
	assert_false(stack->is_code);
	for (size_t i = 1; i < own.nr; i++)
		assert_true(own.lines[i].start >= own.lines[i - 1].end);
	munmap(data, len);
	close(fd);
	maps_deinit(&own);
	assert_null(own.lines);
	assert_int_equal(own.nr, 0);
}

TEST(memory_without_a_file_has_an_empty_path)
{
	struct maps own = { 0 };
	const size_t len = sysconf(_SC_PAGESIZE);
	void *data = mmap(NULL, len, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	assert_ptr_not_equal(data, MAP_FAILED);
	assert_int_equal(maps_read(&own, getpid()), 0);

	const struct mapping *m = maps_find(&own, (uintptr_t)data);

	assert_non_null(m);
	assert_string_equal(m->path, "");
	munmap(data, len);
	maps_deinit(&own);
}

TEST(a_process_that_is_not_there_is_an_error)
{
	struct maps own = { 0 };

	assert_int_equal(maps_read(&own, getpid()), 0);
	assert_int_equal(maps_read(&own, 0x7fffffff), -ENOENT);
	assert_int_equal(own.nr, 0);
	assert_null(own.lines);
}

/* --- symbols by name --- */

/*
 * A module in memory, as the dynamic linker leaves it.
 *
 * @at: address of its first page; @vaddr: the address of this page in the file
 * @is_relocated: the addresses in its dynamic section are those of memory, not of the file
 */
struct module {
	uint64_t at;
	uint64_t vaddr;
	bool is_relocated;
	uint16_t type;
	Elf64_Ehdr head;
	Elf64_Phdr phdrs[66];
	unsigned nr_phdrs;
	Elf64_Dyn dyns[258];
	unsigned nr_dyns;
	Elf64_Sym symbols[5];
};

#define PHDRS_AT   0x200
#define DYNS_AT	   0x2000
#define SYMBOLS_AT 0x4000
#define STRINGS_AT (SYMBOLS_AT + sizeof(((struct module *)0)->symbols))
#define BYTES	   0x6000

static const char names[] = "\0wanted\0not_here\0other\0zero";

static void add_dyn(struct module *m, int64_t tag, uint64_t value)
{
	m->dyns[m->nr_dyns++] = (Elf64_Dyn){ .d_tag = tag, .d_un.d_ptr = value };
}

/* Make a valid module. */
static struct module make(uint64_t at, uint64_t vaddr, bool is_relocated, uint16_t type)
{
	struct module m = {
		.at = at,
		.vaddr = vaddr,
		.head = { .e_ident = { ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64 },
			  .e_type = type,
			  .e_phoff = PHDRS_AT,
			  .e_phentsize = sizeof(Elf64_Phdr),
			  .e_phnum = 4 },
		.phdrs = { { .p_type = PT_NOTE, .p_vaddr = 8 },
			   { .p_type = PT_LOAD, .p_vaddr = vaddr + 0x5000, .p_memsz = 0x1000 },
			   /* The first page is mapped from its beginning. */
			   { .p_type = PT_LOAD, .p_vaddr = vaddr + 0x10, .p_memsz = 0x4ff0 },
			   { .p_type = PT_DYNAMIC, .p_vaddr = vaddr + DYNS_AT } },
		.symbols = { { 0 },
			     { .st_name = 8, .st_value = vaddr + 0x10, .st_shndx = SHN_UNDEF },
			     { .st_name = 23, .st_value = 0, .st_shndx = 1 },
			     { .st_name = 17, .st_value = vaddr + 0x321, .st_shndx = 1 },
			     { .st_name = 1, .st_value = vaddr + 0x123, .st_shndx = 1 } },
	};
	uint64_t from = is_relocated ? at : vaddr;

	add_dyn(&m, DT_SONAME, 1);
	add_dyn(&m, DT_STRTAB, from + STRINGS_AT);
	add_dyn(&m, DT_STRSZ, sizeof(names));
	add_dyn(&m, DT_SYMTAB, from + SYMBOLS_AT);
	m.phdrs[3].p_memsz = (m.nr_dyns + 1) * sizeof(m.dyns[0]);
	return m;
}

/* Write the module to a file that stands for the memory of a process. */
static struct attached load(const struct module *m)
{
	struct attached w = ATTACHED_CLOSED;

	w.memory_fd = memfd_create("memory", MFD_CLOEXEC);
	assert_true(w.memory_fd >= 0);
	assert_int_equal(pwrite(w.memory_fd, &m->head, sizeof(m->head), m->at), sizeof(m->head));
	assert_int_equal(pwrite(w.memory_fd, m->phdrs, sizeof(m->phdrs), m->at + PHDRS_AT),
			 sizeof(m->phdrs));
	assert_int_equal(pwrite(w.memory_fd, m->dyns, sizeof(m->dyns), m->at + DYNS_AT),
			 sizeof(m->dyns));
	assert_int_equal(pwrite(w.memory_fd, m->symbols, sizeof(m->symbols), m->at + SYMBOLS_AT),
			 sizeof(m->symbols));
	assert_int_equal(pwrite(w.memory_fd, names, sizeof(names), m->at + STRINGS_AT),
			 sizeof(names));
	return w;
}

static uint64_t symbol_of(const struct module *m, const char *name)
{
	struct attached w = load(m);
	uint64_t address = maps_symbol(&w, m->at, name);

	close(w.memory_fd);
	return address;
}

TEST(a_library_has_its_names_where_it_was_loaded)
{
	struct module m = make(0x700000, 0, true, ET_DYN);

	assert_int_equal(symbol_of(&m, "wanted"), 0x700123);
	assert_int_equal(symbol_of(&m, "other"), 0x700321);
	/*
	 * A symbol of another module, an undefined one, one of another type, and a part of a name.
	 */
	assert_int_equal(symbol_of(&m, "not_here"), 0);
	assert_int_equal(symbol_of(&m, "zero"), 0);
	assert_int_equal(symbol_of(&m, "none"), 0);
	assert_int_equal(symbol_of(&m, "want"), 0);
	assert_int_equal(symbol_of(&m, "anted"), 0x0);
}

TEST(addresses_that_were_not_relocated_are_those_of_the_file)
{
	struct module m = make(0x700000, 0, false, ET_DYN);

	assert_int_equal(symbol_of(&m, "wanted"), 0x700123);
}

TEST(a_program_with_a_place_of_its_own_has_its_names_there)
{
	struct module m = make(0x400000, 0x400000, true, ET_EXEC);

	assert_int_equal(symbol_of(&m, "wanted"), 0x400123);
}

/* prelink(8), and linkers with -Ttext-segment, make libraries with a preferred address. */
TEST(a_library_whose_file_names_a_place_is_found_there_and_elsewhere)
{
	struct module there = make(0x400000, 0x400000, true, ET_DYN);
	struct module above = make(0x700000, 0x400000, true, ET_DYN);
	struct module below = make(0x100000, 0x400000, true, ET_DYN);
	struct module unmoved = make(0x700000, 0x400000, false, ET_DYN);
	struct module unmoved_below = make(0x100000, 0x400000, false, ET_DYN);

	assert_int_equal(symbol_of(&there, "wanted"), 0x400123);
	assert_int_equal(symbol_of(&above, "wanted"), 0x700123);
	assert_int_equal(symbol_of(&below, "wanted"), 0x100123);
	assert_int_equal(symbol_of(&unmoved, "wanted"), 0x700123);
	assert_int_equal(symbol_of(&unmoved_below, "wanted"), 0x100123);
}

TEST(what_is_no_elf_file_of_64_bits_has_no_names)
{
	struct module m = make(0x700000, 0, true, ET_DYN);

	m.head.e_ident[0] = 'x';
	assert_int_equal(symbol_of(&m, "wanted"), 0);
	m = make(0x700000, 0, true, ET_DYN);
	m.head.e_ident[3] = 'x';
	assert_int_equal(symbol_of(&m, "wanted"), 0);
	m = make(0x700000, 0, true, ET_DYN);
	m.head.e_ident[EI_CLASS] = ELFCLASS32;
	assert_int_equal(symbol_of(&m, "wanted"), 0);
	m = make(0x700000, 0, true, ET_DYN);
	m.head.e_phentsize++;
	assert_int_equal(symbol_of(&m, "wanted"), 0);
	m.head.e_phentsize -= 2;
	assert_int_equal(symbol_of(&m, "wanted"), 0);
}

TEST(a_module_whose_memory_ends_early_has_no_names)
{
	const struct module m = make(0x700000, 0, true, ET_DYN);
	/*
	 * The memory ends in the header, in the program headers, before the dynamic section, the
	 * symbols or the names, or within a name.
	 */
	const uint64_t ends[] = { 10,	      PHDRS_AT + 4 * sizeof(Elf64_Phdr) - 1,
				  DYNS_AT,    SYMBOLS_AT,
				  STRINGS_AT, STRINGS_AT + 1 };

	for (size_t i = 0; i < ARRAY_SIZE(ends); i++) {
		struct attached w = load(&m);

		assert_int_equal(ftruncate(w.memory_fd, m.at + ends[i]), 0);
		assert_int_equal(maps_symbol(&w, m.at, "wanted"), 0);
		close(w.memory_fd);
	}
	struct attached closed = ATTACHED_CLOSED;

	assert_int_equal(maps_symbol(&closed, m.at, "wanted"), 0);
}

TEST(what_is_behind_a_cut_is_not_missed)
{
	const struct module m = make(0x700000, 0, true, ET_DYN);
	struct attached w = load(&m);

	/* The last name, "zero", is cut off; "other" before it is whole. */
	assert_int_equal(ftruncate(w.memory_fd, m.at + STRINGS_AT + 23), 0);
	assert_int_equal(maps_symbol(&w, m.at, "other"), 0x700321);
	close(w.memory_fd);
}

TEST(a_module_without_a_dynamic_section_has_no_names)
{
	struct module m = make(0x700000, 0, true, ET_DYN);

	m.phdrs[3].p_type = PT_NULL;
	assert_int_equal(symbol_of(&m, "wanted"), 0);
}

TEST(of_64_program_headers_the_last_counts_but_not_a_65th)
{
	struct module m = make(0x700000, 0, true, ET_DYN);

	for (unsigned i = 4; i < 66; i++)
		m.phdrs[i] = (Elf64_Phdr){ .p_type = PT_NOTE };
	m.phdrs[63] = m.phdrs[3];
	m.phdrs[3] = m.phdrs[0];
	m.head.e_phnum = 64;
	assert_int_equal(symbol_of(&m, "wanted"), 0x700123);
	m.phdrs[64] = m.phdrs[63];
	m.phdrs[63] = m.phdrs[0];
	m.head.e_phnum = 65;
	assert_int_equal(symbol_of(&m, "wanted"), 0);
	m.head.e_phnum = 3;
	m.phdrs[3] = m.phdrs[64];
	assert_int_equal(symbol_of(&m, "wanted"), 0);
}

TEST(what_is_behind_the_end_of_the_dynamic_section_does_not_count)
{
	struct module m = make(0x700000, 0, true, ET_DYN);

	/* DT_SYMTAB is the last entry: it is cut off by the size, or by DT_NULL. */
	m.phdrs[3].p_memsz = (m.nr_dyns - 1) * sizeof(m.dyns[0]);
	assert_int_equal(symbol_of(&m, "wanted"), 0);
	m.phdrs[3].p_memsz = m.nr_dyns * sizeof(m.dyns[0]);
	assert_int_equal(symbol_of(&m, "wanted"), 0x700123);
	m.phdrs[3].p_memsz = UINT64_MAX;
	assert_int_equal(symbol_of(&m, "wanted"), 0x700123);
	m.dyns[0].d_tag = DT_NULL;
	assert_int_equal(symbol_of(&m, "wanted"), 0);
}

TEST(of_256_entries_the_last_counts_but_not_a_257th)
{
	struct module m = make(0x700000, 0, true, ET_DYN);
	const Elf64_Dyn symtab = m.dyns[3];

	for (unsigned i = 3; i < 258; i++)
		m.dyns[i] = m.dyns[0];
	m.phdrs[3].p_memsz = sizeof(m.dyns);
	m.dyns[255] = symtab;
	assert_int_equal(symbol_of(&m, "wanted"), 0x700123);
	m.dyns[255] = m.dyns[0];
	m.dyns[256] = symtab;
	assert_int_equal(symbol_of(&m, "wanted"), 0);
}

TEST(names_are_looked_for_behind_the_symbols_only)
{
	struct module m = make(0x700000, 0, true, ET_DYN);

	/*
	 * The dynamic section gives the names the address of the symbols, or a lower one. In the
	 * further cases it lacks one of the three entries about names and symbols.
	 */
	m.dyns[1].d_un.d_ptr = m.dyns[3].d_un.d_ptr;
	assert_int_equal(symbol_of(&m, "wanted"), 0);
	m.dyns[1].d_un.d_ptr = m.dyns[3].d_un.d_ptr - 0x1000;
	assert_int_equal(symbol_of(&m, "wanted"), 0);
	m = make(0x700000, 0, true, ET_DYN);
	m.dyns[1].d_tag = DT_SONAME;
	assert_int_equal(symbol_of(&m, "wanted"), 0);
	m = make(0x700000, 0, true, ET_DYN);
	m.dyns[3].d_tag = DT_SONAME;
	assert_int_equal(symbol_of(&m, "wanted"), 0);
	m = make(0x700000, 0, true, ET_DYN);
	m.dyns[2].d_tag = DT_SONAME;
	assert_int_equal(symbol_of(&m, "wanted"), 0);
}

TEST(a_name_behind_the_end_of_the_names_is_none)
{
	struct module m = make(0x700000, 0, true, ET_DYN);

	m.dyns[2].d_un.d_val = 17; /* the names end before "not_here" does */
	assert_int_equal(symbol_of(&m, "wanted"), 0x700123);
	assert_int_equal(symbol_of(&m, "other"), 0);
	/* Even the empty name has no symbol. */
	assert_int_equal(symbol_of(&m, ""), 0);
	m.symbols[4].st_name = UINT32_MAX;
	assert_int_equal(symbol_of(&m, "wanted"), 0);
	m = make(0x700000, 0, true, ET_DYN);
	m.dyns[2].d_un.d_val = UINT64_MAX;
	assert_int_equal(symbol_of(&m, "wanted"), 0x700123);
}

TEST(the_symbol_in_front_of_the_names_is_the_last)
{
	struct module m = make(0x700000, 0, true, ET_DYN);

	/* The names begin in the place of the last symbol, that of "wanted". */
	m.dyns[1].d_un.d_ptr -= sizeof(Elf64_Sym);
	m.symbols[4] = (Elf64_Sym){ 0 };
	memcpy(&m.symbols[4], "\0wanted", 8);
	m.symbols[3].st_name = 1;
	assert_int_equal(symbol_of(&m, "wanted"), 0x700321);
	m.symbols[3].st_name = 2;
	assert_int_equal(symbol_of(&m, "wanted"), 0);
}
