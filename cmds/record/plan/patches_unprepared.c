/*
 * Makes the patches of unprepared files, which were not compiled for tracing. Chooses the functions
 * to patch, and makes symbols for functions without a symbol.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmds/record/plan/functions_cache.h"
#include "cmds/record/plan/modules.h"
#include "cmds/record/plan/patches_private.h"
#include "utils/base/cleanup.h"
#include "utils/object/names/demangle.h"

const struct symbol *finding_symbol(const struct symtab *symbols, uint64_t at)
{
	const struct symbol *sym = symtab_find(symbols, at);

	return sym && sym->addr == at && symbol_is_function(sym) ? sym : NULL;
}

static const struct symbol *symbol_of(const struct finding *f,
				      const struct known_function *function)
{
	return finding_symbol(&f->symbols, function->start - f->base);
}

/*
 * Adds a symbol for a function without a symbol. The symbol's name is known_function_name(), or
 * "main" for main(), or else "fun_" with the function's address in the file. This address, and thus
 * the name, is the same in all recordings of the file.
 */
static int add_name(struct symtab *to, const struct finding *f, const struct known_functions *known,
		    size_t index)
{
	const struct known_function *function = &known->list[index];
	const char *own = known_function_name(known, index);
	char name[32];

	snprintf(name, sizeof(name), "fun_%llx", (unsigned long long)function->start);

	const char *text = own ? own : function->start == known->main_at ? "main" : name;

	return symtab_add(to, function->start - f->base, function->len, 't', text, strlen(text));
}

/*
 * Finds the functions of the module that have no symbol, and adds a symbol for each. A function
 * whose name is unknown gets a made-up name.
 */
static int add_names(struct finding *f, const struct known_functions *known)
{
	struct symtab *unnamed = &f->known->unnamed;
	int ret = 0;

	/*
	 * The file may be searched twice, as a program and as a library. It has the same functions
	 * in both cases, so only the first search adds names.
	 */
	if (unnamed->nr)
		return 0;
	for (size_t i = 0; ret == 0 && i < known->nr; i++) {
		const struct known_function *function = &known->list[i];

		if (function->kind == FUNCTION_WHOLE && !symbol_of(f, function))
			ret = add_name(unnamed, f, known, i);
	}
	if (ret == 0)
		ret = symtab_sort(unnamed);
	return ret == 0 ? symtab_add_all(&f->symbols, unnamed) : ret;
}

static int look_for_functions(struct finding *f, const struct elf_file *file,
			      const struct functions_key *key, struct known_functions *known,
			      struct uft_err *err)
{
	struct unprepared u cleanup_unprepared = { .code = { .tick = f->tick,
							     .tick_arg = f->tick_arg } };
	int ret = unprepared_open(&u, file, f->known->path, &f->symbols, err);

	f->why_not = u.why_not;
	if (ret < 0 || u.why_not)
		return ret;
	return known_functions_make(known, &u, &f->symbols, f->base, key, err);
}

int finding_known(struct finding *f, const struct elf_file *file, struct known_functions *known,
		  struct uft_err *err)
{
	struct functions_key key = { 0 };
	bool has_key = f->settings->uses_cache &&
		       functions_cache_key(file, f->known->path, &f->symbols, &key);
	int ret = 0;

	f->out->is_of_cache = has_key && functions_cache_load(&key, known);
	if (!f->out->is_of_cache) {
		ret = look_for_functions(f, file, &key, known, err);
		if (ret < 0 || f->why_not)
			return ret;
		if (has_key)
			functions_cache_save(file, &key, known);
	}
	return add_names(f, known);
}

static void choose_functions(struct finding *f, const struct known_functions *known, bool *chosen)
{
	for (size_t i = 0; i < known->nr; i++) {
		const struct known_function *function = &known->list[i];

		chosen[i] = function->len >= f->smallest &&
			    finding_choose(f, symbol_of(f, function), false, NULL) == PATCH_IN;
	}
}

/*
 * Stores in each rule whether the rule matches a function that can be patched. If a matching
 * function is chosen, but cannot be patched, the reason is also stored in the rule. A function may
 * be unchosen, for example because of a rule "!FUNC". An unchosen function counts as patchable if
 * its kind is FUNCTION_WHOLE. No reason is stored for unchosen functions.
 */
static void note_matches(struct finding *f, const struct known_functions *known, const bool *chosen)
{
	for (size_t i = 0; i < known->nr && patches_have_unmatched(f->settings->patches); i++) {
		const struct known_function *function = &known->list[i];
		bool can = chosen[i] ? function->way < UNPREPARED_CANNOT
				     : function->kind == FUNCTION_WHOLE;

		finding_choose(f, symbol_of(f, function), can,
			       chosen[i] && !can ? known_function_why_not(known, i) : NULL);
	}
}

static void add_verdict(struct finding *f, const struct known_functions *known, size_t index)
{
	const struct known_function *function = &known->list[index];
	const struct symbol *sym = symbol_of(f, function);
	const char *name = known_function_name(known, index);
	const char *why_not = known_function_why_not(known, index);
	struct strbuf *to = &f->out->verdicts;

	strbuf_addf(to, "%8llx ", (unsigned long long)function->start);
	demangle(sym ? sym->name : name ? name : "?", f->settings->demangle, to);
	strbuf_addf(to, ": %s", why_not ? why_not : unprepared_way_text(function->way));
	strbuf_addch(to, '\0');
}

static void take_chosen(struct finding *f, const struct known_functions *known, const bool *chosen)
{
	for (size_t i = 0; i < known->nr; i++) {
		const struct known_function *function = &known->list[i];

		if (!chosen[i])
			continue;
		f->out->packed.nr += function->nr_patches;
		f->out->nr_chosen++;
		f->out->counts[function->way]++;
		f->out->nr_functions += function->way < UNPREPARED_CANNOT;
		if (f->wants_verdicts)
			add_verdict(f, known, i);
	}
}

int finding_unprepared(struct finding *f, const struct elf_file *file, struct uft_err *err)
{
	struct known_functions known cleanup_known_functions = { 0 };
	bool *chosen cleanup_free = NULL;
	int ret = finding_known(f, file, &known, err);

	if (ret < 0 || f->why_not)
		return ret;
	chosen = calloc(known.nr + 1, sizeof(*chosen));
	if (!chosen)
		return -ENOMEM;
	choose_functions(f, &known, chosen);
	take_chosen(f, &known, chosen);
	note_matches(f, &known, chosen);
	if (!f->out->packed.nr)
		return 0;
	f->out->packed.known = known;
	f->out->packed.chosen = chosen;
	known = (struct known_functions){ 0 };
	chosen = NULL;
	return 0;
}
