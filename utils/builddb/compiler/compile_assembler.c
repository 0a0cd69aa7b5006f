/* The command lines of assemblers (see compile_assembler.h). */
#include "utils/builddb/compiler/compile_assembler.h"

#include <string.h>

#include "utils/base/compiler.h"
#include "utils/base/path.h"

/*
 * The grammar of an assembler's options.
 *
 * @with_word: options whose argument is the rest of the word, or else the next word
 * @with_word_only: options whose argument is always the next word
 * @asks: options that ask for information: nothing is assembled
 */
struct grammar {
	const char *const *with_word;
	const char *const *with_word_only;
	const char *const *asks;
};

static const struct grammar grammars[] = {
	[COMPILER_AS] = {
		.with_word = (const char *const[]){ "-I", "-o", NULL },
		.with_word_only = (const char *const[]){ "--MD", "--defsym", "--debug-prefix-map",
							 NULL },
		.asks = (const char *const[]){ "--help", "--target-help", "--version", NULL },
	},
	[COMPILER_NASM] = {
		.with_word = (const char *const[]){ "-D", "-F", "-I", "-P", "-U", "-X", "-Z", "-d",
						    "-f", "-i", "-l", "-o", "-p", "-u", NULL },
		.with_word_only = (const char *const[]){ "--before", "--gpostfix", "--gprefix",
							 "--gsuffix", "--include", "--lpostfix",
							 "--lprefix", "--lsuffix", "--postfix",
							 "--pragma", "--prefix", "--suffix", "-MD",
							 "-MF", "-MQ", "-MT", NULL },
		.asks = (const char *const[]){ "--help", "--v", "--version", "-E", "-M", "-MG",
					       "-e", "-h", "-v", NULL },
	},
	[COMPILER_YASM] = {
		.with_word = (const char *const[]){ "-D", "-I", "-L", "-P", "-U", "-X", "-a", "-d",
						    "-f", "-g", "-i", "-l", "-m", "-o", "-p", "-r",
						    "-u", NULL },
		.with_word_only = (const char *const[]){ "--prefix", "--suffix", NULL },
		.asks = (const char *const[]){ "--help", "--license", "--preproc-only",
					       "--version", "-M", "-e", "-h", NULL },
	},
};

static bool is_in(const char *const *words, const char *word)
{
	while (*words && strcmp(*words, word) != 0)
		words++;
	return *words != NULL;
}

/*
 * If @word consists of an option in grammar->with_word and the argument of the option, such as
 * "-Idir", returns the argument. Otherwise returns NULL.
 */
static const char *joined(const struct grammar *grammar, const char *word)
{
	for (const char *const *option = grammar->with_word; *option; option++) {
		size_t len = strlen(*option);

		if (strncmp(word, *option, len) == 0 && word[len])
			return word + len;
	}
	return NULL;
}

static void note_argument(struct compile *compile, const char *option, const char *argument)
{
	if (strncmp(option, "-o", 2) == 0)
		compile->output = argument;
	else if (strncmp(option, "-f", 2) == 0)
		compile->object_format = argument;
}

/* Take the option at @at. Returns its number of words. */
static size_t take_option(struct compile *compile, const struct words *argv, size_t at)
{
	const struct grammar *grammar = &grammars[compile->kind];
	const char *word = argv->words[at];
	bool is_alone = is_in(grammar->with_word, word);

	if (is_in(grammar->asks, word)) {
		compile->until = COMPILE_PREPROCESSED;
		return 1;
	}
	if (is_alone && at + 1 < argv->nr)
		note_argument(compile, word, argv->words[at + 1]);
	else if (!is_in(grammar->with_word_only, word) && joined(grammar, word))
		note_argument(compile, word, joined(grammar, word));
	return is_alone || is_in(grammar->with_word_only, word) ? 2 : 1;
}

void compile_parse_assembler(struct compile *compile, const struct words *argv)
{
	size_t at = 1;

	compile->until = COMPILE_OBJECT;
	while (at < argv->nr) {
		const char *word = argv->words[at];

		if (word[0] == '-' && word[1]) {
			at += take_option(compile, argv, at);
			continue;
		}
		/* "-" is standard input, and "@..." is a response file that could not be read. */
		if (word[0] && word[0] != '-' && word[0] != '@') {
			compile->roles[at] = ROLE_SOURCE;
			compile->nr_sources++;
		}
		at++;
	}
}

static bool starts_with(const char *text, const char *start)
{
	return text && strncmp(text, start, strlen(start)) == 0;
}

void compile_assembler_output(const struct compile *compile, const char *source, struct strbuf *out)
{
	const char *base = path_base(source);
	const char *dot = strrchr(base, '.');
	const char *format = compile->object_format;

	if (compile->kind == COMPILER_AS) {
		strbuf_addstr(out, "a.out");
		return;
	}
	strbuf_add(out, base, dot ? (size_t)(dot - base) : strlen(base));
	if (!format || starts_with(format, "bin"))
		return;
	strbuf_addstr(out,
		      starts_with(format, "win") || starts_with(format, "obj") ? ".obj" : ".o");
}
