/* The rules of the user's filters and triggers for each function of a recording (see rules.h). */
#include "utils/pipeline/stages/rules.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "utils/base/path.h"
#include "utils/base/containers/vec.h"
#include "utils/spec/args/aliases.h"
#include "utils/spec/clearing.h"

static const struct trigger nothing;

static bool is_program(const struct func_rules *rules, const struct module *mod)
{
	const char *exe = rules->data->info.exename;

	return exe && strcmp(path_base(exe), mod->basename) == 0;
}

static bool has_locations(const struct filters *filters)
{
	for (size_t i = 0; i < filters->nr; i++) {
		if (filters->entries[i].option == SPEC_LOCATION)
			return true;
	}
	return false;
}

static struct filter_subject make_subject(const struct func_rules *rules, struct module *mod,
					  const struct symbol *sym)
{
	const char *file = NULL;

	if (mod && rules->has_locations)
		file = module_source(&rules->data->modules, mod, sym);
	return (struct filter_subject){
		.module = mod ? mod->basename : NULL,
		.source_file = file,
		.is_plt = sym->type == 'P',
		.is_program = mod && is_program(rules, mod),
		.is_kernel = sym->type == 'K',
	};
}

/*
 * True when a spec has matched nothing yet. @is_kernel: look only at specs about functions of the
 * kernel; false: look only at the other specs.
 */
static bool has_unmatched(const struct filters *filters, bool is_kernel)
{
	for (size_t i = 0; i < filters->nr; i++) {
		const struct filter_entry *entry = &filters->entries[i];

		if (!entry->has_match && (entry->spec.module_kind == MODULE_KERNEL) == is_kernel)
			return true;
	}
	return false;
}

/*
 * True when filters_match() for one more function can change @filters. The first function that
 * matches a spec sets filter_entry.has_match of the spec. If filters.clears is true, each matching
 * function can change filter_entry.in_force.
 */
static bool wants_more(const struct filters *filters, bool is_kernel)
{
	return filters->clears || has_unmatched(filters, is_kernel);
}

/*
 * Apply the filters to the functions of a module. Stops when no further function can change the
 * filters.
 */
static int match_module(struct func_rules *rules, struct module_set *set, struct module *mod,
			struct uft_err *err)
{
	struct strbuf name cleanup_strbuf = { 0 };
	struct strbuf others cleanup_strbuf = { 0 };
	bool is_kernel = mod == set->kernel;
	int ret = 0;

	/* The kernel has many functions, so their names are loaded only when a spec needs them. */
	if (!is_kernel || wants_more(rules->filters, true))
		ret = module_load(set, mod, err);
	if (ret == 0)
		ret = aliases_prefer_filtered(&mod->symtab, rules->filters, set->demangle,
					      mod->basename);
	/* Debug information is loaded here, before several threads need it. */
	if (ret == 0 && mod->symtab.nr && rules->has_locations)
		module_source(set, mod, mod->symtab.syms);
	for (size_t i = 0; ret == 0 && i < mod->symtab.nr && wants_more(rules->filters, is_kernel);
	     i++) {
		const struct symbol *sym = &mod->symtab.syms[i];
		struct trigger trigger;

		aliases_all_names(&mod->symtab, sym, set->demangle, &name, &others);

		struct filter_subject subject = make_subject(rules, mod, sym);

		subject.name = strbuf_str(&name);
		subject.name_len = name.len;
		subject.others = strbuf_str(&others);

		filters_match(rules->filters, &subject, &trigger);
	}
	if (ret == 0 && (strbuf_oom(&name) || strbuf_oom(&others)))
		ret = err_set_errno(err, -ENOMEM, "cannot match names of functions");
	return ret;
}

int func_rules_init(struct func_rules *rules, struct trace_data *data, struct filters *filters,
		    uint32_t actions, struct uft_err *err)
{
	int ret = 0;

	*rules = (struct func_rules){ .data = data, .actions = actions };
	if (!filters || !filters->nr)
		return 0;
	rules->filters = filters;
	rules->has_locations = has_locations(filters);
	/*
	 * If the recording may have calls of kernel functions, add the kernel to the modules now,
	 * before the first such call is read. Otherwise match_module() would miss the kernel.
	 */
	if (kernel_formats_have_calls(&data->kernel) && !module_set_kernel(&data->modules))
		ret = err_set_errno(err, -ENOMEM, "cannot match names of functions");
	for (size_t i = 0; ret == 0 && i < data->modules.nr_modules; i++)
		ret = match_module(rules, &data->modules, data->modules.modules[i], err);
	for (size_t i = 0; i < filters->nr; i++) {
		/* In a growing recording, a spec may match a module that is loaded later. */
		if (filters->entries[i].has_match || data->growth)
			rules->uses |= clearing_left(filters, &filters->entries[i]) & actions;
	}
	rules->uses |= filters_opt_in(filters) & actions;
	return ret;
}

void func_rules_deinit(struct func_rules *rules)
{
	for (size_t reader = 0; reader < READERS_MAX; reader++) {
		struct rule_table *table = &rules->tables[reader];

		for (size_t i = 0; i < table->nr; i++) {
			if (table->by_func[i] != &nothing)
				free((void *)table->by_func[i]);
		}
		free(table->by_func);
	}
	*rules = (struct func_rules){ 0 };
}

static bool make_room(struct rule_table *table, const struct func *func)
{
	const struct trigger **by_func = vec_reach(table->by_func, &table->nr, func->id,
						   sizeof(*by_func));

	if (!by_func)
		return false;
	table->by_func = by_func;
	return true;
}

/*
 * Make the rule of a function. Returns NULL if no filter matches the function, if the function has
 * no name, or if memory is short.
 */
static struct trigger *match_rule(struct func_rules *rules, const struct func *func)
{
	struct filter_subject subject;
	struct trigger trigger;
	struct trigger *kept;

	if (!func->sym)
		return NULL;
	subject = make_subject(rules, (struct module *)func->module, func->sym);
	subject.name = func->name;
	subject.name_len = func->name_len;
	subject.others = func->others;
	if (!filters_match(rules->filters, &subject, &trigger))
		return NULL;
	kept = malloc(sizeof(*kept));
	if (kept) {
		*kept = trigger;
		kept->flags &= rules->actions;
	}
	return kept;
}

const struct trigger *func_rules_find(struct func_rules *rules, unsigned reader,
				      const struct func *func)
{
	struct rule_table *table = &rules->tables[reader];
	const struct trigger *found;

	if (!rules->filters || !make_room(table, func))
		return &nothing;
	found = match_rule(rules, func);
	table->by_func[func->id] = found ? found : &nothing;
	return table->by_func[func->id];
}
