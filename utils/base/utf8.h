/* Text in UTF-8. */
#ifndef UTRAIL_BASE_UTF8_H
#define UTRAIL_BASE_UTF8_H

#include <stdint.h>

/* Write the character with code point @c, which is below 0x110000. Returns the number of bytes. */
static inline unsigned utf8_encode(char bytes[4], uint32_t c)
{
	static const uint8_t heads[] = { 0, 0, 0xc0, 0xe0, 0xf0 };
	unsigned nr = c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;

	for (unsigned i = nr; i-- > 1; c >>= 6)
		bytes[i] = (char)(0x80 | (c & 0x3f));
	bytes[0] = (char)(heads[nr] | c);
	return nr;
}

#endif
