/* Static probes (see sdt.h). */
#include "utils/object/sdt.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "utils/base/containers/vec.h"

#define NOTE_TYPE  3 /* NT_STAPSDT */
#define NOTE_OWNER "stapsdt"
#define NOTE_ALIGN 4

/* The unread part of the description of a note. */
struct cursor {
	const uint8_t *at;
	const uint8_t *end;
	unsigned word; /* bytes of an address */
};

static bool take_address(struct cursor *c, uint64_t *out)
{
	if ((size_t)(c->end - c->at) < c->word)
		return false;
	*out = 0;
	memcpy(out, c->at, c->word); /* only notes of little-endian files are read */
	c->at += c->word;
	return true;
}

static bool take_text(struct cursor *c, const char **out)
{
	size_t len = strnlen((const char *)c->at, c->end - c->at);

	if (len == (size_t)(c->end - c->at))
		return false;
	*out = (const char *)c->at;
	for (size_t i = 0; i < len; i++) {
		if (c->at[i] < ' ' || c->at[i] == 0x7f)
			return false;
	}
	c->at += len + 1;
	return true;
}

/*
 * A linker or prelinker may have moved the addresses of the file after the compiler had written the
 * notes. Returns the distance of this move.
 */
static uint64_t moved_by(const struct elf_file *file, uint64_t base)
{
	struct elf_section sec;

	return base && elf_section_by_name(file, ".stapsdt.base", &sec) ? sec.head.sh_addr - base
									: 0;
}

static int add_probe(struct sdt_probes *out, const struct sdt_probe *texts)
{
	struct sdt_probe *probes = vec_grow(out->probes, out->nr, sizeof(*probes));

	if (!probes)
		return -ENOMEM;
	out->probes = probes;

	struct sdt_probe *p = &probes[out->nr];

	*p = (struct sdt_probe){
		.provider = strdup(texts->provider),
		.name = strdup(texts->name),
		.args = strdup(texts->args),
		.pc = texts->pc,
		.semaphore = texts->semaphore,
	};
	out->nr++;
	return p->provider && p->name && p->args ? 0 : -ENOMEM;
}

static int take_note(const struct elf_file *file, struct cursor c, struct sdt_probes *out)
{
	const char *provider;
	const char *name;
	const char *args;
	struct sdt_probe probe;
	uint64_t base;

	if (!take_address(&c, &probe.pc) || !take_address(&c, &base) ||
	    !take_address(&c, &probe.semaphore) || !take_text(&c, &provider) ||
	    !take_text(&c, &name) || !take_text(&c, &args) || !*provider || !*name)
		return -EINVAL;
	probe.provider = (char *)provider;
	probe.name = (char *)name;
	probe.args = (char *)args;
	probe.pc += moved_by(file, base);
	if (probe.semaphore)
		probe.semaphore += moved_by(file, base);
	return add_probe(out, &probe);
}

static int take_notes(const struct elf_file *file, const struct elf_section *sec,
		      struct sdt_probes *out, size_t *offset)
{
	const uint8_t *start = sec->data->d_buf;
	size_t size = sec->data->d_size;
	unsigned word = file->head.e_ident[EI_CLASS] == ELFCLASS64 ? 8 : 4;
	int ret = 0;

	for (size_t at = 0; ret == 0 && size - at >= sizeof(Elf64_Nhdr);) {
		Elf64_Nhdr head;
		size_t left = size - at - sizeof(head);

		memcpy(&head, start + at, sizeof(head));
		*offset = at;

		size_t owner = ALIGN_UP((size_t)head.n_namesz, NOTE_ALIGN);
		size_t bytes = owner + ALIGN_UP((size_t)head.n_descsz, NOTE_ALIGN);

		if (owner > left || head.n_descsz > left - owner)
			return -EINVAL;

		const uint8_t *name = start + at + sizeof(head);
		struct cursor c = { name + owner, name + owner + head.n_descsz, word };

		if (head.n_type == NOTE_TYPE && head.n_namesz == sizeof(NOTE_OWNER) &&
		    memcmp(name, NOTE_OWNER, sizeof(NOTE_OWNER)) == 0)
			ret = take_note(file, c, out);
		/* The last note may have no padding. */
		at += sizeof(head) + MIN(bytes, left);
	}
	return ret;
}

int sdt_probes_load(const struct elf_file *file, const char *path, struct sdt_probes *out,
		    struct uft_err *err)
{
	struct sdt_probes probes cleanup_sdt_probes = { 0 };
	struct elf_section sec;
	size_t offset = 0;

	*out = (struct sdt_probes){ 0 };
	if (file->head.e_ident[EI_DATA] != ELFDATA2LSB ||
	    !elf_section_by_name(file, ".note.stapsdt", &sec) || !sec.data)
		return 0;

	int ret = take_notes(file, &sec, &probes, &offset);

	if (ret == -EINVAL)
		return err_set(
			err, ret,
			"cannot read '%s': section .note.stapsdt: the note at %zu is damaged", path,
			offset);
	if (ret < 0)
		return err_set_errno(err, ret, "cannot read '%s'", path);
	*out = probes;
	probes = (struct sdt_probes){ 0 };
	return 0;
}

int object_sdt_load(const char *path, struct sdt_probes *out, struct uft_err *err)
{
	struct elf_file file cleanup_elf_file = ELF_FILE_CLOSED;
	int ret = elf_file_open(&file, path, err);

	return ret < 0 ? ret : sdt_probes_load(&file, path, out, err);
}

void sdt_probes_deinit(struct sdt_probes *probes)
{
	for (size_t i = 0; i < probes->nr; i++) {
		free(probes->probes[i].provider);
		free(probes->probes[i].name);
		free(probes->probes[i].args);
	}
	free(probes->probes);
	*probes = (struct sdt_probes){ 0 };
}
