/* String literals of C in preprocessed text. */
#ifndef UTRAIL_OBJECT_C_LITERAL_H
#define UTRAIL_OBJECT_C_LITERAL_H

/*
 * Returns the text of the string literals in @source, on the heap. Only blanks may separate the
 * literals. Returns NULL for anything else (a variable, a prefix, a zero byte), or when memory is
 * short.
 */
char *c_literals_text(const char *source);

#endif
