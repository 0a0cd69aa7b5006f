/* --list-event (see list_events.h). */
#include "cmds/list_events.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cmds/cmd.h"
#include "cmds/record/run/launch.h"
#include "cmds/record/sources/tracefs.h"
#include "utils/base/cleanup.h"
#include "utils/format/text.h"
#include "utils/object/elf_file.h"
#include "utils/object/sdt.h"

static bool is_wanted(const struct opts *opts, enum event_origin origin, const char *name)
{
	return !opts->events.nr || event_rules_match(&opts->events, origin, name);
}

static void list_kernel_events(const struct opts *opts)
{
	struct strbuf events cleanup_strbuf = { 0 };
	struct uft_err err = { 0 };
	struct text name;

	if (opts->events.nr && !event_rules_want(&opts->events, EVENT_OF_KERNEL))
		return;
	if (tracefs_list_events(&events, &err) < 0) {
		msg_warn(&opts->msg, "%s", err.text);
		return;
	}

	struct text left = text_of(events.data, events.len);

	while (tracefs_next_event(&left, &name)) {
		char *event cleanup_free = text_dup(&name);

		if (event && is_wanted(opts, EVENT_OF_KERNEL, event))
			msg_list("[kernel event] %s", event);
	}
}

/* Of several places with the same name and arguments one line. */
static bool is_told(const struct sdt_probes *probes, size_t index)
{
	const struct sdt_probe *probe = &probes->probes[index];

	for (size_t i = 0; i < index; i++) {
		const struct sdt_probe *other = &probes->probes[i];

		if (strcmp(other->provider, probe->provider) == 0 &&
		    strcmp(other->name, probe->name) == 0 && strcmp(other->args, probe->args) == 0)
			return true;
	}
	return false;
}

static int list_probes(const struct opts *opts, const char *path, struct uft_err *err)
{
	struct sdt_probes probes cleanup_sdt_probes = { 0 };
	int ret = object_sdt_load(path, &probes, err);

	for (size_t i = 0; i < probes.nr; i++) {
		const struct sdt_probe *probe = &probes.probes[i];
		struct strbuf name cleanup_strbuf = { 0 };

		strbuf_addf(&name, "%s:%s", probe->provider, probe->name);
		if (is_wanted(opts, EVENT_OF_PROGRAM, strbuf_str(&name)) && !is_told(&probes, i))
			msg_list("[SDT event] %s %s", strbuf_str(&name), probe->args);
	}
	return ret;
}

/* The dynamic linker of the program at @path. False: it has none, or one that nobody knows. */
static bool find_linker(const char *path, char linker[static PATH_MAX])
{
	struct elf_file file cleanup_elf_file = ELF_FILE_CLOSED;
	struct elf_section section;

	if (elf_file_open(&file, path, NULL) < 0 ||
	    !elf_section_by_name(&file, ".interp", &section) || !section.data ||
	    section.data->d_size == 0 || section.data->d_size > PATH_MAX)
		return false;
	memcpy(linker, section.data->d_buf, section.data->d_size);
	linker[section.data->d_size - 1] = '\0';
	return strstr(linker, "/ld-linux") != NULL;
}

/* Whom the dynamic linker would load; it lists them (ld.so(8), --list) without running the program. NULL when it does not. */
static FILE *ask_linker(char *linker, const char *path, pid_t *pid)
{
	char *argv[] = { linker, "--list", (char *)path, NULL };
	posix_spawn_file_actions_t actions;
	int fds[2];

	if (pipe2(fds, O_CLOEXEC) < 0)
		return NULL;
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_adddup2(&actions, fds[1], STDOUT_FILENO);

	int code = posix_spawn(pid, linker, &actions, NULL, argv, environ);
	FILE *lines = code ? NULL : fdopen(fds[0], "r");

	posix_spawn_file_actions_destroy(&actions);
	close(fds[1]);
	if (!lines)
		close(fds[0]);
	return lines;
}

/* Cut out the path of "\tlibc.so.6 => /lib/x86_64-linux-gnu/libc.so.6 (0x00007f...)", or of the path alone. NULL: there is none. */
static char *library_of(char *line)
{
	char *path = strchr(line, '/');
	char *end = path ? strstr(path, " (0x") : NULL;

	if (!end)
		return NULL;
	*end = '\0';
	return path;
}

static void list_libraries(const struct opts *opts, const char *path)
{
	char linker[PATH_MAX];
	char *line cleanup_free = NULL;
	size_t cap = 0;
	pid_t pid;
	FILE *lines = find_linker(path, linker) ? ask_linker(linker, path, &pid) : NULL;

	if (!lines)
		return;
	while (getline(&line, &cap, lines) > 0) {
		const char *library = library_of(line);
		struct uft_err err = { 0 };

		if (library && list_probes(opts, library, &err) < 0)
			msg_warn(&opts->msg, "%s", err.text);
	}
	fclose(lines);
	while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
}

int list_events(const struct opts *opts, struct uft_err *err)
{
	char path[PATH_MAX];
	int ret = 0;

	list_kernel_events(opts);
	if (!opts->nr_args)
		return CMD_DONE;
	ret = launch_find_program(opts->args[0], path, err);
	if (ret == 0)
		ret = list_probes(opts, path, err);
	if (ret == 0 && event_rules_want(&opts->events, EVENT_OF_PROGRAM))
		list_libraries(opts, path);
	return ret < 0 ? ret : CMD_DONE;
}
