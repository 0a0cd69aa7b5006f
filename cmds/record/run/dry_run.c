/* --dry-run (see dry_run.h). */
#include "cmds/record/run/dry_run.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cmds/cmd.h"
#include "cmds/record/plan/plan.h"
#include "utils/base/fd.h"
#include "utils/base/path.h"
#include "utils/object/elf_file.h"

extern char **environ;

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

/* What loads the program. False when it has none, or one that may not know --list. */
static bool find_loader(const char *path, char loader[static PATH_MAX])
{
	struct elf_file file cleanup_elf_file = ELF_FILE_CLOSED;
	struct elf_section sec;

	if (elf_file_open(&file, path, NULL) < 0 || !elf_section_by_name(&file, ".interp", &sec) ||
	    !sec.data || sec.data->d_size == 0 || sec.data->d_size > PATH_MAX)
		return false;
	memcpy(loader, sec.data->d_buf, sec.data->d_size);
	loader[sec.data->d_size - 1] = '\0';
	return strncmp(path_base(loader), "ld-linux", strlen("ld-linux")) == 0;
}

/* The text of `LOADER --list PROGRAM`, which maps the program and runs nothing of it. */
static int list_libraries(char *loader, char *path, struct strbuf *text)
{
	char *argv[] = { loader, (char *)"--list", path, NULL };
	posix_spawn_file_actions_t actions;
	char buffer[4096];
	int pipes[2];
	ssize_t len;
	pid_t pid;
	int ret;

	if (pipe2(pipes, O_CLOEXEC) < 0)
		return -errno;
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_adddup2(&actions, pipes[1], STDOUT_FILENO);
	ret = -posix_spawn(&pid, loader, &actions, NULL, argv, environ);
	posix_spawn_file_actions_destroy(&actions);
	close(pipes[1]);
	while (ret == 0 && (len = read(pipes[0], buffer, sizeof(buffer))) > 0)
		strbuf_add(text, buffer, len);
	close(pipes[0]);
	while (ret == 0 && waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
	return ret;
}

/* Lines are "NAME => PATH (ADDRESS)". */
static void look_at_libraries(struct planner *planner, const char *text)
{
	char path[PATH_MAX];

	for (const char *at = text; (at = strstr(at, " => /"));) {
		size_t len;

		at += strlen(" => ");
		len = strcspn(at, "(\n");
		if (len < 2 || len > sizeof(path) || at[len] != '(')
			continue;
		memcpy(path, at, len - 1);
		path[len - 1] = '\0';
		look_at(planner, path, /* is_program= */ false);
	}
}

static bool has_libraries(const struct patch_rules *rules)
{
	for (size_t i = 0; i < rules->nr; i++) {
		if (rules->rules[i].module)
			return true;
	}
	return false;
}

int dry_run(struct run *run, struct uft_err *err)
{
	struct planner planner cleanup(planner_deinit);
	struct strbuf text cleanup_strbuf = { 0 };
	struct strbuf names cleanup_strbuf = { 0 };
	char path[PATH_MAX];
	char loader[PATH_MAX];
	int ret = 0;

	planner_init(&planner, &run->settings, NULL);
	planner.patches.wants_verdicts = run->opts->msg.level > 0;
	if (!realpath(run->program.path, path))
		return err_set_errno(err, -errno, "cannot read '%s'", run->program.path);
	look_at(&planner, path, /* is_program= */ true);
	if (has_libraries(run->settings.patches) && find_loader(path, loader))
		ret = list_libraries(loader, path, &text);
	if (ret < 0)
		return err_set_errno(err, ret, "cannot find the libraries of '%s'", path);
	look_at_libraries(&planner, strbuf_str(&text));
	patches_warn(&planner.patches, run->settings.patches, &names, &run->opts->msg);
	return CMD_DONE;
}
