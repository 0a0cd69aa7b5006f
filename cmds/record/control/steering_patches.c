/* Puts hooks in and takes hooks out while processes are recorded (see steering_patches.h). */
#include "cmds/record/control/steering_patches.h"

#include <errno.h>

#include "cmds/record/base/rights.h"
#include "cmds/record/control/steering_processes.h"
#include "utils/base/cleanup.h"

/* --- rules --- */

/*
 * Called when a file had no recordable functions, and patches_turn() has made some recordable. Also
 * called when patches_turn() has generated names for functions of a file. Saves the names of all
 * functions of the file for readers. Options may choose functions by these names. So
 * planner_forget() makes the next plan apply the options to all modules again.
 */
static int save_names(struct steering *steer, const struct known_module *known, struct uft_err *err)
{
	planner_forget(steer->planner);
	return sessions_save_module(steer->sessions, known->path, err);
}

static void turn_module(struct steering *steer, const struct control_module *module,
			bool is_program, struct patches_turned *turned)
{
	struct known_module *known = known_module_get(&steer->planner->modules, module->path);
	struct uft_err err = { 0 };

	if (!known || !module->has_text)
		return;

	bool had_functions = known->has_functions;
	size_t nr_unnamed = known->unnamed.nr;
	int ret = patches_turn(steer->settings, known, is_program, turned);

	if (ret == 0 && known->has_functions && (!had_functions || known->unnamed.nr != nr_unnamed))
		ret = save_names(steer, known, &err);
	store_note_error(steer->store, ret);
}

/*
 * Chooses the hooks of all modules again. The paths of the modules come from the process, and may
 * be false. So utrail reads the files at these paths only with the rights of the process
 * (trust.md).
 */
static void turn_all(struct steering *steer, struct patches_turned *turned)
{
	for (struct process *p = steer->processes->live; p; p = p->next_live) {
		struct rights before;

		if (rights_enter(&p->peer, &before) == 0) {
			steer->planner->modules.reads_as_peer = before.is_changed;
			for (size_t i = 0; i < p->nr_kept_modules; i++)
				turn_module(steer, p->modules[i], i == 0, turned);
		}
		rights_leave(&before);
		steer->planner->modules.reads_as_peer = false;
	}
}

static int check_matches(const struct steering *steer, const struct patch_rules_change *change,
			 struct uft_err *err)
{
	const struct patch_rules *rules = steer->settings->patches;

	for (size_t i = rules->nr - change->nr_new; i < rules->nr; i++) {
		const struct patch_rule *rule = &rules->rules[i];
		struct strbuf names cleanup_strbuf = { 0 };
		struct strbuf text cleanup_strbuf = { 0 };

		if (rule->has_match)
			continue;
		for (const struct process *p = steer->processes->live; p; p = p->next_live)
			steering_offer_names(steer, p, &names);
		patches_explain(rule, rule->takes_out ? "'unpatch'" : "'patch'", &names, &text);
		return err_set(err, -ENOENT, "%s", strbuf_str(&text));
	}
	return 0;
}

int repatching_choose(struct repatching *r, struct steering *steer,
		      const struct steer_change *change, struct uft_err *err)
{
	struct patch_rules more cleanup(patch_rules_deinit) = { 0 };
	int ret = patch_rules_parse(strbuf_str(&change->patches), change->match, &more, err);

	if (ret == 0 && !more.nr)
		ret = err_set(err, -ERR_USAGE, "'patch' and 'unpatch' need the name of a function");
	if (ret == 0)
		ret = patch_rules_add(steer->settings->patches, &more, &r->rules);
	if (ret < 0)
		return ret;
	r->is_wanted = true;
	turn_all(steer, &r->turned);
	return check_matches(steer, &r->rules, err);
}

void repatching_undo(struct repatching *r, struct steering *steer)
{
	struct patches_turned unused = { 0 };

	if (!r->is_wanted)
		return;
	patch_rules_undo(steer->settings->patches, &r->rules);
	turn_all(steer, &unused);
	r->is_wanted = false;
}

/* --- processes --- */

static int write_process(struct steering *steer, const struct process *p, void *arg,
			 struct uft_err *err)
{
	struct strbuf *out = arg;
	struct process_patches patches cleanup_process_patches = { 0 };
	size_t nr_left = 0;

	for (size_t i = 0; i < p->nr_kept_modules; i++) {
		const struct known_module *known = known_module_get(&steer->planner->modules,
								    p->modules[i]->path);

		if (known && p->modules[i]->has_text)
			process_patches_add(&patches, known, p->modules[i], i == 0);
	}
	if (process_patches_sort(&patches) < 0)
		return err_set_errno(err, -ENOMEM, "cannot patch process %d", p->os_pid);
	/* Without patches, there is nothing to change in this process. */
	if (!patches.all.len)
		return 0;

	pid_t pid = p->os_pid;
	int ret = steer->repatch(steer->processes_arg, pid, &patches, &nr_left, err);

	if (ret == 0 && nr_left)
		strbuf_addf(out,
			    "process %d: %zu %s: a thread is in the way, or the code lies in two "
			    "pages\n",
			    pid, nr_left,
			    nr_left == 1 ? "place stays as it is" : "places stay as they are");
	return ret;
}

static int write_all(struct steering *steer, struct strbuf *out, struct uft_err *err)
{
	int ret = steering_each_process(steer, write_process, out, err);

	return ret == -ENOMEM && !err->code ? err_set_errno(err, ret, "cannot patch") : ret;
}

int repatching_write(struct repatching *r, struct steering *steer, struct strbuf *out,
		     struct uft_err *err)
{
	struct strbuf unused cleanup_strbuf = { 0 };
	struct uft_err ignored = { 0 };

	if (!r->is_wanted)
		return 0;

	int ret = write_all(steer, out, err);

	if (ret < 0) {
		repatching_undo(r, steer);
		write_all(steer, &unused, &ignored);
		return ret;
	}
	patch_rules_keep(steer->settings->patches, &r->rules);
	r->is_wanted = false;
	strbuf_addf(out, "patched: %zu functions\n", r->turned.nr_in);
	strbuf_addf(out, "unpatched: %zu functions\n", r->turned.nr_out);
	return 0;
}
