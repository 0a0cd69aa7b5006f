/* Arguments and results of Python functions, as texts. */
#ifndef UTRAIL_LIBMCOUNT_PYTHON_VALUES_H
#define UTRAIL_LIBMCOUNT_PYTHON_VALUES_H

#include "libmcount/python/api.h"
#include "utils/format/callables.h"
#include "utils/format/probe/capture.h"

/* A call that has begun. @values: a bit for each value to record, see CALLABLE_RESULT */
struct valued_call {
	struct py_frame *frame;
	struct py_object *code;
	uint64_t values;
};

/* COLD, with the GIL, once. Finds out whether values can be read, and prepares their reading. */
void values_begin(void);

/* True when values can be read: the interpreter's frames have a known form. */
bool values_can_be_had(void);

/*
 * The caller holds the GIL. Write the text of each wanted argument of a call to @texts. The first
 * argument belongs to @texts[1], the second to @texts[2]. The elements that get no argument become
 * "<unset>". No code of the program runs, no error is raised, and a pending error stays.
 */
void values_of_call(const struct valued_call *call,
		    struct capture_text texts[CALLABLE_ARGS_MAX + 1]);

/*
 * The caller holds the GIL. Write the text of the object that a call returns or yields. No code of
 * the program runs, no error is raised, and a pending error stays.
 */
void values_of_result(struct py_object *result, struct capture_text *text);

#endif
