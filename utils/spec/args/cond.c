/* Conditions of triggers (see cond.h). */
#include "utils/spec/args/cond.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "utils/base/containers/strbuf.h"
#include "utils/base/containers/vec.h"

#define INDEX_MAX 100

struct parse {
	const char *text;
	const char *at;
	const char *end;
	struct uft_err *err;
};

static const struct {
	const char *text;
	enum cond_op op;
} ops[] = {
	/* The first operator that fits is taken, so "<=" comes before "<". */
	{ "==", COND_EQ }, { "!=", COND_NE },	  { ">=", COND_GE },
	{ "<=", COND_LE }, { "^=", COND_PREFIX }, { "=~", COND_MATCH },
	{ ">", COND_GT },  { "<", COND_LT },	  { "&", COND_AND },
};

static int refuse_cond(struct parse *p, const char *at, const char *what)
{
	p->at = at;
	return err_set(p->err, -ERR_USAGE, "%s", what);
}

static void skip_blanks(struct parse *p)
{
	while (p->at < p->end && isspace((unsigned char)*p->at))
		p->at++;
}

static bool take_cond_word(struct parse *p, const char *word)
{
	size_t len = strlen(word);

	if ((size_t)(p->end - p->at) < len || strncasecmp(p->at, word, len) != 0)
		return false;
	p->at += len;
	return true;
}

/* Parse the index of an argument, or a size in bits. Returns 0 when there is no number. */
static unsigned take_number(struct parse *p)
{
	unsigned number = 0;

	while (p->at < p->end && isdigit((unsigned char)*p->at) && number <= INDEX_MAX)
		number = number * 10 + (*p->at++ - '0');
	return number;
}

static int parse_subject(struct parse *p, struct cond_term *term)
{
	const char *start = p->at;

	if (take_cond_word(p, "retval")) {
		term->subject = COND_RETVAL;
		return 0;
	}
	if (take_cond_word(p, "fparg")) {
		term->subject = COND_FPARG;
		term->type = COND_FLOAT;
		term->bytes = 8;
	} else if (!take_cond_word(p, "arg")) {
		return refuse_cond(p, start, "expected argN, fpargN or retval");
	}
	term->index = take_number(p);
	if (term->index > INDEX_MAX)
		return refuse_cond(p, start, "the argument's number is too large");
	if (term->index == 0)
		return refuse_cond(p, start, "arguments are numbered from 1 on");
	return 0;
}

static int parse_format(struct parse *p, struct cond_term *term)
{
	const char *start = p->at;

	if (!take_cond_word(p, "/"))
		return 0;

	char format = p->at < p->end && isalpha((unsigned char)*p->at) ? *p->at++ : 'd';
	unsigned bits = take_number(p);
	bool is_float = format == 'f' || (term->subject == COND_FPARG && format == 'd');

	if (format == 's' || format == 'S') {
		term->type = COND_STRING;
		term->is_object = format == 'S';
		return bits ? refuse_cond(p, start, "strings have no size") : 0;
	}
	if (!strchr("diuxopcf", format) || (term->subject == COND_FPARG && !is_float))
		return refuse_cond(
			p, start, "expected a format: d i u x o p c with 8, 16, 32 or 64, f, or s");
	if (bits != 0 && bits != 32 && bits != 64 && (is_float || (bits != 8 && bits != 16)) &&
	    !(is_float && bits == 80))
		return refuse_cond(p, start, "expected 8, 16, 32 or 64 bits, 80 only for floats");
	term->type = is_float ? COND_FLOAT : COND_INT;
	term->is_signed = format == 'd' || format == 'i' || format == 'c';
	term->bytes = bits ? bits / 8 : format == 'c' ? 1 : 8;
	return 0;
}

static int parse_op(struct parse *p, struct cond_term *term)
{
	for (size_t i = 0; i < ARRAY_SIZE(ops); i++) {
		/* "&&" joins comparisons, and is not two operators "&". */
		if (ops[i].op == COND_AND && p->end - p->at > 1 && p->at[1] == '&')
			break;
		if (take_cond_word(p, ops[i].text)) {
			term->op = ops[i].op;
			return 0;
		}
	}
	return refuse_cond(p, p->at, "expected an operator: == != > >= < <= & ^= =~");
}

/* Parse a "text", in which \" means " and \\ means \. */
static int parse_string(struct parse *p, struct cond_term *term)
{
	struct strbuf text cleanup_strbuf = { 0 };
	const char *start = p->at++;

	while (p->at < p->end && *p->at != '"') {
		if (*p->at == '\\' && p->end - p->at > 1 && strchr("\"\\", p->at[1]))
			p->at++;
		strbuf_addch(&text, *p->at++);
	}
	if (p->at == p->end)
		return refuse_cond(p, start, "the string has no end");
	p->at++;
	if (strbuf_oom(&text))
		return -ENOMEM;
	if (term->op == COND_MATCH) {
		int ret = pattern_init_regex(&term->text, strbuf_str(&text), text.len, p->err);

		return ret == -ERR_USAGE ? refuse_cond(p, start, "") : ret;
	}
	if (term->op != COND_EQ && term->op != COND_NE && term->op != COND_PREFIX)
		return refuse_cond(p, start, "strings are compared with == != ^= or =~");
	term->text.match = MATCH_SIMPLE;
	term->text.text = strdup(strbuf_str(&text));
	return term->text.text ? 0 : -ENOMEM;
}

static bool is_number_char(char c)
{
	return isalnum((unsigned char)c) || c == '.' || c == '+' || c == '-';
}

/* Read a floating-point number. strtod(3) sets ERANGE for denormal numbers, which are accepted. */
static double read_real(const char *text, char **end)
{
	double real = strtod(text, end);

	if (errno == ERANGE && !__builtin_isinf(real))
		errno = 0;
	return real;
}

static int parse_number(struct parse *p, struct cond_term *term)
{
	char copy[64];
	const char *start = p->at;
	char *end;

	while (p->at < p->end && is_number_char(*p->at))
		p->at++;
	if ((size_t)(p->at - start) >= sizeof(copy) || p->at == start)
		return refuse_cond(p, start, "expected a number or a \"string\"");
	memcpy(copy, start, p->at - start);
	copy[p->at - start] = '\0';

	errno = 0;
	if (term->type == COND_FLOAT) {
		term->real = read_real(copy, &end);
	} else {
		/* A number without a minus sign may be as large as 2^64 - 1. */
		term->number = copy[0] == '-' ? strtoll(copy, &end, 0)
					      : (int64_t)strtoull(copy, &end, 0);
		if (!*end && errno == 0 && copy[0] != '-' && term->number < 0)
			term->is_signed = false;
		if (end != copy && strchr(".eE", *end) && *end && term->subject == COND_RETVAL &&
		    !term->bytes) {
			term->type = COND_FLOAT;
			term->real = read_real(copy, &end);
		}
	}
	if (*end || end == copy || errno)
		return refuse_cond(p, start, "expected a number or a \"string\"");
	return 0;
}

static int parse_value(struct parse *p, struct cond_term *term)
{
	bool is_text = p->at < p->end && *p->at == '"';
	const char *start = p->at;

	/* An argument without a format is a string if it is compared with a string. */
	if (is_text && term->type == COND_INT && !term->bytes)
		term->type = COND_STRING;
	if (is_text != (term->type == COND_STRING))
		return refuse_cond(p, start,
				   is_text ? "expected a number" : "expected a \"string\"");
	if (is_text)
		return parse_string(p, term);
	if (term->op == COND_PREFIX || term->op == COND_MATCH)
		return refuse_cond(p, start, "^= and =~ compare strings");
	if (!term->bytes)
		term->is_signed = true;

	int ret = parse_number(p, term);

	if (ret == 0 && !term->bytes)
		term->bytes = 8;
	if (ret == 0 && term->op == COND_AND && term->type != COND_INT)
		return refuse_cond(p, start, "& compares integers");
	return ret;
}

static int parse_term(struct parse *p, struct cond_term *term)
{
	skip_blanks(p);

	int ret = parse_subject(p, term);

	if (ret == 0)
		ret = parse_format(p, term);
	skip_blanks(p);
	if (ret == 0)
		ret = parse_op(p, term);
	if (ret == 0) {
		skip_blanks(p);
		ret = parse_value(p, term);
	}
	if (ret == 0)
		skip_blanks(p);
	return ret;
}

static int add_term(struct parse *p, struct cond *cond, bool starts_alternative)
{
	struct cond_term *terms = vec_grow(cond->terms, cond->nr, sizeof(*terms));

	if (!terms)
		return -ENOMEM;
	cond->terms = terms;
	terms[cond->nr] = (struct cond_term){ .starts_alternative = starts_alternative };

	int ret = parse_term(p, &terms[cond->nr]);

	if (ret < 0)
		pattern_deinit(&terms[cond->nr].text);
	else
		cond->nr++;
	return ret;
}

int cond_parse(const char *text, size_t len, struct cond *cond, size_t *wrong_at,
	       struct uft_err *err)
{
	struct parse p = { text, text, text + len, err };

	*cond = (struct cond){ 0 };

	int ret = add_term(&p, cond, false);

	while (ret == 0 && p.at < p.end) {
		if (take_cond_word(&p, "&&"))
			ret = add_term(&p, cond, false);
		else if (take_cond_word(&p, "||"))
			ret = add_term(&p, cond, true);
		else
			ret = refuse_cond(&p, p.at, "expected && or ||");
	}
	if (ret == -ENOMEM)
		err_set_errno(err, ret, "cannot read a condition");
	if (ret < 0) {
		*wrong_at = p.at - text;
		cond_deinit(cond);
	}
	return ret;
}

void cond_deinit(struct cond *cond)
{
	for (size_t i = 0; i < cond->nr; i++)
		pattern_deinit(&cond->terms[i].text);
	free(cond->terms);
	*cond = (struct cond){ 0 };
}

static bool holds_order(enum cond_op op, int order)
{
	switch (op) {
	case COND_EQ:
		return order == 0;
	case COND_NE:
		return order != 0;
	case COND_GT:
		return order > 0;
	case COND_GE:
		return order >= 0;
	case COND_LT:
		return order < 0;
	default:
		return order <= 0;
	}
}

static bool int_holds(const struct cond_term *term, uint64_t raw)
{
	unsigned unused = 64 - 8 * term->bytes;

	raw <<= unused;
	if (term->is_signed) {
		int64_t value = (int64_t)raw >> unused;

		return term->op == COND_AND ? (value & term->number) != 0
					    : holds_order(term->op, (value > term->number) -
									    (value < term->number));
	}

	uint64_t value = raw >> unused;
	uint64_t limit = (uint64_t)term->number;

	return term->op == COND_AND ? (value & limit) != 0
				    : holds_order(term->op, (value > limit) - (value < limit));
}

static bool real_holds(const struct cond_term *term, double value)
{
	/* A NaN is not equal to any number, and neither less nor greater. */
	if (value != value)
		return term->op == COND_NE;
	return holds_order(term->op, (value > term->real) - (value < term->real));
}

static bool text_holds(const struct cond_term *term, const char *text, size_t len)
{
	size_t wanted = strlen(term->text.text);
	bool begins;

	if (term->op == COND_MATCH) {
		char *copy cleanup_free = strndup(text, len);

		return copy && pattern_matches(&term->text, copy, strlen(copy));
	}
	begins = len >= wanted && memcmp(text, term->text.text, wanted) == 0;
	if (term->op == COND_PREFIX)
		return begins;
	return (begins && len == wanted) == (term->op == COND_EQ);
}

bool cond_term_holds(const struct cond_term *term, const struct cond_value *value)
{
	switch (term->type) {
	case COND_INT:
		return int_holds(term, value->number);
	case COND_FLOAT:
		return real_holds(term, value->real);
	case COND_STRING:
		return text_holds(term, value->text, value->text_len);
	}
	return false;
}
