/* Makes "scope::name" from mangled C++ names, for DEMANGLE_SIMPLE (see demangle_simple.h). */
#include "utils/object/names/demangle_simple.h"

#include <ctype.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "utils/base/compiler.h"

#define DEPTH_MAX 128

/*
 * @at: the next byte of the mangled name; never moves backward
 * @start: offset of the name in @out
 * @last: offset in @out of the part that was written last
 * @mute: above 0: names are parsed, but are not written
 */
struct skim {
	const char *at;
	struct strbuf *out;
	size_t start;
	size_t last;
	unsigned mute;
	unsigned depth;
};

static bool skim_name(struct skim *s);
static bool skip_type(struct skim *s);
static bool skip_expr(struct skim *s);

static bool take_prefix(struct skim *s, const char *text)
{
	size_t len = strlen(text);

	if (strncmp(s->at, text, len) != 0)
		return false;
	s->at += len;
	return true;
}

/* Write a part of the name. Returns false when the name becomes too long. */
static bool put_scope(struct skim *s, const char *text, size_t len)
{
	if (s->mute)
		return true;
	if (s->out->len - s->start + strlen("::") + len > DEMANGLED_MAX)
		return false;
	if (s->out->len > s->start)
		strbuf_addstr(s->out, "::");
	s->last = s->out->len;
	strbuf_add(s->out, text, len);
	return true;
}

static bool put_text(struct skim *s, const char *text)
{
	return put_scope(s, text, strlen(text));
}

/* Skip each item by a call of @skip. Then skip the 'E' after the last item. */
static bool skip_until_end(struct skim *s, bool (*skip)(struct skim *s))
{
	while (!take_prefix(s, "E")) {
		if (!*s->at || !skip(s))
			return false;
	}
	return true;
}

/* Call @skim one level deeper. Returns false when the name is nested too deeply. */
static bool go_deeper(struct skim *s, bool (*skim)(struct skim *s))
{
	if (s->depth >= DEPTH_MAX)
		return false;
	s->depth++;

	bool ok = skim(s);

	s->depth--;
	return ok;
}

static void skip_digits(struct skim *s)
{
	while (isdigit((unsigned char)*s->at))
		s->at++;
}

/* Skip "[number] _". */
static bool skip_index(struct skim *s)
{
	skip_digits(s);
	return take_prefix(s, "_");
}

static bool take_identifier(struct skim *s, const char **text, size_t *len)
{
	char *end;

	*len = strtoul(s->at, &end, 10);
	if (!isdigit((unsigned char)*s->at) || *len == 0 || strnlen(end, *len) < *len)
		return false;
	*text = end;
	s->at = end + *len;
	return true;
}

static bool skim_source_name(struct skim *s)
{
	static const char anonymous[] = "_GLOBAL__N_";
	const char *text;
	size_t len;

	if (!take_identifier(s, &text, &len))
		return false;
	if (len > strlen(anonymous) && memcmp(text, anonymous, strlen(anonymous)) == 0)
		return put_text(s, "_GLOBAL__N_1");
	return put_scope(s, text, len);
}

static bool skip_source_name(struct skim *s)
{
	const char *text;
	size_t len;

	return take_identifier(s, &text, &len);
}

/* Parse a name, and write nothing. */
static bool skip_name(struct skim *s)
{
	s->mute++;

	bool ok = skim_name(s);

	s->mute--;
	return ok;
}

static bool skip_literal(struct skim *s)
{
	if (take_prefix(s, "_Z"))
		return skip_name(s) && skip_until_end(s, skip_type);
	if (!skip_type(s))
		return false;
	s->at += strcspn(s->at, "E");
	return take_prefix(s, "E");
}

static bool skip_template_arg(struct skim *s)
{
	if (take_prefix(s, "X"))
		return skip_expr(s) && take_prefix(s, "E");
	if (take_prefix(s, "L"))
		return skip_literal(s);
	if (take_prefix(s, "J"))
		return skip_until_end(s, skip_template_arg);
	return skip_type(s);
}

static bool skip_rest_of_args(struct skim *s)
{
	return skip_until_end(s, skip_template_arg);
}

/* Skip "I <template-arg>* E", if it is there. */
static bool skip_template_args(struct skim *s)
{
	return !take_prefix(s, "I") || go_deeper(s, skip_rest_of_args);
}

/*
 * Skip a back reference ("S1_") or an abbreviation ("Sa"). The caller has already taken the 'S'.
 * Names in std ("St...") never come here: skip_one_type() handles these names.
 */
static bool skip_substitution(struct skim *s)
{
	if (islower((unsigned char)*s->at)) {
		s->at++;
		return true;
	}
	while (isdigit((unsigned char)*s->at) || isupper((unsigned char)*s->at))
		s->at++;
	return take_prefix(s, "_");
}

static bool skip_d_type(struct skim *s)
{
	switch (*s->at++) {
	case 'p': /* pack expansion */
	case 'x':
	case 'o':
		return skip_type(s);
	case 't': /* decltype */
	case 'T':
		return skip_expr(s) && take_prefix(s, "E");
	case 'O': /* noexcept(expression) */
		return skip_expr(s) && take_prefix(s, "E") && skip_type(s);
	case 'F': /* _FloatN */
		return skip_index(s);
	case 'v': /* vector */
		return skip_index(s) && skip_type(s);
	default:
		return islower((unsigned char)s->at[-1]);
	}
}

static bool skip_one_type(struct skim *s)
{
	s->at += strspn(s->at, "rVKPROCG");
	if (isdigit((unsigned char)*s->at) || *s->at == 'N' || *s->at == 'Z' ||
	    strncmp(s->at, "St", 2) == 0)
		return skip_name(s);

	char first = *s->at;

	if (!first)
		return false;
	s->at++;
	switch (first) {
	case 'S':
		return skip_substitution(s) && skip_template_args(s);
	case 'T':
		return skip_index(s) && skip_template_args(s);
	case 'D':
		return skip_d_type(s);
	case 'F':
		take_prefix(s, "Y");
		return skip_until_end(s, skip_type);
	case 'A':
		return (isdigit((unsigned char)*s->at) || *s->at == '_' || skip_expr(s)) &&
		       skip_index(s) && skip_type(s);
	case 'M':
		return skip_type(s) && skip_type(s);
	case 'U':
		return skip_source_name(s) && skip_template_args(s) && skip_type(s);
	case 'u':
		return skip_source_name(s) && skip_template_args(s);
	default:
		return islower((unsigned char)first);
	}
}

static bool skip_type(struct skim *s)
{
	return go_deeper(s, skip_one_type);
}

/*
 * Operators in names and in expressions.
 *
 * @args: number of operands; 0: the number is not fixed (a call, or "new")
 */
static const struct operator_code {
	char code[3];
	unsigned char args;
	const char *text;
} operators[] = {
	{ "aN", 2, "&=" },	{ "aS", 2, "=" },	  { "aa", 2, "&&" },
	{ "ad", 1, "&" },	{ "an", 2, "&" },	  { "aw", 1, " co_await" },
	{ "cl", 0, "()" },	{ "cm", 2, "," },	  { "co", 1, "~" },
	{ "dV", 2, "/=" },	{ "da", 1, " delete[]" }, { "de", 1, "*" },
	{ "dl", 1, " delete" }, { "dv", 2, "/" },	  { "eO", 2, "^=" },
	{ "eo", 2, "^" },	{ "eq", 2, "==" },	  { "ge", 2, ">=" },
	{ "gt", 2, ">" },	{ "ix", 2, "[]" },	  { "lS", 2, "<<=" },
	{ "le", 2, "<=" },	{ "ls", 2, "<<" },	  { "lt", 2, "<" },
	{ "mI", 2, "-=" },	{ "mL", 2, "*=" },	  { "mi", 2, "-" },
	{ "ml", 2, "*" },	{ "mm", 1, "--" },	  { "na", 0, " new[]" },
	{ "ne", 2, "!=" },	{ "ng", 1, "-" },	  { "nt", 1, "!" },
	{ "nw", 0, " new" },	{ "oR", 2, "|=" },	  { "oo", 2, "||" },
	{ "or", 2, "|" },	{ "pL", 2, "+=" },	  { "pl", 2, "+" },
	{ "pm", 2, "->*" },	{ "pp", 1, "++" },	  { "ps", 1, "+" },
	{ "pt", 2, "->" },	{ "qu", 3, "?" },	  { "rM", 2, "%=" },
	{ "rS", 2, ">>=" },	{ "rm", 2, "%" },	  { "rs", 2, ">>" },
	{ "ss", 2, "<=>" },
};

static const struct operator_code *find_operator(const char *code)
{
	for (size_t i = 0; i < ARRAY_SIZE(operators); i++) {
		if (strncmp(operators[i].code, code, 2) == 0)
			return &operators[i];
	}
	return NULL;
}

static bool skip_exprs(struct skim *s, unsigned nr)
{
	while (nr--) {
		if (!skip_expr(s))
			return false;
	}
	return true;
}

/* Skip the last part of an unresolved name. */
static bool skip_base_name(struct skim *s)
{
	if (take_prefix(s, "on")) {
		if (!find_operator(s->at))
			return false;
		s->at += 2;
	} else if (!skip_source_name(s)) {
		return false;
	}
	return skip_template_args(s);
}

static bool skip_unresolved_name(struct skim *s)
{
	if (isdigit((unsigned char)*s->at))
		return skip_until_end(s, skip_base_name) && skip_base_name(s);
	if (take_prefix(s, "N"))
		return skip_type(s) && skip_until_end(s, skip_base_name) && skip_base_name(s);
	return skip_type(s) && skip_base_name(s);
}

static bool skip_function_param(struct skim *s)
{
	s->at += strspn(s->at, "rVK");
	return skip_index(s);
}

static bool skip_cast(struct skim *s)
{
	if (!skip_type(s))
		return false;
	return take_prefix(s, "_") ? skip_until_end(s, skip_expr) : skip_expr(s);
}

static bool skip_one_expr(struct skim *s)
{
	if (take_prefix(s, "L"))
		return skip_literal(s);
	if (take_prefix(s, "T"))
		return skip_index(s);
	if (isdigit((unsigned char)*s->at))
		return skip_base_name(s);
	if (take_prefix(s, "sr"))
		return skip_unresolved_name(s);
	if (take_prefix(s, "fp"))
		return skip_function_param(s);
	if (take_prefix(s, "cv"))
		return skip_cast(s);
	if (take_prefix(s, "cl") || take_prefix(s, "cp") || take_prefix(s, "il"))
		return skip_until_end(s, skip_expr);
	if (take_prefix(s, "tl"))
		return skip_type(s) && skip_until_end(s, skip_expr);
	if (take_prefix(s, "sP"))
		return skip_until_end(s, skip_template_arg);
	if (take_prefix(s, "st") || take_prefix(s, "ti") || take_prefix(s, "at"))
		return skip_type(s);
	if (take_prefix(s, "dc") || take_prefix(s, "sc") || take_prefix(s, "rc") ||
	    take_prefix(s, "cc"))
		return skip_type(s) && skip_expr(s);
	if (take_prefix(s, "sz") || take_prefix(s, "te") || take_prefix(s, "az") ||
	    take_prefix(s, "nx") || take_prefix(s, "sp") || take_prefix(s, "sZ") ||
	    take_prefix(s, "tw") || take_prefix(s, "gs"))
		return skip_expr(s);
	if (take_prefix(s, "dt") || take_prefix(s, "ds"))
		return skip_exprs(s, 2);
	if (take_prefix(s, "tr"))
		return true;
	if (strncmp(s->at, "on", 2) == 0)
		return skip_base_name(s);

	const struct operator_code *op = find_operator(s->at);

	if (!op || !op->args)
		return false;
	s->at += 2;
	take_prefix(s, "_"); /* ++ and -- as prefixes */
	return skip_exprs(s, op->args);
}

static bool skip_expr(struct skim *s)
{
	return go_deeper(s, skip_one_expr);
}

/*
 * Write the name of a constructor or destructor: @prefix, and a copy of the part that was written
 * last. If this part has several names, only the last name is copied. For example, the abbreviation
 * "Sa" stands for "std::allocator", and only "allocator" is copied.
 */
static bool put_class_again(struct skim *s, const char *prefix)
{
	struct strbuf again cleanup_strbuf = { 0 };
	const char *last = strbuf_str(s->out) + s->last;

	if (s->mute)
		return true;
	for (const char *at = last; (at = strstr(at, "::")) != NULL; at += 2)
		last = at + 2;
	strbuf_addstr(&again, prefix);
	strbuf_addstr(&again, last);
	return put_scope(s, strbuf_str(&again), again.len);
}

/*
 * Parse the name of a lambda ("Ul <types> E [number] _") or of an unnamed type ("Ut [number] _").
 * The caller has taken the 'U'.
 */
static bool skim_unnamed(struct skim *s)
{
	char text[32];
	unsigned long number = 0;

	if (take_prefix(s, "t"))
		return skip_index(s);
	if (!take_prefix(s, "l") || !skip_until_end(s, skip_type))
		return false;
	if (isdigit((unsigned char)*s->at))
		number = strtoul(s->at, NULL, 10) + 1;
	snprintf(text, sizeof(text), "$_%lu", number);
	return skip_index(s) && put_text(s, text);
}

static bool skim_operator(struct skim *s)
{
	char text[32];

	if (take_prefix(s, "cv"))
		return skip_type(s) && put_text(s, "operator(cast)");
	if (take_prefix(s, "li"))
		return skip_source_name(s) && put_text(s, "operator\"\"");

	const struct operator_code *op = find_operator(s->at);

	if (!op)
		return false;
	s->at += 2;
	snprintf(text, sizeof(text), "operator%s", op->text);
	return put_text(s, text);
}

static bool skim_ctor_or_dtor(struct skim *s, const char *prefix)
{
	bool is_inherited = take_prefix(s, "I");

	if (!isdigit((unsigned char)*s->at))
		return false;
	s->at++;
	return put_class_again(s, prefix) && (!is_inherited || skip_type(s));
}

/* Parse one part of a name, and the ABI tags and template arguments of this part. */
static bool skim_unqualified(struct skim *s)
{
	bool ok;

	take_prefix(s, "L"); /* internal linkage */
	if (take_prefix(s, "C"))
		ok = skim_ctor_or_dtor(s, "");
	else if (take_prefix(s, "D"))
		ok = skim_ctor_or_dtor(s, "~");
	else if (take_prefix(s, "U"))
		ok = skim_unnamed(s);
	else if (islower((unsigned char)*s->at))
		ok = skim_operator(s);
	else
		ok = skim_source_name(s);
	while (ok && take_prefix(s, "B"))
		ok = skim_source_name(s);
	return ok && skip_template_args(s);
}

static bool put_abbreviation(struct skim *s, char letter)
{
	static const char *const names[] = {
		['a'] = "std::allocator",
		['b'] = "std::basic_string",
		['d'] = "std::basic_iostream",
		['i'] = "std::basic_istream",
		['o'] = "std::basic_ostream",
		['s'] = "std::basic_string<>",
		['t'] = "std",
	};

	if (letter < 'a' || letter > 't' || !names[(unsigned char)letter])
		return false;
	return put_text(s, names[(unsigned char)letter]);
}

/* Parse one part of "N ... E". */
static bool skim_prefix(struct skim *s)
{
	if (take_prefix(s, "S")) {
		if (islower((unsigned char)*s->at))
			return put_abbreviation(s, *s->at++) && skip_template_args(s);
		return s->mute && skip_substitution(s) && skip_template_args(s);
	}
	if (take_prefix(s, "T"))
		return s->mute && skip_index(s) && skip_template_args(s);
	if (strncmp(s->at, "Dt", 2) == 0 || strncmp(s->at, "DT", 2) == 0)
		return s->mute && skip_type(s) && skip_template_args(s);
	if (take_prefix(s, "M")) /* 'M' follows a member whose initializer contains a lambda */
		return true;
	return skim_unqualified(s);
}

/* Parse "<function> E <name in the function>", the part after 'Z'. */
static bool skim_local(struct skim *s)
{
	if (!skim_name(s) || !skip_until_end(s, skip_type))
		return false;
	if (take_prefix(s, "s"))
		return true;
	if (take_prefix(s, "d") && !skip_index(s))
		return false;
	if (!skim_name(s))
		return false;
	if (take_prefix(s, "__"))
		return skip_index(s);
	if (*s->at == '_' && isdigit((unsigned char)s->at[1]))
		s->at += 2;
	return true;
}

static bool skim_one_name(struct skim *s)
{
	if (take_prefix(s, "N")) {
		s->at += strspn(s->at, "rVK");
		s->at += strspn(s->at, "RO");
		return skip_until_end(s, skim_prefix);
	}
	if (take_prefix(s, "Z"))
		return skim_local(s);
	if (take_prefix(s, "St"))
		return put_text(s, "std") && skim_unqualified(s);
	return skim_unqualified(s);
}

static bool skim_name(struct skim *s)
{
	return go_deeper(s, skim_one_name);
}

/* Skip "[n] number _". */
static bool skip_offset(struct skim *s)
{
	take_prefix(s, "n");
	return skip_index(s);
}

static bool skip_call_offset(struct skim *s)
{
	if (take_prefix(s, "h"))
		return skip_offset(s);
	return take_prefix(s, "v") && skip_offset(s) && skip_offset(s);
}

/* Parse the name of a class. */
static bool skim_class(struct skim *s)
{
	if (s->at[0] == 'S' && islower((unsigned char)s->at[1]) && s->at[1] != 't') {
		s->at++;
		return put_abbreviation(s, *s->at++) && skip_template_args(s);
	}
	return skim_name(s);
}

/*
 * Parse a name. For an object that the compiler generates (a vtable, a guard), write the kind of
 * the object before the name of the class or variable to which the object belongs.
 */
static bool skim_special(struct skim *s, bool *is_special)
{
	static const struct {
		const char *code;
		const char *prefix;
		bool (*skim)(struct skim *s);
	} specials[] = {
		{ "TV", "__vtable__", skim_class },
		{ "TT", "__VTT__", skim_class },
		{ "TI", "__typeinfo__", skim_class },
		{ "TS", "__typeinfo_name__", skim_class },
		{ "TF", "__typeinfo_fn__", skim_class },
		{ "TC", "__construction_vtable__", skim_class },
		{ "TH", "TLS_init::", skim_name },
		{ "TW", "TLS_wrap::", skim_name },
		{ "GV", "__guard_variable__", skim_name },
		{ "GR", "__ref_temp__", skim_name },
		{ "GTt", "", skim_name },
		{ "GTn", "", skim_name },
		{ "GA", "", skim_name },
	};

	*is_special = true;
	for (size_t i = 0; i < ARRAY_SIZE(specials); i++) {
		if (!take_prefix(s, specials[i].code))
			continue;
		strbuf_addstr(s->out, specials[i].prefix);
		s->start = s->last = s->out->len;
		return specials[i].skim(s);
	}
	/* Thunks are shown as their targets. */
	if (take_prefix(s, "Tc"))
		return skip_call_offset(s) && skip_call_offset(s) && skim_name(s);
	if (take_prefix(s, "T"))
		return skip_call_offset(s) && skim_name(s);
	*is_special = false;
	return skim_name(s);
}

bool demangle_simple(const char *mangled, struct strbuf *out)
{
	struct skim s = { .at = mangled, .out = out, .start = out->len, .last = out->len };
	bool is_special;

	if (!take_prefix(&s, "_Z") || !skim_special(&s, &is_special) || out->len == s.start)
		return false;
	/* Skip the types of the parameters, up to a suffix (".part.0"). */
	while (!is_special && *s.at && *s.at != '.') {
		if (!skip_type(&s))
			return false;
	}
	return true;
}
