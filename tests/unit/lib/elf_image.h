/* Small ELF files made by hand, so that tests do not depend on what a compiler emits. */
#ifndef UTRAIL_TESTS_ELF_IMAGE_H
#define UTRAIL_TESTS_ELF_IMAGE_H

#include <elf.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tests/unit/lib/unit.h"

#include "utils/base/containers/strbuf.h"

#define IMAGE_BASE 0x400000ULL /* where the only PT_LOAD begins */

/*
 * An ELF file that is being made, 64 bits and little-endian: sections first, then image_finish().
 * Section 0 is the empty one, as always. Starts as { 0 }, ends with image_deinit().
 */
struct elf_image {
	struct strbuf data;
	struct strbuf names;
	Elf64_Shdr sections[24];
	unsigned nr;
	bool has_interp;
	uint16_t machine; /* 0: x86_64 */
};

static inline void image_deinit(struct elf_image *img)
{
	strbuf_deinit(&img->data);
	strbuf_deinit(&img->names);
}
#define cleanup_image cleanup(image_deinit)

static inline unsigned image_section(struct elf_image *img, const char *name, Elf64_Shdr head,
				     const void *data, size_t len)
{
	if (img->data.len == 0) {
		strbuf_addchars(&img->data, '\0', sizeof(Elf64_Ehdr) + 2 * sizeof(Elf64_Phdr));
		strbuf_addch(&img->names, '\0');
		img->nr = 1;
	}
	strbuf_addchars(&img->data, '\0', -img->data.len & 7);
	head.sh_name = img->names.len;
	head.sh_offset = img->data.len;
	if (!head.sh_size)
		head.sh_size = len;
	head.sh_addralign = 1;
	strbuf_add(&img->names, name, strlen(name) + 1);
	strbuf_add(&img->data, data, len);
	img->sections[img->nr] = head;
	return img->nr++;
}

static inline void image_finish(struct elf_image *img)
{
	unsigned names = image_section(img, ".shstrtab", (Elf64_Shdr){ .sh_type = SHT_STRTAB },
				       strbuf_str(&img->names), 0);

	strbuf_add(&img->data, img->names.data, img->names.len);
	img->sections[names].sh_size = img->names.len;
	strbuf_addchars(&img->data, '\0', -img->data.len & 7);

	Elf64_Ehdr head = {
		.e_ident = { ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB,
			     EV_CURRENT },
		.e_type = ET_EXEC,
		.e_machine = img->machine ? img->machine : EM_X86_64,
		.e_version = EV_CURRENT,
		.e_phoff = sizeof(Elf64_Ehdr),
		.e_shoff = img->data.len,
		.e_ehsize = sizeof(Elf64_Ehdr),
		.e_phentsize = sizeof(Elf64_Phdr),
		.e_phnum = 2,
		.e_shentsize = sizeof(Elf64_Shdr),
		.e_shnum = img->nr,
		.e_shstrndx = names,
	};
	Elf64_Phdr segments[2] = {
		{ .p_type = img->has_interp ? PT_INTERP : PT_NULL },
		{ .p_type = PT_LOAD, .p_vaddr = IMAGE_BASE },
	};

	strbuf_add(&img->data, img->sections, img->nr * sizeof(Elf64_Shdr));
	memcpy(img->data.data, &head, sizeof(head));
	memcpy(img->data.data + sizeof(head), segments, sizeof(segments));
}

/* A string table and the symbols that point into it. */
struct image_symbols {
	struct strbuf strings;
	Elf64_Sym syms[512];
	unsigned nr;
};

static inline void image_symbol(struct image_symbols *s, const char *name, uint64_t addr,
				uint64_t size, unsigned char info, uint16_t section)
{
	if (s->nr == 0) {
		strbuf_addch(&s->strings, '\0');
		s->nr = 1;
	}
	s->syms[s->nr++] = (Elf64_Sym){
		.st_name = s->strings.len,
		.st_value = addr,
		.st_size = size,
		.st_info = info,
		.st_shndx = section,
	};
	strbuf_add(&s->strings, name, strlen(name) + 1);
}

/* Adds the sections of strings and of symbols; frees the strings. */
static inline void image_symbol_sections(struct elf_image *img, struct image_symbols *s,
					 uint32_t type)
{
	bool is_dynamic = type == SHT_DYNSYM;
	unsigned strings = image_section(img, is_dynamic ? ".dynstr" : ".strtab",
					 (Elf64_Shdr){ .sh_type = SHT_STRTAB }, s->strings.data,
					 s->strings.len);

	image_section(img, is_dynamic ? ".dynsym" : ".symtab",
		      (Elf64_Shdr){ .sh_type = type,
				    .sh_link = strings,
				    .sh_entsize = sizeof(Elf64_Sym) },
		      s->syms, s->nr * sizeof(Elf64_Sym));
	strbuf_deinit(&s->strings);
}

/*
 * Make a file without a name from the bytes; a path to it goes to @path. The caller closes the
 * descriptor.
 */
static inline int image_file(const void *data, size_t len, char path[static 64])
{
	int fd = memfd_create("image", MFD_CLOEXEC);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, data, len), len);
	snprintf(path, 64, "/proc/self/fd/%d", fd);
	return fd;
}

#endif
