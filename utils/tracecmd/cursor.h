/*
 * A place in a trace.dat, or in a section of it that was unpacked: numbers, texts and blobs, each
 * checked.
 */
#ifndef UTRAIL_TRACECMD_CURSOR_H
#define UTRAIL_TRACECMD_CURSOR_H

#include <stdbool.h>
#include <stdint.h>

#include "utils/base/err.h"
#include "utils/base/containers/strbuf.h"

/*
 * [@at, @end) has not been read: of the file @fd, or of the bytes at @bytes, if these are not NULL.
 *
 * @start: the place in the file that the bytes at @bytes come from, packed; for messages
 */
struct tracedat_cursor {
	int fd;
	const uint8_t *bytes;
	uint64_t start;
	uint64_t at;
	uint64_t end;
	bool is_big_endian;
};

/*
 * The place where it stands, as messages say it: "offset 17", or "17 in what is packed at offset
 * 4000".
 */
struct tracedat_place {
	char text[80];
};
struct tracedat_place tracedat_cursor_place(const struct tracedat_cursor *in);

static inline uint64_t tracedat_cursor_left(const struct tracedat_cursor *in)
{
	return in->end - in->at;
}

/*
 * Exactly @len bytes; numbers. -EBADMSG with the place when there are not so many left, or a
 * negative errno of read(2). A value that was not read is as it was.
 */
int tracedat_take(struct tracedat_cursor *in, void *to, size_t len, struct uft_err *err);
int tracedat_take_u16(struct tracedat_cursor *in, uint16_t *value, struct uft_err *err);
int tracedat_take_u32(struct tracedat_cursor *in, uint32_t *value, struct uft_err *err);
int tracedat_take_u64(struct tracedat_cursor *in, uint64_t *value, struct uft_err *err);

/* Append @len bytes to @to, @max of them at most: -EFBIG for more. */
int tracedat_take_blob(struct tracedat_cursor *in, uint64_t len, size_t max, struct strbuf *to,
		       struct uft_err *err);

/* A text up to its NUL, which is read, too; shorter than @size. */
int tracedat_take_text(struct tracedat_cursor *in, char *to, size_t size, struct uft_err *err);

/* Exactly the @len bytes of @word. */
int tracedat_take_word(struct tracedat_cursor *in, const void *word, size_t len,
		       struct uft_err *err);

#endif
