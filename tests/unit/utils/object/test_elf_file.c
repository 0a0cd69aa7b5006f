/* Sections and symbols of ELF files are the same, whether read from a file or from memory. */
#include "tests/unit/lib/elf_image.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "utils/object/elf_file.h"

#define DATA_ADDR  (IMAGE_BASE + 0x3000)
#define DATA_BYTES (700U << 10)
#define PIECE	   (256U << 10) /* the number of bytes searched at a time */
#define NR_FUNCS   500
#define TEXT	   "CAMLRUNPARAM"
#define TEXT_BYTES sizeof(TEXT)

/*
 * @path: the image as a file; @file: opened from it; @memory: opened from memory
 */
struct both {
	char path[32];
	struct elf_image img;
	struct elf_file file;
	struct elf_file memory;
};

static char data[DATA_BYTES];

static void write_file(struct both *b)
{
	int fd;

	strcpy(b->path, "/tmp/elf-file-XXXXXX");
	fd = mkstemp(b->path);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, b->img.data.data, b->img.data.len), b->img.data.len);
	close(fd);
}

static void open_both(struct both *b)
{
	struct image_symbols symbols = { 0 };
	char name[32];
	unsigned sec;

	*b = (struct both){ .file = ELF_FILE_CLOSED, .memory = ELF_FILE_CLOSED };
	sec = image_section(&b->img, ".rodata",
			    (Elf64_Shdr){ .sh_type = SHT_PROGBITS,
					  .sh_flags = SHF_ALLOC,
					  .sh_addr = DATA_ADDR },
			    data, DATA_BYTES);
	for (unsigned i = 0; i < NR_FUNCS; i++) {
		snprintf(name, sizeof(name), "f%u", i);
		image_symbol(&symbols, name, DATA_ADDR + i * 16, 16, STT_FUNC, sec);
	}
	image_symbol_sections(&b->img, &symbols, SHT_SYMTAB);
	image_finish(&b->img);
	write_file(b);
	assert_int_equal(elf_file_open(&b->file, b->path, NULL), 0);
	assert_int_equal(elf_file_open_image(&b->memory, b->img.data.data, b->img.data.len), 0);
}

static void close_both(struct both *b)
{
	elf_file_close(&b->file);
	elf_file_close(&b->memory);
	image_deinit(&b->img);
	unlink(b->path);
}

/* The text may be at both ends of the data, or across the end of a piece. */
TEST(texts_are_found)
{
	size_t places[TEXT_BYTES * 2 + 4] = { 0, DATA_BYTES - TEXT_BYTES };
	size_t nr = 2;

	for (size_t i = 0; i <= TEXT_BYTES; i++)
		places[nr++] = PIECE - i;
	for (size_t i = 0; i < nr; i++) {
		struct both b;

		memset(data, 'x', sizeof(data));
		memcpy(data + places[i], TEXT, TEXT_BYTES);
		open_both(&b);
		assert_true(elf_section_has(&b.file, ".rodata", TEXT, TEXT_BYTES));
		assert_true(elf_section_has(&b.memory, ".rodata", TEXT, TEXT_BYTES));
		assert_false(elf_section_has(&b.file, ".rodata", "no such", 7));
		assert_false(elf_section_has(&b.memory, ".rodata", "no such", 7));
		assert_false(elf_section_has(&b.file, ".data", TEXT, TEXT_BYTES));
		close_both(&b);
	}
}

TEST(bytes_of_addresses)
{
	struct both b;
	char read[16];

	for (size_t i = 0; i < sizeof(data); i++)
		data[i] = i * 7 + i / 251;
	open_both(&b);

	const struct elf_file *const files[] = { &b.file, &b.memory };

	for (size_t i = 0; i < 2; i++) {
		assert_true(elf_read_at(files[i], DATA_ADDR, read, 16));
		assert_memory_equal(read, data, 16);
		assert_true(elf_read_at(files[i], DATA_ADDR + DATA_BYTES - 16, read, 16));
		assert_memory_equal(read, data + DATA_BYTES - 16, 16);
		assert_false(elf_read_at(files[i], DATA_ADDR + DATA_BYTES - 15, read, 16));
		assert_false(elf_read_at(files[i], DATA_ADDR - 1, read, 16));
	}
	close_both(&b);
}

static void check_symbol(struct elf_symbols *symbols, size_t index)
{
	GElf_Sym sym;
	const char *name;
	char expected[32];
	size_t len;

	assert_true(elf_symbol(symbols, index, &sym, &name, &len));
	snprintf(expected, sizeof(expected), "f%zu", index - 1);
	assert_string_equal(name, expected);
	assert_int_equal(len, strlen(expected));
	assert_int_equal(sym.st_value, DATA_ADDR + (index - 1) * 16);
}

/* Symbols are read in order, backwards, and across the end of a piece. */
TEST(symbols_in_any_order)
{
	struct both b;

	open_both(&b);

	const struct elf_file *const files[] = { &b.file, &b.memory };

	for (size_t i = 0; i < 2; i++) {
		struct elf_symbols symbols;
		GElf_Sym sym;
		const char *name;
		size_t len;

		assert_true(elf_symbols_open(files[i], SHT_SYMTAB, &symbols));
		assert_int_equal(symbols.nr, NR_FUNCS + 1);
		for (size_t k = 1; k <= NR_FUNCS; k++)
			check_symbol(&symbols, k);
		for (size_t k = NR_FUNCS; k > 0; k -= MIN(k, (size_t)37))
			check_symbol(&symbols, k);
		assert_false(elf_symbol(&symbols, NR_FUNCS + 1, &sym, &name, &len));
		assert_false(elf_symbols_open(files[i], SHT_DYNSYM, &symbols));
	}
	close_both(&b);
}

/*
 * The file has become shorter: sections beyond its end are missing, and the reader does not crash.
 */
TEST(a_file_that_shrinks)
{
	struct elf_symbols symbols;
	struct elf_bytes bytes;
	struct both b;
	GElf_Sym sym;
	const char *name;
	char read[16];
	size_t len;

	open_both(&b);
	assert_true(elf_symbols_open(&b.file, SHT_SYMTAB, &symbols));

	Elf_Scn *scn = elf_getscn(b.file.elf, 1);

	assert_int_equal(elf_section_read(&b.file, scn, &bytes), 0);
	assert_int_equal(bytes.len, DATA_BYTES);
	assert_memory_equal(bytes.bytes, data, DATA_BYTES);
	free(bytes.own);
	assert_int_equal(truncate(b.path, 4096), 0);
	assert_false(elf_symbol(&symbols, 1, &sym, &name, &len));
	assert_int_equal(elf_section_read(&b.file, scn, &bytes), -ENODATA);
	assert_false(elf_section_has(&b.file, ".rodata", TEXT, TEXT_BYTES));
	assert_false(elf_read_at(&b.file, DATA_ADDR + DATA_BYTES - 16, read, 16));
	close_both(&b);
}
