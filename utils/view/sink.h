/* Where views write: a large buffer, handed on when it is full, and fast ways to put things in. */
#ifndef UTRAIL_VIEW_SINK_H
#define UTRAIL_VIEW_SINK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "utils/base/compiler.h"

#define SINK_BYTES	(256 * 1024)
/* What one sink_room() may ask for; longer texts go in pieces, by sink_put(). */
#define SINK_ROOM_MAX	4096
/* How much copy_over() may go too far. */
#define COPY_OVER_SLACK 32

/*
 * @write: takes all of the bytes, or returns a negative errno
 * @failed: the first failure of @write; from then on everything is dropped. Owners look at it
 *          (sink_flush()) at the end, and where they can stop early.
 *
 * Starts with sink_init(), ends with sink_deinit(), which does not flush.
 */
struct sink {
	char *buf;
	size_t len;
	int failed;
	int (*write)(void *self, const char *data, size_t len);
	void *self;
};

/* 0 or -ENOMEM. */
int sink_init(struct sink *sink, int (*write)(void *self, const char *data, size_t len),
	      void *self);
void sink_deinit(struct sink *sink);
#define cleanup_sink cleanup(sink_deinit)

/* Hand everything on; the first failure so far, or 0. */
int sink_flush(struct sink *sink);

/* The slow way: any length. */
void sink_put(struct sink *sink, const char *data, size_t len);
void sink_puts(struct sink *sink, const char *text);
void sink_putf(struct sink *sink, const char *fmt, ...) PRINTF_FORMAT(2, 3);
void sink_fill(struct sink *sink, char c, size_t count);

/*
 * HOT: room for @len (at most SINK_ROOM_MAX) bytes; the caller fills them in and tells with
 * sink_done() where it stopped.
 */
static inline char *sink_room(struct sink *sink, size_t len)
{
	if (unlikely(sink->len + len > SINK_BYTES - COPY_OVER_SLACK))
		sink_flush(sink);
	return sink->buf + sink->len;
}

/*
 * HOT: for short texts: 32 bytes at a time, so up to 31 bytes more than @len are read and
 * written; @from and @to have room for that.
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
