/* The payloads after ENTRY and EXIT records (doc/formats/records.md, "Payloads"). */
#ifndef UTRAIL_FORMAT_ARGBLOB_H
#define UTRAIL_FORMAT_ARGBLOB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * A payload has its values in the order of the function's specification. Each value is padded to
 * ARGBLOB_ALIGN bytes, and the payload to ARGBLOB_TOTAL_ALIGN.
 */
#define ARGBLOB_ALIGN	    4U
#define ARGBLOB_TOTAL_ALIGN 8U
#define ARGBLOB_MAX_BYTES   1024U /* size of a whole payload with padding */

/*
 * The format of a value in recordings and in views. The letter in brackets denotes the format in
 * specifications.
 */
enum arg_format {
	ARG_AUTO,	/* (d) decimal; large numbers are shown in hexadecimal */
	ARG_SIGNED,	/* (i) */
	ARG_UNSIGNED,	/* (u) */
	ARG_HEX,	/* (x) */
	ARG_OCTAL,	/* (o) */
	ARG_STRING,	/* (s) a C string */
	ARG_CHAR,	/* (c) */
	ARG_FLOAT,	/* (f) */
	ARG_STD_STRING, /* (S) a std::string */
	ARG_POINTER,	/* (p) */
	ARG_ENUM,	/* (e) */
	ARG_STRUCT,	/* (t) by value */
};

/*
 * @size: the size of the value in bytes. For a string, the size of a pointer, although the text is
 *        recorded, and not the pointer
 */
struct arg_type {
	uint8_t format; /* enum arg_format */
	uint16_t size;
};

/*
 * A string is stored as its length in 16 bits, then its bytes without NUL. At most
 * ARGBLOB_STRING_MAX bytes are stored. If a C string or std::string has ARGBLOB_STRING_MAX bytes or
 * more, ARGBLOB_STRING_CUT replaces the last stored bytes. But in the content of a container
 * (CAPTURE_BOX in capture.h), a string of exactly ARGBLOB_STRING_MAX bytes is stored unchanged. The
 * pointer NULL is stored as ARGBLOB_NULL, which is not valid text.
 *
 * The probe makes texts of Python's values. If a text is longer than its limit, the text is cut,
 * and ends in ARGBLOB_STRING_CUT. The limit is ARGBLOB_STRING_MAX, or less if many arguments of the
 * call are recorded. A text that is cut may be a few bytes shorter than its limit.
 */
#define ARGBLOB_STRING_MAX 98U
#define ARGBLOB_STRING_CUT "..."
#define ARGBLOB_NULL	   "\xff\xff\xff\xff"
#define ARGBLOB_NULL_LEN   4U

/* One value in a payload. For a string, @data begins after the two bytes that hold the length. */
struct arg_value {
	const uint8_t *data;
	size_t len;
};

static inline bool arg_format_is_string(enum arg_format format)
{
	return format == ARG_STRING || format == ARG_STD_STRING;
}

static inline bool arg_value_is_null(const struct arg_value *value)
{
	return value->len == ARGBLOB_NULL_LEN &&
	       __builtin_memcmp(value->data, ARGBLOB_NULL, ARGBLOB_NULL_LEN) == 0;
}

/*
 * Returns the number of bytes that a value has in a payload, with its padding. A string is counted
 * as if it were empty.
 */
static inline uint32_t argblob_value_bytes(struct arg_type type)
{
	uint32_t bytes = arg_format_is_string(type.format) ? sizeof(uint16_t) : type.size;

	return (bytes + ARGBLOB_ALIGN - 1) & ~(ARGBLOB_ALIGN - 1);
}

/*
 * Parse the value of @type at the offset @at of the payload [@blob, @blob + @len).
 *
 * @big: the recording is big-endian
 *
 * Returns the offset of the next value, or -1 if the value is incomplete.
 */
ssize_t argblob_next(const uint8_t *blob, size_t len, size_t at, struct arg_type type, bool big,
		     struct arg_value *value);

#endif
