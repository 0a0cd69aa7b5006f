/* cmds/libraries.c: the dynamic linkers that are run. */
#include <link.h>
#include <stdio.h>
#include <sys/stat.h>

#include "cmds/libraries.h"
#include "tests/unit/lib/elf_image.h"
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

/* Finds the libraries of a program that names @linker. */
static void find_libraries(const char *linker, struct strbuf *paths)
{
	struct elf_image img cleanup_image = { .has_interp = true };
	char path[64];

	image_section(&img, ".interp", (Elf64_Shdr){ .sh_type = SHT_PROGBITS }, linker,
		      strlen(linker) + 1);
	image_finish(&img);

	int fd = image_file(img.data.data, img.data.len, path);

	assert_int_equal(libraries_of(path, paths), 0);
	close(fd);
}

TEST_WITH(linkers_of_strangers, make_linker, remove_linker)
{
	struct strbuf paths cleanup_strbuf = { 0 };
	char detour[PATH_MAX + 64];

	/* The file of a stranger must not choose a program to run. */
	find_libraries(own_file(OWN_LINKER), &paths);
	assert_int_equal(paths.len, 0);
	snprintf(detour, sizeof(detour), "/lib/..%s", own_file(OWN_LINKER));
	find_libraries(detour, &paths);
	assert_int_equal(paths.len, 0);

	/* A path that is not absolute begins in the working directory. */
	assert_int_equal(chdir(top), 0);
	find_libraries(&OWN_LINKER[1], &paths);
	assert_int_equal(paths.len, 0);
	find_libraries("." OWN_LINKER, &paths);
	assert_int_equal(paths.len, 0);
	assert_int_equal(chdir("/"), 0);
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

/* Finds the libraries of the program @bytes, which is written to the place of the linker. */
static size_t bytes_of_libraries(const struct strbuf *bytes)
{
	struct strbuf paths cleanup_strbuf = { 0 };
	FILE *file = fopen(own_file(OWN_LINKER), "w");

	assert_non_null(file);
	assert_int_equal(fwrite(bytes->data, 1, bytes->len, file), bytes->len);
	assert_int_equal(fclose(file), 0);
	assert_int_equal(libraries_of(own_file(OWN_LINKER), &paths), 0);
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
