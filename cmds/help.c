/* What --help, --usage and --version print (see help.h). */
#include "cmds/help.h"

#include <ctype.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "config.h"

#define HELP_COLUMN    30
/* Where nobody knows how wide the terminal is; and what is still a line to read. */
#define HELP_WIDTH     80
#define HELP_WIDTH_MIN 60
#define HELP_WIDTH_MAX 120

static size_t help_width(void)
{
	struct winsize size;

	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) < 0 || size.ws_col == 0)
		return HELP_WIDTH;
	return MAX(HELP_WIDTH_MIN, MIN((int)size.ws_col, HELP_WIDTH_MAX));
}

void help_version(struct strbuf *out)
{
	strbuf_addstr(out, "utrail " UTRAIL_VERSION_TEXT "\n");
}

static void add_usage_line(const struct cmd *cmd, struct strbuf *out)
{
	strbuf_addf(out, "Usage: utrail %s [OPTION...]", cmd->name);
	if (cmd->args)
		strbuf_addf(out, " %s", cmd->args);
	strbuf_addstr(out, "\n");
}

static void add_commands(struct strbuf *out)
{
	strbuf_addstr(out, "Commands:\n");
	for (const struct cmd *const *cmd = all_cmds; *cmd; cmd++)
		strbuf_addf(out, "  %-10s  %s\n", (*cmd)->name, (*cmd)->help);
}

void help_usage(struct strbuf *out)
{
	strbuf_addstr(out, "Usage: utrail [COMMAND] [OPTION...] [PROGRAM [ARGUMENT...]]\n\n"
			   "utrail records the function calls of a program and shows them.\n\n");
	add_commands(out);
	strbuf_addstr(out, "\n'utrail COMMAND --help' shows the options of a command, "
			   "'man utrail' explains it all.\n");
}

void help_option_names(const struct opt_row *row, struct strbuf *out)
{
	if (row->letter)
		strbuf_addf(out, "-%c, ", row->letter);
	else
		strbuf_addstr(out, "    ");
	strbuf_addf(out, "--%s", row->name);
	if (row->arg)
		strbuf_addf(out, row->without ? "[=%s]" : "=%s", row->arg);
}

/* @text in the right-hand column, broken between words. */
static void add_wrapped(const char *text, size_t width, struct strbuf *out)
{
	size_t column = HELP_COLUMN;

	while (*text) {
		size_t word = strcspn(text, " ");

		if (column > HELP_COLUMN && column + 1 + word > width) {
			strbuf_addch(out, '\n');
			strbuf_addchars(out, ' ', HELP_COLUMN);
			column = HELP_COLUMN;
		} else if (column > HELP_COLUMN) {
			strbuf_addch(out, ' ');
			column++;
		}
		strbuf_add(out, text, word);
		column += word;
		text += word;
		text += strspn(text, " ");
	}
	strbuf_addch(out, '\n');
}

static void add_option(const struct opt_row *row, size_t width, struct strbuf *out)
{
	size_t start = out->len;

	strbuf_addstr(out, "  ");
	help_option_names(row, out);

	size_t used = out->len - start;

	if (used + 2 > HELP_COLUMN) {
		strbuf_addch(out, '\n');
		used = 0;
	}
	strbuf_addchars(out, ' ', HELP_COLUMN - used);
	add_wrapped(row->help, width, out);
}

static void add_group(int group, unsigned cmds, size_t width, struct strbuf *out)
{
	bool has_title = false;

	for (size_t i = 0; i < opts_table_nr; i++) {
		const struct opt_row *row = &opts_table[i];

		if (row->group != group || !(row->cmds & cmds))
			continue;
		if (!has_title)
			strbuf_addf(out, "\n%s:\n", opts_group_title(group));
		has_title = true;
		add_option(row, width, out);
	}
}

void help_full(const struct cmd *cmd, struct strbuf *out)
{
	if (cmd) {
		add_usage_line(cmd, out);
		strbuf_addf(out, "\n%c%s.\n", toupper((unsigned char)cmd->help[0]), cmd->help + 1);
	} else {
		help_usage(out);
	}
	const size_t width = help_width();

	for (int group = 0; opts_group_title(group); group++)
		add_group(group, cmd ? cmd->bit : ~0U, width, out);
	strbuf_addf(out, "\nSee utrail%s%s(1).\n", cmd ? "-" : "", cmd ? cmd->name : "");
}
