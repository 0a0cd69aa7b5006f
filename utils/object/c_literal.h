/* String literals of C in preprocessed text. */
#ifndef UTRAIL_OBJECT_C_LITERAL_H
#define UTRAIL_OBJECT_C_LITERAL_H

/*
 * The text, of the heap, of @source: literals one after the other, with blanks in between. NULL: it
 * is something else (a variable, a text with a zero byte in it, a literal with a prefix), or no
 * memory.
 */
char *c_literals_text(const char *source);

#endif
