/* Escaping of untrusted text (names, paths, arguments) for its output medium. */
#ifndef UTRAIL_BASE_ESCAPE_H
#define UTRAIL_BASE_ESCAPE_H

#include <stdbool.h>
#include <stddef.h>

#include "utils/base/containers/strbuf.h"

/*
 * The languages in which utrail writes text.
 *
 * "Hidden" characters have no visible form: control characters (C0, DEL, C1), marks that change the
 * direction of writing, separators of lines and paragraphs, U+FFFE, U+FFFF, and bytes that are not
 * UTF-8.
 *
 * Each byte of a hidden character is shown as \xNN, unless the comment of a medium says otherwise.
 * A backslash in the text is shown as one backslash. So the byte 0x1b and the four characters
 * "\x1b" look the same. Demangled names have no backslash, so they are not ambiguous.
 */
enum medium {
	MEDIUM_TERMINAL, /* one line, on a terminal or in a file of plain text */
	MEDIUM_HTML,	 /* HTML or XML: one line, between tags or in a quoted attribute */
	MEDIUM_JSON,	 /* in a string: hidden characters as \uNNNN, \n, \t; bad bytes as U+FFFD */
	MEDIUM_SCRIPT,	 /* like MEDIUM_JSON, within a script element of a page */
	MEDIUM_CSV,	 /* a whole cell: quoted if needed, and never a formula of a spreadsheet */
	MEDIUM_DOT,	 /* inside a quoted string of graphviz */
	MEDIUM_MERMAID,	 /* inside a quoted label of mermaid, in a page */
	MEDIUM_CALLGRIND, /* a name up to the end of the line */
	MEDIUM_FOLDED,	  /* one of several names, which semicolons separate */
	MEDIUM_BINARY,	  /* in formats that count bytes: changes only bad bytes, to U+FFFD */
};

/*
 * Append @text in the form of @medium. If the medium cannot represent bytes that are not UTF-8,
 * each such byte of @text becomes U+FFFD, and the function returns false.
 */
bool escape_add(struct strbuf *out, enum medium medium, const char *text, size_t len);

/*
 * escape_addstr() is escape_add() for a C string. escape_quoted() appends a C string as a JSON
 * string, with the quotes.
 */
bool escape_addstr(struct strbuf *out, enum medium medium, const char *text);
bool escape_quoted(struct strbuf *out, const char *text);

/*
 * True when @text surely needs no escaping. The check is simple and fast. Therefore the result is
 * false for some texts that need no escaping.
 */
bool escape_is_plain(enum medium medium, const char *text, size_t len);

/*
 * Returns the length of the longest beginning of @text that has at most @max bytes and does not end
 * within a character.
 */
size_t escape_cut(const char *text, size_t max);

#endif
