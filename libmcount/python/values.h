/* Arguments and results of Python functions, as texts. */
#ifndef UTRAIL_LIBMCOUNT_PYTHON_VALUES_H
#define UTRAIL_LIBMCOUNT_PYTHON_VALUES_H

#include "libmcount/python/api.h"
#include "utils/format/callables.h"
#include "utils/format/probe/capture.h"

/* A call that has begun. @values: what is recorded of it, as CALLABLE_RESULT has it */
struct valued_call {
	struct py_frame *frame;
	struct py_object *code;
	uint64_t values;
};

/* COLD, with the GIL, once: find what is needed of the interpreter. */
void values_begin(void);

/* False: the interpreter is none whose frames we know. */
bool values_can_be_had(void);

/*
 * With the GIL. The texts of a call's arguments, at their numbers from 1 on, those that are wanted;
 * and that of the argument 0, which no function has. No code of the program runs, nothing is
 * raised, and an error that waits is left as it is.
 */
void values_of_call(const struct valued_call *call,
		    struct capture_text texts[CALLABLE_ARGS_MAX + 1]);

/* The same of what a call returns, or yields. */
void values_of_result(struct py_object *result, struct capture_text *text);

#endif
