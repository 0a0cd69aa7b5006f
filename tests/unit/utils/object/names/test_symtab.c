/*
 * Symbols of hand-made ELF files: the symbols that are kept, their sections, and damaged files.
 */
#include "tests/unit/lib/elf_image.h"

#include <errno.h>
#include <sys/stat.h>

#include "config.h"
#include "utils/object/names/symtab.h"

#if HAVE_LZMA
#include <lzma.h>
#endif

#define FUNC(bind)   ELF64_ST_INFO(bind, STT_FUNC)
#define OBJECT(bind) ELF64_ST_INFO(bind, STT_OBJECT)
#define TEXT_ADDR    (IMAGE_BASE + 0x1000)

static unsigned add_text(struct elf_image *img)
{
	return image_section(img, ".text",
			     (Elf64_Shdr){ .sh_type = SHT_PROGBITS,
					   .sh_flags = SHF_ALLOC | SHF_EXECINSTR,
					   .sh_addr = TEXT_ADDR },
			     "code", 4);
}

/* Write "addr/size type name" for each symbol, one in a line. */
static void load_text(const void *data, size_t len, struct strbuf *out)
{
	struct symtab tab cleanup_symtab = { 0 };
	char path[64];
	int fd cleanup_fd = image_file(data, len, path);

	assert_true(fd >= 0);
	if (object_symtab_load(path, &tab, NULL) < 0) {
		assert_int_equal(tab.nr, 0);
		strbuf_addstr(out, "failed");
		return;
	}
	for (size_t i = 0; i < tab.nr; i++)
		strbuf_addf(out, "%llx/%llx %c %s\n", (unsigned long long)tab.syms[i].addr,
			    (unsigned long long)tab.syms[i].size, tab.syms[i].type,
			    tab.syms[i].name);
}

static void check(struct elf_image *img, const char *expected)
{
	struct strbuf text cleanup_strbuf = { 0 };

	load_text(img->data.data, img->data.len, &text);
	assert_string_equal(strbuf_str(&text), expected);
}

static void make_static_symbols(struct elf_image *img)
{
	struct image_symbols s = { 0 };
	unsigned text = add_text(img);
	unsigned note = image_section(img, ".warning", (Elf64_Shdr){ .sh_type = SHT_PROGBITS }, "x",
				      1);

	image_symbol(&s, "local", TEXT_ADDR, 4, FUNC(STB_LOCAL), text);
	image_symbol(&s, "main", TEXT_ADDR + 0x40, 8, FUNC(STB_GLOBAL), text);
	image_symbol(&s, "weak", TEXT_ADDR + 0x30, 8, FUNC(STB_WEAK), text);
	image_symbol(&s, "_alias", TEXT_ADDR + 0x40, 8, FUNC(STB_GLOBAL), text);
	image_symbol(&s, "data", TEXT_ADDR + 0x80, 4, OBJECT(STB_GLOBAL), text);
	image_symbol(&s, "sdata", TEXT_ADDR + 0x84, 4, OBJECT(STB_LOCAL), text);
	image_symbol(&s, "wdata", TEXT_ADDR + 0x88, 4, OBJECT(STB_WEAK), text);
	image_symbol(&s, "udata", TEXT_ADDR + 0x8c, 4, OBJECT(STB_GNU_UNIQUE), text);
	image_symbol(&s, "opt@GLIBC_2", TEXT_ADDR + 0x90, 4, OBJECT(STB_GLOBAL), text);
	image_symbol(&s, "undefined", TEXT_ADDR, 4, FUNC(STB_GLOBAL), SHN_UNDEF);
	image_symbol(&s, "sizeless", TEXT_ADDR, 0, FUNC(STB_GLOBAL), text);
	image_symbol(&s, "below", 0x1000, 4, FUNC(STB_GLOBAL), text);
	image_symbol(&s, "unloaded", TEXT_ADDR, 4, FUNC(STB_GLOBAL), note);
	image_symbol(&s, "absolute", TEXT_ADDR, 4, FUNC(STB_GLOBAL), SHN_ABS);
	image_symbol(&s, "a_section", TEXT_ADDR, 4, ELF64_ST_INFO(STB_LOCAL, STT_SECTION), text);
	image_symbol(&s, "", TEXT_ADDR + 0x10, 4, FUNC(STB_GLOBAL), text);
	image_symbol_sections(img, &s, SHT_SYMTAB);
}

static const char static_symbols[] =
	"1000/4 t local\n1030/8 w weak\n1040/8 T main\n1080/4 D data\n"
	"1084/4 d sdata\n1088/4 v wdata\n108c/4 u udata\n1090/4 D opt\n";

TEST(which_are_kept)
{
	struct elf_image img cleanup_image = { 0 };

	make_static_symbols(&img);
	image_finish(&img);
	check(&img, static_symbols);
}

static void add_relocs(struct elf_image *img, const char *name, uint64_t addr, unsigned type,
		       unsigned nr)
{
	Elf64_Rela relocs[8] = { 0 };

	for (unsigned i = 0; i < nr; i++)
		relocs[i].r_info = ELF64_R_INFO(i + 1, type);
	image_section(img, name,
		      (Elf64_Shdr){ .sh_type = SHT_RELA,
				    .sh_addr = addr,
				    .sh_entsize = sizeof(Elf64_Rela) },
		      relocs, nr * sizeof(*relocs));
}

static void make_dynamic_symbols(struct elf_image *img)
{
	struct image_symbols s = { 0 };

	image_symbol(&s, "puts", 0, 0, FUNC(STB_GLOBAL), SHN_UNDEF);
	image_symbol(&s, "exit", 0, 0, FUNC(STB_GLOBAL), SHN_UNDEF);
	image_symbol(&s, "environ", 0, 0, OBJECT(STB_GLOBAL), SHN_UNDEF);
	image_symbol(&s, "api", TEXT_ADDR, 4, FUNC(STB_GLOBAL), 1);
	image_symbol_sections(img, &s, SHT_DYNSYM);
}

static void add_plt(struct elf_image *img, const char *name, uint64_t addr, uint64_t size)
{
	image_section(img, name,
		      (Elf64_Shdr){ .sh_type = SHT_NOBITS,
				    .sh_flags = SHF_ALLOC,
				    .sh_addr = IMAGE_BASE + addr,
				    .sh_size = size,
				    .sh_entsize = 16 },
		      "", 0);
}

TEST(plt_layouts)
{
	struct elf_image plain cleanup_image = { 0 };
	struct elf_image sec cleanup_image = { 0 };
	struct elf_image mold cleanup_image = { 0 };

	add_text(&plain);
	make_dynamic_symbols(&plain);
	add_relocs(&plain, ".rela.plt", IMAGE_BASE + 0x200, R_X86_64_JUMP_SLOT, 2);
	add_plt(&plain, ".plt", 0x500, 48);
	image_finish(&plain);
	check(&plain, "510/10 P puts\n520/10 P exit\n1000/4 T api\n");

	add_text(&sec);
	make_dynamic_symbols(&sec);
	add_relocs(&sec, ".rela.plt", IMAGE_BASE + 0x200, R_X86_64_JUMP_SLOT, 2);
	add_plt(&sec, ".plt", 0x500, 48);
	add_plt(&sec, ".plt.sec", 0x600, 32);
	image_finish(&sec);
	check(&sec, "600/10 P puts\n610/10 P exit\n1000/4 T api\n");

	static const char comment[] = "GCC: 12\0mold 1.10";

	add_text(&mold);
	make_dynamic_symbols(&mold);
	add_relocs(&mold, ".rela.plt", IMAGE_BASE + 0x200, R_X86_64_JUMP_SLOT, 2);
	add_plt(&mold, ".plt", 0x500, 64);
	image_section(&mold, ".comment", (Elf64_Shdr){ .sh_type = SHT_PROGBITS }, comment,
		      sizeof(comment));
	image_finish(&mold);
	check(&mold, "520/10 P puts\n530/10 P exit\n1000/4 T api\n");
}

/* Only functions of other libraries count. Their addresses are those of the relocation entries. */
TEST(calls_through_the_got)
{
	struct elf_image img cleanup_image = { 0 };

	add_text(&img);
	make_dynamic_symbols(&img);
	add_relocs(&img, ".rela.dyn", IMAGE_BASE + 0x300, R_X86_64_GLOB_DAT, 4);
	image_finish(&img);
	check(&img, "300/18 P puts\n318/18 P exit\n1000/4 T api\n");
}

TEST(more_relocations_than_entries)
{
	struct elf_image img cleanup_image = { 0 };

	add_text(&img);
	make_dynamic_symbols(&img);
	add_relocs(&img, ".rela.plt", IMAGE_BASE + 0x200, R_X86_64_JUMP_SLOT, 8);
	add_plt(&img, ".plt", 0x500, 32);
	image_finish(&img);
	check(&img, "510/10 P puts\n1000/4 T api\n");
}

TEST(other_machines)
{
	struct elf_image arm64 cleanup_image = { .machine = EM_AARCH64 };
	struct elf_image unknown cleanup_image = { .machine = EM_S390 };

	add_text(&arm64);
	make_dynamic_symbols(&arm64);
	add_relocs(&arm64, ".rela.plt", IMAGE_BASE + 0x200, R_AARCH64_JUMP_SLOT, 2);
	add_plt(&arm64, ".plt", 0x500, 64);
	image_finish(&arm64);
	check(&arm64, "520/10 P puts\n530/10 P exit\n1000/4 T api\n");

	add_text(&unknown);
	make_dynamic_symbols(&unknown);
	image_finish(&unknown);
	check(&unknown, "1000/4 T api\n");
}

#if HAVE_LZMA
/*
 * Change a stream so that unpacking needs 4 GiB ("The .xz File Format", 3.1 "Block Header", and
 * 5.3.1 "LZMA2").
 */
static void want_large_dictionary(uint8_t *packed)
{
	uint8_t *block = packed + LZMA_STREAM_HEADER_SIZE;
	size_t crc_at = lzma_block_header_size_decode(block[0]) - 4;
	uint8_t *filter = memmem(block, crc_at, "\x21\1", 2);

	assert_non_null(filter);
	filter[2] = 40;

	uint32_t crc = lzma_crc32(block, crc_at, 0);

	for (int i = 0; i < 4; i++)
		block[crc_at + i] = crc >> i * 8;
}

TEST(mini_debug_info)
{
	struct elf_image inner cleanup_image = { 0 };
	struct elf_image outer cleanup_image = { 0 };
	uint8_t packed[8192];
	size_t packed_len = 0;

	make_static_symbols(&inner);
	image_finish(&inner);
	assert_int_equal(lzma_easy_buffer_encode(1, LZMA_CHECK_CRC32, NULL,
						 (uint8_t *)inner.data.data, inner.data.len, packed,
						 &packed_len, sizeof(packed)),
			 LZMA_OK);
	add_text(&outer);
	make_dynamic_symbols(&outer);
	image_section(&outer, ".gnu_debugdata", (Elf64_Shdr){ .sh_type = SHT_PROGBITS }, packed,
		      packed_len);
	image_finish(&outer);
	/*
	 * "api" of .dynsym replaces the symbol of .gnu_debugdata at its address, because it is read
	 * later.
	 */
	check(&outer, "1000/4 T api\n1030/8 w weak\n1040/8 T main\n1080/4 D data\n"
		      "1084/4 d sdata\n1088/4 v wdata\n108c/4 u udata\n1090/4 D opt\n");

	/* If .gnu_debugdata is damaged, the symbols of .dynsym are still right. */
	char *at = memmem(outer.data.data, outer.data.len, packed, packed_len);

	memset(at + packed_len / 2, 0x55, packed_len / 4);
	check(&outer, "1000/4 T api\n");
	want_large_dictionary((uint8_t *)at);
	check(&outer, "1000/4 T api\n");
}
#endif

/* CRC-32, bit by bit as it is defined. */
static uint32_t crc32_of(const unsigned char *data, size_t len)
{
	uint32_t crc = ~0U;

	for (size_t i = 0; i < len * 8; i++) {
		uint32_t bit = (crc ^ (data[i / 8] >> (i % 8))) & 1;

		crc = (crc >> 1) ^ (bit ? 0xedb88320U : 0);
	}
	return ~crc;
}

static void write_file(const char *path, const struct elf_image *img)
{
	int fd cleanup_fd = open(path, O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, 0644);

	assert_int_equal(write(fd, img->data.data, img->data.len), img->data.len);
}

static void write_stripped(const char *path, uint32_t crc)
{
	struct elf_image img cleanup_image = { 0 };
	unsigned char link[12] = "x.debug";

	memcpy(link + 8, &crc, 4);
	add_text(&img);
	image_section(&img, ".gnu_debuglink", (Elf64_Shdr){ .sh_type = SHT_PROGBITS }, link,
		      sizeof(link));
	image_finish(&img);
	write_file(path, &img);
}

TEST(debug_link)
{
	char dir[] = "/tmp/utrail-test-symtab-XXXXXX";
	struct elf_image symbols cleanup_image = { 0 };
	struct symtab tab cleanup_symtab = { 0 };
	struct symtab none cleanup_symtab = { 0 };

	make_static_symbols(&symbols);
	image_finish(&symbols);

	uint32_t crc = crc32_of((unsigned char *)symbols.data.data, symbols.data.len);

	assert_non_null(mkdtemp(dir));
	assert_int_equal(chdir(dir), 0);
	assert_int_equal(mkdir(".debug", 0755), 0);
	write_file(".debug/x.debug", &symbols);

	write_stripped("x", crc);
	assert_int_equal(object_symtab_load("x", &tab, NULL), 0);
	assert_int_equal(tab.nr, 8);

	/* A debug file of another build is not used. */
	write_stripped("x", crc + 1);
	assert_int_equal(object_symtab_load("x", &none, NULL), 0);
	assert_int_equal(none.nr, 0);

	unlink(".debug/x.debug");
	unlink("x");
	rmdir(".debug");
	assert_int_equal(chdir("/"), 0);
	rmdir(dir);
}

static void make_everything(struct elf_image *img)
{
	make_static_symbols(img);
	make_dynamic_symbols(img);
	add_relocs(img, ".rela.plt", IMAGE_BASE + 0x200, R_X86_64_JUMP_SLOT, 2);
	add_relocs(img, ".rela.dyn", IMAGE_BASE + 0x300, R_X86_64_GLOB_DAT, 4);
	add_plt(img, ".plt", 0x500, 48);
	image_section(img, ".gnu_debuglink", (Elf64_Shdr){ .sh_type = SHT_PROGBITS }, "x\0\0\0abcd",
		      8);
	image_finish(img);
}

/* Damaged files give an answer or an error. A sanitizer finds bad reads. */
TEST(damaged_files)
{
	struct elf_image img cleanup_image = { 0 };

	make_everything(&img);
	for (size_t len = 0; len < img.data.len; len++) {
		struct strbuf text cleanup_strbuf = { 0 };

		load_text(img.data.data, len, &text);
	}
	for (size_t at = 0; at < img.data.len; at++) {
		struct strbuf text cleanup_strbuf = { 0 };
		char kept = img.data.data[at];

		img.data.data[at] = at % 2 ? 0xff : kept ^ 0x80;
		load_text(img.data.data, img.data.len, &text);
		img.data.data[at] = kept;
	}
}

TEST(no_elf_file)
{
	struct symtab tab = { 0 };
	struct uft_err err = { 0 };

	assert_int_equal(object_symtab_load("/dev/null", &tab, &err), -ENOEXEC);
	assert_non_null(strstr(err.text, "/dev/null"));
	assert_int_equal(object_symtab_load("/", &tab, NULL), -EISDIR);
	assert_int_equal(object_symtab_load("/absent", &tab, NULL), -ENOENT);
}
