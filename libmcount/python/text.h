/* Objects of Python's as text: what repr() says of values of the language's own types. */
#ifndef UTRAIL_LIBMCOUNT_PYTHON_TEXT_H
#define UTRAIL_LIBMCOUNT_PYTHON_TEXT_H

#include "libmcount/python/api.h"
#include "utils/format/probe/capture.h"

/* COLD. Find what is needed of the interpreter; false: it lacks something. */
bool text_begin(void);

/*
 * With the GIL, when no error waits. @o as text of @limit bytes at most, with dots where there is
 * more. Types of the language are written as repr() does, what is in containers that are in
 * containers is dots. All others are "<module.Class object>". No code of the program runs.
 */
void text_of_object(struct py_object *o, unsigned limit, struct capture_text *text);

/* The object in a cell, which is borrowed: for variables that inner functions use; else @o. */
struct py_object *text_out_of_cell(struct py_object *o);

#endif
