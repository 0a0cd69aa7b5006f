/* Facts about Python functions, for example the number that the recorder gives to a function. */
#ifndef UTRAIL_LIBMCOUNT_PYTHON_NAMES_H
#define UTRAIL_LIBMCOUNT_PYTHON_NAMES_H

#include <stdint.h>

#include "libmcount/python/api.h"
#include "utils/format/callables.h"

/*
 * A word with the facts about a function. The probe attaches the word to the function's code
 * object. The word is 0 when the facts were not looked up yet.
 */
typedef uint64_t name_facts;

#define NAME_KNOWN 1U /* the bit NAME_OWN is valid, whether 0 or 1 */
#define NAME_OWN   2U /* a function of the program; with --nest-libcall, any function */
#define NAME_ASKED 4U /* the recorder was asked for the function's address, or must not be asked */
#define NAME_SHIFT 3

/*
 * In a name_facts, the bits above the function's address tell which values of a call are recorded.
 * The lowest of these bits stands for the result (CALLABLE_RESULT). The other bits stand for the
 * arguments.
 */
#define NAME_VALUES_SHIFT (64 - CALLABLE_VALUE_BITS)
#define NAME_VALUES	  (~0ULL << NAME_VALUES_SHIFT)
_Static_assert(CALLABLES_END <= 1ULL << (NAME_VALUES_SHIFT - NAME_SHIFT), "one word has both");

/*
 * Returns the function's number, which records contain in place of an address (callables.h).
 * Returns 0 if the function is not recorded, or if the number is not known yet.
 */
static inline uint64_t name_address(name_facts facts)
{
	return facts << CALLABLE_VALUE_BITS >> (CALLABLE_VALUE_BITS + NAME_SHIFT);
}

/* Returns a set of bits, one for each recorded value of a call (see CALLABLE_RESULT). */
static inline uint64_t name_values(name_facts facts)
{
	return facts >> NAME_VALUES_SHIFT;
}

/* Set when the program itself, the module __main__, has begun to run. */
extern bool names_have_main;

/* COLD, with the GIL. Returns facts about the running code, without asking the recorder. */
name_facts names_look(struct py_object *code);

/*
 * COLD, with the GIL. names_ask_code() completes @facts about the running code. names_ask_native()
 * finds all facts about a function that is written in C.
 */
name_facts names_ask_code(struct py_object *code, name_facts facts);
name_facts names_ask_native(const struct py_c_function *fn);

#endif
