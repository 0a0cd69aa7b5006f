/* Library call stubs: the PLT entries of a module as symbols (see plt.h). */
#include "utils/object/plt.h"

#include <errno.h>
#include <string.h>

#ifndef R_RISCV_JUMP_SLOT
#define R_RISCV_JUMP_SLOT 5
#endif

/*
 * What the psABIs of the machines say. @skip: the bytes of the first, special PLT entry;
 * @glob_dat: 0 where calls through the GOT are not looked for
 */
static const struct plt_machine {
	uint16_t machine;
	uint8_t skip;
	uint8_t entry;
	uint32_t jump_slot;
	uint32_t glob_dat;
} machines[] = {
	{ EM_X86_64, 16, 16, R_X86_64_JUMP_SLOT, R_X86_64_GLOB_DAT },
	{ EM_386, 16, 16, R_386_JMP_SLOT, 0 },
	{ EM_ARM, 20, 12, R_ARM_JUMP_SLOT, 0 },
	{ EM_AARCH64, 32, 16, R_AARCH64_JUMP_SLOT, 0 },
	{ EM_RISCV, 32, 16, R_RISCV_JUMP_SLOT, 0 },
};

/* Where entry number N of the PLT is. */
struct plt_layout {
	uint64_t first;
	uint64_t entry;
	uint64_t end;
};

static const struct plt_machine *find_machine(const struct elf_file *file)
{
	for (size_t i = 0; i < ARRAY_SIZE(machines); i++) {
		if (machines[i].machine == file->head.e_machine)
			return &machines[i];
	}
	return NULL;
}

/* mold's first PLT entry is twice as long; it signs its work in .comment. */
static bool is_made_by_mold(const struct elf_file *file)
{
	struct elf_section sec;

	if (!elf_section_by_name(file, ".comment", &sec) || !sec.data)
		return false;

	const char *text = sec.data->d_buf;
	const char *end = text + sec.data->d_size;

	while (text < end) {
		size_t len = strnlen(text, end - text);

		if (len >= 5 && memcmp(text, "mold ", 5) == 0)
			return true;
		text += len + 1;
	}
	return false;
}

static bool find_layout(const struct elf_file *file, const struct plt_machine *machine,
			struct plt_layout *plt)
{
	struct elf_section sec;
	uint64_t skip = 0;

	*plt = (struct plt_layout){ .entry = machine->entry };
	if (elf_section_by_name(file, ".plt.sec", &sec)) {
		if (sec.head.sh_entsize)
			plt->entry = sec.head.sh_entsize;
	} else if (elf_section_by_name(file, ".plt", &sec)) {
		skip = machine->skip;
		if (machine->machine == EM_X86_64 && is_made_by_mold(file))
			skip = 32;
	} else {
		return false;
	}
	if (skip > sec.head.sh_size ||
	    __builtin_add_overflow(sec.head.sh_addr, sec.head.sh_size, &plt->end))
		return false;
	plt->first = sec.head.sh_addr + skip;
	return true;
}

static bool get_reloc(const struct elf_section *sec, size_t index, GElf_Rela *reloc)
{
	GElf_Rel rel;

	if (sec->head.sh_type == SHT_RELA)
		return gelf_getrela(sec->data, index, reloc) != NULL;
	if (sec->head.sh_type != SHT_REL || !gelf_getrel(sec->data, index, &rel))
		return false;
	*reloc = (GElf_Rela){ .r_offset = rel.r_offset, .r_info = rel.r_info };
	return true;
}

static size_t count_relocs(const struct elf_section *sec)
{
	return sec->data && sec->head.sh_entsize ? sec->data->d_size / sec->head.sh_entsize : 0;
}

static int add_symbol(const struct elf_file *file, uint64_t addr, uint64_t size, const char *name,
		      size_t name_len, struct symtab *out)
{
	if (addr < file->base)
		return 0;
	return symtab_add(out, addr - file->base, size, 'P', name, name_len);
}

/* Entries stand in the order of their relocations; those without a name (IRELATIVE) take a place. */
static int add_plt_entries(const struct elf_file *file, const struct plt_machine *machine,
			   const struct elf_section *relocs, const struct elf_symbols *symbols,
			   struct symtab *out)
{
	struct plt_layout plt;
	GElf_Rela reloc;

	if (!find_layout(file, machine, &plt))
		return 0;
	for (size_t i = 0; i < count_relocs(relocs) && get_reloc(relocs, i, &reloc); i++) {
		uint64_t addr = plt.first + i * plt.entry;
		GElf_Sym sym;
		const char *name;
		size_t len;

		if (addr + plt.entry > plt.end)
			break;
		if (GELF_R_TYPE(reloc.r_info) != machine->jump_slot ||
		    !elf_symbol(symbols, GELF_R_SYM(reloc.r_info), &sym, &name, &len) || len == 0)
			continue;

		int rc = add_symbol(file, addr, plt.entry, name, len, out);

		if (rc < 0)
			return rc;
	}
	return 0;
}

static bool is_function(const GElf_Sym *sym)
{
	unsigned type = GELF_ST_TYPE(sym->st_info);

	return type == STT_FUNC || type == STT_GNU_IFUNC;
}

/* The address of the relocation entry stands for the call, which has no stub of its own. */
static int add_got_calls(const struct elf_file *file, const struct plt_machine *machine,
			 const struct elf_section *relocs, const struct elf_symbols *symbols,
			 struct symtab *out)
{
	GElf_Rela reloc;

	for (size_t i = 0; i < count_relocs(relocs) && get_reloc(relocs, i, &reloc); i++) {
		GElf_Sym sym;
		const char *name;
		size_t len;

		if (GELF_R_TYPE(reloc.r_info) != machine->glob_dat ||
		    !elf_symbol(symbols, GELF_R_SYM(reloc.r_info), &sym, &name, &len) || len == 0 ||
		    !is_function(&sym))
			continue;

		int rc = add_symbol(file, relocs->head.sh_addr + i * relocs->head.sh_entsize,
				    relocs->head.sh_entsize, name, len, out);

		if (rc < 0)
			return rc;
	}
	return 0;
}

int plt_add_symbols(const struct elf_file *file, struct symtab *out)
{
	const struct plt_machine *machine = find_machine(file);
	struct elf_section relocs;
	struct elf_symbols symbols;
	int rc = 0;

	if (!machine || !elf_symbols_open(file, SHT_DYNSYM, &symbols))
		return 0;
	if (elf_section_by_name(file, ".rela.plt", &relocs) ||
	    elf_section_by_name(file, ".rel.plt", &relocs))
		rc = add_plt_entries(file, machine, &relocs, &symbols, out);
	if (rc == 0 && machine->glob_dat && elf_section_by_name(file, ".rela.dyn", &relocs))
		rc = add_got_calls(file, machine, &relocs, &symbols, out);
	return rc;
}
