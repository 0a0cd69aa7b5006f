/* Splits a text into words, as a shell does. */
#ifndef UTRAIL_BASE_WORDS_H
#define UTRAIL_BASE_WORDS_H

#include <stddef.h>

#include "utils/base/cleanup.h"
#include "utils/base/err.h"
#include "utils/base/containers/strbuf.h"

/*
 * @words: an array like argv: @nr words, and then NULL. The array and the words are on the heap. If
 *         @nr is 0, @words may be NULL
 *
 * Starts as { 0 } and ends with words_deinit().
 */
struct words {
	char **words;
	size_t nr;
};

/*
 * Append the words of @text, separated by blanks and ends of lines. Returns 0, -EINVAL if a quote
 * is not closed (@err names its line), or -ENOMEM.
 *
 * Within 'single' or "double" quotes, blanks belong to the word. `#` at the start of a word begins
 * a comment. `\` escapes the next character. Within double quotes, `\` escapes only `"` and `\`;
 * within single quotes, `\` is an ordinary character.
 */
int words_add(struct words *words, const char *text, struct uft_err *err);

/* Append a copy of @word. Returns 0 or -ENOMEM. */
int words_push(struct words *words, const char *word);
void words_deinit(struct words *words);
#define cleanup_words cleanup(words_deinit)

/*
 * Append @word in a form that a shell reads as one word. The first of these rules that applies
 * determines the form:
 *
 * - A word that needs no quotes is unchanged.
 * - A word with control characters becomes $'quoted', which bash and zsh read.
 * - A word that contains '!', but no apostrophe, becomes 'quoted'.
 * - Any other word becomes "quoted".
 */
void words_quote(const char *word, struct strbuf *out);

#endif
