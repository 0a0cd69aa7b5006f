/* Conditions of triggers (`if:`) on a call's arguments and return value. */
#ifndef UTRAIL_SPEC_COND_H
#define UTRAIL_SPEC_COND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "utils/spec/regex/pattern.h"

enum cond_subject {
	COND_ARG,   /* argN: integer or string; a float if the format is f */
	COND_FPARG, /* fpargN */
	COND_RETVAL,
};

enum cond_type {
	COND_INT,
	COND_FLOAT,
	COND_STRING,
};

enum cond_op {
	COND_EQ,
	COND_NE,
	COND_GT,
	COND_GE,
	COND_LT,
	COND_LE,
	COND_AND,    /* & : the bitwise AND is not 0; integers only */
	COND_PREFIX, /* ^= : begins with; strings only */
	COND_MATCH,  /* =~ : POSIX extended regular expression; strings only */
};

/*
 * One comparison.
 *
 * @index: number of the argument, counted from 1; 0 for retval
 * @bytes: size of the compared number: 1, 2, 4 or 8; 10 for a float of 80 bits
 * @is_signed: the compared integer is signed
 * @number, @real, @text: the value to compare with; the type COND_INT, COND_FLOAT or
 *         COND_STRING tells which of them is used
 * @is_object: the argument of a COND_STRING is a std::string (/S)
 * @starts_alternative: the comparison is the first one after `||`
 */
struct cond_term {
	enum cond_subject subject;
	unsigned index;
	enum cond_type type;
	unsigned bytes;
	bool is_signed;
	enum cond_op op;
	int64_t number;
	double real;
	struct pattern text;
	bool is_object;
	bool starts_alternative;
};

/*
 * A condition: TERM { (`&&` | `||`) TERM } (doc/facts/language.md, "Actions"). `&&` binds more
 * tightly than `||`. TERM is (`argN` | `fpargN` | `retval`) [`/` format] operator (integer | float
 * | "string").
 *
 * Formats of integers are d i u x o p c, optionally with a number of bits: 8, 16, 32 or 64. The
 * format of floats is f, optionally with 32, 64 or 80. Formats of strings are s and S. In uftrace,
 * a condition is one comparison of an integer.
 */
struct cond {
	struct cond_term *terms;
	size_t nr;
};

/*
 * Parse the @len bytes at @text, which follow `if:`. Returns 0, -ENOMEM, or -ERR_USAGE. *@wrong_at
 * gets the offset of the error in @text.
 */
int cond_parse(const char *text, size_t len, struct cond *cond, size_t *wrong_at,
	       struct uft_err *err);
void cond_deinit(struct cond *cond);

/* The value of an argument or a result. Strings need no NUL. */
struct cond_value {
	enum cond_type type;
	uint64_t number; /* COND_INT: the register; only its lowest cond_term.bytes bytes count */
	double real;
	const char *text;
	size_t text_len;
};

/* True when @term holds for @value, which must have the type of @term. */
bool cond_term_holds(const struct cond_term *term, const struct cond_value *value);

#endif
