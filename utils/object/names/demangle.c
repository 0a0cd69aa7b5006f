/* C++ and Rust names in readable form (see demangle.h). */
#include "utils/object/names/demangle.h"

#include <libiberty/demangle.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

#include "utils/object/names/demangle_simple.h"

/* The longest mangled name that is read. Real names are shorter. */
#define MANGLED_MAX  (64U << 10)
#define FULL_OPTIONS (DMGL_PARAMS | DMGL_ANSI)

/*
 * Limits the output of libiberty, because a short mangled name can produce gigabytes. Only a
 * longjmp() out of the callback stops libiberty. During the callback, libiberty holds no memory on
 * the heap, except for a Rust identifier in Punycode (see add_rust_piece()).
 */
struct printer {
	struct strbuf *out;
	size_t limit;
	bool is_cut;
	jmp_buf too_long;
};

static void add_piece(const char *text, size_t len, void *arg)
{
	struct printer *printer = arg;

	if (len > printer->limit)
		longjmp(printer->too_long, 1);
	printer->limit -= len;
	strbuf_add(printer->out, text, len);
}

static bool is_ascii(const char *text, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		if ((unsigned char)text[i] >= 0x80)
			return false;
	}
	return true;
}

/*
 * Adds a piece of a Rust name. If the piece is an identifier in Punycode, libiberty frees @text
 * after this function has returned, so a longjmp() would leak @text. Only such pieces have bytes
 * outside of ASCII. If such a piece is too long, this function drops the piece and returns. The
 * longjmp() follows when libiberty passes the next piece.
 */
static void add_rust_piece(const char *text, size_t len, void *arg)
{
	struct printer *printer = arg;

	if (len > printer->limit && !is_ascii(text, len)) {
		printer->limit = 0;
		printer->is_cut = true;
		return;
	}
	add_piece(text, len, printer);
}

typedef int demangler_fn(const char *name, int options, demangle_callbackref add, void *arg);

static bool print_name(demangler_fn *demangler, demangle_callbackref add, const char *name,
		       int options, struct strbuf *out)
{
	struct printer printer = { .out = out, .limit = DEMANGLED_MAX };

	return setjmp(printer.too_long) == 0 && demangler(name, options, add, &printer) &&
	       !printer.is_cut;
}

/*
 * Remove the generic arguments of a Rust name: "f::<A, B>" becomes "f". The brackets at the start
 * of "<T as Trait<U>>::f" are a scope, and stay.
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

	/*
	 * Try Rust first, because C++ demanglers also accept the old mangled names of Rust (see
	 * is_rust()).
	 */
	if (print_name(rust_demangle_callback, add_rust_piece, name, 0, out)) {
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
		return demangle_simple(name, out);
	return print_name(cplus_demangle_v3_callback, add_piece, name, FULL_OPTIONS, out);
}

/*
 * Returns the length of the prefix before a mangled name, or 0 when there is none. Compilers add
 * such prefixes to names of functions that they generate.
 */
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

/*
 * True when the @len bytes at @text are a suffix that compilers add, such as ".part".
 *
 * @has_number: a dot and a number follow these bytes. Some suffixes require a number
 */
static bool is_clone_word(const char *text, size_t len, bool has_number)
{
	static const struct {
		const char *word;
		bool needs_number;
	} words[] = {
		{ ".part", true },  { ".constprop", true }, { ".isra", true },
		{ ".cold", false }, { ".lto_priv", true },  { ".localalias", false },
		{ ".llvm", true },  { ".__uniq", true },
	};

	for (size_t i = 0; i < ARRAY_SIZE(words); i++) {
		if (len == strlen(words[i].word) && memcmp(text, words[i].word, len) == 0)
			return has_number || !words[i].needs_number;
	}
	return false;
}

/*
 * Returns the offset of the last suffix that a compiler has added to @name (".part.0", ".cold"), or
 * @len when there is none.
 */
static size_t last_ending(const char *name, size_t len)
{
	size_t end = len;
	size_t word;

	while (end && name[end - 1] >= '0' && name[end - 1] <= '9')
		end--;

	bool has_number = end < len && end && name[end - 1] == '.';

	if (has_number)
		end--;
	else
		end = len;
	for (word = end; word && name[word - 1] != '.'; word--)
		;
	/* If no text stands before the word, the word is the name itself, not a suffix. */
	return word > 1 && is_clone_word(name + word - 1, end - word + 1, has_number) ? word - 1
										      : len;
}

size_t demangle_plain_length(const char *name)
{
	size_t len = strlen(name);

	for (size_t plain; (plain = last_ending(name, len)) != len;)
		len = plain;
	return len;
}

static void add_name(struct strbuf *out, const char *name, size_t len)
{
	strbuf_add(out, name, len);
	strbuf_addch(out, '\0');
}

/*
 * If @name has the form "<m::Type as m::Trait>::f" or "<m::Type>::f", append "m::Type::f" to @out.
 */
static void add_method(const char *name, struct strbuf *out)
{
	const char *type_end = NULL;
	size_t depth = 0;

	for (const char *at = name; *at; at++) {
		bool is_arrow = at > name && at[-1] == '-';

		depth += *at == '<';
		depth -= *at == '>' && !is_arrow;
		if (depth == 1 && !type_end && strncmp(at, " as ", 4) == 0)
			type_end = at;
		if (depth == 0) {
			if (at == name)
				return;
			if (!type_end)
				type_end = at;
			strbuf_add(out, name + 1, type_end - name - 1);
			strbuf_addstr(out, at + 1);
			return;
		}
	}
}

static void add_rust_names(const char *shown, struct strbuf *out)
{
	struct strbuf method cleanup_strbuf = { 0 };

	add_method(shown, &method);
	if (method.len)
		add_name(out, method.data, method.len);

	const char *path = method.len ? strbuf_str(&method) : shown;
	const char *inside = strstr(path, "::");

	/*
	 * Add the path without the crate only if the rest still has a scope: "crate::m::f" becomes
	 * "m::f". But "crate::main" would become "main", and other functions have the name "main".
	 */
	if (inside && strstr(inside + 2, "::") && !memchr(path, '<', inside - path))
		add_name(out, inside + 2, strlen(inside + 2));
}

/* True for a mangled name of Rust. Names in the old mangling end in a hash of 16 digits. */
static bool is_rust(const char *name, size_t len)
{
	if (len > 2 && memcmp(name, "_R", 2) == 0)
		return true;
	return len > 23 && memcmp(name, "_ZN", 3) == 0 && name[len - 1] == 'E' &&
	       memcmp(name + len - 20, "17h", 3) == 0;
}

static void demangle_all(const char *name, enum demangle_mode mode, struct strbuf *out)
{
	size_t skip = mode == DEMANGLE_SIMPLE && name[0] == '_' ? prefix_length(name) : 0;
	const char *mangled = name + skip;
	size_t start = out->len;

	if (mode != DEMANGLE_NO && mangled[0] == '_' && (mangled[1] == 'Z' || mangled[1] == 'R') &&
	    strnlen(mangled, MANGLED_MAX) < MANGLED_MAX) {
		strbuf_add(out, name, skip);
		/* Keep a name like "_RC0", which is well-formed but has no readable form. */
		if (demangle_mangled(mangled, mode, out) && out->len > start + skip)
			return;
		out->len = start;
	}
	strbuf_addstr(out, name);
}

void demangle(const char *name, enum demangle_mode mode, struct strbuf *out)
{
	struct strbuf plain cleanup_strbuf = { 0 };
	size_t len = mode == DEMANGLE_SIMPLE ? demangle_plain_length(name) : 0;

	/* Remove suffixes before demangling, since no demangler knows all of them. */
	if (mode == DEMANGLE_SIMPLE && name[len]) {
		strbuf_add(&plain, name, len);
		name = strbuf_str(&plain);
	}
	demangle_all(name, mode, out);
}

void demangle_others(const char *name, enum demangle_mode mode, struct strbuf *out)
{
	size_t plain = demangle_plain_length(name);
	struct strbuf text cleanup_strbuf = { 0 };
	struct strbuf symbol cleanup_strbuf = { 0 };

	strbuf_add(&symbol, name, plain);
	if (name[plain]) {
		demangle(strbuf_str(&symbol), mode, &text);
		if (mode == DEMANGLE_SIMPLE)
			strbuf_addstr(&text, name + plain);
		add_name(out, strbuf_str(&text), text.len);
	}
	if (mode != DEMANGLE_NO && is_rust(name, plain)) {
		strbuf_reset(&text);
		demangle(strbuf_str(&symbol), mode, &text);
		add_rust_names(strbuf_str(&text), out);
	}
}
