/* The text of arguments and return values (doc/facts/text.md, "Arguments"). */
#ifndef UTRAIL_VIEW_ARGTEXT_H
#define UTRAIL_VIEW_ARGTEXT_H

#include "utils/base/color.h"
#include "utils/base/escape.h"
#include "utils/base/containers/strbuf.h"
#include "utils/pipeline/event.h"

/*
 * @color: the colours of strings, symbols and enums. With COLOR_MODE_HTML, text is escaped for
 *         HTML. With any other value, text is escaped for a terminal. Exporters use COLOR_MODE_OFF
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
