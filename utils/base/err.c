/* Error text on its way up (see err.h). */
#include "utils/base/err.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

int err_set(struct uft_err *err, int code, const char *fmt, ...)
{
	if (err && !err->code) {
		va_list ap;

		va_start(ap, fmt);
		vsnprintf(err->text, sizeof(err->text), fmt, ap);
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
		vsnprintf(err->text, sizeof(err->text), fmt, ap);
		va_end(ap);
		/* The GNU strerror_r() returns the text, which need not be in the buffer. */
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
	vsnprintf(err->text, sizeof(err->text), fmt, ap);
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
