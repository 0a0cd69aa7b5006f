/*
 * Functions of Python. These functions have no addresses, so a record has the number of a function
 * in place of an address. In maps, these functions have a module of their own, at an address that
 * no program can use.
 */
#ifndef UTRAIL_FORMAT_CALLABLES_H
#define UTRAIL_FORMAT_CALLABLES_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/*
 * The name of the artificial module for Python functions. The recording's maps contain this name,
 * and the name of the module's symbol file begins with this name. uftrace uses the same name.
 */
#define CALLABLES_MODULE "python.fake"

/*
 * Each function has a number from 1 to CALLABLES_END - 1. CALLABLES_END is the lowest load address
 * of programs. The module CALLABLES_MODULE begins at address 0, so the number of a function is also
 * the function's relative address.
 */
#define CALLABLES_END 0x400000UL

/* The maximum number of recorded arguments of a function. */
#define CALLABLE_ARGS_MAX 36U

/* Bits for the recorded values of a function. Bit N is for argument N, counted from 1. */
#define CALLABLE_RESULT	    (1ULL << 0)
#define CALLABLE_VALUE_BITS (CALLABLE_ARGS_MAX + 1)

/*
 * Parse the text of a value as a number: an int of 64 bits, True (1) or False (0). Returns false
 * for other texts.
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
 * Compare @integer exactly with a double that has the bits @bits. The double must not be a NaN.
 * Returns a negative number, 0, or a positive number. The probe has no floating-point arithmetic.
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

	/*
	 * The double is at least 2^63, or at most -2^63. Among such doubles, only -2^63 is an
	 * int64_t.
	 */
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

/* CPython 3.9 to 3.13 are supported; their files are named python3.9, libpython3.9.so.1.0, ... */
#define PYTHON_MINOR_FIRST 9
#define PYTHON_MINOR_LAST  13

/*
 * True for names like "python" and "/usr/bin/python3.11", and for names of debug builds, like
 * "python3.11d" and "python3-dbg".
 */
static inline bool python_is_name(const char *path)
{
	const char *slash = strrchr(path, '/');
	const char *name = slash ? slash + 1 : path;
	const char *end;

	if (strncmp(name, "python", 6) != 0)
		return false;
	/*
	 * strspn(3) is not used, because the probe, which uses this function, may call only a few
	 * functions of libc.
	 */
	end = name + 6;
	while ((*end >= '0' && *end <= '9') || *end == '.')
		end++;
	return !*end || strcmp(end, "d") == 0 || strcmp(end, "-dbg") == 0;
}

/* True when @path names a library with Python's interpreter: "/usr/lib/libpython3.11.so.1.0". */
static inline bool python_is_library(const char *path)
{
	const char *slash = strrchr(path, '/');

	return strncmp(slash ? slash + 1 : path, "libpython3.", 11) == 0;
}

#endif
