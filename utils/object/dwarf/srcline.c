/* Source lines of single instructions (see srcline.h). */
#include "utils/object/dwarf/srcline.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <stdlib.h>
#include <string.h>

#include "utils/object/build_id.h"
#include "utils/object/dwarf/debug_file.h"
#include "utils/object/dwarf/dwarf_alt.h"
#include "utils/object/dwarf/dwarf_type.h"
#include "utils/object/elf_file.h"

struct srcline {
	struct elf_file file;
	struct elf_file debug;
	struct dwarf_alt alt;
	Dwarf *dwarf;
};

static bool open_files(struct srcline *lines, const char *path, const char *build_id)
{
	char hex[BUILD_ID_HEX_SIZE];
	struct elf_section sec;
	struct elf_file *from = &lines->file;

	if (elf_file_open(&lines->file, path, NULL) < 0)
		return false;
	elf_build_id(&lines->file, hex);
	if (strcmp(hex, build_id) != 0)
		return false;
	if (!elf_section_by_name(&lines->file, ".debug_line", &sec) || !sec.data) {
		if (!debug_file_open_or_fetch(&lines->file, path, &lines->debug))
			return false;
		from = &lines->debug;
	}
	lines->dwarf = dwarf_begin_elf(from->elf, DWARF_C_READ, NULL);
	return lines->dwarf && dwarf_alt_open(&lines->alt, lines->dwarf);
}

struct srcline *srcline_open(const char *path, const char *build_id)
{
	struct srcline *lines = malloc(sizeof(*lines));

	if (!lines)
		return NULL;
	*lines = (struct srcline){
		.file = ELF_FILE_CLOSED,
		.debug = ELF_FILE_CLOSED,
		.alt = DWARF_ALT_CLOSED,
	};
	if (!open_files(lines, path, build_id)) {
		srcline_close(lines);
		return NULL;
	}
	return lines;
}

void srcline_close(struct srcline *lines)
{
	if (!lines)
		return;
	if (lines->dwarf)
		dwarf_end(lines->dwarf);
	dwarf_alt_close(&lines->alt);
	elf_file_close(&lines->debug);
	elf_file_close(&lines->file);
	free(lines);
}

/*
 * Find the unit that has @addr. dwarf_addrdie() cannot find this unit without a table of address
 * ranges, which clang does not write. So this function checks each unit. The last argument of
 * dwarf_get_units() is NULL: no split units. To return split units, dwarf_get_units() would open
 * any file that the program names. If such a file is a FIFO, dwarf_get_units() would block.
 */
static bool find_unit(Dwarf *dwarf, uint64_t addr, Dwarf_Die *unit)
{
	Dwarf_CU *cu = NULL;
	Dwarf_Half version;
	uint8_t type;

	while (dwarf_get_units(dwarf, cu, &cu, &version, &type, unit, NULL) == 0) {
		/* A split unit has its line table in its skeleton. */
		if ((type == DW_UT_compile || type == DW_UT_skeleton) &&
		    dwarf_haspc(unit, addr) == 1)
			return true;
	}
	return false;
}

bool srcline_put(struct srcline *lines, uint64_t addr, struct strbuf *out)
{
	Dwarf_Die unit;
	Dwarf_Line *line;
	const char *file;
	int number;

	if (!lines || !find_unit(lines->dwarf, addr + lines->file.base, &unit))
		return false;
	line = dwarf_getsrc_die(&unit, addr + lines->file.base);
	file = line ? dwarf_linesrc(line, NULL, NULL) : NULL;
	if (!file || dwarf_lineno(line, &number) < 0)
		return false;
	strbuf_addf(out, "%s:%d", dwarf_shown_file(&unit, file), number);
	return true;
}
