/* Warns about programs whose functions have no names (see nameless.h). */
#include "cmds/nameless.h"

/*
 * True when the module has names of its own functions. A stripped program usually has only the
 * names of the library functions that the program calls.
 */
static bool has_own_symbols(const struct module *mod)
{
	for (size_t i = 0; i < mod->symtab.nr; i++) {
		const struct symbol *sym = &mod->symtab.syms[i];

		if (symbol_is_function(sym) && sym->type != 'P')
			return true;
	}
	return false;
}

static size_t count_shown(const struct module_set *set, const struct module *mod)
{
	size_t nr = 0;

	for (size_t i = 0; i < set->nr_funcs; i++)
		nr += set->funcs[i]->module == mod && !set->funcs[i]->sym;
	return nr;
}

static const char *why_and_what_helps(const struct module *mod)
{
	if (!mod->sym_name)
		return "the recording has no symbols of that file, and the file is no longer the "
		       "one that was recorded. Record again, or take the names from the .sym "
		       "files of a recording of the same build: --with-syms=DIR";
	return "the recording has no symbols of that file. Record it as it is before 'strip', or "
	       "take the names from the .sym files of such a recording: --with-syms=DIR";
}

void nameless_warn(const struct opts *opts, const struct trace_data *data)
{
	const struct module_set *set = &data->modules;

	for (size_t i = 0; i < set->nr_modules; i++) {
		const struct module *mod = set->modules[i];

		if (!mod->is_loaded || mod == set->kernel || has_own_symbols(mod))
			continue;

		size_t nr = count_shown(set, mod);

		msg_warn_nr(&opts->msg, nr,
			    "{function|functions} of '%s' {is|are} shown by address: %s", mod->path,
			    why_and_what_helps(mod));
	}
}
