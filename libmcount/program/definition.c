/* Finds the function or variable that a symbol name refers to (see definition.h). */
#include "libmcount/program/definition.h"

#include <link.h>
#include <stdbool.h>

#include "libmcount/program/interpose.h"
#include "libmcount/program/loaded.h"

/*
 * A bit of a symbol's version number (ELF Versym). If the bit is set, the symbol does not have the
 * default version of the name. A program that is linked today does not use such a symbol.
 */
#define HIDDEN_VERSION 0x8000

struct search {
	struct loaded_name wanted;
	bool skips_own; /* definitions in the probe are skipped */
	uint64_t found;
};

static bool is_default(const struct loaded *m, uint32_t index, const void *arg)
{
	return !m->versions || !(m->versions[index] & HIDDEN_VERSION);
}

static const ElfW(Dyn) * dynamic_of(const struct dl_phdr_info *info)
{
	for (int i = 0; i < info->dlpi_phnum; i++) {
		if (info->dlpi_phdr[i].p_type == PT_DYNAMIC)
			return (const ElfW(Dyn) *)(info->dlpi_addr + info->dlpi_phdr[i].p_vaddr);
	}
	return NULL;
}

/*
 * True for the kernel's module (vDSO). The name of the vDSO is not a path. The dynamic linker binds
 * no call to a function of the vDSO.
 */
static bool is_of_kernel(const struct dl_phdr_info *info)
{
	const char *c = info->dlpi_name;

	if (!c || !*c)
		return false;
	while (*c && *c != '/')
		c++;
	return !*c;
}

static int look_into(struct dl_phdr_info *info, size_t size, void *arg)
{
	struct search *s = arg;
	const ElfW(Dyn) *dynamic = dynamic_of(info);
	struct loaded module;
	uint32_t index;

	if (!dynamic || is_of_kernel(info) || (s->skips_own && interpose_is_own((uint64_t)dynamic)))
		return 0;
	loaded_read(&module, dynamic, info->dlpi_addr);
	if (!module.symbols || !module.names || !module.hash)
		return 0;
	index = loaded_find(&module, &s->wanted, is_default, NULL);
	if (!index || !loaded_is_complete(info))
		return 0;
	s->found = loaded_address(&module, index);
	return 1;
}

static uint64_t find_definition(const char *name, bool is_data, bool skips_own)
{
	struct search s = { { name, loaded_hash(name), is_data }, skips_own };

	dl_iterate_phdr(look_into, &s);
	return s.found;
}

uint64_t definition_find(const char *name)
{
	return find_definition(name, false, true);
}

uint64_t definition_find_or_own(const char *name)
{
	return find_definition(name, false, false);
}

uint64_t definition_find_data(const char *name)
{
	return find_definition(name, true, true);
}
