/* Kinds of programs: ELF or script, static or dynamic, and the instrumentation that they use. */
#include "tests/unit/lib/elf_image.h"

#include <errno.h>

#include "utils/object/build_id.h"
#include "utils/object/program.h"

static struct object_program program;

static void check_bytes(const void *data, size_t len)
{
	char path[64];
	int fd cleanup_fd = image_file(data, len, path);

	assert_true(fd >= 0);
	assert_int_equal(object_check_program(path, &program, NULL), 0);
}

static void make_program(struct elf_image *img, const char *name)
{
	struct image_symbols s = { 0 };

	image_symbol(&s, "puts", 0, 0, ELF64_ST_INFO(STB_GLOBAL, STT_FUNC), SHN_UNDEF);
	image_symbol(&s, name, 0, 0, ELF64_ST_INFO(STB_GLOBAL, STT_NOTYPE), SHN_UNDEF);
	image_symbol_sections(img, &s, SHT_DYNSYM);
	image_finish(img);
	check_bytes(img->data.data, img->data.len);
}

TEST(instrumentation)
{
	struct elf_image pg cleanup_image = { .has_interp = true };
	struct elf_image fentry cleanup_image = { .has_interp = true };
	struct elf_image cyg cleanup_image = { .has_interp = true };
	struct elf_image none cleanup_image = { 0 };

	make_program(&pg, "_mcount");
	assert_true(program.has_mcount && !program.has_fentry && !program.has_cyg_profile);
	make_program(&fentry, "__fentry__");
	assert_true(program.has_fentry && !program.has_mcount);
	assert_int_equal(program.kind, OBJECT_ELF);
	assert_int_equal(program.type, ET_EXEC);
	assert_int_equal(program.machine, EM_X86_64);
	assert_int_equal(program.elf_class, ELFCLASS64);
	assert_int_equal(program.endian, ELFDATA2LSB);
	assert_false(program.is_static);
	make_program(&cyg, "__cyg_profile_func_enter");
	assert_true(program.has_cyg_profile);
	make_program(&none, "mcount_like");
	assert_true(program.is_static);
	assert_false(program.has_mcount || program.has_fentry || program.has_cyg_profile);
}

TEST(scripts)
{
	static const char script[] = "#! /usr/bin/env python3\nprint()\n";
	char big[10000];

	check_bytes(script, strlen(script));
	assert_int_equal(program.kind, OBJECT_SCRIPT);
	/* The interpreter is the program that env(1) runs, if the line shows that program. */
	assert_string_equal(program.interpreter, "python3");
	check_bytes("#!/usr/bin/env -S python3 -s\n", 29);
	assert_string_equal(program.interpreter, "python3");
	check_bytes("#!/usr/bin/env A=1 python3\n", 27);
	assert_string_equal(program.interpreter, "/usr/bin/env");
	check_bytes("#!/usr/bin/env\n", 15);
	assert_string_equal(program.interpreter, "/usr/bin/env");
	check_bytes("#!/bin/sh", 9);
	assert_string_equal(program.interpreter, "/bin/sh");
	check_bytes("#!\n", 3);
	assert_int_equal(program.kind, OBJECT_OTHER);
	check_bytes("hello", 5);
	assert_int_equal(program.kind, OBJECT_OTHER);
	check_bytes("", 0);
	assert_int_equal(program.kind, OBJECT_OTHER);
	memset(big, 'x', sizeof(big));
	memcpy(big, "#!", 2);
	check_bytes(big, sizeof(big));
	assert_int_equal(program.kind, OBJECT_OTHER);
	assert_int_equal(object_check_program("/absent", &program, NULL), -ENOENT);
}

TEST(build_ids)
{
	static const char note[] = "\4\0\0\0\3\0\0\0\1\0\0\0GNU\0\7\0\0\0"
				   "\4\0\0\0\4\0\0\0\3\0\0\0GNU\0\1\xab\xcd\xef";
	struct elf_image img cleanup_image = { 0 };
	struct elf_image none cleanup_image = { 0 };
	char path[64];
	char hex[BUILD_ID_HEX_SIZE];

	image_section(&img, ".note", (Elf64_Shdr){ .sh_type = SHT_NOTE }, note, sizeof(note) - 1);
	image_finish(&img);
	int fd cleanup_fd = image_file(img.data.data, img.data.len, path);

	assert_true(fd >= 0);
	assert_int_equal(object_build_id(path, hex, NULL), 0);
	assert_string_equal(hex, "01abcdef");

	image_section(&none, ".note", (Elf64_Shdr){ .sh_type = SHT_NOTE }, note, 34);
	image_finish(&none);
	int fd2 cleanup_fd = image_file(none.data.data, none.data.len, path);

	assert_true(fd2 >= 0);
	assert_int_equal(object_build_id(path, hex, NULL), 0);
	assert_string_equal(hex, "");
	assert_int_equal(object_build_id("/dev/null", hex, NULL), -ENOEXEC);
}

/* A file may have a thousand sections of notes that are each as large as the file. */
TEST(large_notes_are_skipped)
{
	static const char note[] = "\4\0\0\0\4\0\0\0\3\0\0\0GNU\0\1\xab\xcd\xef";
	static char large[2U << 20];
	struct elf_image img cleanup_image = { 0 };
	char path[64];
	char hex[BUILD_ID_HEX_SIZE];

	memcpy(large, note, sizeof(note) - 1);
	large[sizeof(note) - 2] = 0x11;
	image_section(&img, ".note", (Elf64_Shdr){ .sh_type = SHT_NOTE }, large, sizeof(large));
	image_section(&img, ".note", (Elf64_Shdr){ .sh_type = SHT_NOTE }, note, sizeof(note) - 1);
	image_finish(&img);
	int fd cleanup_fd = image_file(img.data.data, img.data.len, path);

	assert_true(fd >= 0);
	assert_int_equal(object_build_id(path, hex, NULL), 0);
	assert_string_equal(hex, "01abcdef");
}
