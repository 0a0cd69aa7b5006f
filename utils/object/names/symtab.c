/* The symbols of a module (see symtab.h). */
#include "utils/object/names/symtab.h"

#include <errno.h>
#include <string.h>

#include "utils/base/compiler.h"
#include "utils/object/build_id.h"
#include "utils/object/dwarf/debug_file.h"
#include "utils/object/elf_file.h"
#include "utils/object/names/plt.h"
#include "utils/object/names/xz.h"

#define DEBUGDATA_BYTES_MAX   (256U << 20)
/* The largest unpacked size per packed byte. Symbols and names are compressed to about a fifth. */
#define DEBUGDATA_PER_BYTE    16
#define DEBUGDATA_LEAST_BYTES (4U << 20)

/*
 * Returns the character that stands for the symbol's type in .sym files (doc/formats/symbols.md,
 * "Symbol types"), or 0 for a symbol that is left out.
 */
static char symbol_type(const GElf_Sym *sym)
{
	unsigned binding = GELF_ST_BIND(sym->st_info);

	switch (GELF_ST_TYPE(sym->st_info)) {
	case STT_FUNC:
	case STT_GNU_IFUNC:
		return binding == STB_LOCAL ? 't' : binding == STB_WEAK ? 'w' : 'T';
	case STT_OBJECT:
		return binding == STB_LOCAL    ? 'd'
		       : binding == STB_WEAK   ? 'v'
		       : binding == STB_GLOBAL ? 'D'
					       : 'u';
	default:
		return 0;
	}
}

/* True when the symbol has an address in the running program. */
static bool is_in_memory(const GElf_Sym *sym, uint32_t type, const struct elf_loaded *loaded)
{
	/*
	 * Dynamic symbols always have an address. Their section numbers may be wrong: tools that
	 * remove sections do not correct them.
	 */
	if (type == SHT_DYNSYM)
		return sym->st_shndx != SHN_UNDEF && sym->st_shndx != SHN_ABS;
	return elf_section_is_loaded(loaded, sym->st_shndx);
}

/* Returns the length of a name without its version: linkers write "optarg@GLIBC_2.2.5". */
static size_t length_without_version(const char *name, size_t len)
{
	const char *at = memchr(name + 1, '@', len - 1);

	return at ? (size_t)(at - name) : len;
}

/*
 * Add the symbols of a section.
 *
 * @base: the base address of the module. If @file is a debug file, the program headers of @file may
 *        be wrong, and give another base address
 */
static int add_section(const struct elf_file *file, uint32_t type, uint64_t base,
		       struct symtab *out)
{
	struct elf_symbols symbols;
	size_t known_bytes = out->name_bytes;
	struct elf_loaded loaded cleanup(elf_loaded_deinit) = { 0 };

	if (!elf_symbols_open(file, type, &symbols))
		return 0;
	if (elf_loaded_init(&loaded, file) < 0)
		return -ENOMEM;
	for (size_t i = 1; i < symbols.nr; i++) {
		GElf_Sym sym;
		const char *name;
		size_t len;

		if (!elf_symbol(&symbols, i, &sym, &name, &len) || len == 0)
			continue;

		char kind = symbol_type(&sym);

		if (!kind || sym.st_size == 0 || sym.st_value < base ||
		    !is_in_memory(&sym, type, &loaded))
			continue;

		int rc = symtab_add(out, sym.st_value - base, sym.st_size, kind, name,
				    length_without_version(name, len));

		if (rc < 0)
			return rc;
		if (elf_has_too_long_names(file, out->name_bytes - known_bytes))
			return -EFBIG;
	}
	return 0;
}

/*
 * Add the symbols of "mini debug info" (Fedora and other distributions). Mini debug info is a
 * compressed ELF file with the symbols of functions that .dynsym lacks.
 */
static int add_debugdata(const struct elf_file *file, struct symtab *out)
{
	struct elf_section sec;
	struct strbuf image cleanup_strbuf = { 0 };
	struct elf_file inner cleanup_elf_file = ELF_FILE_CLOSED;

	if (!elf_section_by_name(file, ".gnu_debugdata", &sec) || !sec.data)
		return 0;

	uint64_t bytes_max = DEBUGDATA_LEAST_BYTES +
			     DEBUGDATA_PER_BYTE * (uint64_t)sec.data->d_size;
	int rc = xz_decode(sec.data->d_buf, sec.data->d_size,
			   MIN(bytes_max, (uint64_t)DEBUGDATA_BYTES_MAX), &image);

	if (rc == -ENOMEM)
		return rc;
	/*
	 * Ignore a section .gnu_debugdata that is damaged, too large, or not supported by this
	 * build. The symbols of .dynsym are valid without the section.
	 */
	if (rc < 0 || elf_file_open_image(&inner, image.data, image.len) < 0)
		return 0;
	return add_section(&inner, SHT_SYMTAB, file->base, out);
}

static int add_named(const struct elf_file *file, const char *path, struct symtab *out)
{
	struct elf_file debug cleanup_elf_file = ELF_FILE_CLOSED;
	int rc = add_section(file, SHT_SYMTAB, file->base, out);

	if (rc < 0 || out->nr)
		return rc;
	if (debug_file_open(file, path, &debug))
		rc = add_section(&debug, SHT_SYMTAB, file->base, out);
	if (rc == 0 && out->nr == 0)
		rc = add_debugdata(file, out);
	return rc < 0 ? rc : add_section(file, SHT_DYNSYM, file->base, out);
}

static int load_elf_symbols(const struct elf_file *file, const char *path, struct symtab *out,
			    struct uft_err *err)
{
	int rc = add_named(file, path, out);

	if (rc == 0)
		rc = plt_add_symbols(file, out);
	if (rc == 0)
		rc = symtab_sort(out);
	if (rc < 0) {
		symtab_deinit(out);
		if (rc == -EFBIG)
			return elf_too_long_names(path, err);
		return err_set_errno(err, rc, "cannot load the symbols of '%s'", path);
	}
	return 0;
}

int object_symtab_load(const char *path, struct symtab *out, struct uft_err *err)
{
	struct elf_file file cleanup_elf_file = ELF_FILE_CLOSED;
	int rc = elf_file_open(&file, path, err);

	return rc < 0 ? rc : load_elf_symbols(&file, path, out, err);
}

int object_symtab_load_same(const char *path, const char *build_id, struct symtab *out,
			    struct uft_err *err)
{
	struct elf_file file cleanup_elf_file = ELF_FILE_CLOSED;
	char hex[BUILD_ID_HEX_SIZE];
	int rc = elf_file_open(&file, path, NULL);

	if (rc == 0) {
		elf_build_id(&file, hex);
		rc = strcmp(hex, build_id) == 0 ? load_elf_symbols(&file, path, out, NULL)
						: -ESTALE;
	}
	if (rc == -ENOMEM)
		return err_set_errno(err, rc, "cannot load the symbols of '%s'", path);
	return rc == 0;
}
