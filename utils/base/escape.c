/* Escaping of untrusted text for its output medium (see escape.h). */
#include "utils/base/escape.h"

#include <stdint.h>
#include <string.h>

#define REPLACEMENT "\xef\xbf\xbd"

/*
 * Decode the UTF-8 character at @text. Returns the length of the character in bytes, or 0 when the
 * character is invalid.
 */
static size_t next_char(const char *text, size_t len, uint32_t *code)
{
	const uint8_t *c = (const uint8_t *)text;

	if (c[0] < 0x80) {
		*code = c[0];
		return 1;
	}
	if (c[0] >= 0xc2 && c[0] < 0xe0) {
		if (len < 2 || (c[1] & 0xc0) != 0x80)
			return 0;
		*code = (c[0] & 0x1fU) << 6 | (c[1] & 0x3fU);
		return 2;
	}
	if (c[0] >= 0xe0 && c[0] < 0xf0) {
		unsigned low = c[0] == 0xe0 ? 0xa0 : 0x80;
		unsigned high = c[0] == 0xed ? 0x9f : 0xbf; /* surrogates are invalid */

		if (len < 3 || c[1] < low || c[1] > high || (c[2] & 0xc0) != 0x80)
			return 0;
		*code = (c[0] & 0xfU) << 12 | (c[1] & 0x3fU) << 6 | (c[2] & 0x3fU);
		return 3;
	}
	if (c[0] >= 0xf0 && c[0] < 0xf5) {
		unsigned low = c[0] == 0xf0 ? 0x90 : 0x80;
		unsigned high = c[0] == 0xf4 ? 0x8f : 0xbf;

		if (len < 4 || c[1] < low || c[1] > high || (c[2] & 0xc0) != 0x80 ||
		    (c[3] & 0xc0) != 0x80)
			return 0;
		*code = (c[0] & 7U) << 18 | (c[1] & 0x3fU) << 12 | (c[2] & 0x3fU) << 6 |
			(c[3] & 0x3fU);
		return 4;
	}
	return 0;
}

/*
 * True for hidden characters (see escape.h). All are below 0x10000: four digits (\uNNNN) suffice.
 */
static bool is_hidden(uint32_t code)
{
	static const struct {
		uint16_t first;
		uint16_t last;
	} ranges[] = {
		{ 0x00, 0x1f },	    { 0x7f, 0x9f },	/* C0, DEL, C1 */
		{ 0x61c, 0x61c },   { 0x200e, 0x200f }, /* marks of direction */
		{ 0x2028, 0x2029 },			/* separators */
		{ 0x202a, 0x202e }, { 0x2066, 0x2069 }, /* embeddings, overrides, isolates */
		{ 0xfffe, 0xffff },
	};

	for (size_t i = 0; i < ARRAY_SIZE(ranges); i++) {
		if (code >= ranges[i].first && code <= ranges[i].last)
			return true;
	}
	return false;
}

/*
 * The texts that replace ASCII characters; NULL: the character stays.
 *
 * In a script, "</script>" would end the element, and "<!--" would begin a comment. In a label of
 * mermaid, the browser first decodes entities that begin with "&". Then mermaid decodes entities
 * that begin with "#". In mermaid, a percent sign may begin an instruction, and a backquote begins
 * Markdown.
 */
#define ASCII	128
#define AS_HTML ['<'] = "&lt;", ['>'] = "&gt;", ['&'] = "&amp;"
#define AS_JSON ['"'] = "\\\"", ['\\'] = "\\\\", ['\n'] = "\\n", ['\t'] = "\\t"

static const char *const html[ASCII] = { AS_HTML, ['"'] = "&quot;", ['\''] = "&#39;" };
static const char *const json[ASCII] = { AS_JSON };
static const char *const script[ASCII] = {
	AS_JSON, ['<'] = "\\u003c", ['>'] = "\\u003e", ['&'] = "\\u0026"
};
static const char *const csv[ASCII] = { ['"'] = "\"\"" };
static const char *const dot[ASCII] = { ['"'] = "\\\"", ['\\'] = "\\\\" };
static const char *const mermaid[ASCII] = {
	AS_HTML, ['"'] = "#quot;", ['\''] = "&#39;", ['#'] = "#35;", ['%'] = "#37;", ['`'] = "#96;"
};
static const char *const folded[ASCII] = { [';'] = ":" };
static const char *const nothing[ASCII] = { NULL };

enum hidden_form {
	HIDDEN_AS_BYTES, /* \xNN */
	HIDDEN_AS_CODES, /* \uNNNN */
	HIDDEN_AS_THEY_ARE,
};

/* @backslash: the text that stands for the backslash of \xNN in this language */
static const struct language {
	const char *const *replaced;
	enum hidden_form form;
	const char *backslash;
} languages[] = {
	[MEDIUM_TERMINAL] = { nothing, HIDDEN_AS_BYTES, "\\" },
	[MEDIUM_HTML] = { html, HIDDEN_AS_BYTES, "\\" },
	[MEDIUM_JSON] = { json, HIDDEN_AS_CODES, "\\" },
	[MEDIUM_SCRIPT] = { script, HIDDEN_AS_CODES, "\\" },
	[MEDIUM_CSV] = { csv, HIDDEN_AS_BYTES, "\\" },
	[MEDIUM_DOT] = { dot, HIDDEN_AS_BYTES, "\\\\" },
	[MEDIUM_MERMAID] = { mermaid, HIDDEN_AS_BYTES, "\\" },
	[MEDIUM_CALLGRIND] = { nothing, HIDDEN_AS_BYTES, "\\" },
	[MEDIUM_FOLDED] = { folded, HIDDEN_AS_BYTES, "\\" },
	[MEDIUM_BINARY] = { nothing, HIDDEN_AS_THEY_ARE, "\\" },
};

static const char hex[] = "0123456789abcdef";

static void put_bytes(struct strbuf *out, const struct language *lang, const char *text, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		uint8_t byte = text[i];

		strbuf_addstr(out, lang->backslash);
		strbuf_addch(out, 'x');
		strbuf_addch(out, hex[byte >> 4]);
		strbuf_addch(out, hex[byte & 15]);
	}
}

/* Write \uNNNN for a hidden character. Four digits suffice for all hidden characters. */
static void put_code(struct strbuf *out, uint32_t code)
{
	char text[] = "\\u0000";

	for (int i = 5; i > 1; i--) {
		text[i] = hex[code & 15];
		code >>= 4;
	}
	strbuf_add(out, text, 6);
}

/* @len: length of the character at @text; 0 for an invalid byte */
static void put_hidden(struct strbuf *out, const struct language *lang, const char *text,
		       size_t len, uint32_t code)
{
	if (lang->form == HIDDEN_AS_BYTES)
		put_bytes(out, lang, text, MAX(len, (size_t)1));
	else if (len == 0)
		strbuf_addstr(out, REPLACEMENT);
	else if (lang->form == HIDDEN_AS_CODES)
		put_code(out, code);
	else
		strbuf_add(out, text, len);
}

static bool put_all(struct strbuf *out, const struct language *lang, const char *text, size_t len)
{
	bool is_whole = true;

	for (size_t i = 0; i < len;) {
		uint32_t code = 0;
		size_t n = next_char(text + i, len - i, &code);
		const char *other = n == 1 ? lang->replaced[(uint8_t)text[i]] : NULL;

		if (other)
			strbuf_addstr(out, other);
		else if (n == 0 || is_hidden(code))
			put_hidden(out, lang, text + i, n, code);
		else
			strbuf_add(out, text + i, n);
		is_whole &= n || lang->form == HIDDEN_AS_BYTES;
		i += n ? n : 1;
	}
	return is_whole;
}

/*
 * A cell with a separator or a quote is quoted (RFC 4180). A cell that begins like a formula gets
 * an apostrophe, which makes spreadsheets treat it as text.
 */
static void put_cell(struct strbuf *out, const char *text, size_t len)
{
	bool is_formula = len && strchr("=+-@", text[0]) && text[0];
	bool is_quoted = memchr(text, ',', len) || memchr(text, '"', len) || memchr(text, ';', len);

	if (is_quoted)
		strbuf_addch(out, '"');
	if (is_formula)
		strbuf_addch(out, '\'');
	put_all(out, &languages[MEDIUM_CSV], text, len);
	if (is_quoted)
		strbuf_addch(out, '"');
}

/* "(12)" at the start of a name would refer to an earlier name. So the first "(" is escaped. */
static void put_callgrind(struct strbuf *out, const char *text, size_t len)
{
	const struct language *lang = &languages[MEDIUM_CALLGRIND];

	if (len > 1 && text[0] == '(' && text[1] >= '0' && text[1] <= '9') {
		put_bytes(out, lang, text, 1);
		text++;
		len--;
	}
	put_all(out, lang, text, len);
}

bool escape_add(struct strbuf *out, enum medium medium, const char *text, size_t len)
{
	if (medium == MEDIUM_CSV)
		put_cell(out, text, len);
	else if (medium == MEDIUM_CALLGRIND)
		put_callgrind(out, text, len);
	else
		return put_all(out, &languages[medium], text, len);
	return true;
}

bool escape_addstr(struct strbuf *out, enum medium medium, const char *text)
{
	return escape_add(out, medium, text, strlen(text));
}

bool escape_quoted(struct strbuf *out, const char *text)
{
	strbuf_addch(out, '"');

	bool is_whole = escape_addstr(out, MEDIUM_JSON, text);

	strbuf_addch(out, '"');
	return is_whole;
}

/* True when escape_add() writes @c unchanged in every medium. */
static bool is_plain_everywhere(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       c == '_' || c == ' ' || c == '.' || c == ':' || c == '/' || c == '~' || c == '*';
}

bool escape_is_plain(enum medium medium, const char *text, size_t len)
{
	size_t i = 0;

	if (medium == MEDIUM_TERMINAL) {
		while (i < len && text[i] >= 0x20 && text[i] < 0x7f)
			i++;
		return i == len;
	}
	while (i < len && is_plain_everywhere(text[i]))
		i++;
	return i == len;
}

size_t escape_cut(const char *text, size_t max)
{
	size_t len = strnlen(text, max + 4);
	size_t at = 0;

	if (len <= max)
		return len;
	while (at < max) {
		uint32_t code;
		size_t n = next_char(text + at, len - at, &code);

		if (at + n > max)
			break;
		at += n ? n : 1;
	}
	return at;
}
