/* Text in UTF-8. */
#ifndef UTRAIL_BASE_UTF8_H
#define UTRAIL_BASE_UTF8_H

#include "utils/base/containers/strbuf.h"

/* Append the character with code point @c, which is below 0x110000. */
static inline void utf8_put(struct strbuf *out, uint32_t c)
{
	if (c < 0x80) {
		strbuf_addch(out, (char)c);
		return;
	}
	if (c < 0x800) {
		strbuf_addch(out, (char)(0xc0 | c >> 6));
	} else {
		if (c < 0x10000) {
			strbuf_addch(out, (char)(0xe0 | c >> 12));
		} else {
			strbuf_addch(out, (char)(0xf0 | c >> 18));
			strbuf_addch(out, (char)(0x80 | (c >> 12 & 0x3f)));
		}
		strbuf_addch(out, (char)(0x80 | (c >> 6 & 0x3f)));
	}
	strbuf_addch(out, (char)(0x80 | (c & 0x3f)));
}

#endif
