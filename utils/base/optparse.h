/* Parses command line options into a struct of the caller. A table describes the options. */
#ifndef UTRAIL_BASE_OPTPARSE_H
#define UTRAIL_BASE_OPTPARSE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "utils/base/err.h"
#include "utils/base/containers/strbuf.h"

/*
 * The effect of an option. Except with OPT_SET, an option changes the member at opt_row.offset of
 * the caller's struct. If an option is given several times, usually the last use counts. Exceptions
 * are OPT_COUNT, OPT_LIST and OPT_SET: with these effects, every use counts.
 */
enum opt_kind {
	OPT_TRUE,   /* bool: true */
	OPT_FALSE,  /* bool: false */
	OPT_CONST,  /* int: @value */
	OPT_COUNT,  /* int: each use adds one */
	OPT_STRING, /* const char *: the argument itself, which lives as long as argv */
	OPT_LIST,   /* char *: all arguments of the option, joined by @separator; on the heap */
	OPT_UINT,   /* unsigned: decimal, @min..@max */
	OPT_TIME,   /* uint64_t: nanoseconds; parse_time() parses the argument */
	OPT_SIZE,   /* uint64_t: bytes, @min..@max; parse_size() parses the argument */
	OPT_WORD,   /* int: the value of one of @words */
	OPT_BOOL,   /* bool: yes/no, true/false, on/off, y/n, 1/0 */
	OPT_SET,    /* whatever @set does */
};

/* A word that an OPT_WORD option accepts. @words ends with a row whose word is NULL. */
struct opt_word {
	const char *word;
	int value;
	bool is_alias; /* not listed in help, completion and errors */
};

/*
 * One option.
 *
 * @name: long name without dashes
 * @letter: short form; 0: none
 * @arg: name of the argument in help texts; NULL: the option takes no argument
 * @without: the text that replaces a missing argument; NULL: an argument is required. If @without
 *         is set, an argument must be in the same word as the option, after a '=' or after the
 *         letter
 * @help: one phrase without a full stop, for --help, the man pages and completion
 * @group: heading in help texts; the owner of the table defines the values
 * @cmds: bits of the commands that accept the option; the owner of the table defines the bits
 * @is_recorded: `record` writes the option into data directories, and readers apply the option. A
 *         stranger may have written the option, so no argument of the option may do any harm
 * @set: for OPT_SET: the function that stores @text (NULL if there is no argument). @target is the
 *         whole struct of the caller, and the function may set any member of this struct
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
 * @ended: "--" was found: the words after it are no options
 * @given: given[i] is true when the option in rows[i] was given; may be NULL
 * @cmds: bits of commands. Several options may have the same letter. The letter then means the
 *         first of these options in @rows that one of the commands accepts. If the commands accept
 *         none of these options, the letter means the first of these options in @rows
 * @last, @last_text: the last option whose argument was a separate word, and that argument; NULL:
 *         there is no such option
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
 * Parse options up to the first word that is not an option. This word and the words after it may
 * belong to another program (POSIX). A long name may be abbreviated to an unambiguous beginning.
 *
 * Returns 0, -ERR_USAGE or -ENOMEM. On success, @p->next is the index of the first word that is not
 * an option, or argc. If an option is wrong, the message in @err quotes the option. The message
 * often adds the expected argument, or names of similar options.
 */
int optparse_run(struct optparse *p, void *target, struct uft_err *err);

/*
 * Parse all words of a file that is not trusted. Options without is_recorded, and options with an
 * invalid argument, are ignored. Long names must not be abbreviated. Returns 0 or -ENOMEM.
 *
 * @ignored: gets the names of the ignored options, separated by ", ". If some words of the file are
 *         not options, @ignored also gets a note. No text in @ignored is copied from the file
 */
int optparse_run_recorded(struct optparse *p, void *target, struct strbuf *ignored,
			  struct uft_err *err);

/* Store @text as the argument of the option. Errors are those of optparse_run(). */
int opt_store(const struct opt_row *row, const char *text, void *target, struct uft_err *err);

/* Free the texts of OPT_LIST options in @target. */
void optparse_free(const struct opt_row *rows, size_t nr, void *target);

/*
 * Parse yes/no, true/false, on/off, y/n or 1/0, in uppercase or lowercase letters. Returns false
 * for other words.
 */
bool parse_bool(const char *text, bool *value);

#endif
