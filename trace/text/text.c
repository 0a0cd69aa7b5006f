/* Values as text: numbers, strings, times. */
#include "text/text.h"

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

/* The longest text. A greater length can only be the result of an error. */
#define TEXT_MAX ((size_t)1 << 30)

void fst_text_init(struct fst_text *text)
{
	text->base = text->local;
	text->len = 0;
	text->room = sizeof(text->local);
	text->is_fixed = false;
	text->has_failed = false;
}

void fst_text_free(struct fst_text *text)
{
	if (text->base != text->local && !text->is_fixed)
		munmap(text->base, text->room);
}

/* Makes room for @more bytes. Signal handlers may call this function, so it avoids malloc(). */
static bool grow_text(struct fst_text *text, size_t more)
{
	size_t room = text->room < 16384 ? 16384 : text->room;

	if (text->has_failed || text->is_fixed || more > TEXT_MAX || text->len + more > TEXT_MAX) {
		text->has_failed = true;
		return false;
	}
	while (room < text->len + more)
		room *= 2;

	char *base = mmap(NULL, room, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (base == MAP_FAILED) {
		text->has_failed = true;
		return false;
	}
	memcpy(base, text->base, text->len);
	fst_text_free(text);
	text->base = base;
	text->room = room;
	return true;
}

static inline bool has_room(struct fst_text *text, size_t more)
{
	return text->room - text->len >= more || grow_text(text, more);
}

void fst_put(struct fst_text *text, const char *bytes, size_t len)
{
	if (!has_room(text, len))
		return;
	memcpy(text->base + text->len, bytes, len);
	text->len += len;
}

void fst_put_word(struct fst_text *text, const char *word)
{
	fst_put(text, word, strlen(word));
}

void fst_put_char(struct fst_text *text, char c)
{
	if (has_room(text, 1))
		text->base[text->len++] = c;
}

void fst_put_unsigned(struct fst_text *text, uint64_t value)
{
	char digits[20];
	size_t at = sizeof(digits);

	do {
		digits[--at] = '0' + value % 10;
		value /= 10;
	} while (value);
	fst_put(text, digits + at, sizeof(digits) - at);
}

void fst_put_signed(struct fst_text *text, int64_t value)
{
	if (value < 0)
		fst_put_char(text, '-');
	fst_put_unsigned(text, value < 0 ? -(uint64_t)value : (uint64_t)value);
}

static const char lower_digits[] = "0123456789abcdef";

void fst_put_hex(struct fst_text *text, uint64_t value)
{
	char digits[16];
	size_t at = sizeof(digits);

	do {
		digits[--at] = lower_digits[value & 15];
		value >>= 4;
	} while (value);
	fst_put(text, digits + at, sizeof(digits) - at);
}

void fst_put_double(struct fst_text *text, double value)
{
	char digits[64];
	int len = snprintf(digits, sizeof(digits), "%.17g", value);
	bool was_point = false;

	/* Bytes that are not in "0123456789+-aefin" are the decimal point of the locale. */
	for (int i = 0; i < len && i < (int)sizeof(digits); i++) {
		bool is_known = digits[i] != '.' && strchr("0123456789+-aefin", digits[i]);

		if (is_known)
			fst_put_char(text, digits[i]);
		else if (!was_point)
			fst_put_char(text, '.');
		was_point = !is_known;
	}
}

/* A bit is set for each byte that URL encoding leaves as it is. */
static const uint32_t literal_bytes[8] = {
	0, 0x53ffe004, /* " - . / 0-9 < > */
	0xd7fffffe,    /* A-Z \ ^ _ */
	0x7fffffff,    /* ` a-z { | } ~ */
};

static inline bool is_literal(unsigned char c)
{
	return literal_bytes[c / 32] >> (c % 32) & 1;
}

void fst_put_encoded(struct fst_text *text, const void *bytes, size_t len)
{
	static const char upper_digits[] = "0123456789ABCDEF";
	const unsigned char *from = bytes;

	for (size_t i = 0; i < len; i++) {
		if (!has_room(text, 3))
			return;

		char *to = text->base + text->len;

		if (is_literal(from[i]) || from[i] == ' ') {
			to[0] = from[i] == ' ' ? '+' : (char)from[i];
			text->len++;
		} else {
			to[0] = '%';
			to[1] = upper_digits[from[i] >> 4];
			to[2] = upper_digits[from[i] & 15];
			text->len += 3;
		}
	}
}

void fst_put_string(struct fst_text *text, const char *string)
{
	if (string)
		fst_put_encoded(text, string, strlen(string));
	else
		fst_put(text, "%00", 3);
}

void fst_put_octets(struct fst_text *text, const void *bytes, size_t len)
{
	const unsigned char *from = bytes;

	for (size_t i = 0; i < len; i++) {
		if (!has_room(text, 2))
			return;
		text->base[text->len++] = lower_digits[from[i] >> 4];
		text->base[text->len++] = lower_digits[from[i] & 15];
	}
}

void fst_put_errno(struct fst_text *text, int number)
{
	const char *name = fst_errno_name(number);

	if (name)
		fst_put_word(text, name);
	else
		fst_put_signed(text, number);
}

static char *put_digits(char *to, unsigned value, int width)
{
	for (int i = width - 1; i >= 0; i--) {
		to[i] = '0' + value % 10;
		value /= 10;
	}
	return to + width;
}

/*
 * Writes the date of day number @days. Day 0 is 1970-01-01. In this computation years begin in
 * March, so that a leap day is the last day of its year.
 */
static char *put_date(char *to, int64_t days)
{
	int64_t shifted = days + 719468;
	int64_t era = (shifted >= 0 ? shifted : shifted - 146096) / 146097;
	unsigned day_of_era = shifted - era * 146097;
	unsigned year =
		(day_of_era - day_of_era / 1460 + day_of_era / 36524 - day_of_era / 146096) / 365;
	unsigned day = day_of_era - (365 * year + year / 4 - year / 100);
	unsigned month = (5 * day + 2) / 153;

	to = put_digits(to, year + era * 400 + (month >= 10), 4);
	*to++ = '-';
	to = put_digits(to, month < 10 ? month + 3 : month - 9, 2);
	*to++ = '-';
	return put_digits(to, day - (153 * month + 2) / 5 + 1, 2);
}

/* gmtime_r() is not used, since it takes a lock. */
static void put_time(struct fst_text *text, int64_t seconds, unsigned us, char between)
{
	int64_t days = seconds / 86400;
	int64_t second = seconds % 86400;
	char line[32];

	if (second < 0) {
		second += 86400;
		days--;
	}

	char *to = put_date(line, days);

	*to++ = between;
	to = put_digits(to, second / 3600, 2);
	*to++ = ':';
	to = put_digits(to, second / 60 % 60, 2);
	*to++ = ':';
	to = put_digits(to, second % 60, 2);
	*to++ = '.';
	to = put_digits(to, us, 6);
	fst_put(text, line, to - line);
}

void fst_put_time(struct fst_text *text, const struct timespec *time, char between)
{
	put_time(text, time->tv_sec, time->tv_nsec / 1000, between);
}

void fst_put_time_us(struct fst_text *text, int64_t us, char between)
{
	int64_t seconds = us / 1000000 - (us % 1000000 < 0);

	put_time(text, seconds, us - seconds * 1000000, between);
}
