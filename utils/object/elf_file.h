/* ELF files: opening, sections and symbol entries, with every index and offset checked. */
#ifndef UTRAIL_OBJECT_ELF_FILE_H
#define UTRAIL_OBJECT_ELF_FILE_H

#include <gelf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "utils/base/cleanup.h"
#include "utils/base/err.h"

/*
 * An open ELF file; starts as ELF_FILE_CLOSED. Its sections and names live until elf_file_close().
 * Files are untrusted: sections that extend beyond the file count as absent.
 *
 * @size: bytes of the file
 * @base: the address that is mapped at the start of the module: addresses in .sym files are
 *        relative to it (doc/formats/tasks.md, "Module maps"); 0 in position independent files
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
 * Open the file @path. 0; -ENOEXEC: it is no ELF file; another negative errno. The text names the
 * file.
 */
int elf_file_open(struct elf_file *file, const char *path, struct uft_err *err);

/* Open an ELF file in memory, which must stay there while the file is open. 0 or -ENOEXEC. */
int elf_file_open_image(struct elf_file *file, void *image, size_t size);

void elf_file_close(struct elf_file *file);
#define cleanup_elf_file cleanup(elf_file_close)

/*
 * @data: the content, which is within the file; NULL when the file has none for the section
 * (SHT_NOBITS, stripped)
 */
struct elf_section {
	GElf_Shdr head;
	Elf_Data *data;
};

/* Find the first section with that name, or of that type (SHT_*). False when there is none. */
bool elf_section_by_name(const struct elf_file *file, const char *name, struct elf_section *sec);
bool elf_section_by_type(const struct elf_file *file, uint32_t type, struct elf_section *sec);

/*
 * The bytes of a section in the file.
 *
 * @own: the memory of the bytes. The caller frees it early, since two copies of a section may need
 *       too much memory. NULL: the bytes live as long as the file is open
 */
struct elf_bytes {
	const uint8_t *bytes;
	uint64_t len;
	void *own;
};

/*
 * Read a section's bytes. 0; -ENOMEM; -ENODATA: it has none, or the file does not contain all of
 * them.
 */
int elf_section_read(const struct elf_file *file, Elf_Scn *scn, struct elf_bytes *out);

/*
 * True when the first section of that name contains the @len bytes of @text; the section is not
 * kept in memory. Also false when memory is short.
 */
bool elf_section_has(const struct elf_file *file, const char *name, const void *text, size_t len);

/*
 * Copy @len bytes of one section, at the running program's address @addr, to @to. False when there
 * is no such section.
 */
bool elf_read_at(const struct elf_file *file, uint64_t addr, void *to, uint64_t len);

/*
 * Iterate over program headers: @i begins as 0. False after the last one, and at the first one
 * outside of the file: a file of 84 bytes may claim four billion.
 */
bool elf_next_segment(const struct elf_file *file, size_t *i, GElf_Phdr *segment);

/* True when there is a program header of that type (PT_*). */
bool elf_has_segment(const struct elf_file *file, uint32_t type);

/* True when @name, which may be NULL, is one of the @nr @names. */
bool elf_name_is_one_of(const char *name, const char *const *names, size_t nr);

/* The sections that a running program has in memory. Starts as { 0 }. */
struct elf_loaded {
	bool *sections;
	size_t nr;
};

/* 0 or -ENOMEM. */
int elf_loaded_init(struct elf_loaded *loaded, const struct elf_file *file);
void elf_loaded_deinit(struct elf_loaded *loaded);

/* True when section @index is in a program's memory. False for undefined and absolute symbols. */
bool elf_section_is_loaded(const struct elf_loaded *loaded, uint16_t index);

#define ELF_SYMBOLS_AHEAD 128

/*
 * A symbol section with its string table.
 *
 * @data: the entries; NULL: entries are read on demand from @fd, where they begin at @at
 * @ahead: @nr_ahead entries that were read, from the one with index @first on
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
 * Names of symbols may overlap in the file, so that their total may be much longer than the file.
 * True when @bytes of stored names are more than a normal file has.
 */
bool elf_has_too_long_names(const struct elf_file *file, size_t bytes);

/* Set @err to the error about too long names, -EFBIG. */
int elf_too_long_names(const char *path, struct uft_err *err);

/* Open the table of type SHT_SYMTAB or SHT_DYNSYM. False when the file has none with content. */
bool elf_symbols_open(const struct elf_file *file, uint32_t type, struct elf_symbols *symbols);

/*
 * Get entry @index and its name, which is NUL-terminated within the string table. False when there
 * is no such entry or the name is outside of the table.
 */
bool elf_symbol(struct elf_symbols *symbols, size_t index, GElf_Sym *sym, const char **name,
		size_t *name_len);

#endif
