/* Functions of a file, in hand-made ELF files with one kind of evidence at a time. */
#include "tests/unit/lib/elf_image.h"

#include <elf.h>

#include "arch/isa.h"
#include "utils/object/code/functions.h"

#define TEXT_ADDR (IMAGE_BASE + 0x1000)
#define DATA_ADDR (IMAGE_BASE + 0x3000)

static struct insns *insns;

/* A symbol; the last one of a list has no name. */
struct named {
	const char *name;
	unsigned at;
	unsigned size;
	unsigned type;
};

struct sample {
	const char *text;
	size_t len;
	struct named symbols[6];
	const void *data;
	size_t data_len;
};

#define TEXT(bytes) bytes, sizeof(bytes) - 1

static void make(struct elf_image *img, const struct sample *sample)
{
	struct image_symbols symbols = { 0 };
	unsigned text = image_section(img, ".text",
				      (Elf64_Shdr){ .sh_type = SHT_PROGBITS,
						    .sh_flags = SHF_ALLOC | SHF_EXECINSTR,
						    .sh_addr = TEXT_ADDR },
				      sample->text, sample->len);

	if (sample->data_len)
		image_section(img, ".data.rel.ro",
			      (Elf64_Shdr){ .sh_type = SHT_PROGBITS,
					    .sh_flags = SHF_ALLOC,
					    .sh_addr = DATA_ADDR },
			      sample->data, sample->data_len);
	for (const struct named *s = sample->symbols; s->name; s++)
		image_symbol(&symbols, s->name, TEXT_ADDR + s->at, s->size,
			     s->type ? s->type : STT_FUNC, text);
	image_symbol_sections(img, &symbols, SHT_SYMTAB);
	image_finish(img);
}

/*
 * Check "KIND:NAME@PLACE" of each function. The letters of kinds are w(hole), s(hared), r(esolver)
 * and x (special).
 */
static void check(const struct sample *sample, const struct symtab *names, const char *expected)
{
	struct elf_image img cleanup_image = { 0 };
	struct elf_file file cleanup_elf_file = ELF_FILE_CLOSED;
	struct code code cleanup_code = { 0 };
	struct functions functions cleanup_functions = { 0 };
	struct strbuf text cleanup_strbuf = { 0 };

	make(&img, sample);
	assert_int_equal(elf_file_open_image(&file, img.data.data, img.data.len), 0);
	assert_int_equal(code_load(&file, &code), 0);
	assert_int_equal(functions_find(&code, insns, names, &functions), 0);
	for (size_t i = 0; i < functions.nr; i++)
		strbuf_addf(&text, "%s%c:%s@%llu", i ? " " : "", "wsrxn"[functions.list[i].kind],
			    functions.list[i].name ? functions.list[i].name : "?",
			    (unsigned long long)(functions.list[i].start - TEXT_ADDR));
	assert_string_equal(strbuf_str(&text), expected);
}

/* Four sections have the same bytes of the file. The bytes are read for one section only. */
TEST(overlapping_sections)
{
	static char data[1U << 16];
	struct elf_image img cleanup_image = { 0 };
	struct elf_file file cleanup_elf_file = ELF_FILE_CLOSED;
	struct code code cleanup_code = { 0 };
	const Elf64_Shdr head = { .sh_type = SHT_PROGBITS,
				  .sh_flags = SHF_ALLOC,
				  .sh_addr = DATA_ADDR,
				  .sh_size = sizeof(data) };

	image_section(&img, ".data", head, data, sizeof(data));
	for (int i = 0; i < 3; i++) {
		unsigned sec = image_section(&img, ".data", head, "", 0);

		img.sections[sec].sh_offset = img.sections[1].sh_offset;
	}
	image_finish(&img);
	assert_int_equal(elf_file_open_image(&file, img.data.data, img.data.len), 0);
	assert_int_equal(code_load(&file, &code), 0);
	assert_int_equal(code.nr_sections, 1);
}

/* The symbol of a function is longer than the range that its call frame information has. */
TEST(own_unwinder_of_a_longer_symbol)
{
	/* A CIE with a personality routine at address 1, and an FDE for two bytes of f. */
	static const struct __attribute__((packed)) {
		uint32_t cie_bytes;
		uint32_t cie_id;
		char cie[20];
		uint32_t fde_bytes;
		uint32_t to_cie;
		uint64_t start;
		uint64_t len;
		uint32_t nothing;
	} frames = { 24, 0, "\1zPR\0\1\x78\x10\x0a\0\1\0\0\0\0\0\0\0\0", 24, 32, TEXT_ADDR, 2, 0 };
	struct elf_image img cleanup_image = { 0 };
	struct elf_file file cleanup_elf_file = ELF_FILE_CLOSED;
	struct code code cleanup_code = { 0 };

	image_section(&img, ".eh_frame",
		      (Elf64_Shdr){ .sh_type = SHT_PROGBITS,
				    .sh_flags = SHF_ALLOC,
				    .sh_addr = DATA_ADDR },
		      &frames, sizeof(frames));
	make(&img, &(struct sample){ TEXT("\xff\xc0\x90\xc3"), { { "f", 0, 4, 0 } } });
	assert_int_equal(elf_file_open_image(&file, img.data.data, img.data.len), 0);
	assert_int_equal(code_load(&file, &code), 0);
	assert_int_equal(code.nr_funcs, 1);
	assert_int_equal(code.funcs[0].end, TEXT_ADDR + 4);
	assert_true(code.funcs[0].has_own_unwinder);
}

TEST(symbols)
{
	/* f: inc %eax; ret. nops. g: ret */
	const struct sample plain = { TEXT("\xff\xc0\xc3\x90\x90\xc3"),
				      { { "f", 0, 3 }, { "g", 5, 1 } } };
	const struct sample parts = { TEXT("\xff\xc0\xc3\x90\x90\xc3"),
				      { { "f", 0, 3 }, { "f.cold", 5, 1 } } };
	const struct sample start = { TEXT("\xff\xc0\xc3\x90\x90\xc3"),
				      { { "frame_dummy", 0, 3 }, { "vfork", 5, 1 } } };
	const struct sample chosen = { TEXT("\xff\xc0\xc3\x90\x90\xc3"),
				       { { "f", 0, 3, STT_GNU_IFUNC }, { "g", 5, 1 } } };
	/* One function has two names; the second is in the middle of it. */
	const struct sample inner = { TEXT("\xff\xc0\xff\xc0\xc3\xc3"),
				      { { "f", 0, 5 }, { "g", 2, 3 } } };
	/* A function of unknown size extends to the next function. */
	const struct sample sizeless = { TEXT("\xff\xc0\xc3\x90\x90\xc3"),
					 { { "f", 0, 0 }, { "g", 5, 1 } } };

	check(&plain, NULL, "w:f@0 w:g@5");
	check(&parts, NULL, "w:f@0");
	check(&start, NULL, "x:vfork@5");
	check(&chosen, NULL, "r:f@0 w:g@5");
	check(&inner, NULL, "w:f@0 s:g@2");
	check(&sizeless, NULL, "w:f@0 w:g@5");
}

TEST(calls)
{
	/* f: call 6; ret. After f, without a symbol: inc %eax; ret */
	const struct sample called = { TEXT("\xe8\x01\0\0\0\xc3\xff\xc0\xc3"), { { "f", 0, 6 } } };
	/* The same, and the second function calls a third one. */
	const struct sample chain = { TEXT("\xe8\x01\0\0\0\xc3\xe8\x01\0\0\0\xc3\xff\xc0\xc3"),
				      { { "f", 0, 6 } } };
	/* A function that is only jumped to may be a part of its caller. */
	const struct sample jumped = { TEXT("\xe9\x01\0\0\0\xc3\xff\xc0\xc3"), { { "f", 0, 6 } } };

	check(&called, NULL, "w:f@0 w:?@6");
	check(&chain, NULL, "w:f@0 w:?@6 w:?@12");
	check(&jumped, NULL, "w:f@0");
}

TEST(fallen_into)
{
	/* f: inc %eax. g: inc %eax; ret */
	const struct sample sample = { TEXT("\xff\xc0\xff\xc0\xc3"),
				       { { "f", 0, 2 }, { "g", 2, 3 } } };
	/* f ends with the call of a function that does not return. */
	const struct sample ends = { TEXT("\xe8\x00\0\0\0\xff\xc0\xc3"),
				     { { "f", 0, 5 }, { "g", 5, 3 } } };

	check(&sample, NULL, "w:f@0 s:g@2");
	check(&ends, NULL, "w:f@0 w:g@5");
}

TEST(other_names)
{
	const struct sample sample = { TEXT("\xff\xc0\xc3\x90\x90\xc3"), { { "g", 5, 1 } } };
	struct symtab names cleanup_symtab = { 0 };

	assert_int_equal(symtab_add(&names, 0x1000, 3, 't', "f", 1), 0);
	assert_int_equal(symtab_add(&names, 0x1005, 1, 't', "h", 1), 0);
	assert_int_equal(symtab_add(&names, 0x9999, 1, 't', "outside", 7), 0);
	assert_int_equal(symtab_sort(&names), 0);
	check(&sample, &names, "w:f@0 w:g@5");
}

/* The functions of this program itself: each is found once. */
TEST(real_file)
{
	struct elf_file file cleanup_elf_file = ELF_FILE_CLOSED;
	struct code code cleanup_code = { 0 };
	struct functions functions cleanup_functions = { 0 };
	unsigned nr_mine = 0;

	assert_int_equal(elf_file_open(&file, "/proc/self/exe", NULL), 0);
	assert_int_equal(code_load(&file, &code), 0);
	assert_int_equal(functions_find(&code, insns, NULL, &functions), 0);
	for (size_t i = 0; i < functions.nr; i++) {
		const struct function *f = &functions.list[i];

		assert_true(!i || functions.list[i - 1].start < f->start);
		assert_true(f->end > f->start);
		nr_mine += f->name && strcmp(f->name, "main") == 0 && f->kind == FUNCTION_WHOLE;
		assert_true(f->start != file.head.e_entry);
	}
	assert_int_equal(nr_mine, 1);
}

TEST(reasons)
{
	assert_null(function_kind_text(FUNCTION_WHOLE));
	for (unsigned kind = FUNCTION_WHOLE + 1; kind < FUNCTION_KINDS; kind++)
		assert_non_null(function_kind_text(kind));
}

int main(void)
{
	if (insns_open(&insns, isa_of(EM_X86_64, 0), NULL) < 0)
		return 1;

	int failed = unit_run();

	insns_close(insns);
	return failed;
}
