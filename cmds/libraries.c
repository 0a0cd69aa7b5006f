/* The libraries that are loaded with a program (see libraries.h). */
#include "cmds/libraries.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <spawn.h>
#include <stdbool.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "utils/base/compiler.h"
#include "utils/base/path.h"
#include "utils/object/elf_file.h"

extern char **environ;

/* Directories in which only the administrator can put a dynamic linker. */
static const char *const linker_dirs[] = {
	"/lib/",	   "/lib32/",	  "/lib64/",	 "/libx32/",
	"/usr/lib/",	   "/usr/lib32/", "/usr/lib64/", "/usr/libx32/",
	"/usr/local/lib/", "/gnu/store/", "/nix/store/",
};

/*
 * True for the path of a dynamic linker of the system that may have the option --list. A stranger's
 * program may name any file as its linker, and that file would be run.
 */
static bool is_linker_of_system(const char *linker)
{
	if (strncmp(path_base(linker), "ld-linux", strlen("ld-linux")) != 0 ||
	    strstr(linker, "/../"))
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(linker_dirs); i++) {
		if (strncmp(linker, linker_dirs[i], strlen(linker_dirs[i])) == 0)
			return true;
	}
	return false;
}

/*
 * Finds the program's dynamic linker. Returns false when there is none that can be asked for the
 * libraries.
 */
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
	return is_linker_of_system(linker);
}

static int ask_linker(char *linker, const char *path, struct strbuf *text)
{
	char *argv[] = { linker, (char *)"--list", (char *)path, NULL };
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
	ret = -posix_spawn(&pid, linker, &actions, NULL, argv, environ);
	posix_spawn_file_actions_destroy(&actions);
	close(pipes[1]);
	while (ret == 0 && (len = read(pipes[0], buffer, sizeof(buffer))) > 0)
		strbuf_add(text, buffer, len);
	close(pipes[0]);
	while (ret == 0 && waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
	return ret;
}

int libraries_of(const char *path, struct strbuf *paths)
{
	struct strbuf text cleanup_strbuf = { 0 };
	char linker[PATH_MAX];
	char *line;
	char *rest;
	int ret;

	if (!find_linker(path, linker))
		return 0;
	ret = ask_linker(linker, path, &text);
	rest = text.data;
	/*
	 * A line has the form "\tlibc.so.6 => /lib/x86_64-linux-gnu/libc.so.6 (0x00007f...)", or
	 * only has a path, which may be relative.
	 */
	while (ret == 0 && (line = strsep(&rest, "\n"))) {
		const char *arrow = strstr(line, " => ");
		const char *library = arrow ? arrow + strlen(" => ") : line + strspn(line, "\t");
		const char *end = strstr(library, " (0x");

		/* The library that the kernel provides (vDSO) has no file. */
		if (!end || !memchr(library, '/', end - library))
			continue;
		strbuf_add(paths, library, end - library);
		strbuf_addch(paths, '\0');
	}
	return ret;
}
