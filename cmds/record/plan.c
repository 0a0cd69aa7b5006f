/* The plan's function entries: options that speak of functions, bound to addresses. */
#include "cmds/record/recorder.h"

#include <stdlib.h>

#include "utils/object/symtab.h"

static int compare_start(const void *a, const void *b)
{
	const struct plan_func *x = a;
	const struct plan_func *y = b;

	return (x->start > y->start) - (x->start < y->start);
}

static bool is_function(char type)
{
	return type == 't' || type == 'T' || type == 'w';
}

static void plan_module(const struct record_settings *settings, const struct control_module *m,
			struct strbuf *out)
{
	struct symtab symbols cleanup_symtab = { 0 };

	if (!m->has_text || object_symtab_load(m->path, &symbols, NULL) < 0)
		return;
	for (size_t i = 0; i < symbols.nr; i++) {
		const struct symbol *sym = &symbols.syms[i];
		struct plan_func func = {
			.start = m->start + sym->addr,
			.end = m->start + sym->addr + sym->size,
			.action = PLAN_SKIP,
		};

		if (is_function(sym->type) && sym->size < settings->size_filter)
			strbuf_add(out, &func, sizeof(func));
	}
}

void plan_functions(const struct record_settings *settings, struct control_module *const *modules,
		    size_t nr, struct strbuf *out)
{
	if (!settings->size_filter)
		return;
	for (size_t i = 0; i < nr; i++)
		plan_module(settings, modules[i], out);
	if (out->len)
		qsort(out->data, out->len / sizeof(struct plan_func), sizeof(struct plan_func),
		      compare_start);
}
