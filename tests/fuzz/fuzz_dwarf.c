/*
 * Fuzz target: debug information through the recorder. The input describes a tree of entries, which
 * becomes a valid object file: only its meaning is wrong. Types contain themselves; entries refer
 * to others of any kind, to the middle of one, or to later siblings. Nesting is deep, lists and
 * names are long, and sizes are huge.
 */
#include <dwarf.h>
#include <elf.h>
#include <string.h>

#include "cmds/record/plan/values/captures.h"
#include "tests/fuzz/fuzz.h"
#include "utils/base/containers/strbuf.h"
#include "utils/format/dbg.h"
#include "utils/object/dwarf/dwarf_info.h"
#include "utils/spec/args/enumdef.h"
#include "utils/spec/args/structdef.h"

#define ENTRIES_MAX 2000
#define DEPTH_MAX   2000
#define REFS_MAX    (4 * ENTRIES_MAX)
#define LONG_NAME   3000
#define CODE	    0x1000 /* the address of the first function */
#define CODE_BYTES  64

/* A place in .debug_info that gets the offset of an entry. */
struct ref {
	size_t at;
	uint16_t entry;
	uint16_t
		shift; /* bytes after the beginning of the entry; an offset with a shift is wrong */
};

struct maker {
	struct fuzz_input in;
	struct strbuf info;
	struct strbuf abbrev;
	uint32_t places[ENTRIES_MAX];
	unsigned nr;
	unsigned depth;
	unsigned nr_funcs;
	struct ref refs[REFS_MAX];
	size_t nr_refs;
};

static void put_le(struct strbuf *out, uint64_t number, unsigned bytes)
{
	for (unsigned i = 0; i < bytes; i++)
		strbuf_addch(out, (char)(number >> 8 * i));
}

static void put_uleb(struct strbuf *out, uint64_t number)
{
	do {
		strbuf_addch(out, (char)((number & 127) | (number > 127 ? 128 : 0)));
		number >>= 7;
	} while (number);
}

static void put_attr(struct maker *m, unsigned name, unsigned form)
{
	put_uleb(&m->abbrev, name);
	put_uleb(&m->abbrev, form);
}

static void put_name(struct maker *m, unsigned attr)
{
	static const char *const names[] = {
		"f",	   "S",	     "basic_string<char, x>",
		"~S",	   "char",   "long double",
		"__cxx11", "std",    "_M_dataplus",
		"x",	   "",	     "a,b",
		"E",	   "S<int>", "<lambda()>",
	};
	uint8_t choice = fuzz_u8(&m->in);
	char text[LONG_NAME + 1] = "";

	put_attr(m, attr, DW_FORM_string);
	if (choice % 16 == 15)
		memset(text, 'n', choice & 128 ? LONG_NAME : 200);
	else
		snprintf(text, sizeof(text), "%s", names[choice % 16]);
	strbuf_add(&m->info, text, strlen(text) + 1);
}

static void put_number(struct maker *m, unsigned attr)
{
	static const uint64_t numbers[] = { 1,	4,     8,   16,		24,	    32,
					    0,	2,     255, UINT32_MAX, UINT64_MAX, 1ULL << 63,
					    10, 65535, 15,  3 };

	put_attr(m, attr, DW_FORM_udata);
	put_uleb(&m->info, numbers[fuzz_u8(&m->in) % 16]);
}

static void put_ref(struct maker *m, unsigned attr)
{
	uint16_t choice = fuzz_u16(&m->in);

	put_attr(m, attr, DW_FORM_ref4);
	if (m->nr_refs < REFS_MAX)
		m->refs[m->nr_refs++] = (struct ref){
			.at = m->info.len,
			.entry = choice & 0x7ff,
			.shift = choice & 0x8000 ? choice >> 11 & 15 : 0,
		};
	put_le(&m->info, 0, 4);
}

static void put_flag(struct maker *m, unsigned attr)
{
	put_attr(m, attr, DW_FORM_flag_present);
}

/* Each function has code of its own, so that no two are taken for copies. */
static void put_code(struct maker *m)
{
	put_attr(m, DW_AT_low_pc, DW_FORM_addr);
	put_le(&m->info, CODE + CODE_BYTES * m->nr_funcs, 8);
	put_attr(m, DW_AT_high_pc, DW_FORM_data4);
	put_le(&m->info, CODE_BYTES, 4);
	m->nr_funcs++;
}

static void put_location(struct maker *m)
{
	put_attr(m, DW_AT_location, DW_FORM_exprloc);
	put_uleb(&m->info, 1);
	strbuf_addch(&m->info, DW_OP_reg0 + fuzz_u8(&m->in) % 32);
}

static const uint16_t tags[] = {
	DW_TAG_structure_type,
	DW_TAG_member,
	DW_TAG_subprogram,
	DW_TAG_formal_parameter,
	DW_TAG_base_type,
	DW_TAG_class_type,
	DW_TAG_union_type,
	DW_TAG_inheritance,
	DW_TAG_array_type,
	DW_TAG_subrange_type,
	DW_TAG_typedef,
	DW_TAG_const_type,
	DW_TAG_pointer_type,
	DW_TAG_reference_type,
	DW_TAG_enumeration_type,
	DW_TAG_enumerator,
	DW_TAG_namespace,
	DW_TAG_lexical_block,
	DW_TAG_inlined_subroutine,
	DW_TAG_ptr_to_member_type,
};

/*
 * Common attributes are there unless the input leaves them out; rare ones only when it asks for
 * them.
 */
static void put_attrs(struct maker *m, unsigned tag, uint16_t which)
{
	bool is_type = tag == DW_TAG_structure_type || tag == DW_TAG_class_type ||
		       tag == DW_TAG_union_type || tag == DW_TAG_base_type ||
		       tag == DW_TAG_enumeration_type;

	if (!(which & 1))
		put_name(m, DW_AT_name);
	if (is_type ? which & 2 : !(which & 2))
		put_ref(m, DW_AT_type);
	if (is_type ? !(which & 4) : which & 4)
		put_number(m, DW_AT_byte_size);
	if (tag == DW_TAG_subprogram && !(which & 8))
		put_code(m);
	if (tag == DW_TAG_base_type)
		put_number(m, DW_AT_encoding);
	if (tag == DW_TAG_subrange_type)
		put_number(m, which & 8 ? DW_AT_count : DW_AT_upper_bound);
	if (tag == DW_TAG_enumerator)
		put_number(m, DW_AT_const_value);
	if (tag == DW_TAG_formal_parameter && which & 8)
		put_location(m);
	if (which & 16)
		put_number(m, DW_AT_data_member_location);
	if (which & 32)
		put_number(m, which & 64 ? DW_AT_data_bit_offset : DW_AT_bit_offset);
	if (which & 128)
		put_number(m, DW_AT_bit_size);
	if (which & 256)
		put_ref(m, DW_AT_sibling);
	if (which & 512)
		put_ref(m, which & 1024 ? DW_AT_abstract_origin : DW_AT_specification);
	if (which & 2048)
		put_flag(m, which & 4096 ? DW_AT_declaration : DW_AT_external);
	if (which & 8192)
		put_number(m, which & 4096 ? DW_AT_calling_convention : DW_AT_virtuality);
	if (which & 16384)
		put_name(m, DW_AT_linkage_name);
	if (which & 32768)
		put_number(m, which & 4096 ? DW_AT_call_line : DW_AT_decl_line);
}

static void begin_entry(struct maker *m, unsigned tag, bool has_children)
{
	m->places[m->nr++] = m->info.len;
	/* Each entry has an abbreviation of its own. */
	put_uleb(&m->abbrev, m->nr);
	put_uleb(&m->abbrev, tag);
	strbuf_addch(&m->abbrev, has_children);
	put_uleb(&m->info, m->nr);
	m->depth += has_children;
}

static void add_entry(struct maker *m, unsigned tag, bool has_children, uint16_t which)
{
	begin_entry(m, tag, has_children);
	put_attrs(m, tag, which);
	put_attr(m, 0, 0);
}

static void end_list(struct maker *m)
{
	strbuf_addch(&m->info, 0);
	m->depth--;
}

/* Repeats attributes with the same values, so that lists get long and trees deep. */
static void add_many(struct maker *m, unsigned tag, bool has_children, uint16_t which)
{
	struct fuzz_input in = m->in;
	unsigned nr = fuzz_u8(&in) * 8U;

	for (unsigned i = 0; i < nr && m->nr < ENTRIES_MAX && m->depth < DEPTH_MAX; i++) {
		m->in = in;
		add_entry(m, tag, has_children, which);
	}
}

static void add_entries(struct maker *m)
{
	begin_entry(m, DW_TAG_compile_unit, true);
	put_attr(m, DW_AT_name, DW_FORM_string);
	strbuf_add(&m->info, "prog.c", 7);
	put_attr(m, 0, 0);
	while (m->in.size && m->nr < ENTRIES_MAX) {
		uint8_t kind = fuzz_u8(&m->in);
		unsigned tag = tags[(kind & 63) % (sizeof(tags) / sizeof(tags[0]))];

		if ((kind & 63) == 63) {
			if (m->depth > 1)
				end_list(m);
			continue;
		}

		bool has_children = kind & 64 && m->depth < DEPTH_MAX;
		uint16_t which = fuzz_u16(&m->in);

		if (kind & 128)
			add_many(m, tag, has_children, which);
		else
			add_entry(m, tag, has_children, which);
	}
	while (m->depth)
		end_list(m);
	strbuf_addch(&m->abbrev, 0);
}

static void set_refs(struct maker *m)
{
	for (size_t i = 0; i < m->nr_refs; i++) {
		const struct ref *ref = &m->refs[i];
		uint32_t place = m->places[ref->entry % m->nr] + ref->shift;

		for (unsigned byte = 0; byte < 4; byte++)
			m->info.data[ref->at + byte] = (char)(place >> 8 * byte);
	}
}

static size_t add_section(struct strbuf *out, const struct strbuf *content)
{
	size_t at = out->len;

	strbuf_add(out, content->data, content->len);
	return at;
}

static void put_object(const struct maker *m, struct strbuf *out)
{
	static const char names[] = "\0.debug_info\0.debug_abbrev\0.names";
	Elf64_Ehdr head = {
		.e_ident = { ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB,
			     EV_CURRENT },
		.e_type = ET_DYN,
		.e_machine = EM_X86_64,
		.e_version = EV_CURRENT,
		.e_phoff = sizeof(head),
		.e_ehsize = sizeof(head),
		.e_phentsize = sizeof(Elf64_Phdr),
		.e_phnum = 1,
		.e_shentsize = sizeof(Elf64_Shdr),
		.e_shnum = 4,
		.e_shstrndx = 3,
	};
	Elf64_Phdr load = { .p_type = PT_LOAD, .p_flags = PF_X | PF_R, .p_align = 4096 };
	Elf64_Shdr sections[4] = { { 0 } };
	struct strbuf text cleanup_strbuf = { 0 };

	strbuf_add(out, (char *)&head, sizeof(head));
	strbuf_add(out, (char *)&load, sizeof(load));
	sections[1] = (Elf64_Shdr){ .sh_name = 1, .sh_type = SHT_PROGBITS, .sh_size = m->info.len };
	sections[1].sh_offset = add_section(out, &m->info);
	sections[2] =
		(Elf64_Shdr){ .sh_name = 13, .sh_type = SHT_PROGBITS, .sh_size = m->abbrev.len };
	sections[2].sh_offset = add_section(out, &m->abbrev);
	strbuf_add(&text, names, sizeof(names));
	sections[3] =
		(Elf64_Shdr){ .sh_name = 27, .sh_type = SHT_STRTAB, .sh_size = sizeof(names) };
	sections[3].sh_offset = add_section(out, &text);
	for (unsigned i = 1; i < 4; i++)
		sections[i].sh_addralign = 1;
	while (out->len % 8)
		strbuf_addch(out, 0);
	head.e_shoff = out->len;
	memcpy(out->data, &head, sizeof(head));
	strbuf_add(out, (char *)sections, sizeof(sections));
}

static void make_object(const uint8_t *data, size_t size, struct strbuf *out, unsigned *nr_funcs)
{
	static struct maker m;

	m.in = (struct fuzz_input){ data, size };
	m.nr = m.depth = m.nr_funcs = 0;
	m.nr_refs = 0;
	strbuf_reset(&m.info);
	strbuf_reset(&m.abbrev);
	put_le(&m.info, 0, 4); /* the length, which is written when it is known */
	put_le(&m.info, 4, 2);
	put_le(&m.info, 0, 4);
	strbuf_addch(&m.info, 8);
	add_entries(&m);
	set_refs(&m);
	for (unsigned byte = 0; byte < 4; byte++)
		m.info.data[byte] = (char)((m.info.len - 4) >> 8 * byte);
	put_object(&m, out);
	*nr_funcs = m.nr_funcs;
	strbuf_deinit(&m.info);
	strbuf_deinit(&m.abbrev);
}

/*
 * Check that definitions can be written and read again: those of the recorder equal those of the
 * reader.
 */
static void check_info(const struct dwarf_info *info)
{
	struct struct_defs structs cleanup_struct_defs = { 0 };
	struct enum_defs enums cleanup_enum_defs = { 0 };

	for (size_t i = 1; i < info->nr_funcs; i++)
		FUZZ_CHECK(info->funcs[i - 1].addr < info->funcs[i].addr);
	for (size_t i = 0; i < info->nr_structs; i++)
		struct_defs_parse(&structs, info->structs[i], strlen(info->structs[i]));
	for (size_t i = 0; i < info->nr_enums; i++)
		enum_defs_parse(&enums, info->enums[i], strlen(info->enums[i]), NULL);
}

static void check_dbg(const char *path, unsigned nr_funcs)
{
	struct debuginfo debug cleanup(debuginfo_deinit) = { 0 };
	const struct argrules rules = { 0 };
	const struct capture_settings settings = {
		.rules = &rules,
		.is_auto = true,
		.has_lines = true,
		.debug = &debug,
	};
	struct symtab symbols cleanup_symtab = { 0 };
	const struct capture_module module = { path, "", "object", &symbols };
	struct strbuf out cleanup_strbuf = { 0 };
	struct dbg dbg cleanup_dbg = { 0 };

	check_info(debuginfo_of(&debug, path));
	fuzz_check_error(debug.problem.code != 0, &debug.problem);
	for (unsigned i = 0; i < nr_funcs; i++)
		FUZZ_CHECK(symtab_add(&symbols, CODE + CODE_BYTES * i, CODE_BYTES, 'T', "f", 1) ==
			   0);
	FUZZ_CHECK(captures_put_dbg(&settings, &module, &out) == 0);
	for (size_t i = 0; i < symbols.nr; i++) {
		const struct capture_subject subject = {
			"f",	  &symbols.syms[i],
			"object", debuginfo_func(debuginfo_of(&debug, path), &symbols.syms[i]),
			false,
		};
		struct strbuf steps cleanup_strbuf = { 0 };

		captures_add(&settings, &subject, &steps);
	}
	FUZZ_CHECK(dbg_decode(out.data, out.len, &dbg, NULL) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char path[PATH_MAX];
	struct strbuf object cleanup_strbuf = { 0 };
	unsigned nr_funcs;

	snprintf(path, sizeof(path), "%s/object", fuzz_empty_dir());
	make_object(data, size, &object, &nr_funcs);
	fuzz_write_file("object", object.data, object.len);
	check_dbg(path, nr_funcs);
	return 0;
}
