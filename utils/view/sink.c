/* Where views write (see sink.h). */
#include "utils/view/sink.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

int sink_init(struct sink *sink, int (*write)(void *self, const char *data, size_t len), void *self)
{
	*sink = (struct sink){ .write = write, .self = self, .buf = malloc(SINK_BYTES) };
	return sink->buf ? 0 : -ENOMEM;
}

void sink_deinit(struct sink *sink)
{
	free(sink->buf);
	*sink = (struct sink){ 0 };
}

int sink_flush(struct sink *sink)
{
	if (sink->len && !sink->failed) {
		int ret = sink->write(sink->self, sink->buf, sink->len);

		if (ret < 0)
			sink->failed = ret;
	}
	sink->len = 0;
	return sink->failed;
}

void sink_put(struct sink *sink, const char *data, size_t len)
{
	while (len) {
		size_t part = MIN(len, (size_t)SINK_ROOM_MAX);
		char *to = sink_room(sink, part);

		memcpy(to, data, part);
		sink_done(sink, to + part);
		data += part;
		len -= part;
	}
}

void sink_puts(struct sink *sink, const char *text)
{
	sink_put(sink, text, strlen(text));
}

void sink_putf(struct sink *sink, const char *fmt, ...)
{
	char *text = sink_room(sink, SINK_ROOM_MAX);
	va_list ap;

	va_start(ap, fmt);

	int len = vsnprintf(text, SINK_ROOM_MAX, fmt, ap);

	va_end(ap);
	if (len > 0)
		sink_done(sink, text + MIN(len, SINK_ROOM_MAX - 1));
}

void sink_fill(struct sink *sink, char c, size_t count)
{
	while (count) {
		size_t part = MIN(count, (size_t)SINK_ROOM_MAX);
		char *to = sink_room(sink, part);

		memset(to, c, part);
		sink_done(sink, to + part);
		count -= part;
	}
}
