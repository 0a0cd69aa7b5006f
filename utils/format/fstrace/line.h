/* The grammar of an fstrace log: "YYYY-MM-DD hh:mm:ss.dddddd ID TEXT\n". */
#ifndef UTRAIL_FSTRACE_LINE_H
#define UTRAIL_FSTRACE_LINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* "2026-11-23 01:02:03.123456" */
#define FST_TIME_LEN 26

struct fst_line {
	int64_t time_us; /* since 1970, UTC */
	const char *id;
	size_t id_len;
	const char *body;
	size_t body_len;
};

/* True for a character that may be in the KEY of "KEY=value". */
static inline bool fst_is_key_char(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       c == '-' || c == '_';
}

/*
 * Parse a line of @len bytes, without its newline. Returns NULL on success, or a text about the
 * error. In the case of an error, *@wrong_at is the offset of the error in the line.
 */
const char *fst_line_parse(const char *text, size_t len, struct fst_line *line, size_t *wrong_at);

#endif
