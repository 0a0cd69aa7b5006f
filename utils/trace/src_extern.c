/* Source of events: extern.dat (see src_extern.h). */
#include "utils/trace/src_extern.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

#include "utils/base/fd.h"
#include "utils/format/text.h"

#define EXTERN_FILE_MAX_BYTES (16UL << 20)
#define EXTERN_TEXT_MAX	      1023

static int add_line(struct src_extern *src, size_t *cap, struct text line)
{
	struct event event = { .type = EVENT_EXTERN, .addr = EVENT_ID_EXTERN_DATA };

	if (!text_fixed(&line, 9, &event.time_ns) || !text_word(&line, " "))
		return -EINVAL;
	if (src->nr == *cap) {
		struct event *events = reallocarray(src->events, *cap * 2 + 16, sizeof(*events));

		if (!events)
			return -ENOMEM;
		src->events = events;
		*cap = *cap * 2 + 16;
	}
	event.data = (const uint8_t *)line.at;
	event.data_len = MIN(text_left(&line), (size_t)EXTERN_TEXT_MAX);
	src->events[src->nr++] = event;
	return 0;
}

static int event_compare(const void *a, const void *b)
{
	const struct event *x = a;
	const struct event *y = b;

	if (x->time_ns != y->time_ns)
		return x->time_ns < y->time_ns ? -1 : 1;
	return x->data < y->data ? -1 : 1;
}

static int load_lines(struct src_extern *src, const char *path, struct uft_err *err)
{
	struct text in = text_of(src->text.data, src->text.len);
	struct text line;
	size_t cap = 0;
	bool whole;

	for (size_t nr = 1; text_line(&in, &line, &whole); nr++) {
		if (line.at == line.end || *line.at == '#')
			continue;

		int ret = add_line(src, &cap, line);

		if (ret < 0)
			return err_set(err, ret,
				       "cannot read '%s': line %zu: expected '<s>.<ns> <message>'",
				       path, nr);
	}
	if (src->nr)
		qsort(src->events, src->nr, sizeof(*src->events), event_compare);
	return 0;
}

int src_extern_load(struct src_extern *src, const struct trace_data *data, struct uft_err *err)
{
	char path[PATH_MAX];
	struct uft_err why = { 0 };

	*src = (struct src_extern){ 0 };
	if (snprintf(path, sizeof(path), "%s/extern.dat", data->dir) >= (int)sizeof(path))
		return 0;

	int ret = file_read_all(path, EXTERN_FILE_MAX_BYTES, &src->text, &why);

	if (ret == -ENOENT)
		return 0;
	if (ret < 0)
		return err_set(err, ret, "%s", why.text);
	ret = load_lines(src, path, err);
	if (ret < 0)
		src_extern_deinit(src);
	return ret;
}

void src_extern_deinit(struct src_extern *src)
{
	strbuf_deinit(&src->text);
	free(src->events);
	*src = (struct src_extern){ 0 };
}
