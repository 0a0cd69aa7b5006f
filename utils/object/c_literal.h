/* String literals of C in preprocessed text. */
#ifndef UTRAIL_OBJECT_C_LITERAL_H
#define UTRAIL_OBJECT_C_LITERAL_H

/*
 * Returns the text of the string literals in @source, which only blanks separate; on the heap.
 * NULL: @source has something else (a variable, a literal with a prefix or a zero byte), or memory
 * is short.
 */
char *c_literals_text(const char *source);

#endif
