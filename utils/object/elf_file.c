/* ELF files: opening, sections and symbol entries, with every index and offset checked (see elf_file.h). */
#include "utils/object/elf_file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "utils/base/compiler.h"
#include "utils/base/fd.h"

#define PAGE_MASK	  0xfffULL
/* A symbol with a longer name is none. */
#define NAME_MAX_BYTES	  65536
#define NAMES_PER_BYTE	  4
#define NAMES_LEAST_BYTES (1U << 20)

/* The page of the first PT_LOAD: they are in ascending order (ELF specification, "Program Header"). */
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

int elf_file_open(struct elf_file *file, const char *path, struct uft_err *err)
{
	struct elf_file opened cleanup_elf_file = ELF_FILE_CLOSED;
	struct stat st;

	elf_version(EV_CURRENT);
	opened.fd = file_open_regular(path, err);
	/* What is no file at all is no ELF file either. */
	if (opened.fd < 0)
		return opened.fd == -EINVAL ? -ENOEXEC : opened.fd;
	/* Not mapped: a file that shrinks meanwhile must not kill us with SIGBUS. */
	opened.elf = elf_begin(opened.fd, ELF_C_READ, NULL);
	opened.size = fstat(opened.fd, &st) == 0 ? st.st_size : 0;
	if (elf_file_start(&opened) < 0)
		return err_set(err, -ENOEXEC, "cannot read '%s': it is no ELF file", path);
	*file = opened;
	opened = (struct elf_file)ELF_FILE_CLOSED;
	return 0;
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

	/* libelf gives no data for a section that reaches beyond the end of the file. */
	Elf_Data *data = elf_getdata(scn, NULL);

	if (data && data->d_buf && data->d_size)
		sec->data = data;
}

bool elf_section_by_name(const struct elf_file *file, const char *name, struct elf_section *sec)
{
	size_t names;

	if (elf_getshdrstrndx(file->elf, &names) < 0)
		return false;
	for (Elf_Scn *scn = NULL; (scn = elf_nextscn(file->elf, scn)) != NULL;) {
		GElf_Shdr head;
		const char *found;

		if (!gelf_getshdr(scn, &head))
			continue;
		found = elf_strptr(file->elf, names, head.sh_name);
		if (found && strcmp(found, name) == 0) {
			elf_section_fill(scn, &head, sec);
			return true;
		}
	}
	return false;
}

bool elf_section_by_type(const struct elf_file *file, uint32_t type, struct elf_section *sec)
{
	for (Elf_Scn *scn = NULL; (scn = elf_nextscn(file->elf, scn)) != NULL;) {
		GElf_Shdr head;

		if (gelf_getshdr(scn, &head) && head.sh_type == type) {
			elf_section_fill(scn, &head, sec);
			return true;
		}
	}
	return false;
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
	/* In files with more than 65,279 sections the index of the others stands elsewhere. */
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

bool elf_symbols_open(const struct elf_file *file, uint32_t type, struct elf_symbols *symbols)
{
	struct elf_section sec;

	if (!elf_section_by_type(file, type, &sec) || !sec.data)
		return false;

	Elf_Scn *scn = elf_getscn(file->elf, sec.head.sh_link);
	GElf_Shdr head;
	struct elf_section strings;

	if (!scn || !gelf_getshdr(scn, &head) || head.sh_type != SHT_STRTAB)
		return false;
	elf_section_fill(scn, &head, &strings);
	if (!strings.data)
		return false;

	size_t entry = gelf_fsize(file->elf, ELF_T_SYM, 1, EV_CURRENT);

	if (sec.head.sh_entsize != entry)
		return false;
	*symbols = (struct elf_symbols){
		.data = sec.data,
		.strings = strings.data->d_buf,
		.strings_len = strings.data->d_size,
		.nr = sec.data->d_size / entry,
	};
	return true;
}

bool elf_symbol(const struct elf_symbols *symbols, size_t index, GElf_Sym *sym, const char **name,
		size_t *name_len)
{
	if (index >= symbols->nr || index > INT32_MAX || !gelf_getsym(symbols->data, index, sym) ||
	    sym->st_name >= symbols->strings_len)
		return false;

	size_t room = MIN(symbols->strings_len - sym->st_name, (size_t)NAME_MAX_BYTES);

	*name = symbols->strings + sym->st_name;
	*name_len = strnlen(*name, room);
	return *name_len < room;
}
