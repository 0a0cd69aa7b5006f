/* Command line options described by a table: parsing into the caller's struct, and listing. */
#ifndef UTRAIL_BASE_OPTPARSE_H
#define UTRAIL_BASE_OPTPARSE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "utils/base/err.h"
#include "utils/base/containers/strbuf.h"

/* The effect of an option on the member at @offset of the target; the last occurrence wins. */
enum opt_kind {
	OPT_TRUE,   /* bool: true */
	OPT_FALSE,  /* bool: false */
	OPT_CONST,  /* int: @value */
	OPT_COUNT,  /* int: each use adds one */
	OPT_STRING, /* const char *: the argument itself, which lives as long as argv */
	OPT_LIST,   /* char *: all arguments, joined by @separator; freed by optparse_free() */
	OPT_UINT,   /* unsigned: decimal, @min..@max */
	OPT_TIME,   /* uint64_t nanoseconds, the grammar of parse_time() */
	OPT_SIZE,   /* uint64_t bytes, the grammar of parse_size(), @min..@max */
	OPT_WORD,   /* int: the value of one of @words */
	OPT_BOOL,   /* bool: yes/no, true/false, on/off, y/n, 1/0 */
	OPT_SET,    /* whatever @set does */
};

/* Words of an OPT_WORD; an array ends with a NULL word. */
struct opt_word {
	const char *word;
	int value;
	bool is_alias; /* accepted, but not listed in help or completion */
};

/*
 * One option.
 *
 * @name: long name without dashes
 * @letter: short form, 0 when there is none
 * @arg: name of the argument in help text; NULL when the option takes none
 * @without: the default argument; an explicit one must follow
 *           a '='. NULL: an argument is required
 * @help: one phrase without a full stop, for --help, the man pages and completion
 * @group: its heading; the table owner defines the values
 * @cmds: the commands that take it; the table owner defines the values
 * @is_recorded: `record` writes it into data directories, and readers take it from there. So its
 *               argument must be harmless
 * @set: OPT_SET: store @text (NULL without argument); the whole target is passed, not the member
 */
struct opt_row {
	const char *name;
	char letter;
	const char *arg;
	const char *help;
	int group;
	unsigned cmds;
	enum opt_kind kind;
	size_t offset;
	int value;
	char separator;
	uint64_t min;
	uint64_t max;
	const struct opt_word *words;
	const char *without;
	bool is_recorded;
	int (*set)(const struct opt_row *row, const char *text, void *target, struct uft_err *err);
};

/*
 * @next: index in @argv of the next word; the caller sets it to 1
 * @ended: "--" was found: later words are not options
 * @given: by index of @rows: set when the option was given; may be NULL
 * @cmds: if two options have the same letter, the one that these commands accept is taken.
 *        Otherwise, and with 0, the first one is taken
 * @last: the last option whose argument was a separate word; NULL when there was none. @last_text:
 *        that word
 */
struct optparse {
	const struct opt_row *rows;
	size_t nr;
	char **argv;
	int argc;
	int next;
	bool ended;
	bool *given;
	unsigned cmds;
	const struct opt_row *last;
	const char *last_text;
};

/*
 * Parse options until the first other word (POSIX: the rest may be another program's). 0 with
 * @p->next at that word, or at argc. -ERR_USAGE with a line that names the option, the expected
 * form or the nearest names; -ENOMEM. Long names may be abbreviated as long as they are
 * unambiguous.
 */
int optparse_run(struct optparse *p, void *target, struct uft_err *err);

/*
 * Like optparse_run(), for all words of an untrusted file. It accepts only options that are
 * is_recorded, by their full names and with valid arguments. The others are listed in @ignored,
 * separated by ", ", in words of the table and not in those of the file. 0 or -ENOMEM.
 */
int optparse_run_recorded(struct optparse *p, void *target, struct strbuf *ignored,
			  struct uft_err *err);

/* Store @text as if the option had been given with it. Errors are those of optparse_run(). */
int opt_store(const struct opt_row *row, const char *text, void *target, struct uft_err *err);

/* Free what OPT_LIST rows put into @target. */
void optparse_free(const struct opt_row *rows, size_t nr, void *target);

/* yes/no, true/false, on/off, y/n, 1/0 in any case. False when it is none of them. */
bool parse_bool(const char *text, bool *value);

#endif
