/* Writes Python objects as text. Values of the language's own types are written as by repr(). */
#ifndef UTRAIL_LIBMCOUNT_PYTHON_TEXT_H
#define UTRAIL_LIBMCOUNT_PYTHON_TEXT_H

#include "libmcount/python/api.h"
#include "utils/format/probe/capture.h"

/*
 * COLD. Finds the types and functions of the interpreter that this file needs. Returns false if one
 * of them is missing.
 */
bool text_begin(void);

/*
 * Writes an object as a text of at most @limit bytes. A text that is cut ends with dots. Objects of
 * the language's own types are written as by repr(), with dots for the items of inner containers.
 * Other objects are written as "<module.Class object>". No code of the program runs.
 *
 * The caller holds the GIL, and no Python error is pending.
 */
void text_of_object(struct py_object *o, unsigned limit, struct capture_text *text);

/*
 * Returns the object in a cell (a variable that inner functions use) as a borrowed reference.
 * Returns NULL if @o is not a cell, or is an empty one.
 */
struct py_object *text_out_of_cell(struct py_object *o);

#endif
