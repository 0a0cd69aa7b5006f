/* Splitting of text into words, as a shell does it (see words.h). */
#include "utils/base/containers/words.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "utils/base/containers/strbuf.h"

int words_push(struct words *words, const char *word)
{
	char **grown = reallocarray(words->words, words->nr + 2, sizeof(*grown));

	if (!grown)
		return -ENOMEM;
	words->words = grown;
	grown[words->nr] = strdup(word);
	if (!grown[words->nr])
		return -ENOMEM;
	grown[++words->nr] = NULL;
	return 0;
}

struct text {
	const char *at;
	unsigned line;
};

static char take_byte(struct text *text)
{
	char c = *text->at++;

	text->line += c == '\n';
	return c;
}

/*
 * Append the text up to the closing @quote to @word, and move past the quote. Returns false if
 * there is no closing quote.
 */
static bool take_quoted(struct text *text, char quote, struct strbuf *word)
{
	while (*text->at && *text->at != quote) {
		if (*text->at == '\\' && quote == '"' && text->at[1] && strchr("\"\\", text->at[1]))
			text->at++;
		strbuf_addch(word, take_byte(text));
	}
	if (!*text->at)
		return false;
	text->at++;
	return true;
}

static int take_word(struct text *text, struct strbuf *word, struct uft_err *err)
{
	while (*text->at && !isspace((unsigned char)*text->at)) {
		unsigned line = text->line;
		char c = take_byte(text);

		if (c == '"' || c == '\'') {
			if (!take_quoted(text, c, word))
				return err_set(err, -EINVAL, "line %u: the quote has no end", line);
		} else if (c == '\\' && *text->at) {
			strbuf_addch(word, take_byte(text));
		} else {
			strbuf_addch(word, c);
		}
	}
	return 0;
}

int words_add(struct words *words, const char *text, struct uft_err *err)
{
	struct strbuf word cleanup_strbuf = { 0 };
	struct text rest = { text, 1 };
	int ret = 0;

	while (ret == 0) {
		while (isspace((unsigned char)*rest.at))
			take_byte(&rest);
		if (!*rest.at)
			return 0;
		if (*rest.at == '#') {
			rest.at += strcspn(rest.at, "\n");
			continue;
		}
		strbuf_reset(&word);
		ret = take_word(&rest, &word, err);
		if (ret == 0)
			ret = strbuf_oom(&word) ? -ENOMEM : words_push(words, strbuf_str(&word));
	}
	return ret == -ENOMEM ? err_set_errno(err, ret, "cannot take in words") : ret;
}

void words_deinit(struct words *words)
{
	for (size_t i = 0; i < words->nr; i++)
		free(words->words[i]);
	free(words->words);
	*words = (struct words){ 0 };
}

static bool is_plain(const char *word)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
				    "-_./,:=@%+";

	/*
	 * `plain` lacks `~` and `#`, which are special at the start of a word, and `^`, which is
	 * special in old shells.
	 */
	return *word && strspn(word, plain) == strlen(word);
}

static bool has_control(const char *word)
{
	for (; *word; word++) {
		if ((unsigned char)*word < ' ' || *word == 0x7f)
			return true;
	}
	return false;
}

/* Write the word as $'...'. */
static void quote_control(const char *word, struct strbuf *out)
{
	strbuf_addstr(out, "$'");
	for (; *word; word++) {
		unsigned char c = *word;

		if (c < ' ' || c == 0x7f)
			strbuf_addf(out, "\\%03o", c);
		else if (c == '\'' || c == '\\')
			strbuf_addf(out, "\\%c", c);
		else
			strbuf_addch(out, c);
	}
	strbuf_addch(out, '\'');
}

/* Write the word within single quotes. A single quote in the word becomes '\''. */
static void quote_single(const char *word, struct strbuf *out)
{
	strbuf_addch(out, '\'');
	for (; *word; word++) {
		if (*word == '\'')
			strbuf_addstr(out, "'\\'");
		strbuf_addch(out, *word);
	}
	strbuf_addch(out, '\'');
}

void words_quote(const char *word, struct strbuf *out)
{
	if (is_plain(word)) {
		strbuf_addstr(out, word);
	} else if (has_control(word)) {
		quote_control(word, out);
	} else if (strchr(word, '!')) {
		/* An interactive shell expands '!' within double quotes (history). */
		quote_single(word, out);
	} else {
		strbuf_addch(out, '"');
		for (; *word; word++) {
			if (strchr("\"\\$`", *word))
				strbuf_addch(out, '\\');
			strbuf_addch(out, *word);
		}
		strbuf_addch(out, '"');
	}
}
