/* The text of arguments and return values (see argtext.h). */
#include "utils/view/values/argtext.h"

#include <stdio.h>
#include <string.h>

#include "utils/format/bytes.h"
#include "utils/view/values/argtext_shape.h"
#include "utils/view/values/argtext_struct.h"
#include "utils/view/extended.h"

/*
 * When the text of a call's arguments exceeds this number of bytes, the remaining arguments are
 * left out, as in uftrace.
 */
#define ARGS_TEXT_MAX	1024
/*
 * The limit, in bytes, on the total length of the texts of struct fields in the arguments of one
 * call. When this limit is reached, "..." replaces the remaining fields. If a field is a struct,
 * the texts of the inner fields count again as parts of the outer field.
 */
#define FIELDS_TEXT_MAX 256
/*
 * The fields of structs, and the nodes of containers, are counted over all arguments of a call.
 * FIELDS_MAX limits this sum. Long containers reach the limit. A valid struct does not: each of its
 * fields has text, so FIELDS_TEXT_MAX is reached first.
 */
#define FIELDS_MAX	256
/* Larger unsigned numbers are shown in hexadecimal digits. */
#define DECIMAL_MAX	100000

static bool find_subject(const struct argtext *text, const struct task *task,
			 const struct event *event, struct subject *s)
{
	*s = (struct subject){
		.text = text,
		.task = task,
		.event = event,
		.budget = FIELDS_TEXT_MAX,
		.fields = FIELDS_MAX,
	};
	return argvalues_begin(&s->values, text->data, event);
}

static uint64_t load_unsigned(const struct subject *s, const struct arg_value *value)
{
	return arg_value_unsigned(value, s->text->data->is_big_endian);
}

static int64_t load_signed(const struct subject *s, const struct arg_value *value)
{
	return arg_value_signed(value, s->text->data->is_big_endian);
}

static void put_hex(uint64_t v, struct strbuf *out)
{
	strbuf_addf(out, "%#llx", (unsigned long long)v);
}

/*
 * Write an integer of unknown type. The largest 65535 values of 32 bits are shown as negative
 * numbers, because a negative int in a register may have zeros above it.
 */
static void put_auto(const struct subject *s, const struct arg_value *value, struct strbuf *out)
{
	uint64_t v = load_unsigned(s, value);
	int64_t number = value->len >= 4 ? (int64_t)v : load_signed(s, value);

	if (number <= DECIMAL_MAX && number >= -DECIMAL_MAX)
		strbuf_addf(out, "%lld", (long long)number);
	else if (v > 0xffff0000 && v <= 0xffffffff)
		strbuf_addf(out, "%d", (int32_t)v);
	else
		put_hex(v, out);
}

/*
 * Write a number of 128 bits. A large unsigned number is shown in hexadecimal digits. Recordings of
 * big-endian machines have no numbers of this size.
 */
static void put_128_bits(const struct arg_value *value, bool is_signed, struct strbuf *out)
{
	uint64_t low = get_u64(value->data, false);
	uint64_t high = get_u64(value->data + 8, false);
	char digits[40];
	char *at = digits + sizeof(digits);

	if (!is_signed && (high || low > DECIMAL_MAX)) {
		strbuf_addf(out, high ? "%#llx%016llx" : "%#llx",
			    (unsigned long long)(high ? high : low), (unsigned long long)low);
		return;
	}
	if (is_signed && high >> 63) {
		strbuf_addch(out, '-');
		low = -low;
		high = ~high + !low;
	}

	/* Divide 32 bits at a time, since some machines have no integers of 128 bits. */
	uint32_t parts[4] = { high >> 32, high, low >> 32, low };

	do {
		uint64_t rest = 0;

		for (size_t i = 0; i < ARRAY_SIZE(parts); i++) {
			rest = rest << 32 | parts[i];
			parts[i] = rest / 10;
			rest %= 10;
		}
		*--at = '0' + rest;
	} while (parts[0] | parts[1] | parts[2] | parts[3]);
	strbuf_add(out, at, digits + sizeof(digits) - at);
}

static void put_integer(const struct subject *s, const struct argspec *spec,
			const struct arg_value *value, struct strbuf *out)
{
	uint64_t v = load_unsigned(s, value);

	if (value->len == 16) {
		put_128_bits(value, spec->type.format == ARG_SIGNED, out);
		return;
	}

	switch (spec->type.format) {
	case ARG_SIGNED:
		strbuf_addf(out, "%lld", (long long)load_signed(s, value));
		break;
	case ARG_UNSIGNED:
		if (v > DECIMAL_MAX)
			put_hex(v, out);
		else
			strbuf_addu64(out, v);
		break;
	case ARG_HEX:
		put_hex(v, out);
		break;
	case ARG_OCTAL:
		strbuf_addf(out, "%#llo", (unsigned long long)v);
		break;
	default:
		put_auto(s, value, out);
		break;
	}
}

void argtext_put_text(const struct subject *s, const char *text, size_t len, struct strbuf *out)
{
	enum medium medium = s->text->color == COLOR_MODE_HTML ? MEDIUM_HTML : MEDIUM_TERMINAL;

	escape_add(out, medium, text, len);
}

void argtext_put_name(const struct subject *s, const char *name, struct strbuf *out)
{
	argtext_put_text(s, name, strlen(name), out);
}

/* Returns C's short escape for @c if uftrace shows it, else NULL. */
static const char *short_escape(char c)
{
	switch (c) {
	case '\0':
		return "\\0";
	case '\b':
		return "\\b";
	case '\n':
		return "\\n";
	default:
		return NULL;
	}
}

/* Write the inside of a string or of a character constant. */
static void put_escaped(const struct subject *s, const char *text, size_t len, struct strbuf *out)
{
	size_t start = 0;

	for (size_t i = 0; i < len; i++) {
		const char *escape = short_escape(text[i]);

		if (!escape)
			continue;
		argtext_put_text(s, text + start, i - start, out);
		strbuf_addstr(out, escape);
		start = i + 1;
	}
	argtext_put_text(s, text + start, len - start, out);
}

static void put_string(const struct subject *s, const struct argspec *spec,
		       const struct arg_value *value, struct strbuf *out)
{
	if (arg_value_is_null(value)) {
		strbuf_addstr(out, "NULL");
		return;
	}
	if (spec->how == ARG_HOW_TEXT) {
		argtext_put_text(s, (const char *)value->data, value->len, out);
		return;
	}
	color_begin(out, s->text->color, COLOR_MAGENTA);
	strbuf_addch(out, '"');
	put_escaped(s, (const char *)value->data, value->len, out);
	strbuf_addch(out, '"');
	color_end(out, s->text->color);
	if (spec->type.format == ARG_STD_STRING)
		strbuf_addch(out, 's');
}

static void put_char(const struct subject *s, const struct arg_value *value, struct strbuf *out)
{
	color_begin(out, s->text->color, COLOR_MAGENTA);
	strbuf_addch(out, '\'');
	put_escaped(s, value->len ? (const char *)value->data : "", 1, out);
	strbuf_addch(out, '\'');
	color_end(out, s->text->color);
}

/*
 * Write a number in IEEE 754's format of 128 bits. For put_extended(), the number is converted to
 * x87's format. The exponent is the same in the two formats. The mantissa in x87's format is a
 * leading 1 bit and the upper 63 bits of the fraction.
 */
static void put_binary128(const uint8_t *bytes, struct strbuf *out)
{
	uint64_t low = get_u64(bytes, false);
	uint64_t high = get_u64(bytes + 8, false);
	uint16_t sign_exponent = high >> 48;
	uint64_t mantissa = (high << 16 >> 1) | low >> 49;

	if (sign_exponent & 0x7fff)
		mantissa |= 1ULL << 63;
	/*
	 * With the largest exponent, a fraction of 0 means infinity, and any other fraction means
	 * NaN. @mantissa lacks the 49 lowest bits of the fraction. If one of these bits is 1, set
	 * a bit of @mantissa, so that NaN stays NaN.
	 */
	if ((sign_exponent & 0x7fff) == 0x7fff && low << 15)
		mantissa |= 1;
	put_extended(mantissa, sign_exponent, out);
}

static void put_float(const struct subject *s, const struct arg_value *value, struct strbuf *out)
{
	bool big = s->text->data->is_big_endian;
	uint32_t bits32;
	uint64_t bits64;
	float f;
	double d;

	if (value->len == sizeof(f)) {
		bits32 = get_u32(value->data, big);
		memcpy(&f, &bits32, sizeof(f));
		strbuf_addf(out, "%#f", f);
	} else if (value->len == sizeof(d)) {
		bits64 = get_u64(value->data, big);
		memcpy(&d, &bits64, sizeof(d));
		strbuf_addf(out, "%#f", d);
	} else if (value->len == 10) {
		put_extended(get_u64(value->data, false), get_u16(value->data + 8, false), out);
	} else if (value->len == 16) {
		put_binary128(value->data, out);
	} else {
		put_hex(load_unsigned(s, value), out);
	}
}

/* Returns the symbol that contains @addr, or NULL. */
static const struct func *symbol_at(const struct subject *s, uint64_t addr)
{
	struct task_place place;

	if (addr == 0 || task_place_at(s->task, 0, s->event->time_ns, &place, NULL) < 0)
		return NULL;
	return space_symbol(place.space, addr);
}

static void put_pointer(const struct subject *s, const struct arg_value *value, struct strbuf *out)
{
	uint64_t addr = load_unsigned(s, value);
	const struct func *symbol = symbol_at(s, addr);

	if (!symbol) {
		put_hex(addr, out);
		return;
	}
	color_begin(out, s->text->color, COLOR_CYAN);
	argtext_put_name(s, "&", out);
	argtext_put_name(s, symbol->name, out);
	color_end(out, s->text->color);
}

/* Write "A|B+0x4" with blue names and bold bars between them. */
static void put_enum_names(const struct subject *s, const char *names, struct strbuf *out)
{
	for (const char *at = names;;) {
		size_t len = strcspn(at, "|");

		color_begin(out, s->text->color, COLOR_BLUE);
		argtext_put_text(s, at, len, out);
		color_end(out, s->text->color);
		at += len;
		if (!*at++)
			return;
		color_begin(out, s->text->color, COLOR_BOLD);
		strbuf_addch(out, '|');
		color_end(out, s->text->color);
	}
}

static void put_enum(const struct subject *s, const struct argspec *spec,
		     const struct arg_value *value, struct strbuf *out)
{
	const struct enum_def *def = arg_book_enum(&s->text->data->args, s->event->func,
						   spec->name ? spec->name : "");
	struct strbuf names cleanup_strbuf = { 0 };
	int64_t v = load_signed(s, value);

	/*
	 * A negative enum of 32 bits may have zeros above it in a register. Then @v is a large
	 * positive value. If the enum has no name for @v, the negative value is shown.
	 */
	if (v > INT32_MAX && v <= UINT32_MAX && !(def && enum_def_name(def, v)))
		v = (int32_t)v;
	if (def && enum_def_put(def, v, "|", &names))
		put_enum_names(s, strbuf_str(&names), out);
	else
		put_auto(s, value, out);
}

void argtext_put_struct_name(const struct subject *s, const struct argspec *spec,
			     struct strbuf *out)
{
	/* The compiler's names of lambdas tell a user nothing. */
	if (!spec->name || strncmp(spec->name, "<lambda", strlen("<lambda")) == 0)
		return;
	color_begin(out, s->text->color, COLOR_CYAN);
	argtext_put_name(s, spec->name, out);
	color_end(out, s->text->color);
}

static void put_struct(struct subject *s, const struct argspec *spec, const struct arg_value *value,
		       struct strbuf *out)
{
	if (argtext_put_container(s, spec, value, out) || argtext_put_plain(s, spec, value, out))
		return;
	argtext_put_struct_name(s, spec, out);
	if (spec->type.size)
		argtext_put_fields(s, spec, value, NULL, out);
	else
		strbuf_addstr(out, "{}");
}

void argtext_put_value(struct subject *s, const struct argspec *spec, const struct arg_value *value,
		       struct strbuf *out)
{
	switch (spec->type.format) {
	case ARG_STRING:
	case ARG_STD_STRING:
		put_string(s, spec, value, out);
		break;
	case ARG_CHAR:
		put_char(s, value, out);
		break;
	case ARG_FLOAT:
		put_float(s, value, out);
		break;
	case ARG_POINTER:
		put_pointer(s, value, out);
		break;
	case ARG_ENUM:
		put_enum(s, spec, value, out);
		break;
	case ARG_STRUCT:
		put_struct(s, spec, value, out);
		break;
	default:
		put_integer(s, spec, value, out);
		break;
	}
}

static void put_values(struct subject *s, struct strbuf *out)
{
	const struct argspec *spec;
	struct arg_value value;
	size_t start = out->len;

	for (size_t i = 0; (spec = argvalues_next(&s->values, &value)) != NULL; i++) {
		if (i)
			strbuf_addstr(out, ", ");
		argtext_put_value(s, spec, &value, out);
		/*
		 * Text is cut only between arguments, since a cut elsewhere could divide a colour's
		 * escape sequence.
		 */
		if (out->len - start > ARGS_TEXT_MAX)
			return;
	}
}

bool argtext_put_args(const struct argtext *text, const struct task *task,
		      const struct event *event, struct strbuf *out)
{
	struct subject s;

	if (!find_subject(text, task, event, &s))
		return false;
	strbuf_addch(out, '(');
	put_values(&s, out);
	strbuf_addch(out, ')');
	return true;
}

bool argtext_put_retval(const struct argtext *text, const struct task *task,
			const struct event *event, struct strbuf *out)
{
	struct subject s;

	if (!find_subject(text, task, event, &s))
		return false;
	put_values(&s, out);
	return true;
}

static void put_raw_bytes(const struct arg_value *value, struct strbuf *out)
{
	for (size_t i = 0; i < value->len; i++) {
		if (i % 16 == 0)
			strbuf_addstr(out, "\n\t");
		strbuf_addf(out, "%02x ", value->data[i]);
		if (i % 8 == 7)
			strbuf_addch(out, ' ');
	}
}

static void put_raw_enum(const struct subject *s, const struct argspec *spec,
			 const struct arg_value *value, struct strbuf *out)
{
	strbuf_addstr(out, "enum ");
	argtext_put_name(s, spec->name, out);
	strbuf_addstr(out, ": ");
	put_enum(s, spec, value, out);
	strbuf_addf(out, " (%lld)", (long long)load_signed(s, value));
}

static void put_raw_pointer(const struct subject *s, const struct arg_value *value,
			    struct strbuf *out)
{
	uint64_t addr = load_unsigned(s, value);
	const struct func *symbol = symbol_at(s, addr);

	strbuf_addstr(out, "p: ");
	if (!symbol) {
		put_hex(addr, out);
		return;
	}
	strbuf_addf(out, "%llx (&", (unsigned long long)addr);
	argtext_put_name(s, symbol->name, out);
	strbuf_addch(out, ')');
}

/* Write "d64: 0x0000000000000001", with the letter of the format and the width in bits. */
static void put_raw_integer(const struct subject *s, char letter, const struct arg_value *value,
			    struct strbuf *out)
{
	strbuf_addf(out, "%c%zu: 0x%0*llx", letter, value->len * 8, (int)value->len * 2,
		    (unsigned long long)load_unsigned(s, value));
}

static void put_raw_float(const struct subject *s, const struct arg_value *value,
			  struct strbuf *out)
{
	strbuf_addf(out, "f%zu: 0x", value->len * 8);
	if (value->len == 10)
		strbuf_addf(out, "%04x", get_u16(value->data + 8, false));

	struct arg_value low = { value->data, MIN(value->len, sizeof(uint64_t)) };

	strbuf_addf(out, "%0*llx", (int)low.len * 2, (unsigned long long)load_unsigned(s, &low));
}

static void put_raw_value(const struct subject *s, const struct argspec *spec,
			  const struct arg_value *value, struct strbuf *out)
{
	static const char integers[] = {
		[ARG_AUTO] = 'd', [ARG_SIGNED] = 'i', [ARG_UNSIGNED] = 'u',
		[ARG_HEX] = 'x',  [ARG_OCTAL] = 'o',  [ARG_CHAR] = 'c',
	};

	switch (spec->type.format) {
	case ARG_STRING:
	case ARG_STD_STRING:
		strbuf_addstr(out, spec->type.format == ARG_STRING ? "str: " : "std::string: ");
		if (arg_value_is_null(value))
			strbuf_addstr(out, "NULL");
		else
			argtext_put_text(s, (const char *)value->data, value->len, out);
		break;
	case ARG_FLOAT:
		put_raw_float(s, value, out);
		break;
	case ARG_POINTER:
		put_raw_pointer(s, value, out);
		break;
	case ARG_ENUM:
		put_raw_enum(s, spec, value, out);
		break;
	case ARG_STRUCT:
		strbuf_addstr(out, "struct ");
		argtext_put_name(s, spec->name ? spec->name : "", out);
		strbuf_addch(out, ':');
		put_raw_bytes(value, out);
		break;
	default:
		put_raw_integer(s, integers[spec->type.format], value, out);
		break;
	}
}

bool argtext_put_raw(const struct argtext *text, const struct task *task, const struct event *event,
		     struct strbuf *out)
{
	const struct argspec *spec;
	struct subject s;
	struct arg_value value;

	if (!find_subject(text, task, event, &s))
		return false;
	for (size_t i = 0; (spec = argvalues_next(&s.values, &value)) != NULL; i++) {
		if (event->type == EVENT_ENTRY)
			strbuf_addf(out, "  args[%zu] ", i);
		else
			strbuf_addstr(out, "  retval ");
		put_raw_value(&s, spec, &value, out);
		strbuf_addch(out, '\n');
	}
	return true;
}
