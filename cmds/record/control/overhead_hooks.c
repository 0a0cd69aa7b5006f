/*
 * Removes the hooks of the functions that --overhead leaves out of the recording (see
 * overhead_hooks.h).
 */
#include "cmds/record/control/overhead_hooks.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cmds/record/base/peer.h"
#include "cmds/record/control/steering_processes.h"
#include "cmds/record/plan/modules.h"

/*
 * The maximum number of attempts to take hooks out of a process. An attempt fails if the process is
 * busy, was stopped, is traced by another process, or has not asked for its plan.
 */
#define TRIES_MAX 5

static struct known_module *module_of(const struct overhead *o, const struct process *p,
				      size_t index)
{
	const struct control_module *m = p->modules[index];

	return m->has_text ? known_module_get(&o->planner->modules, m->path) : NULL;
}

/* --- looking at processes --- */

/*
 * True when the hook of @patch is in the code of the process, or when the memory of the process
 * could not be opened (@memory < 0). False when the code has no hook, or when the site cannot be
 * read because the process has unloaded the module.
 */
static bool is_hooked(int memory, const struct plan_patch *patch)
{
	uint8_t there[PLAN_PATCH_ORIGINAL];
	size_t len = MIN((size_t)patch->bytes, sizeof(there));

	if (memory < 0)
		return true;
	if (pread(memory, there, len, (off_t)patch->site) != (ssize_t)len)
		return false;
	return (memcmp(there, patch->original, len) == 0) == (patch->what == PATCH_NOP);
}

/*
 * Counts the hooks in the module's code, but only hooks of functions that --overhead leaves out.
 * If @notes is true, marks the functions of the counted hooks (module_left_out.stays).
 */
static size_t look_at_module(int memory, struct known_module *known, const struct control_module *m,
			     bool is_program, bool notes)
{
	struct process_patches patches cleanup_process_patches = { 0 };
	size_t nr = 0;

	process_patches_add_left_out(&patches, known, m, is_program);

	const struct plan_patch *list = (const struct plan_patch *)patches.all.data;

	for (size_t i = 0; i < patches.all.len / sizeof(*list); i++) {
		/*
		 * @addr is inside of the function that the patch records. A patch that records no
		 * function has no @addr. Such a patch is looked up by its site.
		 */
		uint64_t at = list[i].addr ? list[i].addr : list[i].site;
		struct module_left_out *left = known_left_out_at(known, at - m->start);

		if (plan_patch_has_no_text(list[i].flags) || !is_hooked(memory, &list[i]))
			continue;
		nr++;
		if (notes && left)
			left->stays = true;
	}
	return nr;
}

static size_t look_at_process(const struct overhead *o, const struct process *p, bool notes)
{
	char path[64];
	size_t nr = 0;

	snprintf(path, sizeof(path), "/proc/%d/mem", p->os_pid);

	int memory cleanup_fd = open(path, O_RDONLY | O_CLOEXEC);

	for (size_t i = 0; i < p->nr_kept_modules; i++) {
		struct known_module *known = module_of(o, p, i);

		if (known)
			nr += look_at_module(memory, known, p->modules[i], i == 0, notes);
	}
	return nr;
}

/*
 * Adds up the call rates of functions that --overhead leaves out of the recording, but that still
 * have hooks.
 */
static void count_left(struct overhead *o)
{
	o->budget.left_rate = 0;
	for (const struct known_module *m = o->planner->modules.first; m; m = m->next) {
		known_left_out_each (m, left) {
			if (!left->is_back && (left->stays || !left->can_go))
				o->budget.left_rate += left->rate;
		}
	}
}

/* --- taking hooks out --- */

static int take_out_of(struct overhead *o, const struct process *p, struct uft_err *err)
{
	struct process_patches patches cleanup_process_patches = { 0 };
	size_t nr_left = 0;

	for (size_t i = 0; i < p->nr_kept_modules; i++) {
		struct known_module *known = module_of(o, p, i);

		if (known)
			process_patches_add_left_out(&patches, known, p->modules[i], i == 0);
	}
	if (process_patches_sort(&patches) < 0)
		return err_set_errno(err, -ENOMEM, "cannot patch process %d", p->os_pid);
	process_patches_keep_wanted(&patches);
	return o->steering->repatch(o->steering->processes_arg, p->os_pid, &patches, &nr_left, err);
}

static bool has_ended(const struct process *p)
{
	return !p->arena || peer_has_ended(p->pidfd, 0);
}

static void say_hooks_out(struct overhead *o, const struct process *p, size_t nr_left,
			  const struct uft_err *err)
{
	struct strbuf text cleanup_strbuf = { 0 };

	if (nr_left)
		strbuf_addf(&text,
			    "--overhead: process %d: %zu %s of functions that are left out %s: "
			    "%s",
			    p->os_pid, nr_left, nr_left == 1 ? "hook" : "hooks",
			    nr_left == 1 ? "stays" : "stay",
			    err->code ? err->text
				      : "threads are in them, or they lie in two pages");
	else
		strbuf_addf(&text,
			    "--overhead: process %d: the hooks of functions that are left out were "
			    "taken out",
			    p->os_pid);
	strbuf_list_add(&o->said, strbuf_str(&text));
}

/*
 * For one process: removes the hooks of functions that --overhead leaves out. A process without
 * these hooks may have a plan that is older than o->left_out_generation. With the older plan, the
 * process may add the hooks later. So the next call of overhead_take_hooks_out() checks the process
 * again.
 */
static void serve_process(struct overhead *o, struct process *p)
{
	struct uft_err err = { 0 };
	bool had_hooks = look_at_process(o, p, false);
	int ret = had_hooks ? take_out_of(o, p, &err) : 0;
	size_t nr_left = had_hooks ? look_at_process(o, p, false) : 0;
	bool may_change = had_hooks ? nr_left && (ret == 0 || ret == -EAGAIN || ret == -EBUSY)
				    : p->plan_generation < o->left_out_generation;

	if (has_ended(p) || (may_change && ++p->left_out_tries < TRIES_MAX))
		return;
	p->left_out_tries = 0;
	p->left_out_generation = o->left_out_generation;
	if (nr_left)
		look_at_process(o, p, true);
	if (had_hooks)
		say_hooks_out(o, p, nr_left, &err);
}

static bool has_any_to_serve(const struct overhead *o)
{
	for (const struct process *p = o->processes->live; p; p = p->next_live) {
		if (p->left_out_generation != o->left_out_generation)
			return true;
	}
	return false;
}

void overhead_take_hooks_out(struct overhead *o)
{
	struct process **list cleanup_free = NULL;

	if (has_any_to_serve(o) && steering_list_live(o->steering, &list) == 0) {
		for (size_t i = 0; list[i]; i++) {
			if (list[i]->left_out_generation != o->left_out_generation &&
			    !has_ended(list[i]))
				serve_process(o, list[i]);
		}
	}
	count_left(o);
}
