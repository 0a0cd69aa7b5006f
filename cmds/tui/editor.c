/*
 * Starts an editor at a function's line (see state.h). The file name may come from a stranger's
 * recording. So the name is never passed to a shell. The editor gets a name that begins with "/" or
 * "./", so that the name does not look like an option.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cmds/tui/source_place.h"
#include "cmds/tui/screen.h"
#include "cmds/tui/state.h"
#include "utils/base/path.h"

#define EDITOR_WORDS 16

/* True for editors that go to a line by the option +LINE. */
static bool knows_plus_line(const char *path)
{
	static const char *const names[] = { "vi",
					     "vim",
					     "nvim",
					     "vim.tiny",
					     "vim.basic",
					     "view",
					     "nano",
					     "emacs",
					     "kak",
					     "emacsclient",
					     "micro",
					     "joe",
					     "sensible-editor",
					     "editor",
					     "mg",
					     "ne",
					     "pico",
					     "ed" };
	const char *name = path_base(path);

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		if (strcmp(names[i], name) == 0)
			return true;
	}
	return false;
}

/*
 * Makes the editor's argv from the words of @command, then @line, then @file. Omits @line if the
 * editor does not accept +LINE. @command may contain options of the editor. If @command has no
 * words, the editor is vi.
 *
 * @words: gets the argv, which points into @command, @line and @file. Nothing is copied
 */
static void make_command(char *command, char *line, char *file, char **words)
{
	size_t nr = 0;
	char *rest = command;

	for (char *word; nr < EDITOR_WORDS && (word = strsep(&rest, " \t"));) {
		if (*word)
			words[nr++] = word;
	}
	if (nr == 0)
		words[nr++] = "vi";
	if (knows_plus_line(words[0]))
		words[nr++] = line;
	words[nr++] = file;
	words[nr] = NULL;
}

/*
 * Runs the editor on the terminal, and waits until the editor has ended. Returns the editor's exit
 * status, 0 if a signal has ended the editor, or a negative errno.
 */
static int run_command(char **words)
{
	struct sigaction ignore = { .sa_handler = SIG_IGN };
	struct sigaction old_int;
	struct sigaction old_quit;
	int status = 0;

	pid_t pid = fork();

	if (pid < 0)
		return -errno;
	if (pid == 0) {
		execvp(words[0], words);
		_exit(127);
	}
	/* Ctrl-C is meant for the editor. */
	sigaction(SIGINT, &ignore, &old_int);
	sigaction(SIGQUIT, &ignore, &old_quit);
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	sigaction(SIGINT, &old_int, NULL);
	sigaction(SIGQUIT, &old_quit, NULL);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 0;
}

static void edit_file(struct tui *tui, const char *file, unsigned line)
{
	const char *editor = getenv("EDITOR");
	char *command cleanup_free = strdup(editor && *editor ? editor : "vi");
	struct strbuf path cleanup_strbuf = { 0 };
	char *words[EDITOR_WORDS + 3];
	char line_word[16];

	snprintf(line_word, sizeof(line_word), "+%u", line);
	strbuf_addstr(&path, file[0] == '/' ? "" : "./");
	strbuf_addstr(&path, file);
	if (!command || strbuf_oom(&path))
		return;
	make_command(command, line_word, path.data, words);
	screen_leave();

	int status = run_command(words);

	screen_return();
	if (status == 127)
		draw_note(tui, "the editor (EDITOR) cannot be run");
}

/* Edits only a regular file. The recording may name a device, which must not be opened. */
static void check_and_edit(struct tui *tui, const char *file, unsigned line)
{
	struct strbuf text cleanup_strbuf = { 0 };
	struct stat st;

	if (stat(file, &st) < 0)
		strbuf_addf(&text, "cannot open '%s': %s", file, strerror(errno));
	else if (!S_ISREG(st.st_mode))
		strbuf_addf(&text, "cannot open '%s': it is no regular file", file);
	else
		edit_file(tui, file, line);
	if (text.len)
		draw_note(tui, text.data);
}

void editor_open(struct tui *tui)
{
	const struct func *func = go_func_of_line(tui);
	struct strbuf file cleanup_strbuf = { 0 };
	unsigned line = 1;

	if (!func)
		draw_note(tui, "this line is about no function");
	else if (tui->view == &tui->replay.view && replay_pages_is_busy(&tui->replay.pages))
		draw_note(tui, "the recording is being read: wait until the last line is known");
	else if (!source_place_find(go_modules(tui), func, &file, &line))
		draw_note(tui, "the source of this function is not known: record with --srcline");
	else
		check_and_edit(tui, strbuf_str(&file), line);
}
