/* Changes a running recording (see steering.h). */
#include "cmds/record/control/steering.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cmds/record/base/rights.h"
#include "cmds/record/control/steering_events.h"
#include "cmds/record/control/steering_patches.h"
#include "cmds/record/plan/image_plan.h"
#include "utils/base/containers/nearest.h"
#include "utils/base/units.h"
#include "utils/object/names/demangle.h"
#include "utils/spec/clearing.h"

#define NOTES_NAME "extern.dat"

void steering_begin(struct steering *steer)
{
	steer->now = *steer->settings;
	steer->is_on = true;
	steer->notes = -1;
	steer->planner->settings = &steer->now;
	steer->planner->declared.settings = &steer->now;
	steer->planner->callables.settings = &steer->now;
}

static void free_specs(char *specs[SPEC_OPTIONS])
{
	for (unsigned i = 0; i < SPEC_OPTIONS; i++)
		free(specs[i]);
}

void steering_end(struct steering *steer)
{
	if (!steer->settings)
		return;
	if (steer->notes >= 0)
		store_close(steer->store, steer->notes);
	filters_deinit(&steer->filters);
	free_specs(steer->specs);
	pattern_deinit(&steer->ids.include);
	pattern_deinit(&steer->ids.exclude);
}

/* --- plans --- */

static void set_plan(struct steering *steer)
{
	image_plan_choose(steer->plan, &steer->now, steer->is_on);
	steer->planner->is_off = !steer->is_on;
	steer->plan->generation = steer->generation;
}

int steering_plan(struct steering *steer, struct process *proc)
{
	struct plan_entries entries cleanup_plan_entries = { 0 };

	image_plan_make(steer->planner, *steer->plan, proc->modules, proc->nr_kept_modules,
			/* is_fresh= */ false, &entries);
	proc->plan_generation = steer->generation;
	return plan_memfd(&entries);
}

/* --- notes --- */

/*
 * Appends to extern.dat a line that describes a change. Replays show the line. Users' notes have
 * the same form: "<seconds>.<nanoseconds> text" (doc/formats/events.md, "extern.dat").
 */
static void note_change(struct steering *steer, const char *text)
{
	struct strbuf line cleanup_strbuf = { 0 };
	uint64_t now_ns = settings_now_ns(steer->settings);

	strbuf_addf(&line, SECONDS_FORMAT " utrail: %s", SECONDS_OF(now_ns), text);
	/* A note is one line, so line breaks in its words become blanks. */
	for (size_t i = 0; i < line.len; i++)
		line.data[i] = line.data[i] == '\n' ? ' ' : line.data[i];
	strbuf_addch(&line, '\n');
	store_append_line(steer->store, &steer->notes, NOTES_NAME, &line);
}

/* --- filters --- */

/*
 * The actions that record arguments and results. The user can choose these actions only before the
 * recording starts. At the start, the recorder writes a description of the arguments and results.
 * The description must not change later, because readers may already have read it.
 */
#define FIXED_ACTIONS ((uint32_t)(TRIGGER_ARG | TRIGGER_RETVAL | TRIGGER_AUTO_ARGS))

static int check_spec(const struct spec *spec, struct uft_err *err)
{
	struct uft_err why = { 0 };

	if (spec->trigger.flags & FIXED_ACTIONS)
		return err_set(err, -ERR_USAGE,
			       "'%s': the recorded arguments and results cannot change while the "
			       "program runs",
			       spec->text);
	if (spec_check_recording(spec, &why) < 0)
		return err_set(err, -ERR_USAGE, "'%s': %s", spec->text, why.text);
	return 0;
}

/*
 * Finds the specs that a change adds, in a walk through the list of filters. For each option, the
 * earlier specs stand before the added specs. Only the added specs are checked, because the user
 * has already got warnings about the earlier specs.
 *
 * @left: left[option] is the number of earlier specs that the walk has not passed yet
 */
struct new_specs {
	size_t left[SPEC_OPTIONS];
};

/* @gone: see filters_make_after() */
static struct new_specs new_specs_begin(const struct filters *before, const bool *gone)
{
	struct new_specs specs = { 0 };

	for (size_t i = 0; i < before->nr; i++)
		specs.left[before->entries[i].option] += !gone[i];
	return specs;
}

static bool is_new(struct new_specs *specs, const struct filter_entry *entry)
{
	if (!specs->left[entry->option])
		return true;
	specs->left[entry->option]--;
	return false;
}

static void offer_names(const struct steering *steer, const struct process *proc,
			struct strbuf *names)
{
	for (size_t i = 0; i < proc->nr_kept_modules; i++) {
		const struct known_module *m = known_module_get(&steer->planner->modules,
								proc->modules[i]->path);
		struct symtab symbols cleanup_symtab = { 0 };

		if (!m || (!m->has_functions && i) ||
		    known_symbols_load(&steer->now, m, &symbols) < 0)
			continue;
		for (size_t k = 0; k < symbols.nr; k++) {
			if (!symbol_is_function(&symbols.syms[k]))
				continue;
			demangle(symbols.syms[k].name, steer->now.demangle, names);
			strbuf_addch(names, '\0');
		}
	}
}

void steering_offer_names(const struct steering *steer, const struct process *proc,
			  struct strbuf *names)
{
	struct rights before;

	if (rights_enter(&proc->peer, &before) == 0) {
		steer->planner->modules.reads_as_peer = before.is_changed;
		offer_names(steer, proc, names);
	}
	rights_leave(&before);
	steer->planner->modules.reads_as_peer = false;
}

/*
 * Warns the client about an action that only triggers can have, and suggests a trigger. No trigger
 * is suggested for arguments and results, because check_spec() refuses such triggers.
 */
static void warn_ignored(const struct filter_entry *entry, struct strbuf *out)
{
	const char *action = entry->spec.ignored;
	const char *typed = entry->spec.text + (*entry->spec.text == '!');
	bool is_fixed = strcmp(action, "arg") == 0 || strcmp(action, "retval") == 0 ||
			strcmp(action, "auto-args") == 0;

	strbuf_addf(out, STEER_WARNING "'%s': action '%s' has no effect here%s\n", typed, action,
		    is_fixed ? "" : ": use 'trigger'");
}

/*
 * Warns the client that no function of the running processes matches @spec. For the options of
 * `record`, filter_warn_unmatched() prints a similar warning.
 */
static void warn_no_match(const struct steering *steer, const struct spec *spec, struct strbuf *out)
{
	struct strbuf names cleanup_strbuf = { 0 };
	struct nearest near;
	const char *typed = spec->text + (*spec->text == '!');

	for (const struct process *p = steer->processes->live; p; p = p->next_live)
		steering_offer_names(steer, p, &names);
	nearest_init(&near, spec->pattern.text);
	strbuf_list_each (&names, name)
		nearest_offer(&near, name);
	strbuf_addf(out, STEER_WARNING "no function of the running processes matches '%s'", typed);
	/* In a spec, a word that is not an action is taken for the name of a file. */
	if (spec->module_kind == MODULE_NAMED)
		strbuf_addf(out,
			    ": '%s' is no action, so that it was taken for the beginning of a "
			    "file's name",
			    spec->module);
	else if (nearest_is_close(&near)) {
		strbuf_addstr(out, "; the nearest: ");
		nearest_text(&near, "", out);
	}
	strbuf_addch(out, '\n');
}

/*
 * Match the functions of all running processes with the specs, to set filter_entry.has_match. Each
 * process has named the files of its modules. To find the functions, the recorder reads these files
 * with the rights of that process.
 */
static void bind_all(struct steering *steer)
{
	bool is_off = steer->planner->is_off;

	steer->planner->is_off = false;
	for (struct process *p = steer->processes->live; p; p = p->next_live) {
		struct plan_entries entries cleanup_plan_entries = { 0 };
		struct rights before;

		if (rights_enter(&p->peer, &before) == 0) {
			steer->planner->modules.reads_as_peer = before.is_changed;
			plan_make_functions(steer->planner, p->modules, p->nr_kept_modules,
					    &entries);
		}
		rights_leave(&before);
		steer->planner->modules.reads_as_peer = false;
	}
	steer->planner->is_off = is_off;
}

static int check_filters(struct steering *steer, struct new_specs specs, struct strbuf *out,
			 struct uft_err *err)
{
	const struct filters *filters = steer->now.filters;
	struct new_specs left = specs;
	int ret = 0;

	for (size_t i = 0; ret == 0 && i < filters->nr; i++) {
		if (is_new(&left, &filters->entries[i]))
			ret = check_spec(&filters->entries[i].spec, err);
	}
	if (ret < 0)
		return ret;
	planner_forget(steer->planner);
	bind_all(steer);
	for (size_t i = 0; i < filters->nr; i++) {
		const struct filter_entry *entry = &filters->entries[i];

		if (!is_new(&specs, entry))
			continue;
		if (entry->spec.ignored)
			warn_ignored(entry, out);
		if (!entry->has_match)
			warn_no_match(steer, &entry->spec, out);
	}
	return 0;
}

/*
 * Makes a list of filters: first the filters of @before, then the filters of @change.
 *
 * @gone: marks the specs of @before that have no effect, as found by clearing_find_gone(). The
 *        marked specs are left out
 * @texts: gets the specs as text
 */
static int make_filters(const struct steering *steer, const struct steer_change *change,
			const struct filters *before, const bool *gone, struct filters *filters,
			char *texts[SPEC_OPTIONS], struct uft_err *err)
{
	const struct counters *counters = &steer->settings->filters->counters;
	char *added[SPEC_OPTIONS] = { 0 };
	enum spec_option option;
	int ret;

	for (unsigned i = 0; i < SPEC_OPTIONS; i++)
		added[i] = change->specs[i].len ? change->specs[i].data : NULL;
	/* Each counter of the recording keeps its bit in trigger.read. */
	filters->counters = *counters;
	ret = filters_make_after(filters, before, gone, added, change->match, &option, err);
	if (ret < 0)
		return ret;
	if (filters->counters.nr != counters->nr)
		return err_set(err, -ERR_USAGE,
			       "'read=%s': counters by name are chosen when the recording begins",
			       filters->counters.list[filters->counters.nr - 1].name);
	ret = clearing_texts(filters, texts);
	return ret < 0 ? err_set_errno(err, ret, "cannot change the filters") : 0;
}

/*
 * Puts the filters of @change into force. Earlier filters stay in force, unless @change clears or
 * replaces them. After an error nothing has changed.
 */
static int change_filters(struct steering *steer, const struct steer_change *change,
			  struct strbuf *out, struct uft_err *err)
{
	static const struct filters none;
	const struct filters *kept = change->flags & STEER_CLEAR ? &none : steer->now.filters;
	bool *gone cleanup_free = clearing_find_gone(kept);
	char *specs[SPEC_OPTIONS] = { 0 };
	struct filters filters = { 0 };
	struct record_settings before = steer->now;
	struct filters old = steer->filters;
	int ret = gone ? make_filters(steer, change, kept, gone, &filters, specs, err)
		       : err_set_errno(err, -ENOMEM, "cannot change the filters");

	if (ret == 0) {
		struct new_specs added = new_specs_begin(kept, gone);

		steer->filters = filters;
		steer->now.filters = &steer->filters;
		ret = check_filters(steer, added, out, err);
		if (ret < 0) {
			steer->filters = old;
			steer->now = before;
		}
	}
	if (ret < 0) {
		filters_deinit(&filters);
		free_specs(specs);
		return ret;
	}
	filters_deinit(&old);
	free_specs(steer->specs);
	memcpy(steer->specs, specs, sizeof(specs));
	steer->has_specs = true;
	return 0;
}

/* --- changes --- */

/*
 * For each module, the planner keeps a list of the functions that plans contain. These lists depend
 * on @size. planner_forget() drops the lists, so that the next plan gets new lists.
 */
static void change_size(struct steering *steer, uint64_t size)
{
	steer->now.size_filter = size;
	planner_forget(steer->planner);
}

static void change_limits(struct steering *steer, const struct steer_change *change)
{
	if (change->flags & STEER_SIZE)
		change_size(steer, change->size);
	if (change->flags & STEER_DEPTH) {
		steer->now.depth = change->depth;
		steer->now.tells_depth = false;
	}
	if (change->flags & STEER_TIME)
		steer->now.threshold_ns = change->time_ns;
}

static void publish_settings(struct steering *steer)
{
	steer->generation++;
	steer->changed_ns = settings_now_ns(steer->settings);
	set_plan(steer);
	atomic_store(&steer->processes->may_finish, settings_can_finish(&steer->now));
	atomic_store(&steer->processes->control->plan_generation, steer->generation);
	processes_tell_news(steer->processes);
}

int steering_change(struct steering *steer, const struct steer_change *change, struct strbuf *out,
		    struct uft_err *err)
{
	struct repatching patches = { 0 };
	struct rechoosing events = { 0 };
	int ret = 0;

	if (!(change->flags & STEER_CHANGES))
		return 0;
	if (!steer->settings->has_agent)
		return err_set(
			err, -EOPNOTSUPP,
			"it is recorded without --agent (-g), so nothing of it can be changed");
	if (change->flags & STEER_PATCH)
		ret = repatching_choose(&patches, steer, change, err);
	if (ret == 0 && (change->flags & STEER_DECLARED))
		ret = rechoosing_choose(&events, steer, change, err);
	if (ret == 0 && (change->flags & (STEER_SPECS | STEER_CLEAR)))
		ret = change_filters(steer, change, out, err);
	if (ret < 0) {
		rechoosing_undo(&events, steer);
		repatching_undo(&patches, steer);
		return ret;
	}
	change_limits(steer, change);
	if (change->flags & STEER_OFF)
		steer->is_on = false;
	if (change->flags & STEER_ON) {
		steer->is_on = steer->now.trace_on = true;
		steer->plan->on_generation = steer->generation + 1;
	}
	note_change(steer, strbuf_str(&change->text));
	publish_settings(steer);
	if (change->flags & STEER_STOP) {
		notes_finish_all(steer->processes);
		processes_tell_news(steer->processes);
	}
	ret = repatching_write(&patches, steer, out, err);
	if (ret < 0)
		note_change(steer, "the hooks of the last change were taken back");

	struct uft_err why = { 0 };
	int events_ret = rechoosing_write(&events, steer, out, &why);

	if (events_ret < 0)
		note_change(steer, "the events of the last change were taken back");
	if (ret == 0 && events_ret < 0)
		*err = why;
	return ret < 0 ? ret : events_ret;
}

void steering_leave_out(struct steering *steer, const char *text)
{
	note_change(steer, text);
	publish_settings(steer);
}

/* --- status --- */

static void add_specs_lines(const struct steering *steer, struct strbuf *out)
{
	static const char *const names[SPEC_OPTIONS] = {
		[SPEC_FILTER] = "filter",
		[SPEC_CALLER] = "caller",
		[SPEC_TRIGGER] = "trigger",
		[SPEC_LOCATION] = "loc-filter",
	};
	char *const *specs = steer->has_specs ? steer->specs : steer->settings->specs;

	for (unsigned i = 0; specs && i < SPEC_OPTIONS; i++) {
		if (names[i] && specs[i])
			strbuf_addf(out, "%s: %s\n", names[i], specs[i]);
	}
}

static void add_patch_lines(const struct steering *steer, struct strbuf *out)
{
	const struct patch_rules *rules = steer->settings->patches;

	for (size_t i = 0; i < rules->nr; i++)
		strbuf_addf(out, "%s: %s\n", rules->rules[i].takes_out ? "unpatch" : "patch",
			    rules->rules[i].text);
}

static void add_process(const struct steering *steer, const struct process *p, struct strbuf *out)
{
	strbuf_addf(out, "process: %d", p->os_pid);
	if (p->session && p->session->exe)
		strbuf_addf(out, " %s", p->session->exe);
	if (p->plan_generation != steer->generation)
		strbuf_addstr(out, " (has not asked for the last change yet)");
	strbuf_addch(out, '\n');
}

void steering_status(const struct steering *steer, struct strbuf *out)
{
	const struct record_settings *now = &steer->now;
	bool is_over = atomic_load(&steer->processes->control->finished);

	strbuf_addf(out, "recording: %s\n",
		    is_over	    ? "stopped"
		    : !steer->is_on ? "off"
		    : now->trace_on ? "on"
				    : "off, until a trigger or signal");
	strbuf_addf(out, "steerable: %s\n",
		    steer->settings->has_agent ? "yes" : "no (record --agent)");
	add_specs_lines(steer, out);
	add_patch_lines(steer, out);
	if (now->trace_include)
		strbuf_addf(out, "trace-include: %s\n", now->trace_include->text);
	if (now->trace_exclude)
		strbuf_addf(out, "trace-exclude: %s\n", now->trace_exclude->text);
	strbuf_addf(out, "depth: %u\n", now->depth);
	if (now->threshold_ns) {
		strbuf_addstr(out, "time: ");
		format_time(now->threshold_ns, out);
		strbuf_addch(out, '\n');
	}
	if (now->size_filter)
		strbuf_addf(out, "size: %llu\n", (unsigned long long)now->size_filter);
	strbuf_addf(out, "changes: %u\n", steer->generation);
	for (const struct process *p = steer->processes->live; p; p = p->next_live)
		add_process(steer, p, out);
}
