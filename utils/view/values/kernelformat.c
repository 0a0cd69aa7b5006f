/* Format files of the kernel's events (see kernelformat.h). */
#include "utils/view/values/kernelformat.h"

#include <ctype.h>

#include "utils/base/compiler.h"

/* The limit of the size of a format. The largest format of Linux 6.18 has 5,500 bytes. */
#define FORMAT_BYTES_MAX 32768
#define FIELD_END_MAX	 65536
/* The maximum depth of expressions. libtraceevent recurses, with several calls for each level. */
#define DEPTH_MAX	 100
#define OPERATORS_MAX	 4000

/*
 * One format that is being read.
 *
 * @all: the whole format, in which fields are looked up
 * @in: the part that is not read yet
 */
struct reading {
	struct text all;
	struct text in;
	unsigned depth;
	unsigned nr_operators;
};

/* --- fields --- */

static bool is_word_char(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

/* Parse "<key><number>" and then @end. The number is stored in *@value. */
static bool take_number(struct text *in, const char *key, const char *end, uint64_t *value)
{
	return text_word(in, key) && text_dec(in, value) && text_word(in, end);
}

/* Returns the name in "<type> <name>" or "<type> <name>[<length>]". */
static struct text name_of(struct text declaration)
{
	struct text name = { declaration.at, declaration.end };

	if (name.end > name.at && name.end[-1] == ']') {
		while (name.end > name.at && name.end[-1] != '[')
			name.end--;
		name.end -= name.end > name.at;
	}
	name.at = name.end;
	while (name.at > declaration.at && is_word_char(name.at[-1]))
		name.at--;
	return name;
}

static bool has_good_characters(struct text declaration)
{
	unsigned nr_open = 0;

	for (const char *at = declaration.at; at < declaration.end; at++) {
		if (*at == '[' && nr_open++)
			return false;
		if (*at == ']' && nr_open-- == 0)
			return false;
		if (!is_word_char(*at) && !strchr(" *[]", *at))
			return false;
		if (nr_open && strchr(" *", *at))
			return false;
	}
	return nr_open == 0;
}

/* Parse "\tfield:<type> <name>;\toffset:<n>;\tsize:<n>;\tsigned:<0 or 1>;" */
static bool read_field(struct text line, struct text *declaration)
{
	uint64_t offset;
	uint64_t size;
	uint64_t is_signed;

	if (!text_word(&line, "\tfield:"))
		return false;

	const char *end = memchr(line.at, ';', text_left(&line));

	if (!end)
		return false;
	*declaration = (struct text){ line.at, end };
	line.at = end;

	struct text name = name_of(*declaration);

	return text_left(&name) && !isdigit((unsigned char)*name.at) && name.at > declaration->at &&
	       has_good_characters(*declaration) &&
	       take_number(&line, ";\toffset:", ";", &offset) &&
	       take_number(&line, "\tsize:", ";", &size) &&
	       take_number(&line, "\tsigned:", ";", &is_signed) && !text_left(&line) &&
	       offset <= FIELD_END_MAX && size <= FIELD_END_MAX && is_signed <= 1;
}

/*
 * True when the format has a field with this name. @is_dynamic: the field must have a variable
 * length
 */
static bool has_field(const struct reading *r, struct text name, bool is_dynamic)
{
	struct text in = r->all;
	struct text line;
	struct text declaration;
	bool whole;

	while (text_line(&in, &line, &whole)) {
		if (!read_field(line, &declaration))
			continue;

		struct text other = name_of(declaration);

		if (text_left(&other) != text_left(&name) ||
		    memcmp(other.at, name.at, text_left(&name)) != 0)
			continue;
		return !is_dynamic || text_word(&declaration, "__data_loc ") ||
		       text_word(&declaration, "__rel_loc ");
	}
	return false;
}

/* --- expressions --- */

static bool read_expression(struct reading *r);

static void skip_space(struct reading *r)
{
	while (text_left(&r->in) && *r->in.at == ' ')
		r->in.at++;
}

static bool take_token(struct reading *r, const char *token)
{
	skip_space(r);
	return text_word(&r->in, token);
}

static bool take_word(struct reading *r, struct text *word)
{
	skip_space(r);
	word->at = r->in.at;
	if (!text_left(&r->in) || !is_word_char(*r->in.at) || isdigit((unsigned char)*r->in.at))
		return false;
	while (text_left(&r->in) && is_word_char(*r->in.at))
		r->in.at++;
	word->end = r->in.at;
	return true;
}

static bool is_word(struct text word, const char *expected)
{
	return text_word(&word, expected) && !text_left(&word);
}

/* Parse one or more strings in a row. Strings may contain newlines. */
static bool take_string(struct reading *r)
{
	bool is_any = false;

	while (take_token(r, "\"")) {
		while (text_left(&r->in) && *r->in.at != '"') {
			if (*r->in.at == '\\')
				r->in.at++;
			if (!text_left(&r->in) || *r->in.at == '\0')
				return false;
			r->in.at++;
		}
		if (!text_word(&r->in, "\""))
			return false;
		is_any = true;
	}
	return is_any;
}

static bool take_literal(struct reading *r)
{
	skip_space(r);
	if (!text_left(&r->in) || !isdigit((unsigned char)*r->in.at))
		return false;
	while (text_left(&r->in) && is_word_char(*r->in.at))
		r->in.at++;
	return true;
}

/* Parse "(unsigned long)" or "(struct x *)": words and stars. */
static bool take_cast(struct reading *r)
{
	struct text start = r->in;
	struct text word;
	bool is_type = false;

	if (take_token(r, "(")) {
		while (take_word(r, &word)) {
			if (is_word(word, "REC"))
				break;
			is_type = true;
		}
		while (is_type && take_token(r, "*"))
			;
		if (is_type && take_token(r, ")"))
			return true;
	}
	r->in = start;
	return false;
}

/*
 * Parse a string or NULL. In the kernel's source, the last pair of some lists has NULL in place of
 * the string.
 */
static bool take_text(struct reading *r)
{
	return take_string(r) || take_token(r, "((void *)0)") || take_token(r, "0");
}

/* Parse "{ <value>, <string> }, ...)". */
static bool read_pairs(struct reading *r)
{
	do {
		if (!take_token(r, "{") || !read_expression(r) || !take_token(r, ",") ||
		    !take_text(r) || !take_token(r, "}"))
			return false;
	} while (take_token(r, ","));
	return take_token(r, ")");
}

static bool read_flags(struct reading *r)
{
	return read_expression(r) && take_token(r, ",") && take_string(r) && take_token(r, ",") &&
	       read_pairs(r);
}

static bool read_symbols(struct reading *r)
{
	return read_expression(r) && take_token(r, ",") && read_pairs(r);
}

static bool read_dynamic_field(struct reading *r)
{
	struct text name;

	return take_word(r, &name) && has_field(r, name, true) && take_token(r, ")");
}

static bool read_two(struct reading *r)
{
	return read_expression(r) && take_token(r, ",") && read_expression(r) && take_token(r, ")");
}

static bool read_three(struct reading *r)
{
	return read_expression(r) && take_token(r, ",") && read_two(r);
}

/*
 * The functions that a format may call. libtraceevent knows these functions.
 *
 * @read: parses the arguments and the closing bracket
 */
static const struct function {
	const char *name;
	bool (*read)(struct reading *r);
} functions[] = {
	{ "__print_flags", read_flags },
	{ "__print_symbolic", read_symbols },
	{ "__print_hex", read_two },
	{ "__print_hex_str", read_two },
	{ "__print_array", read_three },
	{ "__get_str", read_dynamic_field },
	{ "__get_rel_str", read_dynamic_field },
	{ "__get_bitmask", read_dynamic_field },
	{ "__get_rel_bitmask", read_dynamic_field },
	{ "__get_cpumask", read_dynamic_field },
	{ "__get_rel_cpumask", read_dynamic_field },
	{ "__get_dynamic_array", read_dynamic_field },
	{ "__get_rel_dynamic_array", read_dynamic_field },
	{ "__get_dynamic_array_len", read_dynamic_field },
	{ "__get_rel_dynamic_array_len", read_dynamic_field },
	{ "__builtin_expect", read_two },
};

/* Parse "REC->field", a call of a function, or the name of a constant. */
static bool read_name(struct reading *r)
{
	struct text word;

	if (!take_word(r, &word))
		return false;
	if (is_word(word, "REC"))
		return take_token(r, "->") && take_word(r, &word) && has_field(r, word, false);
	if (!take_token(r, "("))
		return true;
	for (size_t i = 0; i < ARRAY_SIZE(functions); i++) {
		if (is_word(word, functions[i].name))
			return functions[i].read(r);
	}
	return false;
}

static bool read_primary(struct reading *r)
{
	bool is_good;

	while (take_cast(r) || take_token(r, "!") || take_token(r, "~") || take_token(r, "-"))
		r->nr_operators++;
	if (take_token(r, "("))
		is_good = read_expression(r) && take_token(r, ")");
	else
		is_good = take_string(r) || take_literal(r) || read_name(r);
	while (is_good && take_token(r, "["))
		is_good = take_literal(r) && take_token(r, "]");
	return is_good;
}

static bool take_operator(struct reading *r)
{
	/* Longer operators come first. */
	static const char *const operators[] = { "<<", ">>", "<=", ">=", "==", "!=",
						 "&&", "||", "<",  ">",	 "+",  "-",
						 "*",  "/",  "%",  "&",	 "|",  "^" };

	for (size_t i = 0; i < ARRAY_SIZE(operators); i++) {
		if (take_token(r, operators[i])) {
			r->nr_operators++;
			return true;
		}
	}
	return false;
}

static bool read_expression(struct reading *r)
{
	bool is_good;

	if (++r->depth > DEPTH_MAX)
		return false;
	do {
		is_good = read_primary(r);
	} while (is_good && r->nr_operators < OPERATORS_MAX && take_operator(r));
	if (is_good && take_token(r, "?"))
		is_good = read_expression(r) && take_token(r, ":") && read_expression(r);
	r->depth--;
	return is_good && r->nr_operators < OPERATORS_MAX;
}

/* True when @text, the part of the format @all after "print fmt: ", is valid. */
static bool has_good_print(struct text all, struct text text)
{
	struct reading r = { .all = all, .in = text };

	if (!take_string(&r))
		return false;
	while (take_token(&r, ",")) {
		if (!read_expression(&r))
			return false;
	}
	skip_space(&r);
	return !text_left(&r.in);
}

/* --- files --- */

static void add_line(struct strbuf *out, const char *start, struct text line)
{
	strbuf_addstr(out, start);
	strbuf_add(out, line.at, text_left(&line));
	strbuf_addch(out, '\n');
}

static bool is_name(struct text line)
{
	for (const char *at = line.at; at < line.end; at++) {
		if (!is_word_char(*at))
			return false;
	}
	return text_left(&line);
}

/* Copy the lines before the fields. */
static bool clean_head(struct text *in, struct strbuf *out)
{
	struct text line;
	uint64_t id;
	bool whole;

	if (!text_line(in, &line, &whole) || !text_word(&line, "name: ") || !is_name(line))
		return false;
	add_line(out, "name: ", line);
	if (!text_line(in, &line, &whole) || !text_word(&line, "ID: ") || !text_dec(&line, &id) ||
	    text_left(&line) || id > UINT16_MAX)
		return false;
	strbuf_addf(out, "ID: %u\n", (unsigned)id);
	if (!text_line(in, &line, &whole) || !is_word(line, "format:"))
		return false;
	strbuf_addstr(out, "format:\n");
	return true;
}

bool kernelformat_clean(struct text format, struct strbuf *out, bool *has_print)
{
	struct text in = format;
	struct text line;
	struct text declaration;
	unsigned nr_blank = 0;
	bool whole;

	*has_print = false;
	if (text_left(&format) > FORMAT_BYTES_MAX || !clean_head(&in, out))
		return false;
	/*
	 * A blank line follows the fields that all events have. Another one follows the fields that
	 * only this event has.
	 */
	while (nr_blank < 2 && text_line(&in, &line, &whole)) {
		if (text_left(&line) && !read_field(line, &declaration))
			return false;
		nr_blank += text_left(&line) == 0;
		add_line(out, "", line);
	}
	if (nr_blank < 2 || !text_word(&in, "print fmt: "))
		return false;
	while (text_left(&in) && in.end[-1] == '\n')
		in.end--;
	*has_print = has_good_print(format, in);
	if (*has_print)
		add_line(out, "print fmt: ", in);
	else
		strbuf_addstr(out, "print fmt: \"\"\n");
	return !strbuf_oom(out);
}
