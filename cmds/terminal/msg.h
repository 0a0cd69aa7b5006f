/*
 * Prints messages for the user, such as warnings and debug messages, to stderr or to the log file.
 * Only msg_list() prints to stdout instead.
 */
#ifndef UTRAIL_CMDS_MSG_H
#define UTRAIL_CMDS_MSG_H

#include <stdbool.h>
#include <stdio.h>

#include "utils/base/compiler.h"
#include "utils/base/err.h"
#include "utils/base/containers/strbuf.h"

/*
 * The subject of a debug message. --debug-domain accepts uftrace's names of the subjects, and the
 * name "utrail" for MSG_UTRAIL.
 */
enum msg_domain {
	MSG_UTRAIL, /* the commands */
	MSG_SYMBOL,
	MSG_DEMANGLE,
	MSG_FILTER,
	MSG_FSTACK,
	MSG_SESSION,
	MSG_KERNEL,
	MSG_MCOUNT,
	MSG_PLTHOOK,
	MSG_DYNAMIC,
	MSG_EVENT,
	MSG_SCRIPT,
	MSG_DWARF,
	MSG_WRAP,
	MSG_NR_DOMAINS,
};

/*
 * Starts as { 0 }.
 *
 * @file: the lines are written to this file, which belongs to struct opts; NULL is stderr
 * @level: number of -v options, for all domains
 * @levels: the level of each domain, from --debug-domain
 * @has_color: warnings are printed in colour
 * @is_muted: no warnings are printed
 */
struct msg {
	FILE *file;
	int level;
	unsigned char levels[MSG_NR_DOMAINS];
	bool has_color;
	bool is_muted;
};

/* Print "WARN: text". */
void msg_warn(const struct msg *msg, const char *fmt, ...) PRINTF_FORMAT(2, 3);

/*
 * Print "WARN: NUMBER text" about a fault that occurred @nr times. Prints nothing when @nr is 0.
 * @fmt may contain parts such as "{one|many}". If @nr is 1, "one" is printed, otherwise "many".
 * Such a part must not contain "%".
 */
void msg_warn_nr(const struct msg *msg, uint64_t nr, const char *fmt, ...) PRINTF_FORMAT(3, 4);

/* Print "utrail: text", for errors and short notices. */
void msg_line(const struct msg *msg, const char *fmt, ...) PRINTF_FORMAT(2, 3);

/*
 * Print a warning of several lines. Names from other programs or files must be escaped in @text
 * (MEDIUM_TERMINAL).
 */
void msg_warn_lines(const struct msg *msg, const struct strbuf *text);

/* Print one line on stdout. The line belongs to a list of names or numbers. */
void msg_list(const char *fmt, ...) PRINTF_FORMAT(1, 2);

/*
 * Print a debug message if the user has given -v at least @level times, or if --debug-domain gives
 * @domain a level of at least @level.
 */
void msg_debug(const struct msg *msg, enum msg_domain domain, int level, const char *fmt, ...)
	PRINTF_FORMAT(4, 5);

bool msg_wants(const struct msg *msg, enum msg_domain domain, int level);

/*
 * Warn about each domain of --debug-domain in which @command has no messages. @reads: the command
 * reads a recording. @records: the command makes a recording.
 */
void msg_warn_silent(const struct msg *msg, const char *command, bool reads, bool records);

/*
 * Parse "DOMAIN[:LEVEL],..." of --debug-domain into @msg->levels. Returns 0, -ENOMEM, or -ERR_USAGE
 * with the unknown domain or the invalid level in @err.
 */
int msg_parse_domains(struct msg *msg, const char *text, struct uft_err *err);

#endif
