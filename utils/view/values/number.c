/* Numbers and times in columns (see number.h). */
#include "utils/view/values/number.h"

#include <string.h>

#include "utils/base/cleanup.h"
#include "utils/base/compiler.h"

char *put_dec(char *to, uint64_t v, unsigned width)
{
	char digits[20];
	unsigned at = sizeof(digits);

	do {
		digits[--at] = '0' + v % 10;
		v /= 10;
	} while (v);
	for (unsigned len = sizeof(digits) - at; len < width; len++)
		*to++ = ' ';
	memcpy(to, digits + at, sizeof(digits) - at);
	return to + sizeof(digits) - at;
}

char *put_hex(char *to, uint64_t v, unsigned width)
{
	char digits[16];
	unsigned at = sizeof(digits);

	do {
		digits[--at] = "0123456789abcdef"[v & 15];
		v >>= 4;
	} while (v);
	for (unsigned len = sizeof(digits) - at; len < width; len++)
		*to++ = ' ';
	memcpy(to, digits + at, sizeof(digits) - at);
	return to + sizeof(digits) - at;
}

/*
 * In a text such as "1.234 ms", the number after the point counts the next smaller unit: 234 us. In
 * this table, an hour has only 24 minutes. uftrace has the same error, and our texts must be the
 * same as those of uftrace.
 */
static const struct time_unit {
	uint32_t divider; /* the length of this unit in the next smaller unit */
	uint32_t limit;	  /* from this value on, the next larger unit is used */
	char text[2];
	int color; /* enum color, or -1 */
} time_units[] = {
	{ 1000, 1000, { 'u', 's' }, -1 },
	{ 1000, 1000, { 'm', 's' }, COLOR_GREEN },
	{ 1000, 60, { ' ', 's' }, COLOR_YELLOW },
	{ 60, 24, { ' ', 'm' }, COLOR_RED },
	{ 24, UINT32_MAX, { ' ', 'h' }, COLOR_RED },
};

/* D3() makes the 1000 texts of a table: "  0." to "999.", or "000 " to "999 ". */
#define D1(f, h, t)                                                                             \
	f(h, t, 0) f(h, t, 1) f(h, t, 2) f(h, t, 3) f(h, t, 4) f(h, t, 5) f(h, t, 6) f(h, t, 7) \
		f(h, t, 8) f(h, t, 9)
#define D2(f, h)    \
	D1(f, h, 0) \
	D1(f, h, 1) \
	D1(f, h, 2) \
	D1(f, h, 3) D1(f, h, 4) D1(f, h, 5) D1(f, h, 6) D1(f, h, 7) D1(f, h, 8) D1(f, h, 9)
#define D3(f) \
	D2(f, 0) D2(f, 1) D2(f, 2) D2(f, 3) D2(f, 4) D2(f, 5) D2(f, 6) D2(f, 7) D2(f, 8) D2(f, 9)
#define WITH_BLANKS(h, t, o) { h ? '0' + h : ' ', h || t ? '0' + t : ' ', '0' + o, '.' },
#define WITH_ZEROS(h, t, o)  { '0' + h, '0' + t, '0' + o, ' ' },

static const char before_point[1000][4] = { D3(WITH_BLANKS) };
static const char behind_point[1000][4] = { D3(WITH_ZEROS) };

/* Write "iii.fff ". Returns the unit. */
static const struct time_unit *put_value(char *to, uint64_t ns)
{
	const struct time_unit *unit = time_units;
	uint64_t value = ns;
	uint32_t fraction;

	if (likely(ns < 1000000)) {
		value = (uint32_t)ns / 1000;
		fraction = (uint32_t)ns % 1000;
	} else {
		for (;; unit++) {
			fraction = value % unit->divider;
			value /= unit->divider;
			if (value < unit->limit)
				break;
		}
		if (value > 999) {
			value = 999;
			fraction = 999;
		}
	}
	memcpy(to, before_point[value], 4);
	memcpy(to + 4, behind_point[fraction], 4);
	return unit;
}

char *put_time(char *to, uint64_t ns)
{
	if (unlikely(ns == 0)) {
		memset(to, ' ', TIME_WIDTH);
		return to + TIME_WIDTH;
	}

	const struct time_unit *unit = put_value(to, ns);

	memcpy(to + 8, unit->text, 2);
	return to + TIME_WIDTH;
}

char *put_time_color(char *to, uint64_t ns, enum color_mode mode)
{
	if (mode == COLOR_MODE_OFF || ns == 0)
		return put_time(to, ns);

	const struct time_unit *unit = put_value(to, ns);

	if (unit->color < 0) {
		memcpy(to + 8, unit->text, 2);
		return to + TIME_WIDTH;
	}

	struct strbuf text cleanup_strbuf = { 0 };

	color_begin(&text, mode, unit->color);
	strbuf_add(&text, unit->text, sizeof(unit->text));
	color_end(&text, mode);
	memcpy(to + 8, strbuf_str(&text), MIN(text.len, (size_t)TIME_MAX_BYTES - 8));
	return to + 8 + MIN(text.len, (size_t)TIME_MAX_BYTES - 8);
}

char *put_timestamp(char *to, uint64_t ns)
{
	uint32_t rest = ns % 1000000000;

	to = put_dec(to, ns / 1000000000, TIMESTAMP_WIDTH - 10);
	*to = '.';
	for (int i = 9; i > 0; i--) {
		to[i] = '0' + rest % 10;
		rest /= 10;
	}
	return to + 10;
}

char *put_thousandths(char *to, uint32_t v)
{
	*to = '.';
	memcpy(to + 1, behind_point[v], 4);
	return to + 4;
}

char *put_millionths(char *to, uint32_t ns)
{
	memcpy(to, behind_point[ns / 1000000], 4);
	memcpy(to + 3, behind_point[ns / 1000 % 1000], 4);
	return put_thousandths(to + 6, ns % 1000);
}
