/* Conditions of triggers, `if:`, on a call's arguments. */
#ifndef UTRAIL_SPEC_COND_H
#define UTRAIL_SPEC_COND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "utils/spec/regex/pattern.h"

/* The value that is compared. */
enum cond_subject {
	COND_ARG,   /* argN: integer argument, or string */
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
	COND_AND,    /* & : any of these bits is set; integers only */
	COND_PREFIX, /* ^= : begins with; strings only */
	COND_MATCH,  /* =~ : POSIX extended regular expression; strings only */
};

/*
 * One comparison.
 *
 * @index: number of the argument, from 1 on; 0 for retval
 * @bytes, @is_signed: size and sign of the compared integer: 1, 2, 4 or 8 bytes
 * @text: the string of a COND_STRING; on the heap
 * @is_object: the argument of a COND_STRING is a std::string (/S)
 * @starts_alternative: it is the first comparison after `||`
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
 * A condition: TERM { (`&&` | `||`) TERM }, where `&&` binds more tightly than `||`. TERM is
 * (`argN` | `fpargN` | `retval`) [`/` format] operator (integer | float | "string"). Formats: d i u
 * x o p c e, with 8, 16, 32 or 64, for integers; f, with 32, 64 or 80; s. uftrace knows conditions
 * of one integer comparison only (doc/facts/language.md, "Actions").
 */
struct cond {
	struct cond_term *terms;
	size_t nr;
};

/*
 * Parse the @len bytes at @text, which follow `if:`. -ERR_USAGE, and the offset of the error in
 * *@wrong_at; -ENOMEM.
 */
int cond_parse(const char *text, size_t len, struct cond *cond, size_t *wrong_at,
	       struct uft_err *err);
void cond_deinit(struct cond *cond);

/* A value to compare with. Strings need no NUL. */
struct cond_value {
	enum cond_type type;
	uint64_t number; /* COND_INT: the register's value; unused bits may be anything */
	double real;
	const char *text;
	size_t text_len;
};

/* True when @term holds for @value, which must have the right type. */
bool cond_term_holds(const struct cond_term *term, const struct cond_value *value);

#endif
