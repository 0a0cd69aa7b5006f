/* Fuzz target: ELF files, through every reader of utils/object that opens one. */
#include <string.h>

#include "tests/fuzz/fuzz.h"
#include "utils/object/build_id.h"
#include "utils/object/needed.h"
#include "utils/object/names/plt.h"
#include "utils/object/program.h"
#include "utils/object/names/symtab.h"

static void read_plt(const char *path)
{
	struct elf_file file cleanup_elf_file = ELF_FILE_CLOSED;
	struct plt_entries plt cleanup_plt_entries = { 0 };
	struct uft_err err = { 0 };
	int ret = elf_file_open(&file, path, &err);

	fuzz_check_error(ret < 0, &err);
	if (ret < 0)
		return;
	FUZZ_CHECK(plt_entries_load(&file, &plt) == 0);
	plt_is_bypassed(&file, &plt);
	for (size_t i = 0; i < plt.nr; i++)
		FUZZ_CHECK(strlen(plt.entries[i].name) == plt.entries[i].name_len);
}

static void read_symbols(const char *path)
{
	struct symtab tab cleanup_symtab = { 0 };
	struct uft_err err = { 0 };
	int ret = object_symtab_load(path, &tab, &err);

	fuzz_check_error(ret < 0, &err);
	for (size_t i = 0; i < tab.nr; i++) {
		FUZZ_CHECK(i == 0 || tab.syms[i - 1].addr < tab.syms[i].addr);
		FUZZ_CHECK(strlen(tab.syms[i].name) > 0);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char path[PATH_MAX];
	struct object_program program;
	struct strbuf needed cleanup_strbuf = { 0 };
	char build_id[BUILD_ID_HEX_SIZE];
	struct uft_err err = { 0 };

	/* The copy is the debug file of the object, if the object's .gnu_debuglink says so. */
	snprintf(path, sizeof(path), "%s/object", fuzz_empty_dir());
	fuzz_write_file("object", data, size);
	fuzz_write_file("debug", data, size);
	FUZZ_CHECK(object_check_program(path, &program, &err) == 0);
	if (object_build_id(path, build_id, &err) == 0)
		FUZZ_CHECK(strlen(build_id) < BUILD_ID_HEX_SIZE);
	object_needed_load(path, &needed, NULL);
	strbuf_list_has(&needed, "libc.so.6");
	read_plt(path);
	read_symbols(path);
	return 0;
}
