/* Writes Python objects as text. Values of the language's own types are written as by repr(). */
#ifndef UTRAIL_LIBMCOUNT_PYTHON_TEXT_H
#define UTRAIL_LIBMCOUNT_PYTHON_TEXT_H

#include "libmcount/python/api.h"
#include "utils/format/probe/capture.h"

/*
 * COLD. Finds the interpreter's types and functions that are needed. Returns false when some are
 * missing.
 */
bool text_begin(void);

/*
 * With the GIL, without a pending error. Writes @o as at most @limit bytes; a longer text ends with
 * dots. Objects of the language's own types are written as by repr(), with dots for the content of
 * inner containers. Other objects are "<module.Class object>". No code of the program runs.
 */
void text_of_object(struct py_object *o, unsigned limit, struct capture_text *text);

/* Returns the object in the cell @o (a variable that inner functions use), borrowed, or @o. */
struct py_object *text_out_of_cell(struct py_object *o);

#endif
