/*
 * Places where jumps may be written: hand-made ELF files, with everything that may lead into the
 * middle of such a place.
 */
#include "tests/unit/lib/elf_image.h"

#include <elf.h>
#include <errno.h>

#include "arch/isa.h"
#include "utils/object/code/sites.h"

#define TEXT_ADDR	 (IMAGE_BASE + 0x1000)
#define DATA_ADDR	 (IMAGE_BASE + 0x3000)
/* The distance from the beginning of the data to a place in the code. */
#define FROM_DATA(place) ((int32_t)((int64_t)(TEXT_ADDR + (place)) - (int64_t)DATA_ADDR))

/*
 * The content of the file. The first @func_len bytes of text are function "f". With @has_next, the
 * rest is function "g".
 */
struct sample {
	const char *text;
	size_t len;
	size_t func_len;
	bool has_next;
	const void *data;
	size_t data_len;
};

static struct insns *insns;

static void make_image(struct elf_image *img, const struct sample *sample)
{
	struct image_symbols symbols = { 0 };
	unsigned text = image_section(img, ".text",
				      (Elf64_Shdr){ .sh_type = SHT_PROGBITS,
						    .sh_flags = SHF_ALLOC | SHF_EXECINSTR,
						    .sh_addr = TEXT_ADDR },
				      sample->text, sample->len);

	if (sample->data_len)
		image_section(img, ".rodata",
			      (Elf64_Shdr){ .sh_type = SHT_PROGBITS,
					    .sh_flags = SHF_ALLOC,
					    .sh_addr = DATA_ADDR },
			      sample->data, sample->data_len);
	image_symbol(&symbols, "f", TEXT_ADDR, sample->func_len, STT_FUNC, text);
	if (sample->has_next)
		image_symbol(&symbols, "g", TEXT_ADDR + sample->func_len,
			     sample->len - sample->func_len, STT_FUNC, text);
	image_symbol_sections(img, &symbols, SHT_SYMTAB);
	image_finish(img);
}

static void prepare(const struct sample *sample, struct code_site *sites, size_t nr)
{
	struct elf_image img cleanup_image = { 0 };
	struct elf_file file cleanup_elf_file = ELF_FILE_CLOSED;
	struct code code cleanup_code = { 0 };

	make_image(&img, sample);
	assert_int_equal(elf_file_open_image(&file, img.data.data, img.data.len), 0);
	assert_int_equal(code_load(&file, &code), 0);
	assert_int_equal(sites_prepare(&code, insns, sites, nr), 0);
}

/*
 * Check the sites at these places of the text. Each is "jump", "before", "island", "inner", or the
 * reason why there can be none.
 */
static void check(const struct sample *sample, const unsigned *at, size_t nr,
		  const char *const *expected)
{
	struct code_site sites[4] = { 0 };

	for (size_t i = 0; i < nr; i++)
		sites[i].addr = TEXT_ADDR + at[i];
	prepare(sample, sites, nr);
	for (size_t i = 0; i < nr; i++) {
		const char *found = sites[i].why_not[0]		       ? sites[i].why_not
				    : sites[i].is_inner		       ? "inner"
				    : sites[i].island		       ? "island"
				    : sites[i].jump_at < sites[i].addr ? "before"
								       : "jump";

		if (!strstr(found, expected[i]))
			fail_msg("site at %u: '%s', expected '%s'", at[i], found, expected[i]);
		if (strcmp(found, "jump") == 0)
			assert_memory_equal(sites[i].original, sample->text + at[i], WINDOW_BYTES);
	}
}

#define CHECK(sample, at, ...) \
	check(sample, at, ARRAY_SIZE(at), (const char *const[ARRAY_SIZE(at)]){ __VA_ARGS__ })

#define TEXT(bytes) bytes, sizeof(bytes) - 1, sizeof(bytes) - 1

static const unsigned first[] = { 0 };

TEST(room)
{
	/* nop; mov %edi, %eax; inc %eax; ret */
	const struct sample plain = { TEXT("\x90\x89\xf8\xff\xc0\xc3") };
	/* nop; ret; padding */
	struct sample padded = { TEXT("\x90\xc3\x66\x90\x0f\x1f\x40\x00") };
	/* nop; ret; push %rbx; ... */
	struct sample full = { TEXT("\x90\xc3\x53\x53\x53\x53") };
	const unsigned outside[] = { 7 };

	CHECK(&plain, first, "jump");
	padded.func_len = 2;
	CHECK(&padded, first, "jump");
	CHECK(&padded, outside, "it lies in no function");
	/* The bytes after f are the same, but belong to the next function. */
	padded.has_next = true;
	CHECK(&padded, first, "ends too soon");
	full.func_len = 2;
	CHECK(&full, first, "ends too soon");
}

TEST(close_together)
{
	/* nop; nop; inc %eax; nop; inc %eax; inc %eax; ret */
	const struct sample sample = { TEXT("\x90\x90\xff\xc0\x90\xff\xc0\xff\xc0\xc3") };
	const unsigned three[] = { 0, 1, 4 };
	const unsigned same[] = { 0, 0 };
	/* nop; nop; inc %eax three times; jmp to the second nop */
	const struct sample loop = { TEXT("\x90\x90\xff\xc0\xff\xc0\xff\xc0\xeb\xf7") };
	const unsigned two[] = { 0, 1 };
	/* nop; jmp +1; nop; nop; ...: the second site is not right after the first */
	const struct sample jump = { TEXT("\x90\xeb\x01\x90\x90\xff\xc0\xff\xc0\xff\xc0\xc3") };
	const unsigned far[] = { 0, 3 };

	CHECK(&sample, three, "jump", "inner", "inner");
	CHECK(&sample, same, "jump", "inner");
	CHECK(&loop, two, "an instruction of the function leads behind it", "jump");
	CHECK(&jump, far, "an instruction of the function", "an instruction of the function");
}

TEST(little_room)
{
	/* test %edi, %edi; nop; jne L; nop; L: inc %eax; ret */
	const struct sample before = { TEXT("\x85\xff\x90\x75\x01\x90\xff\xc0\xc3") };
	const unsigned last[] = { 5 };
	/* Both nops are sites. The jump of the first one takes the room before the second one. */
	const unsigned both[] = { 2, 5 };
	/* je S; L: inc %eax; ret; S: nop; jmp L; push %rbx; jmp L. No jump leads to the push. */
	struct sample island = { TEXT("\x74\x03\xff\xc0\xc3\x90\xeb\xfa\x53\xeb\xf7"
				      "\x0f\x1f\x44\x00\x00") };
	/* je L; S: nop; L: inc %eax; jne S; je S; ret. One byte at S is too small for any patch. */
	const struct sample one = { TEXT("\x74\x01\x90\xff\xc0\x75\xfb\x74\xf9\xc3") };
	const unsigned third[] = { 2 };

	CHECK(&before, last, "before");
	CHECK(&before, both, "before", "an instruction");
	CHECK(&one, third, "an instruction");
	island.func_len = 11;
	CHECK(&island, last, "jump");
	/* An instruction leads to the push, so the next room is further away. */
	island.text = "\x74\x03\xff\xc0\xc3\x90\xeb\xfa\x53\x74\xfd\xeb\xf7"
		      "\x0f\x1f\x44\x00\x00";
	island.len = 18;
	island.func_len = 13;
	CHECK(&island, last, "island");
	/* If the bytes after f belong to it, they are no padding. */
	island.func_len = 18;
	CHECK(&island, last, "an instruction");
}

/* A note may state any place: here the middle of an instruction that is moved for another site. */
TEST(no_instruction)
{
	/* nop; movabs $..., %rax; ret */
	const struct sample sample = { TEXT("\x90\x48\xb8\1\2\3\4\5\6\7\x90\xc3") };
	const unsigned within[] = { 0, 8 };

	CHECK(&sample, within, "jump", "it is within code that was moved");
}

TEST(instructions)
{
	/* nop; inc %eax; L: inc %eax; jne L; ret */
	const struct sample inside = { TEXT("\x90\xff\xc0\xff\xc0\x75\xfc\xc3") };
	/* L: nop; inc %eax; inc %eax; jne L; ret */
	const struct sample head = { TEXT("\x90\xff\xc0\xff\xc0\x75\xf9\xc3") };
	/* f: nop; inc; inc; ret. g: jmp to the second instruction of f */
	struct sample other = { TEXT("\x90\xff\xc0\xff\xc0\xc3\xe9\xf6\xff\xff\xff\x90") };
	/* The same with a short jump. */
	struct sample near = { TEXT("\x90\xff\xc0\xff\xc0\xc3\xeb\xf9\x90\x90") };
	/* nop; inc; inc; lea of the second instruction; ret */
	const struct sample taken = { TEXT(
		"\x90\xff\xc0\xff\xc0\x48\x8d\x05\xf5\xff\xff\xff\xc3") };

	CHECK(&inside, first, "an instruction of the function leads behind it");
	CHECK(&head, first, "jump");
	other.func_len = near.func_len = 6;
	CHECK(&other, first, "what is no function leads behind it");
	other.has_next = near.has_next = true;
	CHECK(&other, first, "an instruction of another function leads behind it");
	CHECK(&near, first, "an instruction of another function leads behind it");
	/* Bytes outside of functions may be an instruction. */
	near.has_next = false;
	CHECK(&near, first, "what is no function leads behind it");
	CHECK(&taken, first, "an instruction of the function leads behind it");
}

/*
 * nop; inc %eax; inc %eax; lea the table, %rdx; movslq (%rdx,%rax,4), %rax; add %rdx, %rax; jmp
 * *%rax
 */
#define SWITCH                         \
	"\x90\xff\xc0\xff\xc0"         \
	"\x48\x8d\x15\xf4\x1f\x00\x00" \
	"\x48\x63\x04\x82"             \
	"\x48\x01\xd0"                 \
	"\xff\xe0"

TEST(tables)
{
	int32_t table[] = { FROM_DATA(0), FROM_DATA(5), FROM_DATA(12), 0x7fffffff };
	uint64_t addresses[] = { 0, TEXT_ADDR + 1 };
	struct sample sample = { TEXT(SWITCH), .data = table, .data_len = sizeof(table) };

	CHECK(&sample, first, "jump");
	table[1] = FROM_DATA(3);
	CHECK(&sample, first, "an entry of a table leads behind it");
	/* An entry that does not lead to code ends the table. */
	table[0] = 0;
	CHECK(&sample, first, "jump");
	sample.data = addresses;
	sample.data_len = sizeof(addresses);
	CHECK(&sample, first, "an address in the data leads behind it");
	addresses[1] = TEXT_ADDR + 5;
	CHECK(&sample, first, "jump");
}

/* Check the sites at the entries of functions that begin at these places of the text. */
static void check_entries(const struct sample *sample, const unsigned *at, size_t nr,
			  const char *const *expected)
{
	struct code_site sites[4] = { 0 };

	for (size_t i = 0; i < nr; i++)
		sites[i].addr = sites[i].entry = TEXT_ADDR + at[i];
	prepare(sample, sites, nr);
	for (size_t i = 0; i < nr; i++) {
		const char *found = sites[i].refusal   ? sites[i].why_not
				    : sites[i].is_loop ? "loop"
				    : sites[i].island  ? "island"
						       : "jump";

		assert_int_equal(sites[i].refusal != SITE_CAN, sites[i].why_not[0] != '\0');
		assert_non_null(site_refusal_text(sites[i].refusal));
		if (!strstr(found, expected[i]))
			fail_msg("entry at %u: '%s', expected '%s'", at[i], found, expected[i]);
	}
}

#define CHECK_ENTRIES(sample, at, ...)            \
	check_entries(sample, at, ARRAY_SIZE(at), \
		      (const char *const[ARRAY_SIZE(at)]){ __VA_ARGS__ })

TEST(entries)
{
	/* f: push %rbx; mov %edi, %ebx; inc; pop; ret. g calls f, then jumps to it. */
	struct sample plain = { TEXT(
		"\x53\x89\xfb\xff\xc3\x5b\xc3\xe8\xf4\xff\xff\xff\xe9\xef\xff\xff\xff") };
	/* The function calls itself: f: dec %edi; js end; call f; end: ret */
	const struct sample recursive = { TEXT("\xff\xcf\x78\x05\xe8\xf7\xff\xff\xff\xc3") };
	/* L: dec %edi; jns L; inc %eax; ret: the loop is moved. */
	const struct sample loop = { TEXT("\xff\xcf\x79\xfc\xff\xc0\xc3") };
	/* L: dec %edi; M: inc %eax; jns M; inc %eax; ret */
	const struct sample inner = { TEXT("\xff\xcf\xff\xc0\x79\xfc\xff\xc0\xc3") };
	/* A loop with a call in it: f: push; L: call; dec %ebx; jns L; pop; ret */
	const struct sample with_call = { TEXT("\x53\xe8\0\0\0\0\xff\xcb\x79\xf7\x5b\xc3") };
	/*
	 * A jump from the code that stays would lead into the moved code: L: dec; M: jns L; inc;
	 * inc; js M; ret
	 */
	const struct sample knot = { TEXT("\xff\xcf\x79\xfc\xff\xc0\xff\xc0\x78\xf8\xc3") };
	/* f: ret; g: ret; h: ret at the end of the text */
	struct sample tiny = { TEXT("\xc3\xc3\xc3") };
	const unsigned two[] = { 0, 1 };

	plain.func_len = 7;
	plain.has_next = true;
	CHECK_ENTRIES(&plain, first, "jump");
	CHECK_ENTRIES(&recursive, first, "jump");
	CHECK_ENTRIES(&loop, first, "loop");
	CHECK_ENTRIES(&inner, first, "loop");
	CHECK_ENTRIES(&with_call, first, "an instruction of the function");
	CHECK_ENTRIES(&knot, first, "loop");
	tiny.func_len = 1;
	tiny.has_next = true;
	CHECK_ENTRIES(&tiny, two, "ends too soon", "ends too soon");
}

TEST(not_code)
{
	/* nop; inc; inc; ret; and bytes that are no instruction */
	const struct sample sample = { TEXT("\x90\xff\xc0\xff\xc0\xc3\x06\x06") };

	CHECK(&sample, first, "part of the function is no code that is known");
}

/* The table of a function's exceptions is in no section, as in a damaged file. */
TEST(damaged_table_of_exceptions)
{
	const struct sample sample = { TEXT("\x90\xff\xc0\xff\xc0\xc3") };
	struct elf_image img cleanup_image = { 0 };
	struct elf_file file cleanup_elf_file = ELF_FILE_CLOSED;
	struct code code cleanup_code = { 0 };
	struct code_site site = { .addr = TEXT_ADDR };

	make_image(&img, &sample);
	assert_int_equal(elf_file_open_image(&file, img.data.data, img.data.len), 0);
	assert_int_equal(code_load(&file, &code), 0);
	assert_int_equal(code.nr_funcs, 1);
	assert_int_equal(code.nr_tables, 0);
	code.tables = calloc(1, sizeof(*code.tables));
	assert_non_null(code.tables);
	code.tables[0].addr = 8;
	code.funcs[0].table = code.nr_tables = 1;
	assert_int_equal(sites_prepare(&code, insns, &site, 1), 0);
	assert_string_equal(site.why_not, "where exceptions are caught is not known");
	assert_int_equal(site.refusal, SITE_LANDINGS);
}

static void *symbol_of_this_program(void)
{
	return (void *)symbol_of_this_program;
}

/* Frames of functions in a real file, which is this test itself. */
TEST(frames)
{
	struct elf_file file cleanup_elf_file = ELF_FILE_CLOSED;
	struct code code cleanup_code = { 0 };
	size_t nr = 0;

	assert_int_equal(elf_file_open(&file, "/proc/self/exe", NULL), 0);
	assert_int_equal(code_load(&file, &code), 0);
	assert_true(code.nr_funcs > 10);
	for (size_t i = 1; i < code.nr_funcs; i++)
		assert_true(code.funcs[i - 1].end <= code.funcs[i].start);
	for (size_t i = 0; i < code.nr_funcs; i++) {
		const char *name = code.funcs[i].name;

		if (!name || strcmp(name, "symbol_of_this_program") != 0)
			continue;
		nr++;
		assert_ptr_equal(code_func_at(&code, code.funcs[i].start), &code.funcs[i]);
		assert_ptr_equal(code_func_at(&code, code.funcs[i].end - 1), &code.funcs[i]);
		assert_true(code_next_start(&code, code.funcs[i].start) >= code.funcs[i].end);
	}
	assert_int_equal(nr, 1);
	assert_non_null(symbol_of_this_program());
}

int main(void)
{
	/* A build without capstone has nothing to test. */
	if (insns_open(&insns, isa_of(EM_X86_64, 0), NULL) == -ENOSYS)
		return 77;

	int failed = unit_run();

	insns_close(insns);
	return failed;
}
