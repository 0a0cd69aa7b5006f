/*
 * Shows all that a build says of recordings, in one process, since each start of an emulator takes
 * its time.
 *
 *   show DIR... < COMMAND-LINES
 *
 * Each line has the words after `utrail`; "@" stands for DIR. The output of the command and its
 * status go to standard output.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmds/cmd.h"
#include "cmds/opts.h"

#define WORDS_MAX 32

static void choose_colors(struct opts *opts)
{
	if (opts->color == OPTS_COLOR_ON)
		opts->color_mode = COLOR_MODE_TERM;
	if (opts->format == OPTS_FORMAT_HTML)
		opts->color_mode = COLOR_MODE_HTML;
}

static void show(char *line, char *dir)
{
	char *argv[WORDS_MAX] = { "utrail", "-d", dir };
	int argc = 3;
	struct opts opts cleanup_opts;
	struct uft_err err = { 0 };

	for (char *word = strtok(line, " \n"); word && argc < WORDS_MAX; word = strtok(NULL, " \n"))
		argv[argc++] = strcmp(word, "@") == 0 ? dir : word;
	opts_init(&opts);
	/* A copy of standard output: the options' cleanup closes this file. */
	opts.msg.file = fdopen(dup(STDOUT_FILENO), "w");
	setvbuf(opts.msg.file, NULL, _IONBF, 0);

	int status = opts_parse(&opts, argc, argv, &err);

	if (status == 0 && opts.cmd->check)
		status = opts.cmd->check(&opts, &err);
	if (status == 0) {
		choose_colors(&opts);
		status = opts.cmd->run(&opts, &err);
	}
	fflush(stdout);
	dprintf(STDOUT_FILENO, "\n-- status %d, error %d: %s\n", status, err.code, err.text);
}

int main(int argc, char **argv)
{
	char line[1024];

	if (argc < 2) {
		fprintf(stderr, "usage: %s DIR... < COMMAND-LINES\n", argv[0]);
		return 2;
	}
	while (fgets(line, sizeof(line), stdin)) {
		for (int i = 1; i < argc; i++) {
			char words[sizeof(line)];

			strcpy(words, line);
			dprintf(STDOUT_FILENO, "== %s %s", argv[i], line);
			show(words, argv[i]);
		}
	}
	return 0;
}
