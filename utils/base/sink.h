/*
 * The output of views: a large buffer, flushed when full, with fast functions for writing.
 *
 * sink_lit() and sink_either() write literals of the source, and sink_putf() writes numbers.
 * sink_str() and sink_text() escape and write text from elsewhere (names, paths, words of users).
 * The sink's medium determines the escapes. tests/rules/texts.py lists the few places that write
 * raw bytes.
 */
#ifndef UTRAIL_BASE_SINK_H
#define UTRAIL_BASE_SINK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "utils/base/color.h"
#include "utils/base/compiler.h"
#include "utils/base/escape.h"
#include "utils/base/containers/strbuf.h"

#define SINK_BYTES	(256 * 1024)
/*
 * The maximum number of bytes for which one call of sink_room() gets room. sink_text() writes
 * longer texts in pieces.
 */
#define SINK_ROOM_MAX	4096
/* The number of spare bytes that copy_over() needs after the copied text. */
#define COPY_OVER_SLACK 32

/*
 * sink_init() begins a sink. sink_deinit() ends the sink, and does not flush.
 *
 * @len: bytes in @buf
 * @flushed: number of bytes that sink_flush() has taken out of @buf
 * @write: a function that writes the bytes that it gets, or returns a negative errno
 * @failed: the first failure of @write, or of the code that makes the output (sink_fail()). After a
 *         failure, output is dropped. At the end, the caller calls sink_flush(), which returns
 *         @failed. During the output, a caller that can stop early checks @failed
 * @medium: MEDIUM_TERMINAL, unless the code that makes the output sets another medium
 * @has_broken: a text was not UTF-8, and the medium could not represent it (escape_add())
 */
struct sink {
	char *buf;
	size_t len;
	uint64_t flushed;
	int failed;
	enum medium medium;
	bool has_broken;
	int (*write)(void *self, const char *data, size_t len);
	void *self;
};

/* Returns 0 or -ENOMEM. */
int sink_init(struct sink *sink, int (*write)(void *self, const char *data, size_t len),
	      void *self);
/*
 * Like sink_init(), but @write is known: after sink_init_fd(), the sink writes to the descriptor
 * @fd. After sink_init_text(), the sink appends to @text.
 */
int sink_init_fd(struct sink *sink, int fd);
int sink_init_text(struct sink *sink, struct strbuf *text);
void sink_deinit(struct sink *sink);
#define cleanup_sink cleanup(sink_deinit)

/* Returns the number of all bytes written so far, flushed or not. */
static inline uint64_t sink_bytes(const struct sink *sink)
{
	return sink->flushed + sink->len;
}

/* Record a failure of the code that makes the output, if @ret is negative. */
static inline void sink_fail(struct sink *sink, int ret)
{
	if (ret < 0 && !sink->failed)
		sink->failed = ret;
}

/* Write the content of the buffer. Returns sink->failed: the sink's first failure, or 0. */
int sink_flush(struct sink *sink);

/* Write untrusted text of any length, escaped for the sink's medium. */
void sink_text(struct sink *sink, const char *text, size_t len);
void sink_str(struct sink *sink, const char *text);
/* Write a JSON string with its quotes. The medium is MEDIUM_JSON or MEDIUM_SCRIPT. */
void sink_quoted(struct sink *sink, const char *text);
/*
 * Write untrusted @text, escaped for the sink's medium. If the escaped text has fewer than |@width|
 * bytes, blanks fill the rest: after the text (@width > 0) or before the text (@width < 0).
 */
void sink_str_padded(struct sink *sink, const char *text, int width);

/* Write a string literal. sink_either() writes one of two literals. */
#define sink_lit(sink, literal) sink_put_raw(sink, "" literal "", sizeof(literal) - 1)
#define sink_either(sink, is_first, first, second) \
	((is_first) ? sink_lit(sink, first) : sink_lit(sink, second))

/* Write numbers. The format is a literal without %s and %c. For texts, use sink_str(). */
#define sink_putf(sink, ...) sink_format(sink, "" __VA_ARGS__)
void sink_format(struct sink *sink, const char *fmt, ...) PRINTF_FORMAT(2, 3);
void sink_fill(struct sink *sink, char c, size_t count);

/* Write bytes that are already escaped for the sink's medium. */
void sink_put_raw(struct sink *sink, const void *data, size_t len);
static inline void sink_put_made(struct sink *sink, const struct strbuf *text)
{
	sink_put_raw(sink, strbuf_str(text), text->len);
}

/*
 * In COLOR_MODE_HTML, the whole output is one web page. sink_page_begin() writes the beginning of
 * the page, and sets MEDIUM_HTML. sink_page_end() writes the end of the page. In other modes, the
 * two functions do nothing.
 */
void sink_page_begin(struct sink *sink, enum color_mode mode);
void sink_page_end(struct sink *sink, enum color_mode mode);
void sink_color_begin(struct sink *sink, enum color_mode mode, enum color color);
void sink_color_end(struct sink *sink, enum color_mode mode);

/*
 * HOT: get room for @len bytes, at most SINK_ROOM_MAX. The caller writes there, and passes the end
 * of its bytes to sink_done().
 */
static inline char *sink_room(struct sink *sink, size_t len)
{
	if (unlikely(sink->len + len > SINK_BYTES - COPY_OVER_SLACK))
		sink_flush(sink);
	return sink->buf + sink->len;
}

/*
 * HOT: copy a short text, 32 bytes at a time. The last copy may read and write up to 31 bytes after
 * the text. The caller makes sure that the buffers of @from and @to have these bytes.
 */
static inline char *copy_over(char *to, const char *from, size_t len)
{
	for (size_t i = 0; i < len; i += 32)
		memcpy(to + i, from + i, 32);
	return to + len;
}

static inline void sink_done(struct sink *sink, const char *end)
{
	sink->len = end - sink->buf;
}

#endif
