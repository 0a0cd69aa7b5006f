/* The text of arguments and return values (doc/facts/text.md, "Arguments"). */
#ifndef UTRAIL_VIEW_ARGTEXT_H
#define UTRAIL_VIEW_ARGTEXT_H

#include "utils/base/color.h"
#include "utils/base/escape.h"
#include "utils/base/containers/strbuf.h"
#include "utils/pipeline/event.h"

/*
 * @color: the colours of strings, symbols and enums. It also tells whether text is escaped for HTML
 *         or for a terminal. With COLOR_MODE_OFF, which exporters use, text is escaped for a
 *         terminal.
 */
struct argtext {
	struct trace_data *data;
	enum color_mode color;
};

/*
 * Append the payload of an ENTRY as "(1, "text")". Returns false, with nothing appended, when the
 * event has no payload, or the types of the values are unknown.
 */
bool argtext_put_args(const struct argtext *text, const struct task *task,
		      const struct event *event, struct strbuf *out);

/*
 * Append the return value of an EXIT, without " = ". Returns false in the same cases as
 * argtext_put_args().
 */
bool argtext_put_retval(const struct argtext *text, const struct task *task,
			const struct event *event, struct strbuf *out);

/* Append one line for each value, as dump shows values. A line has the type and the value. */
bool argtext_put_raw(const struct argtext *text, const struct task *task, const struct event *event,
		     struct strbuf *out);

#endif
