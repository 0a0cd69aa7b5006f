/* A growing byte string: the output buffer of every text and binary encoder. */
#ifndef UTRAIL_BASE_STRBUF_H
#define UTRAIL_BASE_STRBUF_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "utils/base/cleanup.h"
#include "utils/base/compiler.h"

/*
 * Starts as { 0 } and ends with strbuf_deinit().
 *
 * @data: the bytes, then a NUL that @len does not count; NULL while no memory is allocated
 * @oom: an allocation has failed, and the text lacks a part; it is enough to check strbuf_oom() at
 *         the end
 */
struct strbuf {
	char *data;
	size_t len;
	size_t cap;
	bool oom;
};

void strbuf_deinit(struct strbuf *sb);
#define cleanup_strbuf cleanup(strbuf_deinit)

/* Make room for @extra more bytes and the NUL. Returns false when memory is short. */
bool strbuf_grow(struct strbuf *sb, size_t extra);

void strbuf_add(struct strbuf *sb, const void *data, size_t len);
void strbuf_addstr(struct strbuf *sb, const char *str);
void strbuf_addchars(struct strbuf *sb, char c, size_t count);
void strbuf_addf(struct strbuf *sb, const char *fmt, ...) PRINTF_FORMAT(2, 3);
void strbuf_vaddf(struct strbuf *sb, const char *fmt, va_list ap) PRINTF_FORMAT(2, 0);

/* Append @v in decimal. Views append numbers in each line, so this function must be fast. */
void strbuf_addu64(struct strbuf *sb, uint64_t v);

static inline void strbuf_addch(struct strbuf *sb, char c)
{
	if (unlikely(sb->cap - sb->len < 2) && !strbuf_grow(sb, 1))
		return;
	sb->data[sb->len++] = c;
	sb->data[sb->len] = '\0';
}

/* Empty the buffer and keep its memory for the next use. */
static inline void strbuf_reset(struct strbuf *sb)
{
	sb->len = 0;
	if (sb->data)
		sb->data[0] = '\0';
}

/*
 * Keep the first @len bytes. A buffer with fewer bytes does not change. After an append
 * has failed, the buffer may have fewer bytes than the caller expects.
 */
static inline void strbuf_cut(struct strbuf *sb, size_t len)
{
	if (len >= sb->len)
		return;
	sb->len = len;
	sb->data[len] = '\0';
}

/*
 * A list of strings in a buffer, each with its NUL. If @at is NULL, strbuf_list_next() returns the
 * first string. Otherwise the result is the string after @at, or NULL at the end.
 */
void strbuf_list_add(struct strbuf *list, const char *str);
const char *strbuf_list_next(const struct strbuf *list, const char *at);
bool strbuf_list_has(const struct strbuf *list, const char *str);

#define strbuf_list_each(list, at) for (const char *at = NULL; (at = strbuf_list_next(list, at));)

/* Returns the text, "" when empty; valid until the next change. */
static inline const char *strbuf_str(const struct strbuf *sb)
{
	return sb->data ? sb->data : "";
}

static inline bool strbuf_oom(const struct strbuf *sb)
{
	return sb->oom;
}

#endif
