/* Writes Python objects as text. Values of the most common types are written as by repr(). */
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
 * Writes an object as a text of at most @limit bytes. A text that is cut ends with dots. None and
 * values of bool, int, float, str, bytes, list, tuple, dict, set and frozenset are written as by
 * repr(), with dots for the items of inner containers. Other objects, and inner frozensets, are
 * written as "<module.Class object>". Integers of more than 1,000 bits are not shown. No code of
 * the program runs.
 *
 * The caller holds the GIL, and no Python error is pending.
 */
void text_of_object(struct py_object *o, unsigned limit, struct capture_text *text);

/* True when @o is a cell: an object that holds a variable for inner functions. */
bool text_is_cell(const struct py_object *o);

/* Returns the object in a cell as a borrowed reference, or NULL if the cell is empty. */
struct py_object *text_out_of_cell(struct py_object *cell);

/*
 * Returns byte @index of the bytes object @o. Returns -1 if @o is NULL or not a bytes object, or if
 * @o has no byte with this index.
 */
int text_byte(struct py_object *o, intptr_t index);

#endif
