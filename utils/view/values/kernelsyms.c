/* Names for addresses of the kernel (see kernelsyms.h). */
#include "utils/view/values/kernelsyms.h"

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "utils/base/fd.h"
#include "utils/format/kernel/kallsyms.h"

struct kernelsyms {
	const char *dir;
	bool was_read;
	struct symtab symtab;
};

struct kernelsyms *kernelsyms_create(const char *dir)
{
	struct kernelsyms *syms = calloc(1, sizeof(*syms));

	if (syms)
		syms->dir = dir;
	return syms;
}

void kernelsyms_destroy(struct kernelsyms *syms)
{
	if (!syms)
		return;
	symtab_deinit(&syms->symtab);
	free(syms);
}

static void load_kallsyms(struct kernelsyms *syms)
{
	struct strbuf text cleanup_strbuf = { 0 };
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/kallsyms", syms->dir);
	if (file_read_all(path, KALLSYMS_MAX_BYTES, &text, NULL) == 0)
		kallsyms_decode(text.data, text.len, &syms->symtab);
}

const char *kernelsyms_find(struct kernelsyms *syms, uint64_t addr, uint64_t *start)
{
	if (!syms)
		return NULL;
	if (!syms->was_read)
		load_kallsyms(syms);
	syms->was_read = true;

	const struct symbol *sym = symtab_find(&syms->symtab, addr);

	if (!sym)
		return NULL;
	*start = sym->addr;
	return sym->name;
}
