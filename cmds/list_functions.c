/* --list-functions (see list_functions.h). */
#include "cmds/list_functions.h"

#include <errno.h>
#include <stdlib.h>

#include "cmds/cmd.h"
#include "cmds/filter_warn.h"
#include "cmds/record/plan/libcalls.h"
#include "utils/base/path.h"
#include "utils/object/build_id.h"
#include "utils/object/names/sym_dir.h"
#include "utils/object/names/symtab.h"

static int load_symbols(const struct opts *opts, const char *path, struct symtab *out,
			struct uft_err *err)
{
	char build_id[BUILD_ID_HEX_SIZE] = "";
	struct sym_query query = { .path = path, .build_id = build_id, .any_path = true };
	int ret = 0;

	if (opts->syms_dir) {
		if (object_build_id(path, build_id, NULL) < 0)
			build_id[0] = '\0';
		ret = sym_dir_load(opts->syms_dir, &query, out, NULL, err);
	}
	return ret == 0 ? object_symtab_load(path, out, err) : ret;
}

/* True for functions, and for library calls that the probe traces. */
static bool is_traceable(const struct symbol *sym)
{
	uint32_t flags;

	return sym->type == 'P' ? libcall_is_hooked(sym->name, &flags) : symbol_is_function(sym);
}

/* True when -F and -N choose the function. */
static bool is_listed(const struct opts *opts, const struct filter_subject *subject)
{
	struct trigger trigger;
	bool says = filters_match(opts->filters, subject, &trigger);

	if (says && (trigger.flags & TRIGGER_NOTRACE))
		return false;
	if (!(filters_opt_in(opts->filters) & TRIGGER_FILTER))
		return true;
	return says && (trigger.flags & TRIGGER_FILTER);
}

static int compare_names(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static int print_sorted(const struct strbuf *text, size_t nr, struct uft_err *err)
{
	const char **names cleanup_free = calloc(nr + 1, sizeof(*names));
	size_t nr_names = 0;

	if (!names || strbuf_oom(text))
		return err_set_errno(err, -ENOMEM, "cannot list functions");
	strbuf_list_each (text, name)
		names[nr_names++] = name;
	qsort(names, nr, sizeof(*names), compare_names);
	for (size_t i = 0; i < nr; i++) {
		/* Several functions may have the same name: templates, static functions. */
		if (i == 0 || strcmp(names[i], names[i - 1]) != 0)
			msg_list("%s", names[i]);
	}
	return CMD_DONE;
}

/*
 * Replaces the content of @text by the names of the listed functions (is_listed()). A NUL follows
 * each name. Returns the number of names.
 */
static size_t list_names(const struct opts *opts, const char *path, const struct symtab *symbols,
			 struct strbuf *text)
{
	struct strbuf name cleanup_strbuf = { 0 };
	struct strbuf others cleanup_strbuf = { 0 };
	size_t nr = 0;

	strbuf_reset(text);
	for (size_t i = 0; i < symbols->nr; i++) {
		const struct symbol *sym = &symbols->syms[i];

		if (!is_traceable(sym))
			continue;
		strbuf_reset(&name);
		strbuf_reset(&others);
		demangle(sym->name, opts->demangle, &name);
		demangle_others(sym->name, opts->demangle, &others);

		const struct filter_subject subject = {
			.name = strbuf_str(&name),
			.name_len = name.len,
			.others = strbuf_str(&others),
			.module = path_base(path),
			.is_plt = sym->type == 'P',
			.is_program = true,
		};

		if (!is_listed(opts, &subject))
			continue;
		strbuf_addf(text, "%s%s", subject.name, subject.is_plt ? "@PLT" : "");
		strbuf_addch(text, '\0');
		nr++;
	}
	return nr;
}

int list_functions(const struct opts *opts, const char *path, struct uft_err *err)
{
	struct symtab symbols cleanup_symtab = { 0 };
	struct func_names names cleanup_func_names = { .demangle = opts->demangle };
	struct strbuf text cleanup_strbuf = { 0 };
	int ret = load_symbols(opts, path, &symbols, err);

	if (ret < 0)
		return ret;

	size_t nr = list_names(opts, path, &symbols, &text);

	/*
	 * A filter with "clear" removes earlier filters. The first listing finds out which filters
	 * remain in effect for at least one function. is_listed() needs this knowledge, so only the
	 * second listing is right.
	 */
	if (opts->filters->clears)
		nr = list_names(opts, path, &symbols, &text);
	func_names_add(&names, &symbols);
	filter_warn_unmatched(opts, &names);
	return print_sorted(&text, nr, err);
}
