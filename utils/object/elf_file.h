/* ELF files: sections, symbols and program headers. Every index and offset is checked. */
#ifndef UTRAIL_OBJECT_ELF_FILE_H
#define UTRAIL_OBJECT_ELF_FILE_H

#include <gelf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "utils/base/cleanup.h"
#include "utils/base/err.h"

/*
 * An open ELF file. Starts as ELF_FILE_CLOSED. Its sections and names live until elf_file_close().
 * Files are untrusted: a section that extends beyond the file counts as absent.
 *
 * @size: size of the file in bytes
 * @base: the address that the file states for the start of the module; 0 in position independent
 *         files. Addresses in .sym files are relative to @base (doc/formats/tasks.md, "Module
 *         maps")
 */
struct elf_file {
	int fd;
	Elf *elf;
	GElf_Ehdr head;
	uint64_t size;
	uint64_t base;
};

#define ELF_FILE_CLOSED  \
	{                \
		.fd = -1 \
	}

/*
 * Open the file @path. Returns 0, -ENOEXEC when it is not an ELF file, or another negative errno.
 * The text in @err names the file.
 */
int elf_file_open(struct elf_file *file, const char *path, struct uft_err *err);

/* Like elf_file_open(), for a path that comes from another file (file_open_strange()). */
int elf_file_open_strange(struct elf_file *file, const char *path);

/* Open the ELF file in the memory at @image. @image must outlive @file. Returns 0 or -ENOEXEC. */
int elf_file_open_image(struct elf_file *file, void *image, size_t size);

void elf_file_close(struct elf_file *file);
#define cleanup_elf_file cleanup(elf_file_close)

/*
 * @data: the content; NULL when the file does not have all of it (SHT_NOBITS, or a stripped
 *         section)
 */
struct elf_section {
	GElf_Shdr head;
	Elf_Data *data;
};

/*
 * Find the first section with this name, or of this type (SHT_*). Returns false when there is none.
 */
bool elf_section_by_name(const struct elf_file *file, const char *name, struct elf_section *sec);
bool elf_section_by_type(const struct elf_file *file, uint32_t type, struct elf_section *sec);

/*
 * The bytes of a section in the file.
 *
 * @own: the memory of @bytes. The caller frees it with free(3), and should do so soon: a section
 *         may be large. NULL: @bytes live as long as the file is open
 */
struct elf_bytes {
	const uint8_t *bytes;
	uint64_t len;
	void *own;
};

/*
 * Read the bytes of a section. Returns 0, -ENOMEM, or -ENODATA when the section is empty or the
 * file does not have all of it.
 */
int elf_section_read(const struct elf_file *file, Elf_Scn *scn, struct elf_bytes *out);

/*
 * True when the first section of this name contains the @len bytes of @text. The section is not
 * kept in memory. When memory is short, the result is false.
 */
bool elf_section_has(const struct elf_file *file, const char *name, const void *text, size_t len);

/*
 * Copy @len bytes of a section from the file. In the running program, the first of these bytes has
 * the address @addr. Returns false when no section in the file has all these bytes.
 */
bool elf_read_at(const struct elf_file *file, uint64_t addr, void *to, uint64_t len);

/*
 * Get program header *@i, and increment *@i, which must be 0 before the first call. Returns false
 * after the last header, or when the header is outside of the file: a file of 84 bytes may claim
 * four billion headers.
 */
bool elf_next_segment(const struct elf_file *file, size_t *i, GElf_Phdr *segment);

/* True when the file has a program header of this type (PT_*). */
bool elf_has_segment(const struct elf_file *file, uint32_t type);

/* True when @name, which may be NULL, is one of the @nr @names. */
bool elf_name_is_one_of(const char *name, const char *const *names, size_t nr);

/* The sections that a running program has in memory. Starts as { 0 }. */
struct elf_loaded {
	bool *sections;
	size_t nr;
};

/* Returns 0 or -ENOMEM. */
int elf_loaded_init(struct elf_loaded *loaded, const struct elf_file *file);
void elf_loaded_deinit(struct elf_loaded *loaded);

/*
 * True when a running program has section @index in memory. False for the indexes of undefined and
 * absolute symbols.
 */
bool elf_section_is_loaded(const struct elf_loaded *loaded, uint16_t index);

#define ELF_SYMBOLS_AHEAD 128

/*
 * A symbol section with its string table.
 *
 * @data: the entries; NULL: the entries are read on demand from @fd. The first entry is at offset
 *         @at in the file
 * @ahead: the @nr_ahead entries that were read last, of which the first has the index @first
 */
struct elf_symbols {
	Elf_Data *data;
	const char *strings;
	size_t strings_len;
	size_t nr;
	int fd;
	uint64_t at;
	size_t first;
	size_t nr_ahead;
	Elf64_Sym ahead[ELF_SYMBOLS_AHEAD];
};

/*
 * True when @bytes, the sum of the lengths of symbol names, is larger than in a normal file. Names
 * in a file may overlap, so this sum may be much larger than the file.
 */
bool elf_has_too_long_names(const struct elf_file *file, size_t bytes);

/* Write to @err that the symbol names in the file @path are too long. Returns -EFBIG. */
int elf_too_long_names(const char *path, struct uft_err *err);

/*
 * Open the table of type SHT_SYMTAB or SHT_DYNSYM. Returns false when the file has none, or an
 * empty one.
 */
bool elf_symbols_open(const struct elf_file *file, uint32_t type, struct elf_symbols *symbols);

/*
 * Get entry @index and its name, which ends in a NUL. Returns false when there is no such entry, or
 * when the name is outside of the string table or has 64 KiB or more.
 */
bool elf_symbol(struct elf_symbols *symbols, size_t index, GElf_Sym *sym, const char **name,
		size_t *name_len);

/* True when the file imports any of @names, which end with a NULL. */
bool elf_imports(const struct elf_file *file, const char *const *names);

#endif
