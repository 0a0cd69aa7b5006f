/* Lists of arguments and response files (see arguments.h). */
#include "utils/procs/arguments.h"

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "utils/base/compiler.h"
#include "utils/base/fd.h"

/* Who names more files, or larger ones, has made a circle. */
#define FILES_MAX 2000
#define BYTES_MAX (4UL << 20)

/* What may still be read. */
struct budget {
	unsigned nr_files;
	size_t nr_bytes;
};

int arguments_add(struct words *args, const char *text, size_t len)
{
	/* One more, and the NULL behind it: the room doubles with each power of two. */
	size_t nr = args->nr + 1;
	char **words = args->words;

	if (!words || (nr & (nr - 1)) == 0) {
		words = reallocarray(words, nr * 2, sizeof(*words));
		if (!words)
			return -ENOMEM;
		args->words = words;
	}
	words[args->nr] = strndup(text, len);
	if (!words[args->nr])
		return -ENOMEM;
	words[++args->nr] = NULL;
	return 0;
}

void arguments_drop(struct words *args, size_t nr)
{
	for (size_t i = 0; i < nr; i++)
		free(args->words[i]);
	/* With the NULL behind them. */
	memmove(args->words, args->words + nr, (args->nr - nr + 1) * sizeof(*args->words));
	args->nr -= nr;
}

static bool is_blank(char c)
{
	return c == ' ' || (c >= '\t' && c <= '\r');
}

/* The next word of the text behind *@at; false at the end. Quotes of both kinds; a backslash takes what follows it, also within quotes. */
static bool next_word(const char **at, const char *end, struct strbuf *word)
{
	char quote = '\0';

	strbuf_reset(word);
	while (*at < end && is_blank(**at))
		(*at)++;
	if (*at == end)
		return false;
	for (; *at < end && (quote || !is_blank(**at)); (*at)++) {
		if (**at == '\\' && *at + 1 < end)
			strbuf_addch(word, *++*at);
		else if (quote ? **at == quote : **at == '"' || **at == '\'')
			quote = quote ? '\0' : **at;
		else
			strbuf_addch(word, **at);
	}
	return true;
}

static int add_words(struct words *args, const struct strbuf *text)
{
	struct strbuf word cleanup_strbuf = { 0 };
	const char *at = strbuf_str(text);
	const char *end = at + text->len;
	int ret = 0;

	while (ret == 0 && next_word(&at, end, &word))
		ret = strbuf_oom(&word)
			      ? -ENOMEM
			      : arguments_add(args, strbuf_str(&word), strlen(strbuf_str(&word)));
	return ret;
}

/* -EFBIG: it is too much. */
static int add_file(struct words *args, const char *name, const char *cwd, struct budget *left)
{
	struct strbuf text cleanup_strbuf = { 0 };
	bool is_absolute = *name == '/';
	char path[PATH_MAX];

	if (snprintf(path, sizeof(path), "%s%s%s", is_absolute ? "" : cwd, is_absolute ? "" : "/",
		     name) >= PATH_MAX)
		return -ENAMETOOLONG;
	if (!left->nr_files)
		return -EFBIG;

	int ret = file_read_all(path, left->nr_bytes, &text, NULL);

	if (ret < 0)
		return ret;
	left->nr_files--;
	left->nr_bytes -= MIN(left->nr_bytes, text.len);
	return add_words(args, &text);
}

/* One round: those in @args become what is in them, which may name others. How many files were read, or -ENOMEM. */
static int expand_once(struct words *args, const char *cwd, struct budget *left, size_t *nr_unread)
{
	struct words more cleanup_words = { 0 };
	int nr_read = 0;

	*nr_unread = 0;
	for (size_t i = 0; i < args->nr; i++) {
		const char *word = args->words[i];
		bool is_file = i > 0 && word[0] == '@' && word[1];
		int ret = is_file ? add_file(&more, word + 1, cwd, left) : -ENOENT;

		if (ret == 0) {
			nr_read++;
			continue;
		}
		*nr_unread += is_file;
		if (ret == -ENOMEM || arguments_add(&more, word, strlen(word)) < 0)
			return -ENOMEM;
	}
	if (nr_read) {
		struct words given = *args;

		*args = more;
		more = given;
	}
	return nr_read;
}

int arguments_expand(struct words *args, const char *cwd, size_t *nr_unread, size_t *nr_bytes)
{
	struct budget left = { FILES_MAX, BYTES_MAX };
	int ret;

	do {
		ret = expand_once(args, cwd, &left, nr_unread);
	} while (ret > 0);
	*nr_bytes = BYTES_MAX - left.nr_bytes;
	return ret;
}
