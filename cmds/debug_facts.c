/* Facts about a recording for --debug and --debug-domain (see debug_facts.h). */
#include "cmds/debug_facts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmds/filter_opts.h"
#include "utils/base/path.h"
#include "utils/base/units.h"
#include "utils/pipeline/recording/data.h"
#include "utils/pipeline/kinds/event_kinds.h"

struct debug_facts_time debug_facts_time(uint64_t time_ns)
{
	struct strbuf text cleanup_strbuf = { 0 };
	struct debug_facts_time time;

	format_time(time_ns, &text);
	snprintf(time.text, sizeof(time.text), "%s", strbuf_str(&text));
	return time;
}

size_t debug_facts_count_modules(const struct module_map *map)
{
	size_t nr = 0;

	for (size_t i = 0; i < map->nr; i++)
		nr += map->entries[i].path[0] != '[';
	return nr;
}

/* --- filters --- */

bool debug_facts_filters_begin(struct debug_facts_filters *facts, const struct opts *opts)
{
	*facts = (struct debug_facts_filters){ .opts = opts };
	if (!opts->filters->nr || !msg_wants(&opts->msg, MSG_FILTER, 1))
		return false;
	facts->found = calloc(opts->filters->nr, sizeof(*facts->found));
	return facts->found != NULL;
}

/* @in_module: the number of matches of each filter in this module, by the index of the filter */
static void match_symbol(struct debug_facts_filters *facts, const struct debug_facts_module *module,
			 const struct symbol *sym, size_t *in_module)
{
	const struct opts *opts = facts->opts;
	struct strbuf name cleanup_strbuf = { 0 };
	struct strbuf others cleanup_strbuf = { 0 };
	struct filter_walk walk;
	const struct filter_entry *entry;

	demangle(sym->name, opts->demangle, &name);
	demangle_others(sym->name, opts->demangle, &others);

	const struct filter_subject subject = {
		.name = strbuf_str(&name),
		.name_len = name.len,
		.others = strbuf_str(&others),
		.source_file = module->source_of ? module->source_of(module->self, sym) : NULL,
		.module = module->basename,
		.is_plt = sym->type == 'P',
		.is_program = module->is_program,
	};

	filter_walk_begin(&walk, opts->filters, &subject);
	while ((entry = filter_walk_next(&walk))) {
		const struct typed_spec typed = filter_as_typed(entry);

		in_module[entry - opts->filters->entries]++;
		msg_debug(&opts->msg, MSG_FILTER, 2, "--%s '%s' matches '%s' of '%s'", typed.option,
			  typed.text, strbuf_str(&name), module->basename);
	}
}

void debug_facts_filters_add(struct debug_facts_filters *facts,
			     const struct debug_facts_module *module)
{
	const size_t nr = facts->opts->filters->nr;
	size_t *in_module cleanup_free = calloc(nr, sizeof(*in_module));

	for (size_t i = 0; in_module && i < module->symbols->nr; i++) {
		if (symbol_is_function(&module->symbols->syms[i]))
			match_symbol(facts, module, &module->symbols->syms[i], in_module);
	}
	for (size_t i = 0; in_module && i < nr; i++) {
		struct debug_facts_found *found = &facts->found[i];

		if (in_module[i])
			strbuf_addf(&found->modules, "%s%s %zu", found->total ? ", " : "",
				    module->basename, in_module[i]);
		found->total += in_module[i];
	}
}

void debug_facts_filters_end(struct debug_facts_filters *facts)
{
	const struct filters *filters = facts->opts->filters;

	for (size_t i = 0; i < filters->nr; i++) {
		const struct filter_entry *entry = &filters->entries[i];
		const struct typed_spec typed = filter_as_typed(entry);
		struct debug_facts_found *found = &facts->found[i];

		msg_debug(&facts->opts->msg, MSG_FILTER, 1,
			  "functions that match --%s '%s': %zu (%s)", typed.option, typed.text,
			  found->total,
			  found->total ? strbuf_str(&found->modules) : "in no module");
		strbuf_deinit(&found->modules);
	}
	free(facts->found);
	facts->found = NULL;
}

/* --- a recording --- */

void debug_facts_data_opened(const struct opts *opts, const struct trace_data *data,
			     uint64_t took_ns)
{
	uint64_t bytes = 0;

	for (size_t i = 0; i < data->nr_tasks; i++)
		bytes += data->tasks[i].data_bytes;
	msg_debug(&opts->msg, MSG_UTRAIL, 1,
		  "'%s': tasks: %zu, sessions: %zu, modules: %zu, bytes of records: %llu",
		  data->dir, data->nr_tasks, data->nr_sessions, data->modules.nr_modules,
		  (unsigned long long)bytes);
	if (took_ns)
		msg_debug(&opts->msg, MSG_UTRAIL, 2, "opening it took %s",
			  debug_facts_time(took_ns).text);
	for (size_t i = 0; i < data->nr_tasks; i++)
		msg_debug(&opts->msg, MSG_UTRAIL, 3, "task %d of process %d: %llu bytes of records",
			  data->tasks[i].tid, data->tasks[i].pid,
			  (unsigned long long)data->tasks[i].data_bytes);
}

static void tell_sessions(const struct opts *opts, const struct trace_data *data)
{
	for (size_t i = 0; i < data->nr_sessions; i++) {
		const struct session *s = data->sessions[i];

		msg_debug(&opts->msg, MSG_SESSION, 1,
			  "%s: '%s' in process %d: modules: %zu, and loaded later: %zu", s->sid,
			  s->exename, s->pid, debug_facts_count_modules(&s->map), s->nr_late);
		for (size_t k = 0; k < s->map.nr; k++)
			msg_debug(&opts->msg, MSG_SESSION, 2, "%s: %#llx-%#llx '%s'", s->sid,
				  (unsigned long long)s->map.entries[k].start,
				  (unsigned long long)s->map.entries[k].end,
				  s->map.entries[k].path);
		for (size_t k = 0; k < s->nr_late; k++)
			msg_debug(&opts->msg, MSG_SESSION, 2, "%s: from %#llx '%s', loaded later",
				  s->sid, (unsigned long long)s->late[k].base,
				  s->late[k].module->path);
	}
}

static void tell_modules(const struct opts *opts, const struct trace_data *data)
{
	for (size_t i = 0; i < data->modules.nr_modules; i++) {
		const struct module *mod = data->modules.modules[i];

		if (!mod->is_loaded)
			msg_debug(&opts->msg, MSG_SYMBOL, 2, "'%s': no address of it was asked for",
				  mod->path);
		else if (!mod->sym_name)
			msg_debug(&opts->msg, MSG_SYMBOL, 1, "'%s': there are no symbols of it",
				  mod->path);
		else
			msg_debug(&opts->msg, MSG_SYMBOL, 1, "'%s': %zu symbols from '%s/%s'%s",
				  mod->path, mod->symtab.nr, mod->sym_dir, mod->sym_name,
				  mod->sym_dir == opts->syms_dir ? " (--with-syms)" : "");
		if (mod->has_debug)
			msg_debug(&opts->msg, MSG_DWARF, 1,
				  "'%s': functions with types or lines: %zu", mod->path,
				  mod->dbg.nr_funcs);
		else
			msg_debug(&opts->msg, MSG_DWARF, 2,
				  "'%s': its debug information was not asked for", mod->path);
	}
	for (size_t i = 0; i < data->modules.nr_funcs; i++)
		msg_debug(&opts->msg, MSG_SYMBOL, 3, "'%s' was called",
			  data->modules.funcs[i]->name);
}

struct source {
	struct trace_data *data;
	struct module *module;
};

static const char *source_of(void *self, const struct symbol *sym)
{
	const struct source *source = self;

	return module_source(&source->data->modules, source->module, sym);
}

static bool is_program(const struct trace_data *data, const struct module *mod)
{
	for (size_t i = 0; i < data->nr_sessions; i++) {
		const char *exe = data->sessions[i]->exename;

		if (exe && strcmp(path_base(exe), mod->basename) == 0)
			return true;
	}
	return false;
}

static void tell_filters(const struct opts *opts, struct trace_data *data)
{
	struct debug_facts_filters facts;

	if (!debug_facts_filters_begin(&facts, opts))
		return;
	for (size_t i = 0; i < data->modules.nr_modules; i++) {
		struct module *mod = data->modules.modules[i];
		struct source source = { data, mod };
		const struct debug_facts_module module = {
			.basename = mod->basename,
			.is_program = is_program(data, mod),
			.symbols = &mod->symtab,
			.source_of = source_of,
			.self = &source,
		};

		debug_facts_filters_add(&facts, &module);
	}
	debug_facts_filters_end(&facts);
}

struct chosen {
	const struct opts *opts;
	size_t nr;
	size_t nr_known;
};

static int tell_event(void *self, const struct event_kind *kind)
{
	struct chosen *chosen = self;
	const struct event_rules *rules = &chosen->opts->events;
	bool is_chosen = rules->nr ? event_rules_show(rules, kind->origin, kind->name)
				   : chosen->opts->use_events;

	chosen->nr_known++;
	chosen->nr += is_chosen;
	msg_debug(&chosen->opts->msg, MSG_EVENT, 2, "'%s' is %s", kind->name,
		  is_chosen ? "chosen" : "not chosen");
	return 0;
}

static void tell_events(const struct opts *opts, struct trace_data *data)
{
	struct event_kinds kinds = { 0 };
	struct chosen chosen = { .opts = opts };
	struct uft_err broken = { 0 };

	if (!msg_wants(&opts->msg, MSG_EVENT, 1) && !msg_wants(&opts->msg, MSG_KERNEL, 1))
		return;
	kernel_formats_load(&data->kernel, data->dir, &broken, NULL);
	msg_debug(&opts->msg, MSG_KERNEL, 1, "events of the kernel that the recording knows: %zu",
		  data->kernel.nr_types);
	if (event_kinds_load(&kinds, data, NULL) < 0)
		return;
	event_kinds_each(&kinds, tell_event, &chosen);
	event_kinds_deinit(&kinds);
	msg_debug(&opts->msg, MSG_EVENT, 1, "events that the recording knows: %zu; chosen%s: %zu",
		  chosen.nr_known, opts->events.nr ? " by -E" : "", chosen.nr);
}

void debug_facts_data_shown(const struct opts *opts, struct trace_data *data)
{
	/*
	 * When a growing recording is opened, the tasks are unknown. So the facts about the tasks
	 * are printed after the recording was shown.
	 */
	if (data->growth)
		debug_facts_data_opened(opts, data, 0);
	tell_sessions(opts, data);
	tell_modules(opts, data);
	tell_filters(opts, data);
	tell_events(opts, data);
}
