/* Starts a browser (see browser.h). */
#include "cmds/show/browser.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "utils/base/cleanup.h"
#include "utils/base/fd.h"

/* The maximum number of commands of $BROWSER that are tried. */
#define COMMANDS_MAX 16

static void add_with_address(struct strbuf *out, const char *word, const char *address,
			     bool *has_address)
{
	for (; *word; word++) {
		if (word[0] == '%' && word[1] == 's') {
			strbuf_addstr(out, address);
			*has_address = true;
			word++;
		} else {
			strbuf_addch(out, *word);
			word += word[0] == '%' && word[1] == '%';
		}
	}
	strbuf_addch(out, '\0');
}

void browser_command_init(struct browser_command *command, const char *text, const char *address)
{
	char *copy cleanup_free = strdup(text);
	struct strbuf out = { 0 };
	bool has_address = false;
	size_t nr = 0;

	*command = (struct browser_command){ 0 };
	if (!copy)
		return;
	for (char *rest = NULL, *word = strtok_r(copy, " \t\n", &rest); word;
	     word = strtok_r(NULL, " \t\n", &rest), nr++)
		add_with_address(&out, word, address, &has_address);
	if (nr && !has_address) {
		strbuf_addstr(&out, address);
		strbuf_addch(&out, '\0');
		nr++;
	}
	command->args = calloc(nr + 1, sizeof(*command->args));
	command->words = out.data;
	if (strbuf_oom(&out) || !command->args) {
		browser_command_deinit(command);
		return;
	}

	char *at = command->words;

	for (size_t i = 0; i < nr; i++, at += strlen(at) + 1)
		command->args[i] = at;
}

void browser_command_deinit(struct browser_command *command)
{
	free(command->words);
	free(command->args);
	*command = (struct browser_command){ 0 };
}

/* Finds the commands to try, in the order in which they are tried. */
static size_t find_commands(struct browser_command *commands, const char *address)
{
	const char *names = getenv("BROWSER");
	char *copy cleanup_free = strdup(names ? names : "");
	size_t nr = 0;

	for (char *rest = copy, *name; rest && nr < COMMANDS_MAX && (name = strsep(&rest, ":"));) {
		browser_command_init(&commands[nr], name, address);
		if (commands[nr].args && commands[nr].args[0])
			nr++;
		else
			browser_command_deinit(&commands[nr]);
	}
	/*
	 * xdg-open is tried on a desktop only. Elsewhere it would start a browser in text mode,
	 * which needs a terminal.
	 */
	if (!nr && (getenv("DISPLAY") || getenv("WAYLAND_DISPLAY"))) {
		browser_command_init(&commands[nr], "xdg-open", address);
		nr += commands[nr].args != NULL;
	}
	return nr;
}

/*
 * Gives up the terminal, signals and descriptors of utrail. Called in the child. A browser that
 * kept the descriptors would keep the port open after the end of utrail.
 */
static void leave_terminal(void)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	sigset_t none;

	for (int fd = 0; null >= 0 && fd <= 2; fd++)
		dup2(null, fd);
	fd_close_from(3);
	setsid();
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	signal(SIGINT, SIG_DFL);
	signal(SIGPIPE, SIG_DFL);
}

static bool try_command(const struct browser_command *command)
{
	pid_t pid = fork();
	int status = -1;

	if (pid == 0) {
		execvp(command->args[0], command->args);
		_exit(127);
	}
	while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	return pid > 0 && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

pid_t browser_start(const char *address)
{
	struct browser_command commands[COMMANDS_MAX] = { 0 };
	size_t nr = find_commands(commands, address);
	pid_t pid = nr ? fork() : 0;

	if (nr && pid == 0) {
		leave_terminal();
		for (size_t i = 0; i < nr; i++) {
			if (try_command(&commands[i]))
				_exit(0);
		}
		_exit(1);
	}

	int ret = pid < 0 ? -errno : pid;

	for (size_t i = 0; i < nr; i++)
		browser_command_deinit(&commands[i]);
	return ret;
}
