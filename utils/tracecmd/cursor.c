/* A position in a trace.dat (see cursor.h). */
#include "utils/tracecmd/cursor.h"

#include <errno.h>
#include <stdio.h>

#include "utils/base/compiler.h"
#include "utils/base/fd.h"
#include "utils/format/bytes.h"

#define WORD_MAX 16

struct tracedat_place tracedat_cursor_place(const struct tracedat_cursor *in)
{
	unsigned long long at = in->at;
	struct tracedat_place place;

	if (in->bytes)
		snprintf(place.text, sizeof(place.text), "%llu in what is packed at offset %llu",
			 at, (unsigned long long)in->start);
	else
		snprintf(place.text, sizeof(place.text), "offset %llu", at);
	return place;
}

/*
 * Read @len bytes and do not advance. Returns the number of bytes read, or a negative errno. The
 * number is less than @len when fewer than @len bytes are left.
 */
static ssize_t peek_bytes(const struct tracedat_cursor *in, void *to, size_t len)
{
	len = MIN((uint64_t)len, tracedat_cursor_left(in));
	if (!in->bytes)
		return fd_pread_full(in->fd, to, len, in->at);
	if (len)
		memcpy(to, in->bytes + in->at, len);
	return len;
}

int tracedat_take(struct tracedat_cursor *in, void *to, size_t len, struct uft_err *err)
{
	ssize_t got = peek_bytes(in, to, len);

	if (got < 0)
		return err_set_errno(err, got, "%s", tracedat_cursor_place(in).text);
	if ((size_t)got < len)
		return err_set(err, -EBADMSG, "%s: it ends there", tracedat_cursor_place(in).text);
	in->at += len;
	return 0;
}

int tracedat_take_u16(struct tracedat_cursor *in, uint16_t *value, struct uft_err *err)
{
	uint8_t bytes[sizeof(*value)];
	int ret = tracedat_take(in, bytes, sizeof(bytes), err);

	if (ret == 0)
		*value = get_u16(bytes, in->is_big_endian);
	return ret;
}

int tracedat_take_u32(struct tracedat_cursor *in, uint32_t *value, struct uft_err *err)
{
	uint8_t bytes[sizeof(*value)];
	int ret = tracedat_take(in, bytes, sizeof(bytes), err);

	if (ret == 0)
		*value = get_u32(bytes, in->is_big_endian);
	return ret;
}

int tracedat_take_u64(struct tracedat_cursor *in, uint64_t *value, struct uft_err *err)
{
	uint8_t bytes[sizeof(*value)];
	int ret = tracedat_take(in, bytes, sizeof(bytes), err);

	if (ret == 0)
		*value = get_u64(bytes, in->is_big_endian);
	return ret;
}

int tracedat_take_blob(struct tracedat_cursor *in, uint64_t len, size_t max, struct strbuf *to,
		       struct uft_err *err)
{
	if (len > tracedat_cursor_left(in))
		return err_set(err, -EBADMSG, "%s: %llu bytes are to follow, there are %llu",
			       tracedat_cursor_place(in).text, (unsigned long long)len,
			       (unsigned long long)tracedat_cursor_left(in));
	if (len > max - MIN(max, to->len))
		return err_set(err, -EFBIG, "%s: %llu bytes are more than the %zu that are allowed",
			       tracedat_cursor_place(in).text, (unsigned long long)len + to->len,
			       max);
	if (!strbuf_grow(to, len))
		return err_set_errno(err, -ENOMEM, "%s", tracedat_cursor_place(in).text);

	int ret = tracedat_take(in, to->data + to->len, len, err);

	to->len += ret == 0 ? len : 0;
	to->data[to->len] = '\0';
	return ret;
}

int tracedat_take_text(struct tracedat_cursor *in, char *to, size_t size, struct uft_err *err)
{
	ssize_t got = peek_bytes(in, to, size);

	if (got < 0)
		return err_set_errno(err, got, "%s", tracedat_cursor_place(in).text);

	size_t len = strnlen(to, got);

	if (len == (size_t)got)
		return err_set(err, -EBADMSG, "%s: expected a text of less than %zu bytes",
			       tracedat_cursor_place(in).text, size);
	in->at += len + 1;
	return 0;
}

int tracedat_take_word(struct tracedat_cursor *in, const void *word, size_t len,
		       struct uft_err *err)
{
	uint8_t bytes[WORD_MAX];
	ssize_t got = peek_bytes(in, bytes, MIN(len, sizeof(bytes)));

	if (got < 0)
		return err_set_errno(err, got, "%s", tracedat_cursor_place(in).text);
	if ((size_t)got != len || memcmp(bytes, word, len) != 0)
		return err_set(err, -EBADMSG, "%s: expected '%.*s'", tracedat_cursor_place(in).text,
			       (int)strnlen(word, len), (const char *)word);
	in->at += len;
	return 0;
}
