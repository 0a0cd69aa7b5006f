/*
 * A position in a trace.dat, or in an unpacked section of a trace.dat. The functions that take
 * bytes at this position fail if too few bytes are left.
 */
#ifndef UTRAIL_TRACECMD_CURSOR_H
#define UTRAIL_TRACECMD_CURSOR_H

#include <stdbool.h>
#include <stdint.h>

#include "utils/base/err.h"
#include "utils/base/containers/strbuf.h"

/*
 * The bytes from offset @at up to, but not including, offset @end are unread. The offsets count
 * from @bytes, or from the beginning of the file @fd if @bytes is NULL.
 *
 * @bytes: an unpacked section; NULL: the bytes are read from the file
 * @start: for messages: the offset in the file at which the packed (compressed) section begins
 */
struct tracedat_cursor {
	int fd;
	const uint8_t *bytes;
	uint64_t start;
	uint64_t at;
	uint64_t end;
	bool is_big_endian;
};

/* The position as text for messages: "offset 17", or "17 in what is packed at offset 4000". */
struct tracedat_place {
	char text[80];
};
struct tracedat_place tracedat_cursor_place(const struct tracedat_cursor *in);

static inline uint64_t tracedat_cursor_left(const struct tracedat_cursor *in)
{
	return in->end - in->at;
}

/*
 * Read @len bytes, or a number. Returns 0, -EBADMSG when too few bytes are unread, or a negative
 * errno of pread(2). After a failure, @err contains the position, and a number is unchanged.
 */
int tracedat_take(struct tracedat_cursor *in, void *to, size_t len, struct uft_err *err);
int tracedat_take_u16(struct tracedat_cursor *in, uint16_t *value, struct uft_err *err);
int tracedat_take_u32(struct tracedat_cursor *in, uint32_t *value, struct uft_err *err);
int tracedat_take_u64(struct tracedat_cursor *in, uint64_t *value, struct uft_err *err);

/*
 * Append @len bytes to @to. Returns 0, -EFBIG when @to would have more than @max bytes, -ENOMEM, or
 * an error of tracedat_take().
 */
int tracedat_take_blob(struct tracedat_cursor *in, uint64_t len, size_t max, struct strbuf *to,
		       struct uft_err *err);

/* Read a text with its NUL into @to, which has @size bytes. */
int tracedat_take_text(struct tracedat_cursor *in, char *to, size_t size, struct uft_err *err);

/*
 * Skip @len bytes, which must be equal to @word. Returns 0 on success, or a negative errno of
 * pread(2). Returns -EBADMSG when the bytes differ from @word or fewer than @len bytes are unread.
 * After a failure, @err contains the position.
 */
int tracedat_take_word(struct tracedat_cursor *in, const void *word, size_t len,
		       struct uft_err *err);

#endif
