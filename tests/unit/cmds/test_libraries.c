/* cmds/libraries.c: the dynamic linkers that are run. */
#include <link.h>
#include <stdio.h>
#include <sys/stat.h>

#include "cmds/libraries.h"
#include "tests/unit/lib/own_folder.h"
#include "tests/unit/lib/unit.h"

#define OWN_LINKER "/ld-linux-own"

/* A program's dynamic linker that prints a library, as if it had the option --list. */
static int make_linker(void **state)
{
	(void)state;
	if (own_folder_make() < 0)
		return -1;

	FILE *file = fopen(own_file(OWN_LINKER), "w");

	if (!file)
		return -1;
	fprintf(file, "#!/bin/sh\necho 'libown.so => %s/libown.so (0x1000)'\n", top);
	fclose(file);
	return chmod(own_file(OWN_LINKER), 0700);
}

static int remove_linker(void **state)
{
	(void)state;
	unlink(own_file(OWN_LINKER));
	unlink(own_file("/file"));
	return rmdir(top);
}

/* Reads the program of this test. */
static void read_own_program(struct strbuf *bytes)
{
	FILE *file = fopen("/proc/self/exe", "r");
	char buffer[4096];
	size_t len;

	assert_non_null(file);
	while ((len = fread(buffer, 1, sizeof(buffer), file)) > 0)
		strbuf_add(bytes, buffer, len);
	fclose(file);
	assert_false(strbuf_oom(bytes));
}

/* Finds the libraries of the program @bytes. Returns the length of their paths. */
static size_t bytes_of_libraries(const struct strbuf *bytes)
{
	struct strbuf paths cleanup_strbuf = { 0 };
	FILE *file = fopen(own_file("/file"), "w");

	assert_non_null(file);
	assert_int_equal(fwrite(bytes->data, 1, bytes->len, file), bytes->len);
	assert_int_equal(fclose(file), 0);

	int ret = libraries_of(own_file("/file"), &paths);

	/* Each of these programs names a linker. If there are no libraries, it was not run. */
	assert_int_equal(ret, paths.len ? 0 : 1);
	return paths.len;
}

/* Returns the first segment of the type @type in the program. */
static void *segment_of(struct strbuf *bytes, uint32_t type)
{
	ElfW(Ehdr) *head = (ElfW(Ehdr) *)bytes->data;
	ElfW(Phdr) *segments = (ElfW(Phdr) *)(bytes->data + head->e_phoff);
	int i = 0;

	while (i < head->e_phnum && segments[i].p_type != type)
		i++;
	assert_true(i < head->e_phnum);
	return &segments[i];
}

static void hide_sections(struct strbuf *bytes)
{
	ElfW(Ehdr) *head = (ElfW(Ehdr) *)bytes->data;

	head->e_shoff = 0;
	head->e_shnum = head->e_shstrndx = 0;
}

/*
 * Finds the libraries of the program of this test, changed so that it names @linker. NULL: its own
 * linker, at another place of the file.
 */
static size_t bytes_with(const char *linker, bool has_sections)
{
	struct strbuf bytes cleanup_strbuf = { 0 };

	read_own_program(&bytes);

	ElfW(Phdr) *interp = segment_of(&bytes, PT_INTERP);
	char own[PATH_MAX];
	const size_t end = bytes.len;

	snprintf(own, sizeof(own), "%s", bytes.data + interp->p_offset);
	interp->p_offset = end;
	interp->p_filesz = strlen(linker ?: own) + 1;
	if (!has_sections)
		hide_sections(&bytes);
	strbuf_add(&bytes, linker ?: own, strlen(linker ?: own) + 1);
	assert_false(strbuf_oom(&bytes));
	return bytes_of_libraries(&bytes);
}

static size_t bytes_with_linker(const char *linker)
{
	return bytes_with(linker, true);
}

/* The kernel and the linker do not look at sections, and a program need not have any. */
TEST_WITH(programs_without_sections, make_linker, remove_linker)
{
	if (!bytes_with_linker(NULL))
		skip_because("the dynamic linker of this system is not asked");
	assert_int_equal(bytes_with(NULL, false), bytes_with_linker(NULL));
	assert_int_equal(bytes_with(own_file(OWN_LINKER), false), 0);
	assert_int_equal(bytes_with("", false), 0);
}

/* The file of a stranger must not choose a program to run. */
TEST_WITH(linkers_of_strangers, make_linker, remove_linker)
{
	char detour[PATH_MAX + 64];

	if (!bytes_with_linker(NULL))
		skip_because("the dynamic linker of this system is not asked");
	assert_int_equal(bytes_with_linker(own_file(OWN_LINKER)), 0);
	snprintf(detour, sizeof(detour), "/lib/../../../..%s", own_file(OWN_LINKER));
	assert_int_equal(bytes_with_linker(detour), 0);

	/* A path that is not absolute begins in the working directory. */
	assert_int_equal(chdir(top), 0);
	assert_int_equal(bytes_with_linker(&OWN_LINKER[1]), 0);
	assert_int_equal(bytes_with_linker("." OWN_LINKER), 0);
	assert_int_equal(chdir("/"), 0);
}

/* The linker would run the code of a library that the program names in DT_AUDIT. */
TEST_WITH(libraries_that_audit, make_linker, remove_linker)
{
	struct strbuf bytes cleanup_strbuf = { 0 };

	read_own_program(&bytes);
	if (!bytes_of_libraries(&bytes))
		skip_because("the dynamic linker of this system is not asked");

	ElfW(Phdr) *segment = segment_of(&bytes, PT_DYNAMIC);
	ElfW(Phdr) *other = segment_of(&bytes, PT_NOTE);
	ElfW(Dyn) *entry = (ElfW(Dyn) *)(bytes.data + segment->p_offset);

	while (entry->d_tag != DT_DEBUG && entry->d_tag != DT_NULL)
		entry++;
	assert_int_equal(entry->d_tag, DT_DEBUG);
	entry->d_tag = DT_AUDIT;
	assert_int_equal(bytes_of_libraries(&bytes), 0);
	entry->d_tag = DT_DEPAUDIT;
	assert_int_equal(bytes_of_libraries(&bytes), 0);

	/* The table in the file is good, and that in memory is in another place. */
	entry->d_tag = DT_DEBUG;
	assert_true(bytes_of_libraries(&bytes) > 0);
	segment->p_vaddr += sizeof(*entry);
	assert_int_equal(bytes_of_libraries(&bytes), 0);
	segment->p_vaddr -= sizeof(*entry);

	/* Another segment comes to the same memory. */
	other->p_type = PT_LOAD;
	other->p_vaddr = segment->p_vaddr;
	assert_int_equal(bytes_of_libraries(&bytes), 0);
}

/* Returns the last loaded segment of the program. */
static ElfW(Phdr) * last_load(struct strbuf *bytes)
{
	ElfW(Ehdr) *head = (ElfW(Ehdr) *)bytes->data;
	ElfW(Phdr) *segments = (ElfW(Phdr) *)(bytes->data + head->e_phoff);
	int i = head->e_phnum - 1;

	while (i > 0 && segments[i].p_type != PT_LOAD)
		i--;
	assert_true(i > 0);
	return &segments[i];
}

/*
 * The linker would see another dynamic table in memory than the one in the file. The segments do
 * not overlap.
 */
TEST_WITH(a_table_that_is_not_the_mapped_one, make_linker, remove_linker)
{
	const uint64_t page = sysconf(_SC_PAGESIZE);
	struct strbuf bytes cleanup_strbuf = { 0 };

	read_own_program(&bytes);
	if (!bytes_of_libraries(&bytes))
		skip_because("the dynamic linker of this system is not asked");

	ElfW(Phdr) *table = segment_of(&bytes, PT_DYNAMIC);
	ElfW(Phdr) *load = last_load(&bytes);
	const ElfW(Phdr) good_table = *table;
	const ElfW(Phdr) good_load = *load;
	const uint64_t before = table->p_vaddr - load->p_vaddr;

	if (load[-1].p_type != PT_LOAD || table->p_vaddr < load->p_vaddr ||
	    before + table->p_filesz > load->p_filesz || table->p_vaddr % page == 0)
		skip_because("the linker has placed the table elsewhere");

	/* No segment has the table, or only memory that is not in the file. */
	table->p_vaddr = ALIGN_UP(load->p_vaddr + load->p_memsz, page);
	assert_int_equal(bytes_of_libraries(&bytes), 0);
	*table = good_table;
	load->p_filesz = before + table->p_filesz - 1;
	assert_int_equal(bytes_of_libraries(&bytes), 0);
	*load = good_load;

	/*
	 * A segment begins with the table, and the segment before it ends in the page in which the
	 * table begins.
	 */
	load->p_vaddr += before;
	load->p_offset += before;
	load->p_filesz -= before;
	load->p_memsz -= before;
	assert_true(bytes_of_libraries(&bytes) > 0);
	load[-1].p_memsz = table->p_vaddr - load[-1].p_vaddr;
	assert_int_equal(bytes_of_libraries(&bytes), 0);
	load[-1].p_memsz -= table->p_vaddr % page;
	assert_true(bytes_of_libraries(&bytes) > 0);
}

/*
 * The linker maps the segments of a program at their addresses. A segment in an odd place could
 * replace the linker's own code, so the linker is not run for such a program.
 */
TEST_WITH(segments_in_odd_places, make_linker, remove_linker)
{
	struct strbuf bytes cleanup_strbuf = { 0 };

	read_own_program(&bytes);
	if (!bytes_of_libraries(&bytes))
		skip_because("the dynamic linker of this system is not asked");

	ElfW(Ehdr) *head = (ElfW(Ehdr) *)bytes.data;
	ElfW(Phdr) *first = segment_of(&bytes, PT_LOAD);
	ElfW(Phdr) *text = first + 1;
	ElfW(Phdr) *last = last_load(&bytes);
	const ElfW(Phdr) good_text = *text;
	const ElfW(Phdr) good_last = *last;
	const ElfW(Half) type = head->e_type;

	assert_true(text->p_type == PT_LOAD && text <= last);

	/* A segment begins within the one before it, or comes before that one. */
	text->p_vaddr = first->p_vaddr + first->p_memsz - 1;
	assert_int_equal(bytes_of_libraries(&bytes), 0);
	*text = good_text;
	first->p_vaddr += last->p_vaddr + last->p_memsz;
	assert_int_equal(bytes_of_libraries(&bytes), 0);
	first->p_vaddr -= last->p_vaddr + last->p_memsz;

	/* More is in the file than in memory. */
	text->p_filesz = text->p_memsz + 1;
	assert_int_equal(bytes_of_libraries(&bytes), 0);
	*text = good_text;

	/* The last segment ends too far away, or at no address at all. */
	last->p_memsz = SIZE_MAX / 2;
	assert_int_equal(bytes_of_libraries(&bytes), 0);
	last->p_memsz = -good_last.p_vaddr;
	assert_int_equal(bytes_of_libraries(&bytes), 0);
	*last = good_last;

	/*
	 * The memory of the linker comes after that of a program with fixed addresses. A large
	 * segment would reach it.
	 */
	head->e_type = ET_EXEC;
	last->p_memsz = SIZE_MAX / 2;
	assert_int_equal(bytes_of_libraries(&bytes), 0);
	*last = good_last;

	/* The linker does not map files of other types. */
	head->e_type = ET_REL;
	assert_int_equal(bytes_of_libraries(&bytes), 0);
	head->e_type = type;
	assert_true(bytes_of_libraries(&bytes) > 0);
}
