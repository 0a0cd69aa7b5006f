/* Python functions as they are in records: the recorder gives them numbers. */
#ifndef UTRAIL_LIBMCOUNT_PYTHON_NAMES_H
#define UTRAIL_LIBMCOUNT_PYTHON_NAMES_H

#include <stdint.h>

#include "libmcount/python/api.h"
#include "utils/format/callables.h"

/*
 * The facts about a function. They are in one word, which fits into our place in a code object. 0:
 * not looked up yet.
 */
typedef uint64_t name_facts;

#define NAME_KNOWN 1U /* NAME_OWN, or its absence, is known */
#define NAME_OWN   2U /* of the program, not of Python or a package; or all count as such */
#define NAME_ASKED 4U /* the recorder has told its address */
#define NAME_SHIFT 3

/* The bits above the function's address: the values to record of its calls (CALLABLE_RESULT). */
#define NAME_VALUES_SHIFT (64 - CALLABLE_VALUE_BITS)
#define NAME_VALUES	  (~0ULL << NAME_VALUES_SHIFT)
_Static_assert(CALLABLES_END <= 1ULL << (NAME_VALUES_SHIFT - NAME_SHIFT), "one word has both");

/* The function's address in records; 0: it is not recorded. */
static inline uint64_t name_address(name_facts facts)
{
	return facts << CALLABLE_VALUE_BITS >> (CALLABLE_VALUE_BITS + NAME_SHIFT);
}

/* The values to record, in bits as CALLABLE_RESULT has them. */
static inline uint64_t name_values(name_facts facts)
{
	return facts >> NAME_VALUES_SHIFT;
}

/* True when the program itself, the module __main__, has begun to run. */
extern bool names_have_main;

/* COLD, with the GIL. The facts about code that are known without the recorder. */
name_facts names_look(struct py_object *code);

/*
 * COLD, with the GIL. Complete @facts about the code of the frame that is about to run; find all
 * facts about a function that is written in C.
 */
name_facts names_ask_code(struct py_object *code, name_facts facts);
name_facts names_ask_native(const struct py_c_function *fn);

#endif
