/* Prints --help, --usage and --version (see help.h). */
#include "cmds/help/help.h"

#include <ctype.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "cmds/help/help_often.h"
#include "config.h"

#define HELP_COLUMN    30
/*
 * A terminal that is narrower than HELP_WIDTH_TWO gets one column. The text of an option then
 * begins on the line below the option's name, at column HELP_INDENT.
 */
#define HELP_INDENT    8
#define HELP_WIDTH_TWO 60
/*
 * The width that is used when the terminal's width is unknown, and the least and largest width of
 * lines that are easy to read.
 */
#define HELP_WIDTH     80
#define HELP_WIDTH_MIN 30
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

/* Adds the names of an option: "-D, --depth=DEPTH". */
static void add_option_names(const struct opt_row *row, struct strbuf *out)
{
	if (row->letter)
		strbuf_addf(out, "-%c, ", row->letter);
	else
		strbuf_addstr(out, "    ");
	strbuf_addf(out, "--%s", row->name);
	if (row->arg)
		strbuf_addf(out, row->without ? "[=%s]" : "=%s", row->arg);
}

/* Adds @text, broken between words. The cursor is already at column @first. */
static void add_wrapped(const char *text, size_t first, size_t width, struct strbuf *out)
{
	size_t column = first;

	while (*text) {
		size_t word = strcspn(text, " ");

		if (column > first && column + 1 + word > width) {
			strbuf_addch(out, '\n');
			strbuf_addchars(out, ' ', first);
			column = first;
		} else if (column > first) {
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

/* The lines after the first are indented by the width of "Usage: ". */
static void add_usage_line(const char *words, size_t width, struct strbuf *out)
{
	strbuf_addstr(out, "Usage: ");
	add_wrapped(words, strlen("Usage: "), width, out);
}

static void add_usage_of(const struct cmd *cmd, size_t width, struct strbuf *out)
{
	struct strbuf words cleanup_strbuf = { 0 };

	strbuf_addf(&words, "utrail %s [OPTION...]", cmd->name);
	if (cmd->args)
		strbuf_addf(&words, " %s", cmd->args);
	add_usage_line(strbuf_str(&words), width, out);
}

/*
 * Appends @text at @column of the line that begins at offset @start of @out. If that line is
 * already too long, @text goes into the next line.
 */
static void add_right(size_t start, const char *text, size_t column, size_t width,
		      struct strbuf *out)
{
	size_t used = out->len - start;

	if (width < HELP_WIDTH_TWO)
		column = HELP_INDENT;
	if (used + 2 > column) {
		strbuf_addch(out, '\n');
		used = 0;
	}
	strbuf_addchars(out, ' ', column - used);
	add_wrapped(text, column, width, out);
}

static void add_option(const struct opt_row *row, size_t width, struct strbuf *out)
{
	size_t start = out->len;

	strbuf_addstr(out, "  ");
	add_option_names(row, out);
	add_right(start, row->help, HELP_COLUMN, width, out);
}

static void add_commands(size_t width, struct strbuf *out)
{
	strbuf_addstr(out, "Commands:\n");
	for (const struct cmd *const *cmd = all_cmds; *cmd; cmd++) {
		size_t start = out->len;

		strbuf_addf(out, "  %s", (*cmd)->name);
		add_right(start, (*cmd)->help, strlen("  snapshot    "), width, out);
	}
}

static void add_examples(const struct help_often *often, size_t width, struct strbuf *out)
{
	size_t column = 0;

	for (size_t i = 0; i < HELP_EXAMPLES_MAX && often->examples[i][0]; i++)
		column = MAX(column, strlen("  utrail   ") + strlen(often->examples[i][0]));
	strbuf_addstr(out, "\nExamples:\n");
	for (size_t i = 0; i < HELP_EXAMPLES_MAX && often->examples[i][0]; i++) {
		size_t start = out->len;

		strbuf_addf(out, "  utrail %s", often->examples[i][0]);
		/* The explanation gets at least half of the line, or a line of its own. */
		add_right(start, often->examples[i][1], column > width / 2 ? HELP_INDENT : column,
			  width, out);
	}
}

void help_usage(struct strbuf *out)
{
	add_usage_line("utrail [COMMAND] [OPTION...] [PROGRAM [ARGUMENT...]]", help_width(), out);
	strbuf_addch(out, '\n');
	add_wrapped("utrail records the function calls of a program and shows them.", 0,
		    help_width(), out);
	strbuf_addch(out, '\n');
	add_commands(help_width(), out);
	strbuf_addch(out, '\n');
	add_wrapped("'utrail COMMAND --help' shows the options of a command, 'man utrail' explains "
		    "it all.",
		    0, help_width(), out);
}

static void add_group(int group, unsigned cmds, size_t width, struct strbuf *out)
{
	const struct opt_row *row = opts_group_next(group, cmds, NULL);

	if (row)
		strbuf_addf(out, "\n%s:\n", opts_group_title(group));
	for (; row; row = opts_group_next(group, cmds, row))
		add_option(row, width, out);
}

static void add_often(const struct help_often *often, const struct cmd *cmd, size_t width,
		      struct strbuf *out)
{
	strbuf_addstr(out, "\nOften used:\n");
	for (const char *const *name = often->often; *name; name++) {
		for (size_t i = 0; i < opts_table_nr; i++) {
			const struct opt_row *row = &opts_table[i];

			if ((row->cmds & cmd->bit) && strcmp(row->name, *name) == 0)
				add_option(row, width, out);
		}
	}
}

/* Adds all formats of `dump`. The line of the option --format has no room for them. */
static void add_formats(size_t width, struct strbuf *out)
{
	struct strbuf words cleanup_strbuf = { 0 };

	for (const struct opt_word *w = opts_format_words; w->word; w++) {
		/* Only `report` has the formats CSV and JSON. */
		if (w->value != OPTS_FORMAT_CSV && w->value != OPTS_FORMAT_JSON)
			strbuf_addf(&words, "%s%s", words.len ? ", " : "", w->word);
	}
	strbuf_addstr(out, "\nFormats:\n  ");
	add_wrapped(strbuf_str(&words), 2, width, out);
}

static void add_head(const struct cmd *cmd, size_t width, struct strbuf *out)
{
	struct strbuf text cleanup_strbuf = { 0 };
	const struct help_often *often = help_often_of(cmd);

	if (cmd) {
		add_usage_of(cmd, width, out);
		strbuf_addf(&text, "%c%s.", toupper((unsigned char)cmd->help[0]), cmd->help + 1);
		strbuf_addch(out, '\n');
		add_wrapped(strbuf_str(&text), 0, width, out);
	} else {
		help_usage(out);
	}
	if (often)
		add_examples(often, width, out);
}

static void add_tail(const struct cmd *cmd, size_t width, bool is_all, struct strbuf *out)
{
	struct strbuf text cleanup_strbuf = { 0 };
	const char *dash = cmd ? "-" : "";
	const char *blank = cmd ? " " : "";
	const char *name = cmd ? cmd->name : "";

	if (!is_all)
		strbuf_addf(&text, "All options: utrail %s%s--help=all. ", name, blank);
	strbuf_addf(&text, "See utrail%s%s(1).", dash, name);
	strbuf_addch(out, '\n');
	add_wrapped(strbuf_str(&text), 0, width, out);
}

void help_common(const struct cmd *cmd, struct strbuf *out)
{
	const size_t width = help_width();
	const struct help_often *often = help_often_of(cmd);

	add_head(cmd, width, out);
	if (cmd && often)
		add_often(often, cmd, width, out);
	if (cmd == &cmd_dump)
		add_formats(width, out);
	add_tail(cmd, width, false, out);
}

void help_full(const struct cmd *cmd, struct strbuf *out)
{
	const size_t width = help_width();

	add_head(cmd, width, out);
	for (int group = 0; opts_group_title(group); group++)
		add_group(group, cmd ? cmd->bit : ~0U, width, out);
	if (cmd == &cmd_dump)
		add_formats(width, out);
	add_tail(cmd, width, true, out);
}
