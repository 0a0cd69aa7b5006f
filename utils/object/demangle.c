/* C++ and Rust names as people read them (see demangle.h): walks libiberty's component trees. */
#include "utils/object/demangle.h"

#include <libiberty/demangle.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* No honest name is longer, and the work libiberty does grows faster than the length. */
#define MANGLED_MAX  (64U << 10)
#define SIMPLE_MAX   (64U << 10)
#define DEPTH_MAX    256
#define FULL_OPTIONS (DMGL_PARAMS | DMGL_ANSI)

/* @start: where this name begins in @out */
struct walk {
	struct strbuf *out;
	size_t start;
	unsigned depth;
};

static bool walk_name(struct walk *w, const struct demangle_component *dc);

bool demangle_mode_parse(const char *word, enum demangle_mode *mode)
{
	static const struct {
		const char *word;
		enum demangle_mode mode;
	} words[] = {
		{ "simple", DEMANGLE_SIMPLE }, { "full", DEMANGLE_FULL }, { "no", DEMANGLE_NO },
		{ "false", DEMANGLE_NO },      { "off", DEMANGLE_NO },	  { "n", DEMANGLE_NO },
		{ "0", DEMANGLE_NO },
	};

	for (size_t i = 0; i < ARRAY_SIZE(words); i++) {
		if (strcasecmp(words[i].word, word) == 0) {
			*mode = words[i].mode;
			return true;
		}
	}
	return false;
}

/* Every part of the name comes through here: parts stand behind "::". */
static bool put_part(struct walk *w, const char *prefix, const char *text, size_t len)
{
	if (w->out->len > w->start)
		strbuf_addstr(w->out, "::");
	strbuf_addstr(w->out, prefix);
	strbuf_add(w->out, text, len);
	return w->out->len - w->start < SIMPLE_MAX;
}

/* The class that a constructor or destructor is named after: the part written last. */
static bool put_class_again(struct walk *w, const char *prefix)
{
	const char *text = strbuf_str(w->out) + w->start;
	const char *last = text;

	for (const char *at = text; (at = strstr(at, "::")) != NULL; at += 2)
		last = at + 2;

	char *copy cleanup_free = strdup(last);

	return copy && put_part(w, prefix, copy, strlen(copy));
}

static bool put_source_name(struct walk *w, const char *text, size_t len)
{
	static const char anonymous[] = "(anonymous namespace)";

	if (len == strlen(anonymous) && memcmp(text, anonymous, len) == 0)
		return put_part(w, "", "_GLOBAL__N_1", strlen("_GLOBAL__N_1"));
	return put_part(w, "", text, len);
}

static void add_piece(const char *text, size_t len, void *out)
{
	strbuf_add(out, text, len);
}

/* The text of an operator is known to libiberty only. */
static bool put_operator(struct walk *w, const struct demangle_component *dc)
{
	struct strbuf text cleanup_strbuf = { 0 };

	if (!cplus_demangle_print_callback(FULL_OPTIONS, (struct demangle_component *)dc, add_piece,
					   &text))
		return false;
	while (text.len && text.data[text.len - 1] == ' ')
		text.len--;
	return put_part(w, "", strbuf_str(&text), text.len);
}

/* "std::string" and its like are written as the templates that they are, as the peer does. */
static bool put_std(struct walk *w, const struct demangle_component *dc)
{
	static const struct {
		const char *known;
		const char *shown;
	} names[] = {
		{ "std::string", "std::basic_string<>" },
		{ "std::basic_string<char", "std::basic_string<>" },
		{ "std::istream", "std::basic_istream" },
		{ "std::basic_istream<", "std::basic_istream" },
		{ "std::ostream", "std::basic_ostream" },
		{ "std::basic_ostream<", "std::basic_ostream" },
		{ "std::iostream", "std::basic_iostream" },
		{ "std::basic_iostream<", "std::basic_iostream" },
	};
	size_t len = dc->u.s_string.len;

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		size_t known = strlen(names[i].known);

		if (len >= known && memcmp(dc->u.s_string.string, names[i].known, known) == 0)
			return put_part(w, "", names[i].shown, strlen(names[i].shown));
	}
	return put_part(w, "", dc->u.s_string.string, len);
}

/* Names of things the compiler makes for other things: they begin with what they are. */
static const char *special_prefix(enum demangle_component_type type)
{
	switch (type) {
	case DEMANGLE_COMPONENT_VTABLE:
		return "__vtable__";
	case DEMANGLE_COMPONENT_VTT:
		return "__VTT__";
	case DEMANGLE_COMPONENT_CONSTRUCTION_VTABLE:
		return "__construction_vtable__";
	case DEMANGLE_COMPONENT_TYPEINFO:
		return "__typeinfo__";
	case DEMANGLE_COMPONENT_TYPEINFO_NAME:
		return "__typeinfo_name__";
	case DEMANGLE_COMPONENT_TYPEINFO_FN:
		return "__typeinfo_fn__";
	case DEMANGLE_COMPONENT_GUARD:
		return "__guard_variable__";
	case DEMANGLE_COMPONENT_REFTEMP:
		return "__ref_temp__";
	case DEMANGLE_COMPONENT_TLS_INIT:
		return "TLS_init::";
	case DEMANGLE_COMPONENT_TLS_WRAPPER:
		return "TLS_wrap::";
	default:
		return NULL;
	}
}

static bool walk_special(struct walk *w, const char *prefix, const struct demangle_component *dc)
{
	/* "construction vtable for B-in-A": it belongs to A. */
	const struct demangle_component *of = dc->type == DEMANGLE_COMPONENT_CONSTRUCTION_VTABLE
						      ? dc->u.s_binary.right
						      : dc->u.s_binary.left;

	strbuf_addstr(w->out, prefix);

	struct walk inner = { w->out, w->out->len, w->depth };

	return walk_name(&inner, of);
}

static bool walk_number(struct walk *w, const struct demangle_component *dc)
{
	char text[24];

	snprintf(text, sizeof(text), "$_%d", dc->u.s_unary_num.num);
	return put_part(w, "", text, strlen(text));
}

static bool walk_component(struct walk *w, const struct demangle_component *dc)
{
	const char *prefix = special_prefix(dc->type);

	if (prefix)
		return walk_special(w, prefix, dc);
	switch (dc->type) {
	case DEMANGLE_COMPONENT_NAME:
		return put_source_name(w, dc->u.s_name.s, dc->u.s_name.len);
	case DEMANGLE_COMPONENT_SUB_STD:
		return put_std(w, dc);
	case DEMANGLE_COMPONENT_QUAL_NAME:
	case DEMANGLE_COMPONENT_LOCAL_NAME:
	case DEMANGLE_COMPONENT_TAGGED_NAME:
		return walk_name(w, dc->u.s_binary.left) && walk_name(w, dc->u.s_binary.right);
	case DEMANGLE_COMPONENT_CTOR:
		return put_class_again(w, "");
	case DEMANGLE_COMPONENT_DTOR:
		return put_class_again(w, "~");
	case DEMANGLE_COMPONENT_OPERATOR:
		return put_operator(w, dc);
	case DEMANGLE_COMPONENT_EXTENDED_OPERATOR:
		return walk_name(w, dc->u.s_extended_operator.name);
	case DEMANGLE_COMPONENT_CONVERSION:
	case DEMANGLE_COMPONENT_CAST:
		return put_part(w, "", "operator(cast)", strlen("operator(cast)"));
	case DEMANGLE_COMPONENT_UNARY: /* operator"" _km */
		return put_part(w, "", "operator\"\"", strlen("operator\"\""));
	case DEMANGLE_COMPONENT_LAMBDA:
		return walk_number(w, dc);
	case DEMANGLE_COMPONENT_UNNAMED_TYPE:
	case DEMANGLE_COMPONENT_NUMBER:
		return true;
	case DEMANGLE_COMPONENT_DEFAULT_ARG:
		return walk_name(w, dc->u.s_unary_num.sub);
	case DEMANGLE_COMPONENT_TYPED_NAME:
	case DEMANGLE_COMPONENT_TEMPLATE:
	case DEMANGLE_COMPONENT_CONST_THIS:
	case DEMANGLE_COMPONENT_VOLATILE_THIS:
	case DEMANGLE_COMPONENT_RESTRICT_THIS:
	case DEMANGLE_COMPONENT_REFERENCE_THIS:
	case DEMANGLE_COMPONENT_RVALUE_REFERENCE_THIS:
	case DEMANGLE_COMPONENT_TRANSACTION_SAFE:
	case DEMANGLE_COMPONENT_NOEXCEPT:
	case DEMANGLE_COMPONENT_THROW_SPEC:
	case DEMANGLE_COMPONENT_THUNK:
	case DEMANGLE_COMPONENT_VIRTUAL_THUNK:
	case DEMANGLE_COMPONENT_COVARIANT_THUNK:
	case DEMANGLE_COMPONENT_HIDDEN_ALIAS:
	case DEMANGLE_COMPONENT_TRANSACTION_CLONE:
	case DEMANGLE_COMPONENT_NONTRANSACTION_CLONE:
	case DEMANGLE_COMPONENT_CLONE:
		return walk_name(w, dc->u.s_binary.left);
	default:
		return false;
	}
}

/* False: there is something in the name that this mode has no text for. */
static bool walk_name(struct walk *w, const struct demangle_component *dc)
{
	if (!dc || w->depth >= DEPTH_MAX)
		return false;
	w->depth++;

	bool ok = walk_component(w, dc);

	w->depth--;
	return ok;
}

/* False leaves rubbish behind in @out. */
static bool demangle_cxx_simple(const char *name, struct strbuf *out)
{
	void *memory = NULL;
	struct demangle_component *dc = cplus_demangle_v3_components(name, FULL_OPTIONS, &memory);
	struct walk w = { out, out->len, 0 };
	bool ok = dc && walk_name(&w, dc) && out->len > w.start;

	free(memory);
	return ok;
}

/*
 * Take the generic arguments out of a Rust name: "f::<A, B>" becomes "f". The angle brackets at the
 * start of "<T as Trait<U>>::f" are part of the scope and stay.
 */
static void drop_generic_arguments(char *text, size_t *len)
{
	size_t to = 0;
	size_t depth = 0;

	for (size_t at = 0; at < *len; at++) {
		bool is_arrow = at > 0 && text[at - 1] == '-';

		if (depth == 0 && at > 0 && *len - at >= 3 && memcmp(text + at, "::<", 3) == 0)
			at += 2;
		else if (depth == 0) {
			text[to++] = text[at];
			continue;
		}
		depth += text[at] == '<';
		depth -= text[at] == '>' && !is_arrow;
	}
	*len = to;
}

static bool demangle_mangled(const char *name, enum demangle_mode mode, struct strbuf *out)
{
	size_t start = out->len;

	/* Both manglings of Rust; the old one looks like C++, its hash at the end gives it away. */
	if (rust_demangle_callback(name, 0, add_piece, out)) {
		size_t len = out->len - start;

		if (mode == DEMANGLE_SIMPLE && name[1] == 'R' && !strbuf_oom(out)) {
			drop_generic_arguments(out->data + start, &len);
			out->len = start + len;
			out->data[out->len] = '\0';
		}
		return true;
	}
	out->len = start;
	if (mode == DEMANGLE_SIMPLE)
		return demangle_cxx_simple(name, out);
	return cplus_demangle_v3_callback(name, FULL_OPTIONS, add_piece, out);
}

/* Functions that the compiler makes around another one have its name behind theirs. */
static size_t prefix_length(const char *name)
{
	static const char *const prefixes[] = { "_GLOBAL__sub_I_", "_GLOBAL__sub_D_",
						"__device_stub_" };

	for (size_t i = 0; i < ARRAY_SIZE(prefixes); i++) {
		size_t len = strlen(prefixes[i]);

		if (strncmp(name, prefixes[i], len) == 0)
			return len;
	}
	return 0;
}

void demangle(const char *name, enum demangle_mode mode, struct strbuf *out)
{
	size_t skip = mode == DEMANGLE_SIMPLE && name[0] == '_' ? prefix_length(name) : 0;
	const char *mangled = name + skip;
	size_t start = out->len;

	if (mode != DEMANGLE_NO && mangled[0] == '_' && (mangled[1] == 'Z' || mangled[1] == 'R') &&
	    strnlen(mangled, MANGLED_MAX) < MANGLED_MAX) {
		strbuf_add(out, name, skip);
		if (demangle_mangled(mangled, mode, out))
			return;
		out->len = start;
	}
	strbuf_addstr(out, name);
}
