/* Names in the languages that exporters write (see texts.h). */
#include "utils/view/texts.h"

#include <stdlib.h>
#include <string.h>

#define REPLACEMENT "\xef\xbf\xbd"

/* The length of the UTF-8 character at @text; 0 when it is none. */
static size_t utf8_len(const char *text, size_t len)
{
	const uint8_t *c = (const uint8_t *)text;

	if (c[0] < 0x80)
		return 1;
	if (c[0] >= 0xc2 && c[0] < 0xe0)
		return len > 1 && (c[1] & 0xc0) == 0x80 ? 2 : 0;
	if (c[0] >= 0xe0 && c[0] < 0xf0) {
		unsigned low = c[0] == 0xe0 ? 0xa0 : 0x80;
		unsigned high = c[0] == 0xed ? 0x9f : 0xbf; /* no surrogates */

		return len > 2 && c[1] >= low && c[1] <= high && (c[2] & 0xc0) == 0x80 ? 3 : 0;
	}
	if (c[0] >= 0xf0 && c[0] < 0xf5) {
		unsigned low = c[0] == 0xf0 ? 0x90 : 0x80;
		unsigned high = c[0] == 0xf4 ? 0x8f : 0xbf;

		return len > 3 && c[1] >= low && c[1] <= high && (c[2] & 0xc0) == 0x80 &&
				       (c[3] & 0xc0) == 0x80
			       ? 4
			       : 0;
	}
	return 0;
}

/* Each character of @text, with @escape for those of one byte; it returns what to write instead. */
static void put_escaped(struct strbuf *out, const char *text, size_t len,
			const char *(*escape)(char c, char scratch[8]))
{
	for (size_t i = 0; i < len;) {
		size_t n = utf8_len(text + i, len - i);
		char scratch[8];
		const char *other = n == 1 ? escape(text[i], scratch) : NULL;

		if (n == 0)
			strbuf_addstr(out, REPLACEMENT);
		else if (other)
			strbuf_addstr(out, other);
		else
			strbuf_add(out, text + i, n);
		i += n ? n : 1;
	}
}

static const char *escape_nothing(char c, char scratch[8])
{
	return NULL;
}

void text_put_utf8(struct strbuf *out, const char *text, size_t len)
{
	put_escaped(out, text, len, escape_nothing);
}

static const char *escape_json(char c, char scratch[8])
{
	static const char hex[] = "0123456789abcdef";

	switch (c) {
	case '"':
		return "\\\"";
	case '\\':
		return "\\\\";
	case '\n':
		return "\\n";
	case '\t':
		return "\\t";
	default:
		break;
	}
	if ((uint8_t)c >= 0x20 && c != 0x7f)
		return NULL;
	memcpy(scratch, "\\u00", 4);
	scratch[4] = hex[c >> 4];
	scratch[5] = hex[c & 15];
	scratch[6] = '\0';
	return scratch;
}

void text_put_json(struct strbuf *out, const char *text, size_t len)
{
	put_escaped(out, text, len, escape_json);
}

static const char *escape_html(char c, char scratch[8])
{
	switch (c) {
	case '<':
		return "&lt;";
	case '>':
		return "&gt;";
	case '&':
		return "&amp;";
	case '"':
		return "&quot;";
	case '\'':
		return "&#39;";
	default:
		/* XML has no other control characters. */
		return (uint8_t)c < 0x20 && c != '\n' && c != '\t' ? REPLACEMENT : NULL;
	}
}

void text_put_html(struct strbuf *out, const char *text, size_t len)
{
	put_escaped(out, text, len, escape_html);
}

void text_put_base64(struct strbuf *out, const void *data, size_t len)
{
	static const char digits[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	const uint8_t *at = data;

	for (; len >= 3; len -= 3, at += 3) {
		uint32_t v = (uint32_t)at[0] << 16 | at[1] << 8 | at[2];
		char four[4] = { digits[v >> 18], digits[v >> 12 & 63], digits[v >> 6 & 63],
				 digits[v & 63] };

		strbuf_add(out, four, 4);
	}
	if (len) {
		uint32_t v = (uint32_t)at[0] << 16 | (len > 1 ? at[1] << 8 : 0);
		char four[4] = { digits[v >> 18], digits[v >> 12 & 63],
				 len > 1 ? digits[v >> 6 & 63] : '=', '=' };

		strbuf_add(out, four, 4);
	}
}

void func_texts_deinit(struct func_texts *texts)
{
	for (size_t i = 0; i < texts->nr; i++)
		free(texts->texts[i].text);
	free(texts->texts);
	*texts = (struct func_texts){ 0 };
}

static int grow(struct func_texts *texts, size_t id)
{
	size_t nr = MAX(id + 1, texts->nr * 2);
	struct func_text *all = reallocarray(texts->texts, nr, sizeof(*all));

	if (!all)
		return -1;
	memset(all + texts->nr, 0, (nr - texts->nr) * sizeof(*all));
	texts->texts = all;
	texts->nr = nr;
	return 0;
}

const struct func_text *func_texts_make(struct func_texts *texts, const struct func *func)
{
	struct strbuf out = { 0 };

	if (func->id >= texts->nr && grow(texts, func->id) < 0)
		return NULL;
	texts->make(func, &out);
	if (!strbuf_grow(&out, FUNC_TEXT_SLACK) || strbuf_oom(&out)) {
		strbuf_deinit(&out);
		return NULL;
	}
	texts->texts[func->id] = (struct func_text){ out.data, out.len };
	return &texts->texts[func->id];
}
