/* Patches of files that were not compiled for it: which functions are chosen, and what they are called (see patches.h). */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmds/record/plan/modules.h"
#include "cmds/record/plan/patches_private.h"
#include "utils/base/cleanup.h"
#include "utils/object/demangle.h"

const struct symbol *finding_symbol(const struct symtab *symbols, uint64_t at)
{
	const struct symbol *sym = symtab_find(symbols, at);

	return sym && sym->addr == at && symbol_is_function(sym) ? sym : NULL;
}

/* The symbol that begins where the function does. */
static const struct symbol *symbol_of(const struct finding *f, const struct function *function)
{
	return finding_symbol(&f->symbols, function->start - f->base);
}

/* A function without a symbol is called by its address in the file, so in all recordings of the file alike. */
static int add_name(struct symtab *to, const struct finding *f, const struct function *function)
{
	char name[32];

	snprintf(name, sizeof(name), "fun_%llx", (unsigned long long)function->start);

	const char *text = function->name ? function->name : name;

	return symtab_add(to, function->start - f->base, function->end - function->start, 't', text,
			  strlen(text));
}

/* Whoever loads the symbols of this module sees these names, too. */
int finding_add_names(struct finding *f, const struct functions *functions)
{
	struct symtab *unnamed = &f->known->unnamed;
	int ret = 0;

	/* As a program and as a library it has the same functions. */
	if (unnamed->nr)
		return 0;
	for (size_t i = 0; ret == 0 && i < functions->nr; i++) {
		const struct function *function = &functions->list[i];

		if (function->kind == FUNCTION_WHOLE && !symbol_of(f, function))
			ret = add_name(unnamed, f, function);
	}
	if (ret == 0)
		ret = symtab_sort(unnamed);
	return ret == 0 ? symtab_add_all(&f->symbols, unnamed) : ret;
}

/* Which functions the rules put hooks into. */
static void choose_functions(struct finding *f, const struct functions *functions, bool *chosen)
{
	for (size_t i = 0; i < functions->nr; i++) {
		const struct function *function = &functions->list[i];

		chosen[i] = function->end - function->start >= f->smallest &&
			    finding_choose(f, symbol_of(f, function), false, NULL) == PATCH_IN;
	}
}

/* Rules learn what came of them. One that takes functions out has its way with whatever could have been patched. */
static void note_matches(struct finding *f, const struct functions *functions, const bool *chosen,
			 const struct unprepared_verdict *verdicts)
{
	for (size_t i = 0; i < functions->nr && patches_have_unmatched(f->settings->patches); i++) {
		const struct function *function = &functions->list[i];
		bool can = chosen[i] ? verdicts[i].way < UNPREPARED_CANNOT
				     : function->kind == FUNCTION_WHOLE;

		finding_choose(f, symbol_of(f, function), can,
			       chosen[i] && !can ? verdicts[i].why_not : NULL);
	}
}

static void add_verdict(struct finding *f, const struct function *function,
			const struct unprepared_verdict *verdict)
{
	const struct symbol *sym = symbol_of(f, function);
	struct strbuf *to = &f->out->verdicts;
	const char *name = function->name ? function->name : "?";

	strbuf_addf(to, "%8llx ", (unsigned long long)function->start);
	demangle(sym ? sym->name : name, f->settings->demangle, to);
	strbuf_addf(to, ": %s",
		    verdict->why_not[0] ? verdict->why_not : unprepared_way_text(verdict->way));
	strbuf_addch(to, '\0');
}

static void note_verdicts(struct finding *f, const struct functions *functions, const bool *chosen,
			  const struct unprepared_verdict *verdicts)
{
	for (size_t i = 0; i < functions->nr; i++) {
		if (!chosen[i])
			continue;
		f->out->nr_chosen++;
		f->out->counts[verdicts[i].way]++;
		f->out->nr_functions += verdicts[i].way < UNPREPARED_CANNOT;
		if (f->wants_verdicts)
			add_verdict(f, &functions->list[i], &verdicts[i]);
	}
}

int finding_unprepared(struct finding *f, const struct elf_file *file, struct uft_err *err)
{
	struct unprepared u cleanup_unprepared = { .code = { .tick = f->tick,
							     .tick_arg = f->tick_arg } };
	struct unprepared_verdict *verdicts cleanup_free = NULL;
	bool *chosen cleanup_free = NULL;
	int ret = unprepared_open(&u, file, f->known->path, &f->symbols, err);

	f->why_not = u.why_not;
	if (ret < 0 || u.why_not)
		return ret;
	chosen = calloc(u.functions.nr + 1, sizeof(*chosen));
	verdicts = calloc(u.functions.nr + 1, sizeof(*verdicts));
	ret = chosen && verdicts ? finding_add_names(f, &u.functions) : -ENOMEM;
	if (ret < 0)
		return ret;
	choose_functions(f, &u.functions, chosen);
	ret = unprepared_find(&u, chosen, &f->out->found, verdicts, err);
	if (ret < 0)
		return ret;
	note_verdicts(f, &u.functions, chosen, verdicts);
	note_matches(f, &u.functions, chosen, verdicts);
	return 0;
}
