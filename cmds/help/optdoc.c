/* Build tool: fills templates of man pages and shell completion from the option table. */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "cmds/cmd.h"
#include "cmds/tui/keys.h"
#include "config.h"
#include "utils/base/fd.h"
#include "utils/spec/steer.h"

#define TEMPLATE_MAX (1U << 20)

/*
 * Writes text for roff. Dashes are escaped, so that the page shows each as an ASCII '-', and users
 * can copy options from the page. Backslashes and quotes are escaped, so that roff does not
 * interpret them.
 */
static void add_roff(const char *text, struct strbuf *out)
{
	for (; *text; text++) {
		if (*text == '-')
			strbuf_addstr(out, "\\-");
		else if (*text == '\\')
			strbuf_addstr(out, "\\e");
		else if (*text == '\'')
			strbuf_addstr(out, "\\(aq");
		else
			strbuf_addch(out, *text);
	}
}

/* Writes the paragraph that follows a tag. @help becomes a sentence. */
static void add_roff_help(const char *help, struct strbuf *out)
{
	strbuf_addch(out, '\n');
	strbuf_addch(out, toupper((unsigned char)help[0]));
	add_roff(help + 1, out);
	strbuf_addstr(out, ".\n");
}

static void add_roff_option(const struct opt_row *row, struct strbuf *out)
{
	strbuf_addstr(out, ".TP\n");
	if (row->letter)
		strbuf_addf(out, "\\fB\\-%c\\fR, ", row->letter);
	strbuf_addstr(out, "\\fB\\-\\-");
	add_roff(row->name, out);
	strbuf_addstr(out, "\\fR");
	if (row->arg) {
		strbuf_addstr(out, row->without ? "[=\\fI" : "=\\fI");
		add_roff(row->arg, out);
		strbuf_addstr(out, row->without ? "\\fR]" : "\\fR");
	}
	add_roff_help(row->help, out);
}

/*
 * Writes the options of @cmd under the headings of their groups. If @cmd is NULL, writes all
 * options.
 */
static void add_roff_options(const struct cmd *cmd, struct strbuf *out)
{
	const unsigned cmds = cmd ? cmd->bit : ~0U;

	for (int group = 0; opts_group_title(group); group++) {
		const struct opt_row *row = opts_group_next(group, cmds, NULL);

		if (row)
			strbuf_addf(out, ".SS %s\n", opts_group_title(group));
		for (; row; row = opts_group_next(group, cmds, row))
			add_roff_option(row, out);
	}
}

static void add_roff_commands(const struct cmd *none, struct strbuf *out)
{
	for (const struct cmd *const *cmd = all_cmds; *cmd; cmd++) {
		strbuf_addf(out, ".TP\n.BR utrail\\-%s (1)\n", (*cmd)->name);
		add_roff((*cmd)->help, out);
		strbuf_addstr(out, ".\n");
	}
}

/*
 * Writes the kind of arguments that @row takes: "words w1 w2", "dir", "file", or "ask WHAT". With
 * "ask WHAT", the option --complete=WHAT prints the possible arguments. If the kind is unknown,
 * writes nothing.
 */
static void add_argument_kind(const struct opt_row *row, struct strbuf *out)
{
	static const struct {
		const char *arg;
		const char *kind;
	} kinds[] = {
		{ "DIR", "dir" },	   { "PATH", "dir" },	      { "FILE", "file" },
		{ "EVENT", "ask events" }, { "FIELD", "ask fields" }, { "FUNC", "ask functions" },
		{ "KEY", "ask keys" },	   { "TID", "ask tids" },
	};

	if (row->kind == OPT_WORD) {
		strbuf_addstr(out, "words");
		for (const struct opt_word *w = row->words; w->word; w++) {
			if (!w->is_alias)
				strbuf_addf(out, " %s", w->word);
		}
		return;
	}
	if (row->kind == OPT_BOOL) {
		strbuf_addstr(out, "words on off");
		return;
	}
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		size_t len = strlen(kinds[i].arg);

		/*
		 * "FUNC" in @kinds matches "FUNC" and "FUNC[@...]". "KEY" matches "KEY" and
		 * "KEY,...". "FILE" does not match "FILE[@hide]". "PATH" does not match "PATHS".
		 */
		if (strncmp(row->arg, kinds[i].arg, len) == 0 &&
		    (!row->arg[len] || strchr("@,[", row->arg[len])) &&
		    !(row->arg[len] == '[' && strcmp(kinds[i].kind, "file") == 0)) {
			strbuf_addstr(out, kinds[i].kind);
			return;
		}
	}
}

static void add_bash_words(const struct opt_row *row, struct strbuf *out)
{
	strbuf_addf(out, "\t[--%s]='", row->name);
	add_argument_kind(row, out);
	strbuf_addstr(out, "'\n");
}

/*
 * Writes @text for use within a shell's single quotes. A quote in @text becomes '\'': the end of
 * the quoted part, a quote with a backslash, and the beginning of another quoted part.
 * @special: the characters that need a backslash
 */
static void add_quoted(const char *text, const char *special, struct strbuf *out)
{
	for (; *text; text++) {
		if (*text == '\'')
			strbuf_addstr(out, "'\\''");
		else if (strchr(special, *text))
			strbuf_addf(out, "\\%c", *text);
		else
			strbuf_addch(out, *text);
	}
}

/*
 * Writes the option in the form of zsh's _arguments, such as
 * "\*{-N+,--notrace=}'[help]:FUNC: _utrail_argument ask functions'". An option that has a letter
 * and cannot be repeated has "'(-D --depth)'" instead of "\*".
 */
static void add_zsh_option(const struct opt_row *row, struct strbuf *out)
{
	struct strbuf kind cleanup_strbuf = { 0 };
	bool repeats = row->kind == OPT_LIST || row->kind == OPT_COUNT || row->kind == OPT_SET;

	strbuf_addstr(out, "\t");
	if (repeats)
		strbuf_addstr(out, "\\*");
	else if (row->letter)
		strbuf_addf(out, "'(-%c --%s)'", row->letter, row->name);
	if (row->letter)
		strbuf_addf(out, "{-%c%s,--%s%s}", row->letter, row->arg ? "+" : "", row->name,
			    row->arg ? "=" : "");
	else
		strbuf_addf(out, "--%s%s", row->name, row->without ? "=-" : row->arg ? "=" : "");
	strbuf_addstr(out, "'[");
	add_quoted(row->help, "[]\\:", out);
	strbuf_addch(out, ']');
	if (row->arg) {
		add_argument_kind(row, &kind);
		strbuf_addstr(out, row->without ? "::" : ":");
		add_quoted(row->arg, ":\\", out);
		strbuf_addf(out, ": _utrail_argument %s", strbuf_str(&kind));
	}
	strbuf_addstr(out, "'\n");
}

static void add_zsh_tables(const struct cmd *none, struct strbuf *out)
{
	strbuf_addstr(out, "local -a _utrail_commands=(\n");
	for (const struct cmd *const *cmd = all_cmds; *cmd; cmd++) {
		strbuf_addf(out, "\t'%s:", (*cmd)->name);
		add_quoted((*cmd)->help, ":\\", out);
		strbuf_addstr(out, "'\n");
	}
	strbuf_addstr(out, ")\n");
	for (const struct cmd *const *cmd = all_cmds; *cmd; cmd++) {
		strbuf_addf(out, "local -a _utrail_options_%s=(\n", (*cmd)->name);
		for (size_t i = 0; i < opts_table_nr; i++) {
			if (opts_table[i].cmds & (*cmd)->bit)
				add_zsh_option(&opts_table[i], out);
		}
		strbuf_addstr(out, ")\n");
	}
}

static void add_fish_option(const struct cmd *cmd, const struct opt_row *row, struct strbuf *out)
{
	struct strbuf kind cleanup_strbuf = { 0 };
	const char *text;

	strbuf_addf(out, "complete -c utrail -n '__utrail_is %s' -l %s", cmd->name, row->name);
	if (row->letter)
		strbuf_addf(out, " -s %c", row->letter);
	if (row->arg) {
		add_argument_kind(row, &kind);
		text = strbuf_str(&kind);
		if (strcmp(text, "file") == 0)
			strbuf_addstr(out, " -r -F");
		else if (strcmp(text, "dir") == 0)
			strbuf_addstr(out, " -x -a '(__fish_complete_directories)'");
		else if (strncmp(text, "words ", 6) == 0)
			strbuf_addf(out, " %s -a '%s'", row->without ? "-f" : "-x", text + 6);
		else if (strncmp(text, "ask ", 4) == 0)
			strbuf_addf(out, " -x -a '(__utrail_ask %s)'", text + 4);
		else
			strbuf_addstr(out, " -x");
	}
	strbuf_addstr(out, " -d '");
	for (text = row->help; *text; text++)
		strbuf_addf(out, *text == '\'' || *text == '\\' ? "\\%c" : "%c", *text);
	strbuf_addstr(out, "'\n");
}

static void add_fish_tables(const struct cmd *none, struct strbuf *out)
{
	for (const struct cmd *const *cmd = all_cmds; *cmd; cmd++) {
		strbuf_addf(out, "complete -c utrail -f -n __utrail_has_no_command -a %s -d '%s'\n",
			    (*cmd)->name, (*cmd)->help);
		for (size_t i = 0; i < opts_table_nr; i++) {
			if (opts_table[i].cmds & (*cmd)->bit)
				add_fish_option(*cmd, &opts_table[i], out);
		}
	}
}

/* True when the next word of the command line is the option's argument. */
static bool takes_word(const struct opt_row *row)
{
	return row->arg && !row->without;
}

static bool is_first_of_letter(const struct opt_row *row)
{
	const struct opt_row *first = opts_table;

	while (first->letter != row->letter || !first->cmds)
		first++;
	return first == row;
}

/*
 * Writes the entry for the letter of an option. If two options share a letter, the second option
 * gets an entry for each of its commands. Such an entry begins with the name of the command.
 */
static void add_bash_letter(const struct opt_row *row, struct strbuf *out)
{
	if (is_first_of_letter(row)) {
		strbuf_addf(out, "\t[-%c]=--%s\n", row->letter, row->name);
		return;
	}
	for (const struct cmd *const *cmd = all_cmds; *cmd; cmd++) {
		if (row->cmds & (*cmd)->bit)
			strbuf_addf(out, "\t[\"%s -%c\"]=--%s\n", (*cmd)->name, row->letter,
				    row->name);
	}
}

/*
 * Writes four tables: the options of each command, the possible arguments of options, the arguments
 * that must stand after a '=', and the long names of the one-letter options, such as -k.
 */
static void add_bash_tables(const struct cmd *none, struct strbuf *out)
{
	strbuf_addstr(out, "declare -gA _utrail_options=(\n");
	for (const struct cmd *const *cmd = all_cmds; *cmd; cmd++) {
		strbuf_addf(out, "\t[%s]='", (*cmd)->name);
		for (size_t i = 0; i < opts_table_nr; i++) {
			if (opts_table[i].cmds & (*cmd)->bit)
				strbuf_addf(out, "--%s%s ", opts_table[i].name,
					    takes_word(&opts_table[i]) ? "=" : "");
		}
		strbuf_addstr(out, "'\n");
	}
	strbuf_addstr(out, ")\ndeclare -gA _utrail_arguments=(\n");
	for (size_t i = 0; i < opts_table_nr; i++) {
		if (takes_word(&opts_table[i]) && opts_table[i].cmds)
			add_bash_words(&opts_table[i], out);
	}
	strbuf_addstr(out, ")\ndeclare -gA _utrail_attached=(\n");
	for (size_t i = 0; i < opts_table_nr; i++) {
		if (opts_table[i].without && opts_table[i].cmds)
			add_bash_words(&opts_table[i], out);
	}
	strbuf_addstr(out, ")\ndeclare -gA _utrail_letters=(\n");
	for (size_t i = 0; i < opts_table_nr; i++) {
		if (opts_table[i].letter && opts_table[i].cmds)
			add_bash_letter(&opts_table[i], out);
	}
	strbuf_addstr(out, ")\n");
}

/* Writes the list of words that `utrail control` accepts. */
static void add_roff_control(const struct cmd *none, struct strbuf *out)
{
	for (const struct steer_word *row = steer_words; row->word; row++) {
		strbuf_addf(out, ".TP\n.B %s", row->word);
		if (row->arg)
			strbuf_addf(out, " \\fI%s\\fP", row->arg);
		add_roff_help(row->help, out);
	}
}

/* Writes the keys of the screen program, as in its help. */
static void add_roff_keys(const struct cmd *none, struct strbuf *out)
{
	for (size_t i = 0; i < nr_tui_keys; i++) {
		if (!tui_keys[i].name)
			continue;
		strbuf_addstr(out, ".TP\n\\fB");
		add_roff(tui_keys[i].name, out);
		strbuf_addstr(out, "\\fR");
		add_roff_help(tui_keys[i].help, out);
	}
}

static void add_version(const struct cmd *none, struct strbuf *out)
{
	strbuf_addstr(out, UTRAIL_VERSION);
}

static void add_command_words(const struct cmd *none, struct strbuf *out)
{
	for (const struct cmd *const *each = all_cmds; *each; each++)
		strbuf_addf(out, "%s%s", each == all_cmds ? "" : " ", (*each)->name);
}

static void add_control_words(const struct cmd *none, struct strbuf *out)
{
	for (const struct steer_word *row = steer_words; row->word; row++)
		strbuf_addf(out, "%s%s", row == steer_words ? "" : " ", row->word);
}

/*
 * The placeholders of templates.
 *
 * @add: writes the text that replaces @word. If the template is filled for one command, @cmd is
 *       this command. Otherwise @cmd is NULL
 */
static const struct {
	const char *word;
	void (*add)(const struct cmd *cmd, struct strbuf *out);
} placeholders[] = {
	{ "@OPTIONS@\n", add_roff_options },
	{ "@COMMANDS@\n", add_roff_commands },
	{ "@TABLES@\n", add_bash_tables },
	{ "@VERSION@", add_version },
	{ "@ZSH@\n", add_zsh_tables },
	{ "@FISH@\n", add_fish_tables },
	{ "@COMMAND_WORDS@", add_command_words },
	{ "@CONTROL@\n", add_roff_control },
	{ "@CONTROL_WORDS@", add_control_words },
	{ "@KEYS@\n", add_roff_keys },
};

/*
 * @at points into a template. If a placeholder begins there, writes the text for this placeholder,
 * and returns the placeholder's length. Otherwise returns 0.
 */
static size_t expand_word(const char *at, const struct cmd *cmd, struct strbuf *out)
{
	for (size_t i = 0; i < ARRAY_SIZE(placeholders); i++) {
		size_t len = strlen(placeholders[i].word);

		if (strncmp(at, placeholders[i].word, len) == 0) {
			placeholders[i].add(cmd, out);
			return len;
		}
	}
	return 0;
}

int main(int argc, char **argv)
{
	struct strbuf template cleanup_strbuf = { 0 };
	struct strbuf out cleanup_strbuf = { 0 };
	struct uft_err err = { 0 };
	const struct cmd *cmd = argc == 3 ? cmd_find(argv[2]) : NULL;

	if (argc < 2 || argc > 3 || (argc == 3 && !cmd)) {
		fprintf(stderr, "usage: %s TEMPLATE [COMMAND]\n", argv[0]);
		return 2;
	}
	if (file_read_all(argv[1], TEMPLATE_MAX, &template, &err) < 0) {
		fprintf(stderr, "optdoc: %s\n", err.text);
		return 1;
	}
	for (const char *at = strbuf_str(&template); *at;) {
		size_t used = *at == '@' ? expand_word(at, cmd, &out) : 0;

		if (!used)
			strbuf_addch(&out, *at);
		at += used ? used : 1;
	}
	fwrite(out.data, 1, out.len, stdout);
	return strbuf_oom(&out) || fflush(stdout) != 0;
}
