/* The GNU build-id, which identifies the build of a file (see build_id.h). */
#include "utils/object/build_id.h"

#include <stdio.h>
#include <string.h>

/*
 * At most this many bytes of notes are read from a file. In a damaged file, many notes may overlap.
 * libelf keeps a copy of each note until the file is closed, so without this limit the copies could
 * fill the memory.
 */
#define NOTES_MAX (1U << 20)

static void put_hex(const unsigned char *bytes, size_t len, char *hex)
{
	static const char digits[] = "0123456789abcdef";

	len = MIN(len, (size_t)(BUILD_ID_HEX_SIZE - 1) / 2);
	for (size_t i = 0; i < len; i++) {
		*hex++ = digits[bytes[i] >> 4];
		*hex++ = digits[bytes[i] & 15];
	}
	*hex = '\0';
}

static bool find_in_notes(Elf_Data *notes, char *hex)
{
	size_t at = 0, next, name_at, desc_at;
	GElf_Nhdr note;

	while ((next = gelf_getnote(notes, at, &note, &name_at, &desc_at)) > at) {
		const unsigned char *bytes = notes->d_buf;

		if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == sizeof("GNU") &&
		    memcmp(bytes + name_at, "GNU", sizeof("GNU")) == 0 && note.n_descsz > 0) {
			put_hex(bytes + desc_at, note.n_descsz, hex);
			return true;
		}
		at = next;
	}
	return false;
}

/*
 * Subtract the size of some notes, @bytes, from *@left. If @bytes is more than *@left, returns
 * false, and *@left does not change. In this case the caller skips the notes.
 */
static bool take_notes(uint64_t bytes, uint64_t *left)
{
	if (bytes > *left)
		return false;
	*left -= bytes;
	return true;
}

static bool find_in_sections(const struct elf_file *file, uint64_t *left, char *hex)
{
	for (Elf_Scn *scn = NULL; (scn = elf_nextscn(file->elf, scn)) != NULL;) {
		GElf_Shdr head;

		if (!gelf_getshdr(scn, &head) || head.sh_type != SHT_NOTE ||
		    !take_notes(head.sh_size, left))
			continue;

		Elf_Data *notes = elf_getdata(scn, NULL);

		if (notes && notes->d_buf && find_in_notes(notes, hex))
			return true;
	}
	return false;
}

/* Files without section headers have their notes in segments. */
static bool find_in_segments(const struct elf_file *file, uint64_t *left, char *hex)
{
	GElf_Phdr segment;

	for (size_t i = 0; elf_next_segment(file, &i, &segment);) {
		if (segment.p_type != PT_NOTE || !take_notes(segment.p_filesz, left))
			continue;

		Elf_Data *notes = elf_getdata_rawchunk(file->elf, segment.p_offset,
						       segment.p_filesz, ELF_T_NHDR);

		if (notes && notes->d_buf && find_in_notes(notes, hex))
			return true;
	}
	return false;
}

void elf_build_id(const struct elf_file *file, char hex[static BUILD_ID_HEX_SIZE])
{
	uint64_t left = NOTES_MAX;

	hex[0] = '\0';
	if (!find_in_sections(file, &left, hex))
		find_in_segments(file, &left, hex);
}

int object_build_id(const char *path, char hex[static BUILD_ID_HEX_SIZE], struct uft_err *err)
{
	struct elf_file file cleanup_elf_file = ELF_FILE_CLOSED;
	int rc = elf_file_open(&file, path, err);

	if (rc < 0)
		return rc;
	elf_build_id(&file, hex);
	return 0;
}
