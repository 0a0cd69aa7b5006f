/* Writes numbers and times in columns of text (doc/facts/text.md, "Numbers and times"). */
#ifndef UTRAIL_VIEW_NUMBER_H
#define UTRAIL_VIEW_NUMBER_H

#include <stdint.h>

#include "utils/base/color.h"

/*
 * All functions here write text to @to, without a NUL, and return the address after the text.
 */

/* Write a number right-aligned in @width columns. A longer number takes up to 20 columns. */
char *put_dec(char *to, uint64_t v, unsigned width);
char *put_hex(char *to, uint64_t v, unsigned width);

#define TIME_WIDTH     10
/* The maximum number of bytes that put_time_color() writes, including HTML tags for the colour. */
#define TIME_MAX_BYTES 80

/* Write a duration as "  1.234 us", with its unit, in TIME_WIDTH columns. Zero is blank. */
char *put_time(char *to, uint64_t ns);
/* Like put_time(), but with a coloured unit. */
char *put_time_color(char *to, uint64_t ns, enum color_mode mode);

#define TIMESTAMP_WIDTH 18

/*
 * Write @ns as seconds, in TIMESTAMP_WIDTH columns: "    1234.567890123". A time of 10^8 seconds or
 * more takes more columns.
 */
char *put_timestamp(char *to, uint64_t ns);

/*
 * Write @ns, which is less than a second, as microseconds: "uuuuuu.nnn". The byte after this text
 * is overwritten.
 */
char *put_millionths(char *to, uint32_t ns);
/* Write "." and three digits. The byte after the digits is overwritten. */
char *put_thousandths(char *to, uint32_t v);

#endif
