/* Reports facts about making a recording, for --debug and --debug-domain (see debug_facts.h). */
#include "cmds/record/run/debug_facts.h"

#include <stdatomic.h>
#include <string.h>

#include "cmds/debug_facts.h"
#include "utils/base/path.h"
#include "utils/object/names/sym_dir.h"

static const char *yes_or_no(bool is_so)
{
	return is_so ? "yes" : "no";
}

void debug_facts_before_run(const struct run *run)
{
	const struct msg *msg = &run->opts->msg;
	const struct record_settings *set = &run->settings;
	const struct object_program *facts = &run->program.facts;

	msg_debug(msg, MSG_UTRAIL, 1, "the program is '%s'", run->program.path);
	msg_debug(msg, MSG_UTRAIL, 1, "the probe is '%s'", run->library);
	msg_debug(msg, MSG_UTRAIL, 2, "the program calls%s%s%s%s%s",
		  facts->has_mcount ? " mcount" : "", facts->has_fentry ? " __fentry__" : "",
		  facts->has_cyg_profile ? " __cyg_profile_func_enter" : "",
		  facts->has_mcount || facts->has_fentry || facts->has_cyg_profile
			  ? ""
			  : " none of the probe's functions",
		  facts->is_prepared ? "; it has room for such calls" : "");
	msg_debug(msg, MSG_UTRAIL, 2, "%u writers; buffers of %llu bytes", set->nr_writers,
		  (unsigned long long)set->segment_bytes);
	msg_debug(msg, MSG_EVENT, 1, "of each task: begin and end: %s, names: %s, switches: %s",
		  yes_or_no(set->use_tasks), yes_or_no(set->use_names),
		  yes_or_no(set->use_switches));
}

static void tell_processes(const struct msg *msg, const struct recorder *rec)
{
	unsigned long long nr = 0;

	for (const struct process *p = rec->processes.first; p; p = p->next) {
		nr++;
		msg_debug(msg, MSG_MCOUNT, 1,
			  "process %d reported itself: %s; modules: %u, planned functions: %u, "
			  "planned library calls: %u",
			  p->os_pid, p->is_fork ? "a forked child" : "a new program", p->nr_modules,
			  (unsigned)p->planned[PLAN_FUNCS], (unsigned)p->planned[PLAN_CALLS]);
		msg_debug(msg, MSG_MCOUNT, 2,
			  "process %d: rules: %u, conditions: %u, capture steps: %u, patches: %u; "
			  "session %s",
			  p->os_pid, (unsigned)p->planned[PLAN_RULES],
			  (unsigned)p->planned[PLAN_CONDS], (unsigned)p->planned[PLAN_STEPS],
			  (unsigned)p->planned[PLAN_PATCHES], p->session->sid);
	}
	msg_debug(msg, MSG_MCOUNT, 1,
		  "processes: %llu; records lost: %llu, of them inside of the probe: %llu; threads "
		  "untraced: %llu",
		  nr, (unsigned long long)atomic_load(&rec->writers.records_lost),
		  (unsigned long long)atomic_load(&rec->writers.records_lost_inside),
		  (unsigned long long)atomic_load(&rec->writers.threads_untraced));
}

static void tell_sessions(const struct msg *msg, const struct recorder *rec)
{
	for (const struct image *s = rec->sessions.first; s; s = s->next) {
		msg_debug(msg, MSG_SESSION, 1, "%s: '%s' in process %d: modules: %zu", s->sid,
			  s->exe, s->pid, debug_facts_count_modules(&s->map));
		for (size_t i = 0; i < s->map.nr; i++)
			msg_debug(msg, MSG_SESSION, 2, "%s: %#llx-%#llx '%s'", s->sid,
				  (unsigned long long)s->map.entries[i].start,
				  (unsigned long long)s->map.entries[i].end,
				  s->map.entries[i].path);
	}
}

static bool is_program(const struct recorder *rec, const char *path)
{
	for (const struct image *s = rec->sessions.first; s; s = s->next) {
		if (strcmp(s->exe, path) == 0)
			return true;
	}
	return false;
}

static void tell_symbols(const struct msg *msg, const struct record_settings *settings,
			 const struct known_module *m)
{
	const struct sym_query query = { .path = m->path,
					 .build_id = m->build_id,
					 .any_path = true };
	struct symtab from_dir cleanup_symtab = { 0 };
	struct symtab symbols cleanup_symtab = { 0 };

	if (settings->syms_dir &&
	    sym_dir_load(settings->syms_dir, &query, &from_dir, NULL, NULL) > 0)
		msg_debug(msg, MSG_SYMBOL, 1, "'%s': %zu symbols from '%s' (--with-syms)", m->path,
			  from_dir.nr, settings->syms_dir);
	else if (known_symbols_load(settings, m, &symbols) < 0)
		msg_debug(msg, MSG_SYMBOL, 1, "'%s': its symbols cannot be read", m->path);
	else
		msg_debug(msg, MSG_SYMBOL, 1, "'%s': %zu symbols from the file itself%s", m->path,
			  symbols.nr, m->is_saved ? "" : "; they were not needed");
}

/*
 * Report how many functions are patched in a file that was not compiled for tracing, and why others
 * are not patched.
 */
static void tell_patches(const struct msg *msg, const struct known_module *m)
{
	for (size_t i = 0; i < ARRAY_SIZE(m->patches); i++) {
		const struct module_patches *patches = &m->patches[i];

		if (!patches->nr_chosen)
			continue;
		msg_debug(msg, MSG_DYNAMIC, 1, "'%s': functions chosen: %zu, patched: %zu%s",
			  m->path, patches->nr_chosen, patches->nr_functions,
			  patches->is_of_cache ? " (found out an earlier time)" : "");
		for (unsigned way = 0; way < UNPREPARED_WAYS; way++) {
			if (patches->counts[way])
				msg_debug(msg, MSG_DYNAMIC, 1, "'%s': %zu: %s", m->path,
					  patches->counts[way], unprepared_way_text(way));
		}
	}
}

static void tell_modules(struct run *run, const struct recorder *rec)
{
	const struct msg *msg = &run->opts->msg;

	for (const struct known_module *m = rec->planner.modules.first; m; m = m->next) {
		tell_patches(msg, m);
		if (m->callers_why)
			msg_debug(msg, MSG_DYNAMIC, 1,
				  "'%s': return addresses into it stay, and ends of calls are "
				  "estimated: %s",
				  m->path, m->callers_why);
		/*
		 * Debug level 1 reports symbols only for modules with a symbol file in the
		 * recording. The symbols of other modules are usually not needed, and are reported
		 * from level 2 on.
		 */
		if (msg_wants(msg, MSG_SYMBOL, m->is_saved ? 1 : 2))
			tell_symbols(msg, &run->settings, m);
		if (debuginfo_has(&run->debug, m->path))
			msg_debug(msg, MSG_DWARF, 1, "'%s': functions with types: %zu", m->path,
				  debuginfo_of(&run->debug, m->path)->nr_funcs);
		else
			msg_debug(msg, MSG_DWARF, 2,
				  "'%s': its debug information was not asked for", m->path);
	}
}

static const char *source_of(void *self, const struct symbol *sym)
{
	const struct dwarf_func *func = debuginfo_func(self, sym);

	return func ? func->file : NULL;
}

static void tell_filters(struct run *run, const struct recorder *rec)
{
	struct debug_facts_filters facts;

	if (!debug_facts_filters_begin(&facts, run->opts))
		return;
	for (const struct known_module *m = rec->planner.modules.first; m; m = m->next) {
		struct symtab symbols cleanup_symtab = { 0 };
		struct debug_facts_module module = {
			.basename = path_base(m->path),
			.is_program = is_program(rec, m->path),
			.symbols = &symbols,
			.source_of = source_of,
		};

		if (!m->has_functions &&
		    !plan_has_calls(&run->settings, m->path, module.is_program))
			continue;
		if (known_symbols_load(&run->settings, m, &symbols) < 0)
			continue;
		if (debuginfo_has(&run->debug, m->path))
			module.self = (void *)debuginfo_of(&run->debug, m->path);
		debug_facts_filters_add(&facts, &module);
	}
	debug_facts_filters_end(&facts);
}

static void tell_overhead(const struct msg *msg, const struct recorder *rec)
{
	strbuf_list_each (&rec->overhead.said, text)
		msg_debug(msg, MSG_DYNAMIC, 1, "%s", text);
}

static void tell_events(const struct run *run, const struct recorder *rec)
{
	const struct msg *msg = &run->opts->msg;

	msg_debug(msg, MSG_EVENT, 1, "tasks are watched by perf_event_open(2): %s",
		  yes_or_no(run->has_perf));
	msg_debug(msg, MSG_EVENT, 1, "chosen events of the program: %zu",
		  rec->planner.points.nr_events);
	for (size_t i = 0; i < rec->planner.points.nr_events; i++)
		msg_debug(msg, MSG_EVENT, 2, "'%s' is chosen", rec->planner.points.events[i].name);
	msg_debug(msg, MSG_KERNEL, 1,
		  "tracepoints are recorded: %s; bytes of them: %llu, events lost: %llu",
		  yes_or_no(run->has_kernel), (unsigned long long)rec->kernel.bytes_written,
		  (unsigned long long)rec->kernel.lost);
}

void debug_facts_after_run(struct run *run, const struct recorder *rec)
{
	const struct msg *msg = &run->opts->msg;

	msg_debug(msg, MSG_UTRAIL, 1,
		  "'%s': tasks with records: %zu; the program took %s, and taking the rest of its "
		  "records %s",
		  run->settings.data_dir, rec->tasks.nr_tids,
		  debug_facts_time(run->elapsed_ns).text, debug_facts_time(run->stop_ns).text);
	tell_processes(msg, rec);
	tell_sessions(msg, rec);
	tell_modules(run, rec);
	tell_filters(run, rec);
	tell_overhead(msg, rec);
	tell_events(run, rec);
}
