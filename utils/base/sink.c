/* The output of views (see sink.h). */
#include "utils/base/sink.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "utils/base/fd.h"

int sink_init(struct sink *sink, int (*write)(void *self, const char *data, size_t len), void *self)
{
	*sink = (struct sink){ .write = write, .self = self, .buf = malloc(SINK_BYTES) };
	return sink->buf ? 0 : -ENOMEM;
}

static int write_to_fd(void *self, const char *data, size_t len)
{
	return fd_write_all((int)(intptr_t)self, data, len);
}

int sink_init_fd(struct sink *sink, int fd)
{
	return sink_init(sink, write_to_fd, (void *)(intptr_t)fd);
}

static int write_to_text(void *self, const char *data, size_t len)
{
	strbuf_add(self, data, len);
	return strbuf_oom(self) ? -ENOMEM : 0;
}

int sink_init_text(struct sink *sink, struct strbuf *text)
{
	return sink_init(sink, write_to_text, text);
}

void sink_deinit(struct sink *sink)
{
	free(sink->buf);
	*sink = (struct sink){ 0 };
}

int sink_flush(struct sink *sink)
{
	if (sink->len && !sink->failed)
		sink_fail(sink, sink->write(sink->self, sink->buf, sink->len));
	sink->flushed += sink->len;
	sink->len = 0;
	return sink->failed;
}

void sink_put_raw(struct sink *sink, const void *data, size_t len)
{
	const char *from = data;

	while (len) {
		size_t part = MIN(len, (size_t)SINK_ROOM_MAX);
		char *to = sink_room(sink, part);

		memcpy(to, from, part);
		sink_done(sink, to + part);
		from += part;
		len -= part;
	}
}

void sink_text(struct sink *sink, const char *text, size_t len)
{
	struct strbuf escaped cleanup_strbuf = { 0 };

	if (escape_is_plain(sink->medium, text, len)) {
		sink_put_raw(sink, text, len);
		return;
	}
	sink->has_broken |= !escape_add(&escaped, sink->medium, text, len);
	if (strbuf_oom(&escaped))
		sink_fail(sink, -ENOMEM);
	sink_put_made(sink, &escaped);
}

void sink_str(struct sink *sink, const char *text)
{
	sink_text(sink, text, strlen(text));
}

void sink_quoted(struct sink *sink, const char *text)
{
	sink_lit(sink, "\"");
	sink_str(sink, text);
	sink_lit(sink, "\"");
}

void sink_str_padded(struct sink *sink, const char *text, int width)
{
	struct strbuf escaped cleanup_strbuf = { 0 };
	size_t wanted = width < 0 ? -width : width;

	escape_addstr(&escaped, sink->medium, text);

	size_t blanks = wanted > escaped.len ? wanted - escaped.len : 0;

	sink_fill(sink, ' ', width < 0 ? blanks : 0);
	sink_put_made(sink, &escaped);
	sink_fill(sink, ' ', width < 0 ? 0 : blanks);
}

void sink_format(struct sink *sink, const char *fmt, ...)
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

void sink_page_begin(struct sink *sink, enum color_mode mode)
{
	if (mode != COLOR_MODE_HTML)
		return;
	sink->medium = MEDIUM_HTML;
	sink_lit(sink, "<html>\n<head></head>\n"
		       "<body style='background-color:black;color:white;'>\n<pre>\n");
}

void sink_page_end(struct sink *sink, enum color_mode mode)
{
	if (mode == COLOR_MODE_HTML)
		sink_lit(sink, "</pre>\n</body>\n</html>\n");
}

void sink_color_begin(struct sink *sink, enum color_mode mode, enum color color)
{
	struct strbuf text cleanup_strbuf = { 0 };

	color_begin(&text, mode, color);
	sink_put_made(sink, &text);
}

void sink_color_end(struct sink *sink, enum color_mode mode)
{
	struct strbuf text cleanup_strbuf = { 0 };

	color_end(&text, mode);
	sink_put_made(sink, &text);
}
