/*
 * Finds uses of declared events in preprocessed sources (FSTRACE_CHECK of <fstrace.h>). Rewrites
 * each use as an expression that compilers can check.
 */
#ifndef UTRAIL_CMDS_CHECK_CALLS_H
#define UTRAIL_CMDS_CHECK_CALLS_H

#include <stdbool.h>

#include "utils/base/containers/strbuf.h"
#include "utils/base/containers/strmap.h"

/*
 * An event, and the expression by which sources name it ("SOLD", "trc.sold").
 *
 * @format: NULL when it is not a literal, or when declarations have different formats
 * @file, @line: the declaration
 */
struct check_event {
	char *key;
	char *id;
	char *format;
	char *file;
	unsigned line;
};

/*
 * A set of events. The key of an event in @map is the event's expression without blanks. The struct
 * starts as { 0 } and ends with check_events_deinit().
 */
struct check_events {
	struct strmap map;
	struct check_event **all;
	size_t nr;
};

void check_events_deinit(struct check_events *events);
#define cleanup_check_events cleanup(check_events_deinit)

/*
 * A place in a source where FSTRACE() or FSTRACE_NO_ARGS() uses an event.
 *
 * @event: NULL when the event's declaration was not found, or has no valid literal format
 * @expression: the expression by which the source names the event, without blanks
 */
struct check_use {
	const struct check_event *event;
	char *expression;
	char *file;
	unsigned line;
};

/*
 * The declarations and uses of a source. Starts as { 0 } and ends with check_calls_deinit().
 *
 * @declared: events that this source declares by FSTRACE_DECL() and fstrace_declare()
 * @externs: a list of variables that this source declares extern
 * @has_long_64: int64_t is long
 * @text: source for a compiler. Each use has become a call of a printf()-like function, or only the
 *         arguments if the format is unknown. Line markers put use N into line N of CHECK_FILE
 */
struct check_calls {
	struct check_events declared;
	struct strbuf externs;
	struct check_use *uses;
	size_t nr_uses;
	bool has_long_64;
	struct strbuf text;
};

#define CHECK_FILE "<utrail>"

/*
 * Add the declarations in @text to @calls. If @global is not NULL, the declarations by
 * fstrace_declare() are added to both @calls and @global. Returns 0 or -ENOMEM.
 */
int check_calls_collect(const struct strbuf *text, struct check_calls *calls,
			struct check_events *global);

/*
 * Rewrite the uses of events in @text. If @calls and @global both have a declaration of an event,
 * the declaration in @calls counts. Returns 0 or -ENOMEM.
 *
 * @global: the events that all sources declare by fstrace_declare(). An expression in @text can
 *         refer to such an event in three forms: a variable that @text declares extern, a member of
 *         a structure ("a.b"), or an element of an array ("a[1]"). A plain name that @text does
 *         not declare extern refers to no event of @global: the name may be a function's parameter
 */
int check_calls_rewrite(const struct strbuf *text, struct check_calls *calls,
			const struct check_events *global);

void check_calls_deinit(struct check_calls *calls);
#define cleanup_check_calls cleanup(check_calls_deinit)

#endif
