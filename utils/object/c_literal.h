/* String literals of C in preprocessed text. */
#ifndef UTRAIL_OBJECT_C_LITERAL_H
#define UTRAIL_OBJECT_C_LITERAL_H

/*
 * Make the text, on the heap, of @source: string literals one after the other, with blanks in
 * between. NULL: @source is something else (a variable, a text with a zero byte in it, a literal
 * with a prefix), or memory is short.
 */
char *c_literals_text(const char *source);

#endif
