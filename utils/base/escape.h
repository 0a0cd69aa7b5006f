/* Text that somebody else chose (names, paths, arguments), made harmless for where it goes. */
#ifndef UTRAIL_BASE_ESCAPE_H
#define UTRAIL_BASE_ESCAPE_H

#include <stdbool.h>
#include <stddef.h>

#include "utils/base/containers/strbuf.h"

/*
 * The languages that we write text in.
 *
 * "Hidden" characters are those that a reader does not see as they are: control characters (C0,
 * DEL, C1), marks that change the direction of writing, separators of lines and paragraphs,
 * noncharacters, and bytes that are not UTF-8. Such a byte is shown as \xNN. A backslash of the
 * text itself stays as it is, since names in demangled form have none. So a name that spells "\x1b"
 * and one with the byte look the same.
 */
enum medium {
	MEDIUM_TERMINAL, /* and plain text: one line */
	MEDIUM_HTML,	 /* and XML: between tags and in quoted attributes; one line */
	/* The inside of a string; hidden characters as \uNNNN, bytes that are none as U+FFFD */
	MEDIUM_JSON,
	MEDIUM_SCRIPT,	  /* the same for JSON that stands within a script element */
	MEDIUM_CSV,	  /* a whole cell: quoted where needed, and no formula for a spreadsheet */
	MEDIUM_DOT,	  /* the inside of a quoted string of graphviz */
	MEDIUM_MERMAID,	  /* the inside of a quoted label, in a page */
	MEDIUM_CALLGRIND, /* a name that ends with its line */
	MEDIUM_FOLDED,	  /* a name among others, with semicolons between them */
	MEDIUM_BINARY,	  /* formats that count bytes: made valid UTF-8, and nothing else */
};

/*
 * Append @text as @medium shows it. False when some of it is not UTF-8 and the medium has no way to
 * write that: U+FFFD is in its place.
 */
bool escape_add(struct strbuf *out, enum medium medium, const char *text, size_t len);

/* The same for a C string; and for one of JSON with quotes around it. */
bool escape_addstr(struct strbuf *out, enum medium medium, const char *text);
bool escape_quoted(struct strbuf *out, const char *text);

/* True when @text is certainly shown as it is. Fast, and true for most names. */
bool escape_is_plain(enum medium medium, const char *text, size_t len);

/*
 * The number of bytes of the C string @text, at most @max, that can be taken without cutting a
 * character in two.
 */
size_t escape_cut(const char *text, size_t max);

#endif
