/* String literals of C in preprocessed text. */
#ifndef UTRAIL_OBJECT_C_LITERAL_H
#define UTRAIL_OBJECT_C_LITERAL_H

/*
 * Returns the text of the string literals in @source, on the heap. Only blanks may separate the
 * literals. Returns NULL if @source has anything else, for example a variable or a literal with a
 * prefix (L"a"). Also returns NULL if a literal is invalid or has a zero byte, or if memory is
 * short.
 */
char *c_literals_text(const char *source);

#endif
