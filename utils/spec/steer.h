/*
 * The requests to a running recording: the words after `utrail control DIR`, for example `off` or
 * `filter main depth 3`.
 */
#ifndef UTRAIL_SPEC_STEER_H
#define UTRAIL_SPEC_STEER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "utils/base/err.h"
#include "utils/base/containers/strbuf.h"
#include "utils/spec/trigger.h"

/* The requests, as bits of steer_change.flags. */
enum steer_flags {
	STEER_STATUS = 1U << 0,
	STEER_ON = 1U << 1,
	STEER_OFF = 1U << 2,
	STEER_CLEAR = 1U << 3, /* drop earlier filters and triggers, before @specs are added */
	STEER_SPECS = 1U << 4, /* @specs */
	STEER_DEPTH = 1U << 5,
	STEER_TIME = 1U << 6,
	STEER_SIZE = 1U << 7,
	STEER_SNAPSHOT = 1U << 8,
	STEER_STOP = 1U << 9,
	STEER_PATCH = 1U << 10,		/* @patches */
	STEER_TRACE_INCLUDE = 1U << 11, /* @trace_include */
	STEER_TRACE_EXCLUDE = 1U << 12, /* @trace_exclude */
};

/* The requests that only a recording of `record --agent` accepts. */
#define STEER_CHANGES                                                                             \
	((uint32_t)(STEER_ON | STEER_OFF | STEER_CLEAR | STEER_SPECS | STEER_DEPTH | STEER_TIME | \
		    STEER_SIZE | STEER_STOP | STEER_PATCH | STEER_DECLARED))
#define STEER_DECLARED ((uint32_t)(STEER_TRACE_INCLUDE | STEER_TRACE_EXCLUDE))

/*
 * A change to a running recording. If a member has a flag in enum steer_flags, the member is valid
 * only when this flag is set in @flags. The struct starts as { 0 } and ends with
 * steer_change_deinit().
 *
 * @specs: for each enum spec_option, the added specs in the form of the option, separated by ';';
 *         may be empty
 * @patches: added rules, in the form of -P
 * @trace_include, @trace_exclude: new values of the options of these names
 * @match: enum pattern_match of the added specs
 * @text: all requests except `status` and `snapshot`, as words separated by blanks
 */
struct steer_change {
	uint32_t flags;
	unsigned depth;
	uint64_t time_ns;
	uint64_t size;
	int match;
	struct strbuf specs[SPEC_OPTIONS];
	struct strbuf patches;
	struct strbuf trace_include;
	struct strbuf trace_exclude;
	struct strbuf text;
};

/* The prefix of a warning line in an answer. */
#define STEER_WARNING "WARN: "

void steer_change_deinit(struct steer_change *change);
#define cleanup_steer_change cleanup(steer_change_deinit)

/*
 * @arg: the form of the word's argument, for help texts; NULL: the word has no argument
 * @flag: enum steer_flags that the word sets
 * @take: applies the word. Gets the word's argument, or NULL if the word has no argument. @take is
 *        NULL when the word only sets @flag
 */
struct steer_word {
	const char *word;
	const char *arg;
	const char *help;
	uint32_t flag;
	int (*take)(struct steer_change *change, const char *arg, struct uft_err *err);
};

/* All words, in the order of the help. In the last element of the array, @word is NULL. */
extern const struct steer_word steer_words[];

const struct steer_word *steer_word_find(const char *word);

/*
 * Parse @words (strbuf_list_add()). Returns 0, or -ENOMEM or -ERR_USAGE with @err. The text in @err
 * names the wrong word. If the word is unknown, the text suggests known words with a similar
 * spelling. The specs in change->specs are not checked here, but later, when the recorder
 * makes the change.
 */
int steer_parse(const struct strbuf *words, struct steer_change *change, struct uft_err *err);

#endif
