/* Debug information that several programs share (see dwarf_alt.h). */
#include "utils/object/dwarf/dwarf_alt.h"

#include <elfutils/libdwelf.h>
#include <endian.h>
#include <stddef.h>

#include "utils/object/dwarf/debug_file.h"

/*
 * An ELF file with two sections of debug information, each of one byte. One section is not enough:
 * libdw refuses a file that has only .debug_str (dwarf_begin_elf.c, valid_p()).
 */
struct empty {
	Elf64_Ehdr head;
	Elf64_Shdr sections[4];
	char names[40];
};

#define NAMES	      "\0.debug_str\0.debug_line\0.shstrtab"
#define STR_NAME_AT   1
#define LINE_NAME_AT  12
#define NAMES_NAME_AT 24
#define NAMES_AT      offsetof(struct empty, names)

static const struct empty empty = {
	.head = {
		.e_ident = { ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64,
			     __BYTE_ORDER == __LITTLE_ENDIAN ? ELFDATA2LSB : ELFDATA2MSB,
			     EV_CURRENT },
		.e_type = ET_REL,
		.e_version = EV_CURRENT,
		.e_ehsize = sizeof(Elf64_Ehdr),
		.e_shoff = offsetof(struct empty, sections),
		.e_shentsize = sizeof(Elf64_Shdr),
		.e_shnum = 4,
		.e_shstrndx = 3,
	},
	.sections = {
		{ .sh_type = SHT_NULL },
		{
			.sh_name = STR_NAME_AT,
			.sh_type = SHT_PROGBITS,
			.sh_offset = NAMES_AT,
			.sh_size = 1,
		},
		{
			.sh_name = LINE_NAME_AT,
			.sh_type = SHT_PROGBITS,
			.sh_offset = NAMES_AT,
			.sh_size = 1,
		},
		{
			.sh_name = NAMES_NAME_AT,
			.sh_type = SHT_STRTAB,
			.sh_offset = NAMES_AT,
			.sh_size = sizeof(NAMES),
		},
	},
	.names = NAMES,
};

static Elf *open_elf(struct dwarf_alt *alt, const char *name, const uint8_t *id, size_t id_bytes)
{
	if (debug_file_open_shared(name, id, id_bytes, &alt->file))
		return alt->file.elf;
	/* elf_memory() does not take a pointer to const, but libelf does not change @empty. */
	alt->elf = elf_memory((char *)(uintptr_t)&empty, sizeof(empty));
	return alt->elf;
}

bool dwarf_alt_open(struct dwarf_alt *alt, Dwarf *dwarf)
{
	const char *name = NULL;
	const void *id = NULL;
	ssize_t id_bytes = dwelf_dwarf_gnu_debugaltlink(dwarf, &name, &id);

	/* If .gnu_debugaltlink is missing or damaged, libdw opens no shared file. */
	if (id_bytes <= 0)
		return true;
	alt->dwarf = dwarf_begin_elf(open_elf(alt, name, id, id_bytes), DWARF_C_READ, NULL);
	if (!alt->dwarf)
		return false;
	/*
	 * The alternate file may itself name an alternate file, which libdw would open. To prevent
	 * this, the file is set as its own alternate file.
	 */
	dwarf_setalt(alt->dwarf, alt->dwarf);
	dwarf_setalt(dwarf, alt->dwarf);
	return true;
}

void dwarf_alt_close(struct dwarf_alt *alt)
{
	if (alt->dwarf)
		dwarf_end(alt->dwarf);
	elf_end(alt->elf);
	elf_file_close(&alt->file);
	*alt = (struct dwarf_alt)DWARF_ALT_CLOSED;
}
