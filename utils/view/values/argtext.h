/* The text of arguments and return values (doc/facts/text.md, "Arguments"). */
#ifndef UTRAIL_VIEW_ARGTEXT_H
#define UTRAIL_VIEW_ARGTEXT_H

#include "utils/base/color.h"
#include "utils/base/escape.h"
#include "utils/base/containers/strbuf.h"
#include "utils/pipeline/event.h"

/*
 * @color: the colours of strings, symbols and enums. It also determines the medium, a page or a
 *         terminal. Exporters, which have no colours, use the terminal's.
 */
struct argtext {
	struct trace_data *data;
	enum color_mode color;
};

/*
 * Append "(1, "text")", the payload of an ENTRY. Returns false, with nothing appended, when it has
 * none or its content is unknown.
 */
bool argtext_put_args(const struct argtext *text, const struct task *task,
		      const struct event *event, struct strbuf *out);

/* Append the return value of an EXIT, without " = ". */
bool argtext_put_retval(const struct argtext *text, const struct task *task,
			const struct event *event, struct strbuf *out);

/* Append the text for dump: a line per value with its type and its bytes. */
bool argtext_put_raw(const struct argtext *text, const struct task *task, const struct event *event,
		     struct strbuf *out);

#endif
