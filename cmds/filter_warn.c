/* Tells the user about filters (see filter_warn.h). */
#include "cmds/filter_warn.h"

#include <stdlib.h>
#include <string.h>

#include "cmds/cmd.h"
#include "cmds/filter_opts.h"
#include "utils/base/containers/nearest.h"

void func_names_deinit(struct func_names *names)
{
	strbuf_deinit(&names->text);
}

void func_names_add(struct func_names *names, const struct symtab *symbols)
{
	for (size_t i = 0; i < symbols->nr; i++) {
		if (!symbol_is_function(&symbols->syms[i]))
			continue;
		demangle(symbols->syms[i].name, names->demangle, &names->text);
		strbuf_addch(&names->text, '\0');
	}
}

/*
 * True when the command opts->cmd does not take the option of @entry. In this case
 * opts_warn_unused() warns about the option.
 */
static bool means_nothing(const struct opts *opts, const struct filter_entry *entry)
{
	const char *name = filter_as_typed(entry).option;

	for (size_t i = 0; i < opts_table_nr; i++) {
		if (strcmp(opts_table[i].name, name) == 0)
			return !(opts_table[i].cmds & opts->cmd->bit);
	}
	return false;
}

void filter_warn_ignored(const struct opts *opts)
{
	for (size_t i = 0; i < opts->filters->nr; i++) {
		const struct filter_entry *entry = &opts->filters->entries[i];
		const struct typed_spec typed = filter_as_typed(entry);

		if (means_nothing(opts, entry))
			continue;
		if (entry->spec.ignored)
			msg_warn(&opts->msg,
				 "option '--%s': '%s': action '%s' has no effect here: use "
				 "--trigger",
				 typed.option, typed.text, entry->spec.ignored);
		if (entry->spec.module_kind == MODULE_KERNEL && !opts->cmd->reads_data &&
		    !opts->use_kernel && !opts->kernel_depth)
			msg_warn(&opts->msg,
				 "option '--%s': '%s': functions of the kernel are recorded with "
				 "-k only",
				 typed.option, typed.text);
	}
}

/*
 * True when the filter has matched no function. A filter of kernel functions is checked here only
 * when the command reads a recording. When the command makes a recording,
 * cmds/record/sources/graph.c checks these filters.
 */
static bool is_unmatched(const struct opts *opts, const struct filter_entry *entry)
{
	return !entry->has_match && !means_nothing(opts, entry) &&
	       (entry->spec.module_kind != MODULE_KERNEL || opts->cmd->reads_data);
}

bool filter_has_unmatched(const struct opts *opts)
{
	for (size_t i = 0; i < opts->filters->nr; i++) {
		if (is_unmatched(opts, &opts->filters->entries[i]))
			return true;
	}
	return false;
}

/* Returns the pattern without special characters at its ends: the part that may be misspelt. */
static char *plain_text(const struct spec *spec)
{
	const char *text = spec->pattern.text;
	size_t start = text[0] == '^';
	size_t len = strlen(text + start);

	if (len && text[start + len - 1] == '$')
		len--;
	return strndup(text + start, len);
}

static void add_nearest(const struct spec *spec, const struct func_names *names, struct strbuf *out)
{
	char *typed cleanup_free = plain_text(spec);
	struct nearest near;

	if (!typed || spec->trigger.flags & TRIGGER_LOCATIONS)
		return;
	nearest_init(&near, typed);
	strbuf_list_each (&names->text, name)
		nearest_offer(&near, name);
	if (!nearest_is_close(&near))
		return;
	strbuf_addstr(out, "; the nearest: ");
	nearest_text(&near, "", out);
}

/*
 * Adds to @out the module of @spec, and the action that the user may have meant. If a word is not
 * an action, the parser regards the word as the name of a module. So the module may be a misspelt
 * action.
 */
static void add_action(const struct spec *spec, struct strbuf *out)
{
	static const char *const others[] = { "arg1", "fparg1", "retval", "if:" };
	struct nearest near;

	if (spec->module_kind != MODULE_NAMED)
		return;
	nearest_init(&near, spec->module);
	for (const struct action *action = actions; action->word; action++)
		nearest_offer(&near, action->word);
	for (size_t i = 0; i < ARRAY_SIZE(others); i++)
		nearest_offer(&near, others[i]);
	strbuf_addf(out, " in a file whose name begins with '%s'", spec->module);
	if (near.best[0].distance > 2)
		return;

	const char *word = near.best[0].word;
	const struct action *action = action_find(word, strlen(word));
	bool needs_value = action && action_needs_value(action);

	strbuf_addf(out, " (did you mean the action '%s%s'?)", word, needs_value ? "=" : "");
}

/*
 * True when @filters exclude all functions. @kinds are actions that choose some calls, and exclude
 * all other calls (filters_opt_in()). Each of these actions excludes all functions, unless a filter
 * with the action matches a function.
 */
static bool all_is_out(const struct filters *filters, uint32_t kinds)
{
	for (size_t i = 0; i < filters->nr; i++) {
		const struct filter_entry *entry = &filters->entries[i];

		if (entry->has_match)
			kinds &= ~entry->spec.trigger.flags;
	}
	return kinds != 0;
}

/*
 * The maximum number of filters that get a warning of their own. One more warning counts the other
 * filters. A few warnings are enough to show that a long list of filters is outdated.
 */
#define WARNINGS_MAX 8

bool filter_warn_unmatched(const struct opts *opts, const struct func_names *names)
{
	size_t nr = 0;
	const struct filters *filters = opts->filters;
	const uint32_t kinds = filters_opt_in(filters);
	const bool is_empty = all_is_out(filters, kinds);

	for (size_t i = 0; i < filters->nr; i++) {
		const struct filter_entry *entry = &filters->entries[i];
		const struct typed_spec typed = filter_as_typed(entry);
		struct strbuf text cleanup_strbuf = { 0 };

		if (!is_unmatched(opts, entry) || ++nr > WARNINGS_MAX)
			continue;
		strbuf_addf(&text, "option '--%s': no %s matches '%s'", typed.option,
			    entry->option == SPEC_LOCATION ? "source file of a function"
							   : "function",
			    typed.text);
		add_action(&entry->spec, &text);
		if (is_empty && entry->spec.trigger.flags & kinds)
			strbuf_addf(&text, ", so that nothing is %s",
				    opts->cmd->reads_data ? "shown" : "recorded");
		if (entry->spec.module_kind != MODULE_NAMED)
			add_nearest(&entry->spec, names, &text);
		msg_warn(&opts->msg, "%s", strbuf_str(&text));
	}
	if (nr > WARNINGS_MAX)
		msg_warn(&opts->msg, "nor does any function match %zu more of them",
			 nr - WARNINGS_MAX);
	return nr && is_empty;
}
