/* cmds/libraries.c: the dynamic linkers that are run. */
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
