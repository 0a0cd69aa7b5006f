/* Shows long output in a pager when stdout is a terminal (see pager.h). */
#include "cmds/pager.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cmds/opts.h"
#include "cmds/record/run/launch.h"
#include "utils/base/cleanup.h"

static bool is_open;

bool pager_is_open(void)
{
	return is_open;
}

static const char *pager_command(void)
{
	static const char *const candidates[] = { "/usr/bin/pager", "/usr/bin/less" };
	const char *wanted = getenv("PAGER");

	if (wanted)
		return *wanted && strcmp(wanted, "cat") != 0 ? wanted : NULL;
	for (size_t i = 0; i < ARRAY_SIZE(candidates); i++) {
		if (access(candidates[i], X_OK) == 0)
			return candidates[i];
	}
	return NULL;
}

/*
 * True when the program @name is a link to busybox. A @name without a slash is searched for in
 * $PATH.
 */
static bool leads_to_busybox(const char *name)
{
	const char *path = strchr(name, '/') ? "" : getenv("PATH");
	char *dirs cleanup_free = strdup(path ? path : "");
	char *rest = dirs;

	for (char *dir; (dir = strsep(&rest, ":")) != NULL;) {
		char file[PATH_MAX], real[PATH_MAX];

		snprintf(file, sizeof(file), "%s%s%s", dir, *dir ? "/" : "", name);
		if (!realpath(file, real))
			continue;

		const char *base = strrchr(real, '/');

		return base && strcmp(base + 1, "busybox") == 0;
	}
	return false;
}

bool pager_is_plain(void)
{
	const char *command = pager_command();

	if (!command)
		return false;

	char *name cleanup_free = strndup(command, strcspn(command, " "));

	return name && leads_to_busybox(name);
}

static NORETURN void run_pager(const char *command, int input)
{
	dup2(input, STDIN_FILENO);
	/*
	 * git sets the same options for less(1): the pager ends at once when all of the output fits
	 * on the screen, keeps colours, and leaves the output on the screen.
	 */
	setenv("LESS", "FRX", 0);
	execl("/bin/sh", "sh", "-c", command, (char *)NULL);
	_exit(127);
}

/*
 * True when the pager exists. Without this check, the shell would report the missing command, and
 * the output would be lost.
 */
static bool is_there(const char *command)
{
	size_t len = strcspn(command, " \t");
	char *name cleanup_free = strndup(command, len);

	/* A command with shell syntax is left to the shell. */
	if (!name || strpbrk(name, "=$`\"'\\|&;<>(){}~*?[#"))
		return true;
	return launch_is_command(name);
}

void pager_open(struct pager *pager, const struct opts *opts)
{
	const char *command = pager_command();
	int ends[2];

	if (!opts->use_pager || !command || !isatty(STDOUT_FILENO))
		return;
	if (!is_there(command)) {
		msg_warn(&opts->msg,
			 "cannot run the pager '%s' ($PAGER): the output is shown as it is",
			 command);
		return;
	}
	if (pipe2(ends, O_CLOEXEC) < 0)
		return;

	int input cleanup_fd = ends[0];
	int output cleanup_fd = ends[1];

	fflush(stdout);

	pid_t pid = fork();

	if (pid == 0)
		run_pager(command, input);
	if (pid < 0)
		return;
	dup2(output, STDOUT_FILENO);
	/*
	 * Ctrl-C is meant for the pager. After the user has left the pager, the next write ends
	 * this program.
	 */
	signal(SIGINT, SIG_IGN);
	pager->pid = pid;
	is_open = true;
}

void pager_close(struct pager *pager)
{
	if (pager->pid <= 0)
		return;
	fflush(stdout);
	close(STDOUT_FILENO);
	while (waitpid(pager->pid, NULL, 0) < 0 && errno == EINTR)
		continue;
	pager->pid = 0;
	is_open = false;
}
