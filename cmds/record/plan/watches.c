/* Finds the addresses of variables of the program, for -W var:NAME. */
#include <errno.h>
#include <string.h>

#include "cmds/record/plan/modules.h"
#include "cmds/record/plan/watches.h"
#include "utils/base/containers/nearest.h"

#define VALUE_BYTES_MAX 8

/* True for a variable that is small enough for one event. */
static bool is_variable(const struct symbol *sym)
{
	return !symbol_is_function(sym) && sym->size > 0 && sym->size <= VALUE_BYTES_MAX;
}

static const struct symbol *find_variable(const struct symtab *symbols, const char *name)
{
	for (size_t i = 0; i < symbols->nr; i++) {
		if (is_variable(&symbols->syms[i]) && strcmp(symbols->syms[i].name, name) == 0)
			return &symbols->syms[i];
	}
	return NULL;
}

static int no_variable(const struct symtab *symbols, const char *name, const char *path,
		       struct uft_err *err)
{
	struct strbuf words cleanup_strbuf = { 0 };
	struct nearest near;

	nearest_init(&near, name);
	for (size_t i = 0; i < symbols->nr; i++) {
		if (is_variable(&symbols->syms[i]))
			nearest_offer(&near, symbols->syms[i].name);
	}
	nearest_text(&near, "", &words);
	return err_set(err, -ENOENT,
		       "option '--watch': '%s' has no variable '%s' of at most %d bytes%s%s", path,
		       name, VALUE_BYTES_MAX, words.len ? "; the nearest: " : "",
		       strbuf_str(&words));
}

int watches_check(const struct record_settings *settings, const char *path, struct uft_err *err)
{
	const struct watch_spec *watch = settings->watch;
	struct symtab symbols cleanup_symtab = { 0 };

	if (!watch->nr_vars)
		return 0;
	if (watch->nr_vars > PLAN_WATCHES_MAX)
		return err_set(err, -ERR_USAGE,
			       "option '--watch': at most %d variables can be watched",
			       PLAN_WATCHES_MAX);
	if (symbols_load(settings, path, "", &symbols) < 0)
		return err_set(err, -ENOENT, "option '--watch': '%s' has no symbols", path);
	for (size_t i = 0; i < watch->nr_vars; i++) {
		if (!find_variable(&symbols, watch->vars[i]))
			return no_variable(&symbols, watch->vars[i], path, err);
	}
	return 0;
}

void watches_bind(const struct record_settings *settings, const struct control_module *module,
		  struct plan_entries *plan)
{
	struct symtab symbols cleanup_symtab = { 0 };

	if (!settings->watch->nr_vars || symbols_load(settings, module->path, "", &symbols) < 0)
		return;
	for (size_t i = 0; i < settings->watch->nr_vars; i++) {
		const struct symbol *sym = find_variable(&symbols, settings->watch->vars[i]);

		if (sym) {
			struct plan_watch watch = {
				.addr = module->start + sym->addr,
				.bytes = sym->size,
			};

			strbuf_add(&plan->lists[PLAN_WATCHES], &watch, sizeof(watch));
		}
	}
}
