/* Rules of make (see make_rules.h). */
#include "utils/builddb/make_rules.h"

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "utils/base/containers/strbuf.h"
#include "utils/base/containers/vec.h"

/* @dirs: the directory of each make that is running, the innermost last */
struct parser {
	struct make_rules *out;
	char **dirs;
	size_t nr_dirs;
};

void make_rules_deinit(struct make_rules *declared)
{
	for (size_t i = 0; i < declared->nr_inputs; i++)
		free(declared->inputs[i].path);
	for (size_t i = 0; i < declared->nr_paths; i++)
		free(declared->paths[i]);
	free(declared->inputs);
	free(declared->paths);
	strmap_deinit(&declared->targets);
	*declared = (struct make_rules){ 0 };
}

size_t make_rules_first(const struct make_rules *declared, const char *path)
{
	return (uintptr_t)strmap_get(&declared->targets, path) - 1;
}

/*
 * Returns the absolute path of the file @name. If the file exists, symbolic links in the path are
 * resolved. Returns NULL when memory is short.
 */
static char *absolute(const struct parser *parser, const char *name)
{
	struct strbuf path cleanup_strbuf = { 0 };
	char *real;

	while (strncmp(name, "./", 2) == 0)
		name += 2;
	if (name[0] != '/')
		strbuf_addf(&path, "%s/", parser->dirs[parser->nr_dirs - 1]);
	strbuf_addstr(&path, name);
	if (strbuf_oom(&path))
		return NULL;
	real = realpath(strbuf_str(&path), NULL);
	return real ? real : strdup(strbuf_str(&path));
}

/* Take the next word of [*@at, @end), without make's escapes. Returns false when there is none. */
static bool next_word(const char **at, const char *end, struct strbuf *word)
{
	strbuf_reset(word);
	while (*at < end && strchr(" \t", **at))
		(*at)++;
	for (; *at < end && !strchr(" \t", **at); (*at)++) {
		if (**at == '\\' && *at + 1 < end && strchr(" #:%\\", (*at)[1]))
			(*at)++;
		else if (**at == '$' && *at + 1 < end && (*at)[1] == '$')
			(*at)++;
		strbuf_addch(word, **at);
	}
	return word->len;
}

static int add_input(struct make_rules *out, const char *target, char *input)
{
	struct make_input *inputs = vec_grow(out->inputs, out->nr_inputs, sizeof(*inputs));

	if (!inputs) {
		free(input);
		return -ENOMEM;
	}
	out->inputs = inputs;
	inputs[out->nr_inputs++] = (struct make_input){ input, make_rules_first(out, target) };
	return strmap_put(&out->targets, target, (void *)(uintptr_t)out->nr_inputs);
}

static int add_target(struct parser *parser, const char *name, const char *inputs, const char *end)
{
	struct make_rules *out = parser->out;
	struct strbuf word cleanup_strbuf = { 0 };
	char **paths = vec_grow(out->paths, out->nr_paths, sizeof(*paths));
	char *target = absolute(parser, name);
	int ret = 0;

	if (paths)
		out->paths = paths;
	if (!paths || !target) {
		free(target);
		return -ENOMEM;
	}
	paths[out->nr_paths++] = target;
	while (ret == 0 && next_word(&inputs, end, &word)) {
		char *input = strbuf_oom(&word) ? NULL : absolute(parser, strbuf_str(&word));

		ret = input ? add_input(out, target, input) : -ENOMEM;
	}
	return ret;
}

/* Returns the colon of a rule, or NULL when the line is not a rule. */
static const char *find_colon(const char *line)
{
	const char *at = line;

	while (*at && *at != ':' && *at != '=')
		at += at[0] == '\\' && at[1] ? 2 : 1;
	return *at == ':' && strcspn(at, "=") == strlen(at) ? at : NULL;
}

static int take_rule(struct parser *parser, const char *line)
{
	struct strbuf word cleanup_strbuf = { 0 };
	const char *colon = find_colon(line);
	const char *inputs, *end;
	int ret = 0;

	if (!colon || strchr("\t #", line[0]))
		return 0;
	inputs = colon + strspn(colon, ":");
	end = inputs + strcspn(inputs, ";");
	while (ret == 0 && next_word(&line, colon, &word))
		ret = strbuf_oom(&word) ? -ENOMEM
					: add_target(parser, strbuf_str(&word), inputs, end);
	return ret;
}

/*
 * Take a line "make[1]: Entering directory '/x'" or "make[1]: Leaving directory '/x'". Returns
 * false for any other line.
 */
static bool take_directory(struct parser *parser, const char *line, int *ret)
{
	const char *entering = strstr(line, ": Entering directory '");
	const char *end = strrchr(line, '\'');

	if (strstr(line, ": Leaving directory '")) {
		if (parser->nr_dirs > 1)
			free(parser->dirs[--parser->nr_dirs]);
		return true;
	}
	if (!entering)
		return false;
	entering = strchr(entering, '\'') + 1;
	if (end <= entering)
		return true;

	char **dirs = reallocarray(parser->dirs, parser->nr_dirs + 1, sizeof(*dirs));

	if (dirs)
		parser->dirs = dirs;
	if (!dirs || !(dirs[parser->nr_dirs] = strndup(entering, end - entering)))
		*ret = -ENOMEM;
	else
		parser->nr_dirs++;
	return true;
}

/* Get a line, with the next line appended if a backslash joins them. Returns the rest of @text. */
static const char *next_line(const char *text, struct strbuf *line)
{
	strbuf_reset(line);
	for (; *text && *text != '\n'; text++) {
		bool goes_on = text[0] == '\\' && text[1] == '\n';

		strbuf_addch(line, goes_on ? ' ' : *text);
		text += goes_on;
	}
	return *text ? text + 1 : text;
}

int make_rules_parse(struct make_rules *declared, const char *dir, const char *text)
{
	struct parser parser = { .out = declared, .nr_dirs = 1 };
	struct strbuf line cleanup_strbuf = { 0 };
	int ret = 0;

	parser.dirs = calloc(1, sizeof(*parser.dirs));
	if (!parser.dirs || !(parser.dirs[0] = strdup(dir)))
		ret = -ENOMEM;
	while (ret == 0 && *text) {
		text = next_line(text, &line);
		if (strbuf_oom(&line))
			ret = -ENOMEM;
		else if (!take_directory(&parser, strbuf_str(&line), &ret))
			ret = take_rule(&parser, strbuf_str(&line));
	}
	for (size_t i = 0; parser.dirs && i < parser.nr_dirs; i++)
		free(parser.dirs[i]);
	free(parser.dirs);
	return ret;
}
