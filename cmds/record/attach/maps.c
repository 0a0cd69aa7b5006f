/* Reads the mappings of another process (see maps.h). */
#include "cmds/record/attach/maps.h"

#include <elf.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "utils/base/cleanup.h"
#include "utils/base/compiler.h"
#include "utils/base/path.h"
#include "utils/base/containers/vec.h"

void maps_deinit(struct maps *maps)
{
	for (size_t i = 0; i < maps->nr; i++)
		free(maps->lines[i].path);
	free(maps->lines);
	*maps = (struct maps){ 0 };
}

static int add_line(struct maps *maps, const char *line)
{
	struct mapping m = { 0 };
	char flags[5] = "";
	int at = 0;

	if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %4s %*s %*s %*s %n", &m.start, &m.end, flags,
		   &at) < 3)
		return 0;
	m.is_code = strchr(flags, 'x');
	m.path = strndup(line + at, strcspn(line + at, "\n"));

	struct mapping *lines = vec_grow(maps->lines, maps->nr, sizeof(m));

	if (!m.path || !lines) {
		free(m.path);
		return -ENOMEM;
	}
	maps->lines = lines;
	lines[maps->nr++] = m;
	return 0;
}

int maps_read(struct maps *maps, pid_t pid)
{
	char path[64];
	char *line cleanup_free = NULL;
	size_t size = 0;
	int ret = 0;

	maps_deinit(maps);
	snprintf(path, sizeof(path), "/proc/%d/maps", pid);

	FILE *file cleanup_file = fopen(path, "re");

	if (!file)
		return -errno;
	while (ret == 0 && getline(&line, &size, file) > 0)
		ret = add_line(maps, line);
	return ret;
}

const struct mapping *maps_find(const struct maps *maps, uint64_t address)
{
	for (size_t i = 0; i < maps->nr; i++) {
		if (address - maps->lines[i].start < maps->lines[i].end - maps->lines[i].start)
			return &maps->lines[i];
	}
	return NULL;
}

bool maps_is_named(const char *path, const char *const *names)
{
	const char *base = path_base(path);

	for (size_t i = 0; names[i]; i++) {
		if (strncmp(base, names[i], strlen(names[i])) == 0)
			return true;
	}
	return false;
}

const struct mapping *maps_module(const struct maps *maps, const char *const *names)
{
	for (size_t i = 0; i < maps->nr; i++) {
		if (maps->lines[i].path[0] == '/' && maps_is_named(maps->lines[i].path, names))
			return &maps->lines[i];
	}
	return NULL;
}

const struct mapping *maps_code(const struct maps *maps, const struct mapping *first)
{
	for (const struct mapping *m = first; m < maps->lines + maps->nr; m++) {
		if (m->is_code && strcmp(m->path, first->path) == 0)
			return m;
	}
	return NULL;
}

/* --- names --- */

#define PHDRS_MAX   64
#define DYNS_MAX    256
#define SYMBOLS_MAX 65536
#define STRINGS_MAX (4UL << 20)

/* @bias: the address in memory minus the address in the file */
struct dynamic {
	uint64_t bias;
	uint64_t symbols;
	uint64_t strings;
	uint64_t strings_len;
};

/* The memory of a module: the @bytes at @base. */
struct extent {
	uint64_t base;
	uint64_t bytes;
	uint64_t bias;
};

/*
 * Relocates @value, an address that the dynamic section contains, and returns the result. If the
 * dynamic linker has already relocated @value in the module's memory, returns @value unchanged.
 */
static uint64_t relocate_address(const struct extent *e, uint64_t value)
{
	return value - e->base < e->bytes ? value : e->bias + value;
}

static bool find_dynamic(const struct attached *w, uint64_t base, struct dynamic *out)
{
	Elf64_Ehdr head;
	Elf64_Phdr phdrs[PHDRS_MAX];
	Elf64_Dyn dyns[DYNS_MAX];
	uint64_t lowest = UINT64_MAX;
	uint64_t highest = 0;
	const Elf64_Phdr *dynamic = NULL;

	if (attached_read(w, base, &head, sizeof(head)) != sizeof(head) ||
	    memcmp(head.e_ident, ELFMAG, SELFMAG) != 0 || head.e_ident[EI_CLASS] != ELFCLASS64 ||
	    head.e_phentsize != sizeof(phdrs[0]))
		return false;

	size_t nr = MIN((size_t)head.e_phnum, ARRAY_SIZE(phdrs));

	if (attached_read(w, base + head.e_phoff, phdrs, nr * sizeof(phdrs[0])) !=
	    nr * sizeof(phdrs[0]))
		return false;
	for (size_t i = 0; i < nr; i++) {
		if (phdrs[i].p_type == PT_LOAD) {
			lowest = MIN(lowest, (uint64_t)phdrs[i].p_vaddr);
			highest = MAX(highest, (uint64_t)phdrs[i].p_vaddr + phdrs[i].p_memsz);
		}
		if (phdrs[i].p_type == PT_DYNAMIC)
			dynamic = &phdrs[i];
	}
	if (!dynamic)
		return false;

	lowest &= ~(uint64_t)4095;

	const struct extent module = { base, highest - lowest, base - lowest };
	size_t len = attached_read(w, module.bias + dynamic->p_vaddr, dyns,
				   MIN((size_t)dynamic->p_memsz, sizeof(dyns)));

	*out = (struct dynamic){ .bias = module.bias };
	for (size_t i = 0; i < len / sizeof(dyns[0]) && dyns[i].d_tag != DT_NULL; i++) {
		if (dyns[i].d_tag == DT_SYMTAB)
			out->symbols = relocate_address(&module, dyns[i].d_un.d_ptr);
		if (dyns[i].d_tag == DT_STRTAB)
			out->strings = relocate_address(&module, dyns[i].d_un.d_ptr);
		if (dyns[i].d_tag == DT_STRSZ)
			out->strings_len = dyns[i].d_un.d_val;
	}
	out->strings_len = MIN(out->strings_len, (uint64_t)STRINGS_MAX);
	return out->symbols && out->strings > out->symbols;
}

uint64_t maps_symbol(const struct attached *w, uint64_t base, const char *name)
{
	struct dynamic dynamic;

	if (!find_dynamic(w, base, &dynamic))
		return 0;

	/*
	 * The dynamic section does not contain the number of symbols. But linkers put the names
	 * directly after the symbols, so the names show the end of the symbols.
	 */
	size_t nr = MIN((dynamic.strings - dynamic.symbols) / sizeof(Elf64_Sym),
			(uint64_t)SYMBOLS_MAX);
	Elf64_Sym *symbols cleanup_free = calloc(nr, sizeof(*symbols));
	char *strings cleanup_free = calloc(1, dynamic.strings_len + 1);

	if (!symbols || !strings)
		return 0;
	nr = attached_read(w, dynamic.symbols, symbols, nr * sizeof(*symbols)) / sizeof(*symbols);

	size_t len = attached_read(w, dynamic.strings, strings, dynamic.strings_len);

	for (size_t i = 0; i < nr; i++) {
		const Elf64_Sym *s = &symbols[i];

		if (s->st_shndx != SHN_UNDEF && s->st_value && s->st_name < len &&
		    strcmp(strings + s->st_name, name) == 0)
			return dynamic.bias + s->st_value;
	}
	return 0;
}
