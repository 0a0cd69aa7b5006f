/* C++ and Rust names as people read them (see demangle.h). */
#include "utils/object/demangle.h"

#include <libiberty/demangle.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

#include "utils/object/demangle_simple.h"

/* No honest name is longer, mangled or not. */
#define MANGLED_MAX   (64U << 10)
#define DEMANGLED_MAX (64U << 10)
#define FULL_OPTIONS  (DMGL_PARAMS | DMGL_ANSI)

/*
 * A short name can stand for gigabytes of text: parts may refer to other parts twice. libiberty has
 * no way to stop it but not to come back from the callback. Nothing is lost by that: the callback
 * forms of its functions keep all they have on the stack.
 */
struct printer {
	struct strbuf *out;
	size_t limit;
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

static bool print_rust(const char *name, struct strbuf *out)
{
	struct printer printer = { .out = out, .limit = DEMANGLED_MAX };

	return setjmp(printer.too_long) == 0 &&
	       rust_demangle_callback(name, 0, add_piece, &printer);
}

static bool print_full(const char *name, struct strbuf *out)
{
	struct printer printer = { .out = out, .limit = DEMANGLED_MAX };

	return setjmp(printer.too_long) == 0 &&
	       cplus_demangle_v3_callback(name, FULL_OPTIONS, add_piece, &printer);
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
	if (print_rust(name, out)) {
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
	return print_full(name, out);
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
		/* "_RC0" is well-formed and has no name. */
		if (demangle_mangled(mangled, mode, out) && out->len > start + skip)
			return;
		out->len = start;
	}
	strbuf_addstr(out, name);
}
