/* Numbers and times in columns (doc/facts/text.md, "Numbers and times"), without printf. */
#ifndef UTRAIL_VIEW_NUMBER_H
#define UTRAIL_VIEW_NUMBER_H

#include <stdint.h>

#include "utils/base/color.h"

/* All write to @to without a NUL and return the end. */

/* Right-aligned in @width columns; more when it is longer. At most 20 digits. */
char *put_dec(char *to, uint64_t v, unsigned width);
char *put_hex(char *to, uint64_t v, unsigned width);

#define TIME_WIDTH     10
/* The widest put_time() with colours of HTML. */
#define TIME_MAX_BYTES 80

/* "  1.234 us": a duration with its unit in TIME_WIDTH columns; zero is blank. */
char *put_time(char *to, uint64_t ns);
/* The same, with the unit in its colour. */
char *put_time_color(char *to, uint64_t ns, enum color_mode mode);

#define TIMESTAMP_WIDTH 18

/* "    1234.567890123": seconds in TIMESTAMP_WIDTH columns. */
char *put_timestamp(char *to, uint64_t ns);

/* Microseconds of a part of a second in ns, as "uuuuuu.nnn"; writes two bytes more. */
char *put_millionths(char *to, uint32_t ns);
/* "." and three digits; writes a byte more. */
char *put_thousandths(char *to, uint32_t v);

#endif
