/* Specifications of arguments and return values (see argspec.h). */
#include "utils/spec/args/argspec.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "arch/isa.h"
#include "utils/base/containers/vec.h"

#define STRUCT_BYTES_MAX 65535U

/* The text being parsed, [@start, @end). @at: the first character that is not parsed yet. */
struct cursor {
	const char *start;
	const char *at;
	const char *end;
	unsigned word_bytes;
	struct uft_err *err;
};

static const struct {
	char letter;
	uint8_t format;
} letters[] = {
	{ 'd', ARG_AUTO },  { 'i', ARG_SIGNED },  { 'u', ARG_UNSIGNED },   { 'x', ARG_HEX },
	{ 'o', ARG_OCTAL }, { 's', ARG_STRING },  { 'S', ARG_STD_STRING }, { 'c', ARG_CHAR },
	{ 'f', ARG_FLOAT }, { 'p', ARG_POINTER }, { 'e', ARG_ENUM },	   { 't', ARG_STRUCT },
};

static char letter_of(enum arg_format format)
{
	for (size_t i = 0; i < ARRAY_SIZE(letters); i++) {
		if (letters[i].format == format)
			return letters[i].letter;
	}
	return '?';
}

static int fail_at_column(struct cursor *c, const char *at, const char *why)
{
	return err_set(c->err, -EINVAL, "argument '%.*s', column %zu: %s", (int)(c->end - c->start),
		       c->start, (size_t)(at - c->start) + 1, why);
}

static bool take_char(struct cursor *c, char want)
{
	if (c->at == c->end || *c->at != want)
		return false;
	c->at++;
	return true;
}

static bool take_word(struct cursor *c, const char *word)
{
	size_t len = strlen(word);

	if ((size_t)(c->end - c->at) < len || strncasecmp(c->at, word, len) != 0)
		return false;
	c->at += len;
	return true;
}

/* Parse a decimal number. Returns false when there is none, or when it is above @max. */
static bool take_number(struct cursor *c, uint32_t max, uint32_t *number)
{
	const char *at = c->at;
	uint64_t sum = 0;

	for (; at < c->end && isdigit((unsigned char)*at); at++) {
		sum = sum * 10 + (*at - '0');
		if (sum > max)
			return false;
	}
	if (at == c->at)
		return false;
	c->at = at;
	*number = sum;
	return true;
}

bool argspec_is_item(const char *text, size_t len)
{
	struct cursor c = { .start = text, .at = text, .end = text + len };

	if (take_word(&c, "retval"))
		return c.at == c.end || *c.at == '/' || *c.at == '%';
	if (!take_word(&c, "fparg") && !take_word(&c, "arg"))
		return false;
	return c.at < c.end && isdigit((unsigned char)*c.at);
}

/* Parse the N of argN or fpargN. @missing: the error when there is no number. */
static int take_index(struct cursor *c, const char *at, const char *missing, uint32_t *index)
{
	const char *digit = at;

	if (take_number(c, ARG_INDEX_MAX, index) && *index)
		return 0;
	while (digit < c->end && *digit == '0')
		digit++;
	if (digit < c->end && isdigit((unsigned char)*digit))
		missing = "the number is too large";
	return fail_at_column(c, at, missing);
}

static int parse_kind(struct cursor *c, struct argspec *spec)
{
	if (take_word(c, "retval")) {
		spec->kind = ARG_KIND_RETVAL;
		return 0;
	}
	if (take_word(c, "fparg")) {
		spec->kind = ARG_KIND_FLOAT;
		spec->type = (struct arg_type){ ARG_FLOAT, 8 };
	} else if (!take_word(c, "arg")) {
		return fail_at_column(c, c->at, "expected argN, fpargN or retval");
	}

	const char *number_at = c->at;

	return take_index(c, number_at, "expected the argument's number, from 1 on", &spec->index);
}

static int parse_bits(struct cursor *c, struct argspec *spec)
{
	const char *at = c->at;
	uint32_t bits;

	if (c->at == c->end || !isdigit((unsigned char)*c->at))
		return 0;
	if (!take_number(c, 80, &bits) || bits < 8 || (bits & (bits - 1) && bits != 80))
		return fail_at_column(c, at, "expected 8, 16, 32, 64, or 80 bits");
	if (bits == 80 && spec->type.format != ARG_FLOAT)
		return fail_at_column(c, at, "only floating point values have 80 bits");
	/* Strings and characters keep their size, even if the spec gives a number of bits. */
	if (!arg_format_is_string(spec->type.format) && spec->type.format != ARG_CHAR)
		spec->type.size = bits / 8;
	if (spec->type.format == ARG_FLOAT && bits < 32)
		return fail_at_column(c, at, "floating point values have 32, 64 or 80 bits");
	return 0;
}

static int take_name(struct cursor *c, struct argspec *spec)
{
	const char *end = memchr(c->at, '%', c->end - c->at);
	size_t len = (end ? end : c->end) - c->at;

	spec->name = strndup(c->at, len);
	if (!spec->name)
		return err_set_errno(c->err, -ENOMEM, "cannot read an argument");
	c->at += len;
	return 0;
}

/* Parse the part of "tSIZE:NAME" after the letter. SIZE and NAME are both optional. */
static int parse_struct(struct cursor *c, struct argspec *spec)
{
	const char *at = c->at;
	uint32_t bytes = 0;

	if (c->at < c->end && isdigit((unsigned char)*c->at) &&
	    !take_number(c, STRUCT_BYTES_MAX, &bytes))
		return fail_at_column(c, at, "the struct is too large");
	spec->type.size = bytes;
	return take_char(c, ':') ? take_name(c, spec) : 0;
}

/* Parse the part of "e:NAME" after the letter. */
static int parse_enum(struct cursor *c, struct argspec *spec)
{
	if (!take_char(c, ':') || c->at == c->end || *c->at == '%')
		return fail_at_column(c, c->at, "expected ':' and the name of the enum");
	return take_name(c, spec);
}

static int parse_format(struct cursor *c, struct argspec *spec)
{
	size_t i = 0;

	if (!take_char(c, '/'))
		return 0;
	if (c->at == c->end)
		return fail_at_column(c, c->at, "expected a format");
	/* As in "fparg1/32", the number of bits may come without a format letter. */
	if (spec->kind == ARG_KIND_FLOAT && isdigit((unsigned char)*c->at))
		return parse_bits(c, spec);
	while (i < ARRAY_SIZE(letters) && letters[i].letter != *c->at)
		i++;
	if (i == ARRAY_SIZE(letters))
		return fail_at_column(c, c->at, "expected a format: d i u x o s S c f p e t");
	spec->type.format = letters[i].format;
	c->at++;
	switch (spec->type.format) {
	case ARG_STRUCT:
		return parse_struct(c, spec);
	case ARG_ENUM:
		return parse_enum(c, spec);
	case ARG_CHAR:
		spec->type.size = 1;
		break;
	case ARG_FLOAT:
		spec->type.size = 8;
		if (spec->kind == ARG_KIND_INT)
			spec->kind = ARG_KIND_FLOAT;
		break;
	default:
		break;
	}
	return parse_bits(c, spec);
}

static int parse_stack(struct cursor *c, struct argspec *spec)
{
	const char *at = c->at;

	take_char(c, '+');
	spec->place = ARG_ON_STACK;
	return take_index(c, at, "expected the number of the stack's word, from 1 on",
			  &spec->index);
}

static int parse_registers(struct cursor *c, struct argspec *spec)
{
	do {
		size_t len = 0;

		while (c->at + len < c->end && isalnum((unsigned char)c->at[len]))
			len++;

		int reg = isa_reg_find(c->at, len);

		if (reg < 0)
			return fail_at_column(c, c->at,
					      "no register that holds arguments has that name");
		if (spec->nr_regs == ARG_REGS_MAX)
			return fail_at_column(c, c->at,
					      "a value in that many registers is not possible");
		spec->regs[spec->nr_regs++] = reg;
		c->at += len;
	} while (take_char(c, '+'));
	spec->place = ARG_IN_REGISTER;
	return 0;
}

static int parse_location(struct cursor *c, struct argspec *spec)
{
	if (!take_char(c, '%'))
		return 0;
	if (take_word(c, "stack"))
		return parse_stack(c, spec);
	return parse_registers(c, spec);
}

int argspec_parse(const char *text, size_t len, unsigned word_bytes, struct argspec *spec,
		  struct uft_err *err)
{
	struct cursor c = { text, text, text + len, word_bytes, err };
	struct argspec parsed = { .type = { ARG_AUTO, word_bytes } };
	int ret = parse_kind(&c, &parsed);

	if (ret == 0)
		ret = parse_format(&c, &parsed);
	if (ret == 0)
		ret = parse_location(&c, &parsed);
	if (ret == 0 && c.at != c.end)
		ret = fail_at_column(&c, c.at, "nothing may follow it");
	if (ret < 0) {
		argspec_deinit(&parsed);
		return ret;
	}
	*spec = parsed;
	return 0;
}

void argspec_deinit(struct argspec *spec)
{
	free(spec->name);
	free(spec->fields);
	free(spec->shape);
	*spec = (struct argspec){ 0 };
}

void argspecs_deinit(struct argspecs *list)
{
	for (size_t i = 0; i < list->nr; i++)
		argspec_deinit(&list->specs[i]);
	free(list->specs);
	*list = (struct argspecs){ 0 };
}

static bool is_same_value(const struct argspec *a, const struct argspec *b)
{
	if (a->kind != b->kind || a->place != b->place)
		return false;
	if (a->kind == ARG_KIND_RETVAL)
		return true;
	/*
	 * As in uftrace, two specs of values in registers are for the same value if the two specs
	 * have the same last register.
	 */
	if (a->place == ARG_IN_REGISTER)
		return a->regs[a->nr_regs - 1] == b->regs[b->nr_regs - 1];
	return a->index == b->index;
}

/* Replace @old by @spec. If @old is exact and @spec is not, drop @spec instead. */
static void merge_spec(struct argspec *old, struct argspec *spec)
{
	if (old->is_exact && !spec->is_exact) {
		argspec_deinit(spec);
		return;
	}
	argspec_deinit(old);
	*old = *spec;
	*spec = (struct argspec){ 0 };
}

int argspecs_add(struct argspecs *list, struct argspec *spec)
{
	for (size_t i = 0; i < list->nr; i++) {
		if (is_same_value(&list->specs[i], spec)) {
			merge_spec(&list->specs[i], spec);
			return 0;
		}
	}
	return argspecs_append(list, spec);
}

int argspecs_append(struct argspecs *list, struct argspec *spec)
{
	struct argspec *specs = vec_grow(list->specs, list->nr, sizeof(*specs));

	if (!specs) {
		argspec_deinit(spec);
		return -ENOMEM;
	}
	list->specs = specs;
	specs[list->nr++] = *spec;
	*spec = (struct argspec){ 0 };
	return 0;
}

int argspecs_add_copy(struct argspecs *list, const struct argspec *from)
{
	struct argspec copy = *from;

	copy.name = from->name ? strdup(from->name) : NULL;
	copy.fields = from->fields ? strdup(from->fields) : NULL;
	copy.shape = from->shape ? strdup(from->shape) : NULL;
	if ((from->name && !copy.name) || (from->fields && !copy.fields) ||
	    (from->shape && !copy.shape)) {
		argspec_deinit(&copy);
		return -ENOMEM;
	}
	return argspecs_add(list, &copy);
}

int argspecs_parse(const char *text, size_t len, unsigned word_bytes, struct argspecs *list,
		   struct uft_err *err)
{
	const char *end = text + len;

	for (const char *at = text; at < end;) {
		const char *comma = memchr(at, ',', end - at);
		const char *stop = comma ? comma : end;
		struct argspec spec;
		int ret = argspec_parse(at, stop - at, word_bytes, &spec, err);

		if (ret == 0 && argspecs_add(list, &spec) < 0)
			ret = err_set_errno(err, -ENOMEM, "cannot read arguments");
		if (ret < 0)
			return ret;
		at = stop + 1;
	}
	return 0;
}

static void put_format(const struct argspec *spec, unsigned word_bytes, struct strbuf *out)
{
	struct arg_type type = spec->type;

	switch (type.format) {
	case ARG_STRUCT:
		strbuf_addf(out, "/t%u", type.size);
		break;
	case ARG_ENUM:
		strbuf_addstr(out, "/e");
		break;
	case ARG_FLOAT:
		strbuf_addf(out, spec->kind == ARG_KIND_FLOAT ? "/%u" : "/f%u", type.size * 8);
		break;
	case ARG_STRING:
	case ARG_STD_STRING:
	case ARG_CHAR:
		strbuf_addf(out, "/%c", letter_of(type.format));
		break;
	default:
		/*
		 * If a value has the size of a word and no format, "/FORMAT" is left out.
		 * A value in a floating-point register always needs "/FORMAT".
		 */
		if (type.format == ARG_AUTO && type.size == word_bytes &&
		    spec->kind != ARG_KIND_FLOAT)
			return;
		strbuf_addf(out, "/%c", letter_of(type.format));
		if (type.size != word_bytes)
			strbuf_addf(out, "%u", type.size * 8);
		break;
	}
	if (spec->name && (type.format == ARG_STRUCT || type.format == ARG_ENUM))
		strbuf_addf(out, ":%s", spec->name);
}

static void put_location(const struct argspec *spec, struct strbuf *out)
{
	/* The calling convention tells the place of a result. */
	if (spec->kind == ARG_KIND_RETVAL)
		return;
	if (spec->place == ARG_ON_STACK)
		strbuf_addf(out, "%%stack+%u", spec->index);
	for (size_t i = 0; spec->place == ARG_IN_REGISTER && i < spec->nr_regs; i++)
		strbuf_addf(out, "%c%s", i ? '+' : '%', isa_reg_name(spec->regs[i]));
}

void argspec_put(const struct argspec *spec, unsigned word_bytes, struct strbuf *out)
{
	if (spec->kind == ARG_KIND_RETVAL)
		strbuf_addstr(out, "retval");
	else
		strbuf_addf(out, "%s%u", spec->kind == ARG_KIND_FLOAT ? "fparg" : "arg",
			    spec->place != ARG_ON_STACK && spec->index ? spec->index : 1);
	put_format(spec, word_bytes, out);
	put_location(spec, out);
}
