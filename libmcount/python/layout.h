/* Places of members in the interpreter's objects, for each version of Python. */
#ifndef UTRAIL_LIBMCOUNT_PYTHON_LAYOUT_H
#define UTRAIL_LIBMCOUNT_PYTHON_LAYOUT_H

#include <stdint.h>

#include "libmcount/python/api.h"

/*
 * Each member except @minor is the offset of a value. The unit of offsets is the size of a pointer.
 *
 * @minor: the N of version 3.N; 0: an unknown version
 * @frame_inner: the pointer to the memory with the code and the variables of a frame; 0: the frame
 *               itself has the code and the variables
 * @frame_code, @frame_locals: the code, and the first variable. If @frame_inner is 0, both are in
 *               the frame itself. Otherwise, both are in the memory to which @frame_inner points
 * @code_extra: the pointer to values that C modules have attached to a code object (PEP 523)
 * @code_kinds: the bytes object that has the kind of each variable of code; 0: there is none
 * @first_thread: the list of threads in an interpreter; 0: not used
 */
struct py_layout {
	unsigned minor;
	unsigned frame_inner;
	unsigned frame_code;
	unsigned frame_locals;
	unsigned code_extra;
	unsigned code_kinds;
	unsigned first_thread;
};

/* COLD. Returns the layout for the running interpreter, or all 0 when its version is unknown. */
struct py_layout layout_find(void);

/*
 * Returns the part of @frame with the frame's code and variables, or NULL when that part is gone.
 */
static inline struct py_object **layout_inner(const struct py_layout *l, struct py_frame *frame)
{
	struct py_object **words = (struct py_object **)frame;

	return l->frame_inner ? (struct py_object **)words[l->frame_inner] : words;
}

/*
 * The values that C modules have attached to a code object. Each module has an index of its own in
 * @values.
 */
struct py_code_extra {
	intptr_t size;
	void *values[];
};

static inline struct py_code_extra *layout_extra(const struct py_layout *l, struct py_object *code)
{
	return ((struct py_code_extra **)code)[l->code_extra];
}

#endif
