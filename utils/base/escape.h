/* Escaping of untrusted text (names, paths, arguments) for its output medium. */
#ifndef UTRAIL_BASE_ESCAPE_H
#define UTRAIL_BASE_ESCAPE_H

#include <stdbool.h>
#include <stddef.h>

#include "utils/base/containers/strbuf.h"

/*
 * The languages of our output.
 *
 * "Hidden" characters are those without a visible form of their own: control characters (C0, DEL,
 * C1), marks that change the direction of writing, separators of lines and paragraphs,
 * noncharacters, and bytes that are not UTF-8. Such a byte is shown as \xNN. A backslash of the
 * text itself is unchanged, since demangled names have none. So a name with the text "\x1b" and one
 * with the byte look the same.
 */
enum medium {
	MEDIUM_TERMINAL, /* for plain text, too: one line */
	MEDIUM_HTML,	 /* for XML, too: between tags and in quoted attributes; one line */
	/* The inside of a string. Hidden characters as \uNNNN, invalid bytes as U+FFFD */
	MEDIUM_JSON,
	MEDIUM_SCRIPT,	  /* JSON within a script element */
	MEDIUM_CSV,	  /* a whole cell: quoted if needed, and never a formula for a spreadsheet
			   */
	MEDIUM_DOT,	  /* the inside of a quoted string of graphviz */
	MEDIUM_MERMAID,	  /* the inside of a quoted label, in a page */
	MEDIUM_CALLGRIND, /* a name that ends with its line */
	MEDIUM_FOLDED,	  /* a name among others, with semicolons between them */
	MEDIUM_BINARY,	  /* formats that count bytes: made valid UTF-8, and otherwise unchanged */
};

/*
 * Append @text in the form of @medium. False when part of it is not UTF-8 and the medium cannot
 * represent that: U+FFFD replaces it.
 */
bool escape_add(struct strbuf *out, enum medium medium, const char *text, size_t len);

/*
 * Like escape_add(), for a C string. escape_quoted() adds a JSON string with quotes around it.
 */
bool escape_addstr(struct strbuf *out, enum medium medium, const char *text);
bool escape_quoted(struct strbuf *out, const char *text);

/* True when @text certainly needs no escaping. Fast, and true for most names. */
bool escape_is_plain(enum medium medium, const char *text, size_t len);

/*
 * Returns the number of bytes of the C string @text, at most @max, that end at a character
 * boundary.
 */
size_t escape_cut(const char *text, size_t max);

#endif
