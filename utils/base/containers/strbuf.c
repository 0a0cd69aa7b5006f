/* A growing byte string (see strbuf.h). */
#include "utils/base/containers/strbuf.h"

#include <stdio.h>
#include <stdlib.h>

void strbuf_deinit(struct strbuf *sb)
{
	free(sb->data);
	*sb = (struct strbuf){ 0 };
}

bool strbuf_grow(struct strbuf *sb, size_t extra)
{
	size_t need;

	if (sb->oom)
		return false;
	if (__builtin_add_overflow(sb->len, extra, &need) ||
	    __builtin_add_overflow(need, (size_t)1, &need)) {
		sb->oom = true;
		return false;
	}
	if (need <= sb->cap)
		return true;

	size_t cap = MAX(need, sb->cap + sb->cap / 2);
	char *data = realloc(sb->data, MAX(cap, (size_t)64));

	if (!data) {
		sb->oom = true;
		return false;
	}
	sb->data = data;
	sb->cap = MAX(cap, (size_t)64);
	return true;
}

void strbuf_add(struct strbuf *sb, const void *data, size_t len)
{
	if (!strbuf_grow(sb, len))
		return;
	if (len)
		memcpy(sb->data + sb->len, data, len);
	sb->len += len;
	sb->data[sb->len] = '\0';
}

void strbuf_addstr(struct strbuf *sb, const char *str)
{
	strbuf_add(sb, str, strlen(str));
}

void strbuf_addchars(struct strbuf *sb, char c, size_t count)
{
	if (!strbuf_grow(sb, count))
		return;
	memset(sb->data + sb->len, c, count);
	sb->len += count;
	sb->data[sb->len] = '\0';
}

void strbuf_vaddf(struct strbuf *sb, const char *fmt, va_list ap)
{
	va_list again;

	va_copy(again, ap);
	if (strbuf_grow(sb, 64)) {
		size_t room = sb->cap - sb->len;
		int len = vsnprintf(sb->data + sb->len, room, fmt, ap);

		if (len >= 0 && (size_t)len >= room && strbuf_grow(sb, len))
			vsnprintf(sb->data + sb->len, len + 1, fmt, again);
		if (len >= 0 && !sb->oom)
			sb->len += len;
		sb->data[sb->len] = '\0';
	}
	va_end(again);
}

void strbuf_addf(struct strbuf *sb, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	strbuf_vaddf(sb, fmt, ap);
	va_end(ap);
}

void strbuf_addu64(struct strbuf *sb, uint64_t v)
{
	char digits[20];
	size_t at = sizeof(digits);

	do {
		digits[--at] = '0' + v % 10;
		v /= 10;
	} while (v);
	strbuf_add(sb, digits + at, sizeof(digits) - at);
}

void strbuf_list_add(struct strbuf *list, const char *str)
{
	strbuf_add(list, str, strlen(str) + 1);
}

const char *strbuf_list_next(const struct strbuf *list, const char *at)
{
	at = at ? at + strlen(at) + 1 : list->data;
	return at && at < list->data + list->len ? at : NULL;
}

bool strbuf_list_has(const struct strbuf *list, const char *str)
{
	strbuf_list_each (list, at) {
		if (strcmp(at, str) == 0)
			return true;
	}
	return false;
}
