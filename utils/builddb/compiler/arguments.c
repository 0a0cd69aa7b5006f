/* Response files, and lists of arguments (see arguments.h). */
#include "utils/builddb/compiler/arguments.h"

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "utils/base/compiler.h"
#include "utils/base/fd.h"
#include "utils/base/containers/vec.h"

/*
 * For the response files of one command: the maximum number of attempts to read a file, and the
 * maximum number of bytes that are read. Failed attempts count. The limits are needed because each
 * file may name another file many times, and the other file is read again each time.
 */
#define FILES_MAX 2000
#define BYTES_MAX (4UL << 20)

/* A file that is being read. @name: on the heap; @at: the next word */
struct response {
	char *name;
	struct strbuf text;
	const char *at;
};

/*
 * The state while files are read.
 *
 * @open: the open files. Each file contains the name of the next file in this list. Words are taken
 *        from the last file until its end
 * @nr_files, @nr_bytes: the number of files and the number of bytes that may still be read
 */
struct expansion {
	struct arguments_source *source;
	struct words *out;
	struct response *open;
	size_t nr_open;
	unsigned nr_files;
	size_t nr_bytes;
	size_t nr_unread;
};

int arguments_add(struct words *args, const char *text, size_t len)
{
	/*
	 * Make room for one more word, and for the NULL at the end. If the new number of words is a
	 * power of two, double the room.
	 */
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
	/* Move the remaining arguments and the final NULL to the start of the array. */
	memmove(args->words, args->words + nr, (args->nr - nr + 1) * sizeof(*args->words));
	args->nr -= nr;
}

static bool is_blank(char c)
{
	return c == ' ' || (c >= '\t' && c <= '\r');
}

/*
 * Take the next word of the text at *@at. Returns false at the end of the text. A backslash escapes
 * the next character, even within quotes.
 */
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

static void close_last(struct expansion *e)
{
	struct response *last = &e->open[--e->nr_open];

	free(last->name);
	strbuf_deinit(&last->text);
}

/* True when the file is open already: a file that contains itself would have no end. */
static bool is_open(const struct expansion *e, const char *name)
{
	for (size_t i = 0; i < e->nr_open; i++) {
		if (strcmp(e->open[i].name, name) == 0)
			return true;
	}
	return false;
}

/*
 * Open the response file @name. Returns 1 when the words of the file are read next, 0 when the word
 * @FILE itself counts as a word of the command, or -ENOMEM.
 */
static int open_response(struct expansion *e, const char *name)
{
	struct response *open = vec_grow(e->open, e->nr_open, sizeof(*open));
	struct strbuf text cleanup_strbuf = { 0 };
	int ret;

	if (!open)
		return -ENOMEM;
	e->open = open;
	if (!e->nr_files || is_open(e, name))
		return 0;
	e->nr_files--;
	ret = e->source->read(e->source, name, e->nr_bytes, &text);
	e->nr_bytes -= MIN(e->nr_bytes, text.len);
	if (ret < 0)
		return ret == -ENOMEM ? ret : 0;
	open[e->nr_open] = (struct response){ strdup(name), text, strbuf_str(&text) };
	if (!open[e->nr_open].name)
		return -ENOMEM;
	e->nr_open++;
	text = (struct strbuf){ 0 };
	return 1;
}

static int take_word(struct expansion *e, const char *word)
{
	bool is_file = word[0] == '@' && word[1];
	int ret = is_file ? open_response(e, word + 1) : 0;

	if (ret)
		return MIN(ret, 0);
	e->nr_unread += is_file;
	return arguments_add(e->out, word, strlen(word));
}

/*
 * Add all words of the open files to e->out. Replace each word @FILE by the words of FILE. If
 * open_response() does not open FILE, add the word @FILE itself.
 */
static int take_responses(struct expansion *e)
{
	struct strbuf word cleanup_strbuf = { 0 };
	int ret = 0;

	while (ret == 0 && e->nr_open) {
		struct response *last = &e->open[e->nr_open - 1];

		if (!next_word(&last->at, last->text.data + last->text.len, &word)) {
			close_last(e);
			continue;
		}
		ret = strbuf_oom(&word) ? -ENOMEM : take_word(e, strbuf_str(&word));
	}
	return ret;
}

static int expand_arguments(struct expansion *e, const struct words *args)
{
	/* The first word is the compiler, never a response file. */
	int ret = args->nr ? arguments_add(e->out, args->words[0], strlen(args->words[0])) : 0;

	for (size_t i = 1; i < args->nr && ret == 0; i++) {
		ret = take_word(e, args->words[i]);
		if (ret == 0)
			ret = take_responses(e);
	}
	return ret;
}

int arguments_expand_from(struct words *args, struct arguments_source *source,
			  struct arguments_read *read)
{
	struct words out cleanup_words = { 0 };
	struct expansion e = {
		.source = source, .out = &out, .nr_files = FILES_MAX, .nr_bytes = BYTES_MAX
	};
	int ret = expand_arguments(&e, args);

	while (e.nr_open)
		close_last(&e);
	free(e.open);
	*read = (struct arguments_read){
		.nr_tried = FILES_MAX - e.nr_files,
		.nr_bytes = BYTES_MAX - e.nr_bytes,
		.nr_unread = e.nr_unread,
	};
	if (ret == 0) {
		struct words given = *args;

		*args = out;
		out = given;
	}
	return ret;
}

int arguments_read_file(const char *cwd, const char *name, size_t max, struct strbuf *text)
{
	bool is_absolute = *name == '/';
	char path[PATH_MAX];

	if (snprintf(path, sizeof(path), "%s%s%s", is_absolute ? "" : cwd, is_absolute ? "" : "/",
		     name) >= PATH_MAX)
		return -ENAMETOOLONG;
	return file_read_all(path, max, text, NULL);
}

/* An arguments_source that reads the current contents of response files in the file system. */
struct files_now {
	struct arguments_source source;
	const char *cwd;
};

static int read_now(struct arguments_source *source, const char *name, size_t max,
		    struct strbuf *text)
{
	struct files_now *now = container_of(source, struct files_now, source);

	return arguments_read_file(now->cwd, name, max, text);
}

int arguments_expand(struct words *args, const char *cwd, struct arguments_read *read)
{
	struct files_now now = { { read_now }, cwd };

	return arguments_expand_from(args, &now.source, read);
}
