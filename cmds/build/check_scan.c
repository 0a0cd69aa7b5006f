/* Tokens of preprocessed C and C++ (see check_scan.h). */
#include "cmds/build/check_scan.h"

#include <ctype.h>
#include <string.h>

struct check_scan check_scan_of(const struct strbuf *text)
{
	return (struct check_scan){
		.left = text_of(strbuf_str(text), text->len),
		.file = text_of("", 0),
		.line = 1,
	};
}

static bool is_word(char c)
{
	return isalnum((unsigned char)c) || c == '_' || c == '$' || (c & 0x80);
}

/* Reads a line marker, such as `# 12 "file.c" 3`. Skips a directive of any other kind. */
static void take_directive(struct check_scan *scan)
{
	const char *newline = memchr(scan->left.at, '\n', text_left(&scan->left));
	struct text line = text_of(scan->left.at, (newline ?: scan->left.end) - scan->left.at);
	uint64_t number;

	scan->left.at = newline ?: scan->left.end;
	if (!text_word(&line, "# ") || !text_dec(&line, &number) || !text_word(&line, " \""))
		return;

	const char *quote = line.at;

	while (quote < line.end && *quote != '"')
		quote += *quote == '\\' && quote + 1 < line.end ? 2 : 1;
	scan->file = text_of(line.at, quote - line.at);
	/*
	 * The marker has the number of the next line. The newline before that line is still to be
	 * counted.
	 */
	scan->line = (unsigned)number - 1;
}

static bool skip_blanks(struct check_scan *scan)
{
	struct text *t = &scan->left;
	bool is_first = t->at < t->end && (!scan->start || t->at[-1] == '\n');

	while (t->at < t->end) {
		if (*t->at == '\n') {
			scan->line++;
			is_first = true;
			t->at++;
		} else if (*t->at == '#' && is_first) {
			take_directive(scan);
		} else if (isspace((unsigned char)*t->at)) {
			t->at++;
		} else {
			return true;
		}
	}
	return false;
}

static void take_quoted(struct check_scan *scan, char quote)
{
	struct text *t = &scan->left;

	while (++t->at < t->end && *t->at != quote && *t->at != '\n') {
		if (*t->at == '\\' && t->at + 1 < t->end)
			t->at++;
	}
	if (t->at < t->end && *t->at == quote)
		t->at++;
}

/* Reads a raw string: R"x( ... )x". */
static void take_raw(struct check_scan *scan)
{
	struct text *t = &scan->left;
	const char *open = memchr(t->at, '(', text_left(t));
	const char *at = open;
	size_t len = open ? open - t->at - 1 : 0;

	while (at && (at = memchr(at, ')', t->end - at))) {
		if ((size_t)(t->end - at) > len + 1 && memcmp(at + 1, t->at + 1, len) == 0 &&
		    at[len + 1] == '"')
			break;
		at++;
	}

	const char *end = at ? at + len + 2 : t->end;

	for (; t->at < end; t->at++)
		scan->line += *t->at == '\n';
}

static bool is_raw_prefix(const char *word, size_t len)
{
	static const char *const prefixes[] = { "R", "LR", "uR", "UR", "u8R" };

	for (size_t i = 0; i < sizeof(prefixes) / sizeof(*prefixes); i++) {
		if (strlen(prefixes[i]) == len && memcmp(prefixes[i], word, len) == 0)
			return true;
	}
	return false;
}

static void take_word(struct check_scan *scan)
{
	struct text *t = &scan->left;
	bool is_number = isdigit((unsigned char)*t->at);

	scan->kind = CHECK_WORD;
	/* Numbers may have quotes between their digits: 1'000'000. */
	while (t->at < t->end && (is_word(*t->at) || (is_number && *t->at == '\'')))
		t->at++;
	if (t->at < t->end && *t->at == '"' && is_raw_prefix(scan->start, t->at - scan->start)) {
		scan->kind = CHECK_LITERAL;
		take_raw(scan);
	}
}

bool check_scan_next(struct check_scan *scan)
{
	if (!skip_blanks(scan))
		return false;
	scan->start = scan->left.at;

	char c = *scan->start;

	if (c == '"' || c == '\'') {
		scan->kind = CHECK_LITERAL;
		take_quoted(scan, c);
	} else if (is_word(c)) {
		take_word(scan);
	} else {
		scan->kind = CHECK_BYTE;
		scan->left.at++;
	}
	return true;
}

bool check_scan_is(const struct check_scan *scan, const char *token)
{
	size_t len = scan->left.at - scan->start;

	return scan->kind != CHECK_LITERAL && strlen(token) == len &&
	       memcmp(scan->start, token, len) == 0;
}

static int depth_change(const struct check_scan *scan)
{
	if (scan->kind != CHECK_BYTE)
		return 0;
	return *scan->start == '(' || *scan->start == '[' || *scan->start == '{'   ? 1
	       : *scan->start == ')' || *scan->start == ']' || *scan->start == '}' ? -1
										   : 0;
}

bool check_scan_argument(struct check_scan *scan, bool takes_all, struct strbuf *out)
{
	const char *behind = scan->left.at;
	int depth = 0;

	strbuf_reset(out);
	while (check_scan_next(scan)) {
		depth += depth_change(scan);
		if (depth < 0 || (depth == 0 && !takes_all && check_scan_is(scan, ",")))
			return true;
		if (out->len && scan->start > behind)
			strbuf_addch(out, ' ');
		strbuf_add(out, scan->start, scan->left.at - scan->start);
		behind = scan->left.at;
	}
	return false;
}
