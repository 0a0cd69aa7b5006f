/* Errors as a number and a text (see err.h). */
#include "utils/base/err.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

/*
 * Writes the formatted text to @err as one line, with control characters as \xNN. This function is
 * part of the probe, so the function should stay small. The command that prints the text escapes
 * the other hidden characters (escape.h).
 */
static void put_text(struct uft_err *err, const char *fmt, va_list ap)
{
	static const char hex[] = "0123456789abcdef";
	char text[ERR_TEXT_MAX];
	char *to = err->text;
	const char *end = err->text + sizeof(err->text) - 1;

	vsnprintf(text, sizeof(text), fmt, ap);
	for (const char *from = text; *from && to < end; from++) {
		unsigned char c = *from;

		if (c >= ' ' && c != 0x7f) {
			*to++ = c;
			continue;
		}
		if (end - to < (ptrdiff_t)strlen("\\xNN"))
			break;
		*to++ = '\\';
		*to++ = 'x';
		*to++ = hex[c >> 4];
		*to++ = hex[c & 15];
	}
	*to = '\0';
}

int err_set(struct uft_err *err, int code, const char *fmt, ...)
{
	if (err && !err->code) {
		va_list ap;

		va_start(ap, fmt);
		put_text(err, fmt, ap);
		va_end(ap);
		err->code = code;
	}
	return code;
}

int err_set_errno(struct uft_err *err, int code, const char *fmt, ...)
{
	if (err && !err->code) {
		char reason[128];
		va_list ap;

		va_start(ap, fmt);
		put_text(err, fmt, ap);
		va_end(ap);
		/* GNU strerror_r() may return a text outside of @reason. */
		const char *text = strerror_r(-code, reason, sizeof(reason));
		size_t used = strlen(err->text);

		snprintf(err->text + used, sizeof(err->text) - used, ": %s", text);
		err->code = code;
	}
	return code;
}

void err_prefix(struct uft_err *err, const char *fmt, ...)
{
	if (!err || !err->code)
		return;

	char inner[ERR_TEXT_MAX];
	va_list ap;

	memcpy(inner, err->text, sizeof(inner));
	va_start(ap, fmt);
	put_text(err, fmt, ap);
	va_end(ap);

	size_t used = strlen(err->text);

	snprintf(err->text + used, sizeof(err->text) - used, ": %s", inner);
}

void err_clear(struct uft_err *err)
{
	if (err) {
		err->code = 0;
		err->text[0] = '\0';
	}
}
