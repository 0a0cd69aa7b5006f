/*
 * Functions of a language without addresses, Python: in records they have numbers instead of
 * addresses. In maps they have a module of their own, at a place that no program can use.
 */
#ifndef UTRAIL_FORMAT_CALLABLES_H
#define UTRAIL_FORMAT_CALLABLES_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* The module's name in maps and of its symbol file, as uftrace has it. */
#define CALLABLES_MODULE "python.fake"

/*
 * Numbers are from 1 up to this one, the load address of programs that are not position
 * independent. The module starts at 0, so that numbers are addresses, too.
 */
#define CALLABLES_END 0x400000UL

/* The maximum of recorded arguments of a function. */
#define CALLABLE_ARGS_MAX 36U

/* The recorded values of a function, in bits: bit N is for argument N, from 1 on. */
#define CALLABLE_RESULT	    (1ULL << 0)
#define CALLABLE_VALUE_BITS (CALLABLE_ARGS_MAX + 1)

/*
 * The number that the text of a value is: of an int of 64 bits, or of True and False. False: it is
 * none.
 */
static inline bool callable_text_number(const char *text, size_t len, int64_t *number)
{
	bool is_negative = len && *text == '-';
	uint64_t limit = INT64_MAX + (uint64_t)is_negative;
	uint64_t value = 0;
	size_t at = is_negative;

	if ((len == 4 && memcmp(text, "True", 4) == 0) ||
	    (len == 5 && memcmp(text, "False", 5) == 0)) {
		*number = len == 4;
		return true;
	}
	for (; at < len && text[at] >= '0' && text[at] <= '9'; at++) {
		unsigned digit = text[at] - '0';

		if (value > (limit - digit) / 10)
			return false;
		value = value * 10 + digit;
	}
	*number = is_negative ? -value : value;
	return at == len && len > is_negative;
}

/*
 * Less than 0, 0 or more: an integer is compared with a number that is no NaN, whose bits as a
 * double are @bits. There is no floating point arithmetic in the probe, and none that is exact
 * elsewhere.
 */
static inline int callable_compare(int64_t integer, uint64_t bits)
{
	bool is_negative = bits >> 63;
	int shift = (int)(bits >> 52 & 0x7ff) - 1075;
	uint64_t mantissa = (bits & ((1ULL << 52) - 1)) | 1ULL << 52;
	uint64_t whole = shift > 0     ? mantissa << (shift & 63)
			 : shift > -53 ? mantissa >> -shift
				       : 0;
	bool has_more = shift > -53 ? shift < 0 && mantissa << (64 + shift) : bits << 1;
	int64_t near;

	/* From 2^63 on all numbers are beyond integers, but -2^63. */
	if (shift >= 11) {
		if (is_negative && shift == 11 && whole == 1ULL << 63)
			return integer > INT64_MIN;
		return is_negative ? 1 : -1;
	}
	near = is_negative ? -(int64_t)whole : (int64_t)whole;
	if (integer != near)
		return integer > near ? 1 : -1;
	return has_more ? (is_negative ? 1 : -1) : 0;
}

/* Supported are CPython 3.9 to 3.13: the files are named python3.9, libpython3.9.so.1.0, ... */
#define PYTHON_MINOR_FIRST 9
#define PYTHON_MINOR_LAST  13

/* True for "python", "/usr/bin/python3.11"; debug builds are "python3.11d", "python3-dbg". */
static inline bool python_is_name(const char *path)
{
	const char *slash = strrchr(path, '/');
	const char *name = slash ? slash + 1 : path;
	const char *end;

	if (strncmp(name, "python", 6) != 0)
		return false;
	/* Not strspn(3): the probe, which asks this too, calls a short list of libc's functions. */
	end = name + 6;
	while ((*end >= '0' && *end <= '9') || *end == '.')
		end++;
	return !*end || strcmp(end, "d") == 0 || strcmp(end, "-dbg") == 0;
}

/* True for "/usr/lib/libpython3.11.so.1.0": the interpreter where it is a library. */
static inline bool python_is_library(const char *path)
{
	const char *slash = strrchr(path, '/');

	return strncmp(slash ? slash + 1 : path, "libpython3.", 11) == 0;
}

#endif
