/* ELF files (see elf_file.h). */
#include "utils/object/elf_file.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "utils/base/compiler.h"
#include "utils/base/fd.h"

#define PAGE_MASK	  0xfffULL
#define NAME_MAX_BYTES	  65536 /* symbols with longer names are ignored */
#define NAMES_PER_BYTE	  4
#define NAMES_LEAST_BYTES (1U << 20)

/*
 * Returns the address of the page where the first PT_LOAD segment begins. No other PT_LOAD segment
 * has a lower address (ELF specification, "Program Header").
 */
static uint64_t lowest_address(const struct elf_file *file)
{
	GElf_Phdr segment;

	for (size_t i = 0; elf_next_segment(file, &i, &segment);) {
		if (segment.p_type == PT_LOAD)
			return segment.p_vaddr & ~PAGE_MASK;
	}
	return 0;
}

static int elf_file_start(struct elf_file *file)
{
	if (!file->elf || elf_kind(file->elf) != ELF_K_ELF || !gelf_getehdr(file->elf, &file->head))
		return -ENOEXEC;
	file->base = lowest_address(file);
	return 0;
}

/* Open the ELF file @fd as @file. On failure, @fd is closed. */
static int open_descriptor(struct elf_file *file, int fd)
{
	struct elf_file opened cleanup_elf_file = ELF_FILE_CLOSED;
	struct stat st;

	elf_version(EV_CURRENT);
	opened.fd = fd;
	/* Do not map the file: when another process makes it shorter, SIGBUS would kill us. */
	opened.elf = elf_begin(opened.fd, ELF_C_READ, NULL);
	opened.size = fstat(opened.fd, &st) == 0 ? st.st_size : 0;
	if (elf_file_start(&opened) < 0)
		return -ENOEXEC;
	*file = opened;
	opened = (struct elf_file)ELF_FILE_CLOSED;
	return 0;
}

int elf_file_open(struct elf_file *file, const char *path, struct uft_err *err)
{
	int fd = file_open_regular(path, err);

	/* Return the same error for a device or a FIFO as for a file that is not an ELF file. */
	if (fd < 0)
		return fd == -EINVAL ? -ENOEXEC : fd;
	return open_descriptor(file, fd) < 0
		       ? err_set(err, -ENOEXEC, "cannot read '%s': it is no ELF file", path)
		       : 0;
}

int elf_file_open_strange(struct elf_file *file, const char *path)
{
	int fd = file_open_strange(path);

	return fd < 0 ? fd : open_descriptor(file, fd);
}

int elf_file_open_image(struct elf_file *file, void *image, size_t size)
{
	struct elf_file opened cleanup_elf_file = ELF_FILE_CLOSED;

	elf_version(EV_CURRENT);
	opened.elf = elf_memory(image, size);
	opened.size = size;
	if (elf_file_start(&opened) < 0)
		return -ENOEXEC;
	*file = opened;
	opened = (struct elf_file)ELF_FILE_CLOSED;
	return 0;
}

void elf_file_close(struct elf_file *file)
{
	elf_end(file->elf);
	cleanup_fd_fn(&file->fd);
	*file = (struct elf_file)ELF_FILE_CLOSED;
}

static void elf_section_fill(Elf_Scn *scn, const GElf_Shdr *head, struct elf_section *sec)
{
	sec->head = *head;
	sec->data = NULL;
	if (head->sh_type == SHT_NOBITS || head->sh_size == 0)
		return;

	/* libelf returns no data when the section extends beyond the end of the file. */
	Elf_Data *data = elf_getdata(scn, NULL);

	if (data && data->d_buf && data->d_size)
		sec->data = data;
}

static Elf_Scn *section_of_name(const struct elf_file *file, const char *name, GElf_Shdr *head)
{
	size_t names;

	if (elf_getshdrstrndx(file->elf, &names) < 0)
		return NULL;
	for (Elf_Scn *scn = NULL; (scn = elf_nextscn(file->elf, scn)) != NULL;) {
		const char *found;

		if (!gelf_getshdr(scn, head))
			continue;
		found = elf_strptr(file->elf, names, head->sh_name);
		if (found && strcmp(found, name) == 0)
			return scn;
	}
	return NULL;
}

bool elf_section_by_name(const struct elf_file *file, const char *name, struct elf_section *sec)
{
	GElf_Shdr head;
	Elf_Scn *scn = section_of_name(file, name, &head);

	if (scn)
		elf_section_fill(scn, &head, sec);
	return scn != NULL;
}

/* Find a section without loading its data. */
static Elf_Scn *section_of_type(const struct elf_file *file, uint32_t type, GElf_Shdr *head)
{
	for (Elf_Scn *scn = NULL; (scn = elf_nextscn(file->elf, scn)) != NULL;) {
		if (gelf_getshdr(scn, head) && head->sh_type == type)
			return scn;
	}
	return NULL;
}

bool elf_section_by_type(const struct elf_file *file, uint32_t type, struct elf_section *sec)
{
	GElf_Shdr head;
	Elf_Scn *scn = section_of_type(file, type, &head);

	if (scn)
		elf_section_fill(scn, &head, sec);
	return scn != NULL;
}

bool elf_next_segment(const struct elf_file *file, size_t *i, GElf_Phdr *segment)
{
	size_t nr = 0;

	return elf_getphdrnum(file->elf, &nr) == 0 && *i < nr &&
	       gelf_getphdr(file->elf, (int)(*i)++, segment);
}

bool elf_has_segment(const struct elf_file *file, uint32_t type)
{
	GElf_Phdr segment;

	for (size_t i = 0; elf_next_segment(file, &i, &segment);) {
		if (segment.p_type == type)
			return true;
	}
	return false;
}

bool elf_name_is_one_of(const char *name, const char *const *names, size_t nr)
{
	for (size_t i = 0; name && i < nr; i++) {
		if (strcmp(name, names[i]) == 0)
			return true;
	}
	return false;
}

int elf_loaded_init(struct elf_loaded *loaded, const struct elf_file *file)
{
	if (elf_getshdrnum(file->elf, &loaded->nr) < 0)
		loaded->nr = 0;
	loaded->sections = calloc(loaded->nr + 1, sizeof(*loaded->sections));
	if (!loaded->sections)
		return -ENOMEM;
	for (size_t i = 1; i < loaded->nr; i++) {
		Elf_Scn *scn = elf_getscn(file->elf, i);
		GElf_Shdr head;

		loaded->sections[i] = scn && gelf_getshdr(scn, &head) &&
				      (head.sh_flags & SHF_ALLOC) != 0;
	}
	return 0;
}

void elf_loaded_deinit(struct elf_loaded *loaded)
{
	free(loaded->sections);
	*loaded = (struct elf_loaded){ 0 };
}

bool elf_section_is_loaded(const struct elf_loaded *loaded, uint16_t index)
{
	/* SHN_XINDEX: the file has more than 65,279 sections, and the index is stored elsewhere. */
	return index == SHN_XINDEX || (index < loaded->nr && loaded->sections[index]);
}

bool elf_has_too_long_names(const struct elf_file *file, size_t bytes)
{
	return bytes > NAMES_LEAST_BYTES && bytes / NAMES_PER_BYTE > file->size;
}

int elf_too_long_names(const char *path, struct uft_err *err)
{
	return err_set(err, -EFBIG,
		       "the names of symbols in '%s' are more than %u times as long as the file, "
		       "which is the limit",
		       path, NAMES_PER_BYTE);
}

static bool is_in_file(const struct elf_file *file, const GElf_Shdr *head)
{
	return head->sh_type != SHT_NOBITS && head->sh_size && head->sh_offset <= file->size &&
	       head->sh_size <= file->size - head->sh_offset;
}

static bool read_all(int fd, void *to, uint64_t len, uint64_t at)
{
	return fd_pread_full(fd, to, len, at) == (ssize_t)len;
}

static int read_own(const struct elf_file *file, const GElf_Shdr *head, struct elf_bytes *out)
{
	void *own = malloc(head->sh_size);

	if (!own)
		return -ENOMEM;
	if (!read_all(file->fd, own, head->sh_size, head->sh_offset)) {
		free(own);
		return -ENODATA;
	}
	*out = (struct elf_bytes){ own, head->sh_size, own };
	return 0;
}

int elf_section_read(const struct elf_file *file, Elf_Scn *scn, struct elf_bytes *out)
{
	GElf_Shdr head;
	Elf_Data *data;

	if (!gelf_getshdr(scn, &head) || head.sh_type == SHT_NOBITS || !head.sh_size)
		return -ENODATA;
	if (file->fd >= 0)
		return is_in_file(file, &head) ? read_own(file, &head, out) : -ENODATA;
	data = elf_rawdata(scn, NULL);
	if (!data || !data->d_buf || !data->d_size)
		return -ENODATA;
	*out = (struct elf_bytes){ data->d_buf, data->d_size, NULL };
	return 0;
}

#define SEARCH_BYTES (256U << 10)

/*
 * Search a section piece by piece. Successive pieces overlap, so that each occurrence of the text
 * is within a piece.
 */
static bool file_has(const struct elf_file *file, const GElf_Shdr *head, const void *text,
		     size_t len)
{
	char *piece cleanup_free = malloc(SEARCH_BYTES);
	uint64_t at = 0;

	if (!piece || len > SEARCH_BYTES / 2)
		return false;
	while (head->sh_size - at >= len) {
		uint64_t left = MIN(head->sh_size - at, (uint64_t)SEARCH_BYTES);

		if (!read_all(file->fd, piece, left, head->sh_offset + at))
			return false;
		if (memmem(piece, left, text, len))
			return true;
		at += left - (len - 1);
	}
	return false;
}

bool elf_section_has(const struct elf_file *file, const char *name, const void *text, size_t len)
{
	GElf_Shdr head;
	Elf_Scn *scn = section_of_name(file, name, &head);
	Elf_Data *data;

	if (!scn || !len)
		return false;
	if (file->fd >= 0 && !(head.sh_flags & SHF_COMPRESSED))
		return is_in_file(file, &head) && file_has(file, &head, text, len);
	data = elf_rawdata(scn, NULL);
	return data && data->d_buf && memmem(data->d_buf, data->d_size, text, len);
}

static bool read_part(const struct elf_file *file, Elf_Scn *scn, const GElf_Shdr *head, uint64_t at,
		      void *to, uint64_t len)
{
	Elf_Data *data;

	if (file->fd >= 0)
		return is_in_file(file, head) && read_all(file->fd, to, len, head->sh_offset + at);
	data = elf_rawdata(scn, NULL);
	if (!data || !data->d_buf || at > data->d_size || len > data->d_size - at)
		return false;
	memcpy(to, (const char *)data->d_buf + at, len);
	return true;
}

bool elf_read_at(const struct elf_file *file, uint64_t addr, void *to, uint64_t len)
{
	for (Elf_Scn *scn = NULL; (scn = elf_nextscn(file->elf, scn)) != NULL;) {
		GElf_Shdr head;

		if (gelf_getshdr(scn, &head) && (head.sh_flags & SHF_ALLOC) &&
		    head.sh_type != SHT_NOBITS && addr >= head.sh_addr &&
		    addr - head.sh_addr < head.sh_size &&
		    len <= head.sh_size - (addr - head.sh_addr))
			return read_part(file, scn, &head, addr - head.sh_addr, to, len);
	}
	return false;
}

/* True when symbols can be read from the file without conversion. */
static bool are_native(const struct elf_file *file)
{
	const unsigned char *ident = file->head.e_ident;

	return file->fd >= 0 && ident[EI_CLASS] == ELFCLASS64 &&
	       ident[EI_DATA] ==
		       (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? ELFDATA2LSB : ELFDATA2MSB);
}

/*
 * Open a table of symbols. If possible, the entries stay in the file, and elf_symbol() reads the
 * entries piece by piece. All entries together may take more memory than the names of the symbols,
 * and most callers go through the table only once.
 */
static bool open_table(const struct elf_file *file, Elf_Scn *scn, const GElf_Shdr *head,
		       struct elf_symbols *symbols)
{
	uint64_t bytes = head->sh_size;

	symbols->fd = -1;
	if (are_native(file) && !(head->sh_flags & SHF_COMPRESSED)) {
		if (!is_in_file(file, head))
			return false;
		symbols->fd = file->fd;
		symbols->at = head->sh_offset;
	} else {
		struct elf_section sec;

		elf_section_fill(scn, head, &sec);
		if (!sec.data)
			return false;
		symbols->data = sec.data;
		bytes = sec.data->d_size;
	}
	symbols->nr = bytes / head->sh_entsize;
	return true;
}

bool elf_symbols_open(const struct elf_file *file, uint32_t type, struct elf_symbols *symbols)
{
	GElf_Shdr head, strings_head;
	Elf_Scn *scn = section_of_type(file, type, &head);
	Elf_Scn *strings_scn = scn ? elf_getscn(file->elf, head.sh_link) : NULL;
	struct elf_section strings;

	if (!strings_scn || head.sh_type == SHT_NOBITS || !head.sh_size ||
	    head.sh_entsize != gelf_fsize(file->elf, ELF_T_SYM, 1, EV_CURRENT) ||
	    !gelf_getshdr(strings_scn, &strings_head) || strings_head.sh_type != SHT_STRTAB)
		return false;
	elf_section_fill(strings_scn, &strings_head, &strings);
	if (!strings.data)
		return false;
	memset(symbols, 0, offsetof(struct elf_symbols, ahead));
	symbols->strings = strings.data->d_buf;
	symbols->strings_len = strings.data->d_size;
	return open_table(file, scn, &head, symbols);
}

/* Get entry @index. If symbols->ahead lacks this entry, read it together with later entries. */
static bool read_ahead(struct elf_symbols *symbols, size_t index, GElf_Sym *sym)
{
	if (index < symbols->first || index - symbols->first >= symbols->nr_ahead) {
		size_t nr = MIN(symbols->nr - index, (size_t)ELF_SYMBOLS_AHEAD);

		symbols->nr_ahead = 0;
		if (!read_all(symbols->fd, symbols->ahead, nr * sizeof(Elf64_Sym),
			      symbols->at + index * sizeof(Elf64_Sym)))
			return false;
		symbols->first = index;
		symbols->nr_ahead = nr;
	}
	*sym = symbols->ahead[index - symbols->first];
	return true;
}

bool elf_symbol(struct elf_symbols *symbols, size_t index, GElf_Sym *sym, const char **name,
		size_t *name_len)
{
	if (index >= symbols->nr || index > INT32_MAX ||
	    !(symbols->data ? gelf_getsym(symbols->data, index, sym) != NULL
			    : read_ahead(symbols, index, sym)) ||
	    sym->st_name >= symbols->strings_len)
		return false;

	size_t room = MIN(symbols->strings_len - sym->st_name, (size_t)NAME_MAX_BYTES);

	*name = symbols->strings + sym->st_name;
	*name_len = strnlen(*name, room);
	return *name_len < room;
}

bool elf_imports(const struct elf_file *file, const char *const *names)
{
	struct elf_symbols symbols;

	if (!elf_symbols_open(file, SHT_DYNSYM, &symbols))
		return false;
	for (size_t i = 1; i < symbols.nr; i++) {
		GElf_Sym sym;
		const char *name;
		size_t len;

		if (!elf_symbol(&symbols, i, &sym, &name, &len) || sym.st_shndx != SHN_UNDEF)
			continue;
		for (const char *const *known = names; *known; known++) {
			if (strcmp(name, *known) == 0)
				return true;
		}
	}
	return false;
}
