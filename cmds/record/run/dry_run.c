/* Shows the functions that would be patched, for --dry-run (see dry_run.h). */
#include "cmds/record/run/dry_run.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cmds/cmd.h"
#include "cmds/libraries.h"
#include "cmds/record/plan/plan.h"
#include "utils/base/path.h"

static void show_file(const struct known_module *known, bool is_program)
{
	const struct module_patches *patches = &known->patches[is_program];

	if (!patches->is_known)
		return;
	if (!patches->nr_chosen) {
		msg_list("%s: %zu functions would be patched", known->path, patches->nr_functions);
		return;
	}
	msg_list("%s: %zu of %zu functions would be patched", known->path, patches->nr_functions,
		 patches->nr_chosen);
	for (unsigned way = 0; way < UNPREPARED_WAYS; way++) {
		if (patches->counts[way])
			msg_list("%10zu  %s", patches->counts[way], unprepared_way_text(way));
	}
	strbuf_list_each (&patches->verdicts, verdict)
		msg_list("  %s", verdict);
}

static void look_at(struct planner *planner, const char *path, bool is_program)
{
	struct known_module *known = known_module_get(&planner->modules, path);

	if (!known)
		return;
	patches_find(&planner->patches, planner->settings, known, is_program);
	show_file(known, is_program);
}

int dry_run(struct run *run, struct uft_err *err)
{
	struct planner planner cleanup(planner_deinit);
	struct strbuf libraries cleanup_strbuf = { 0 };
	struct strbuf names cleanup_strbuf = { 0 };
	char path[PATH_MAX];
	int ret = 0;

	planner_init(&planner, &run->settings, NULL);
	planner.patches.wants_verdicts = run->opts->msg.level > 0;
	if (!realpath(run->program.path, path))
		return err_set_errno(err, -errno, "cannot read '%s'", run->program.path);
	look_at(&planner, path, /* is_program= */ true);
	if (patches_name_files(run->settings.patches))
		ret = libraries_of(path, &libraries);
	if (ret < 0)
		return err_set_errno(err, ret, "cannot find the libraries of '%s'", path);
	if (ret > 0)
		libraries_warn(path, &run->opts->msg);
	strbuf_list_each (&libraries, library) {
		/* The dynamic linker is never patched. */
		if (strncmp(path_base(library), "ld-linux", strlen("ld-linux")) != 0)
			look_at(&planner, library, /* is_program= */ false);
	}
	patches_warn(&planner.patches, run->settings.patches, &names, &run->opts->msg);
	return CMD_DONE;
}
