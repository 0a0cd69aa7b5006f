/*
 * Prints messages for the user that are not part of the output: warnings and debug messages. They
 * go to stderr or to the log file. Only msg_list() prints on stdout.
 */
#ifndef UTRAIL_CMDS_MSG_H
#define UTRAIL_CMDS_MSG_H

#include <stdbool.h>
#include <stdio.h>

#include "utils/base/compiler.h"
#include "utils/base/err.h"
#include "utils/base/containers/strbuf.h"

/* The subject of a debug message. --debug-domain accepts these words, which are uftrace's. */
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
 * Starts as { 0 }. The file belongs to struct opts.
 *
 * @file: the file that the lines are written to; NULL is stderr
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
 * @fmt may have parts {one|many}, which must not contain "%". The first form is used when @nr is 1.
 */
void msg_warn_nr(const struct msg *msg, uint64_t nr, const char *fmt, ...) PRINTF_FORMAT(3, 4);

/* Print "utrail: text", for errors and short notices. */
void msg_line(const struct msg *msg, const char *fmt, ...) PRINTF_FORMAT(2, 3);

/*
 * Print a warning of several lines. The caller has escaped all names in it that come from other
 * programs or files (MEDIUM_TERMINAL).
 */
void msg_warn_lines(const struct msg *msg, const struct strbuf *text);

/* Print a line of a list on stdout: names and numbers. */
void msg_list(const char *fmt, ...) PRINTF_FORMAT(1, 2);

/*
 * Print a debug message if there are at least @level options -v, or if --debug-domain names @domain
 * with at least that level.
 */
void msg_debug(const struct msg *msg, enum msg_domain domain, int level, const char *fmt, ...)
	PRINTF_FORMAT(4, 5);

bool msg_wants(const struct msg *msg, enum msg_domain domain, int level);

/*
 * Warn about domains of --debug-domain without messages in @command. The command reads a recording
 * (@reads), or makes one (@records).
 */
void msg_warn_silent(const struct msg *msg, const char *command, bool reads, bool records);

/*
 * Parse "DOMAIN[:LEVEL],..." of --debug-domain into @msg->levels. Returns 0, -ENOMEM, or -ERR_USAGE
 * with the unknown domain or the invalid level in @err.
 */
int msg_parse_domains(struct msg *msg, const char *text, struct uft_err *err);

#endif
