/* The --time-range language (see range.h). */
#include "utils/spec/args/range.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "utils/base/cleanup.h"
#include "utils/base/containers/strbuf.h"
#include "utils/base/units.h"

static int parse_edge(const char *text, size_t len, struct range_edge *edge, struct uft_err *err)
{
	struct strbuf time cleanup_strbuf = { 0 };

	*edge = (struct range_edge){ 0 };
	if (len == 0)
		return 0;
	strbuf_add(&time, text, len);
	edge->is_set = true;
	edge->is_elapsed = isalpha((unsigned char)text[len - 1]);
	if (!edge->is_elapsed)
		strbuf_addch(&time, 's');
	if (strbuf_oom(&time))
		return err_set_errno(err, -ENOMEM, "invalid time range");
	return parse_time(strbuf_str(&time), &edge->time_ns, NULL);
}

int time_range_parse(const char *text, struct time_range *range, struct uft_err *err)
{
	const char *tilde = strchr(text, '~');
	struct time_range parsed;

	if (!tilde || parse_edge(text, tilde - text, &parsed.start, err) < 0 ||
	    parse_edge(tilde + 1, strlen(tilde + 1), &parsed.stop, err) < 0)
		return err_set(err, -EINVAL,
			       "invalid time range '%s': expected FROM~TO, each side empty, a "
			       "timestamp (12.000000345) or a time since the start (1.5ms)",
			       text);
	if (parsed.start.is_set && parsed.stop.is_set &&
	    parsed.start.is_elapsed == parsed.stop.is_elapsed &&
	    parsed.start.time_ns > parsed.stop.time_ns)
		return err_set(err, -EINVAL, "invalid time range '%s': it ends before it begins",
			       text);
	*range = parsed;
	return 0;
}

int time_range_parse_last(const char *text, struct time_range *range, struct uft_err *err)
{
	struct range_edge start = { .is_set = true, .is_elapsed = true, .is_from_end = true };
	int ret = parse_time(text, &start.time_ns, err);

	if (ret == 0)
		*range = (struct time_range){ .start = start };
	return ret;
}
