/* The facts about functions that are written in C. */
#ifndef UTRAIL_LIBMCOUNT_PYTHON_NATIVES_H
#define UTRAIL_LIBMCOUNT_PYTHON_NATIVES_H

#include <stdatomic.h>

#include "libmcount/python/names.h"
#include "utils/base/compiler.h"

/*
 * A hash table with open addressing. At most half of the entries are used. A replaced table is not
 * freed, since threads may be reading the table: interpreters may have a GIL each (PEP 684).
 */
struct native {
	_Atomic uintptr_t def;
	_Atomic name_facts facts;
	_Atomic uint64_t check;
};

struct native_table {
	uint64_t mask;
	uint64_t nr;
	struct native list[];
};

extern _Atomic(struct native_table *) natives_table;

/*
 * A check value for the content of @def. If Python later stores another definition at the address
 * of @def, the check value of the later definition is almost always different.
 */
static inline uint64_t native_check(const struct py_method_def *def)
{
	return (uint64_t)def->function * 31 + (uint64_t)def->name;
}

static inline uint64_t native_place(uintptr_t def, uint64_t mask)
{
	return (def * 0x9e3779b97f4a7c15ULL >> 32) & mask;
}

/*
 * HOT, with the GIL. Returns the facts about the function that @def defines. Looks only at the
 * entry at which a search for @def begins. Returns 0 if this entry does not contain the facts.
 * Calls no other function.
 */
static inline name_facts natives_known_facts(const struct py_method_def *def)
{
	struct native_table *in = atomic_load_explicit(&natives_table, memory_order_acquire);
	struct native *n;

	if (unlikely(!in))
		return 0;
	n = &in->list[native_place((uintptr_t)def, in->mask)];
	if (unlikely(atomic_load_explicit(&n->def, memory_order_acquire) != (uintptr_t)def) ||
	    unlikely(atomic_load_explicit(&n->check, memory_order_acquire) != native_check(def)))
		return 0;
	return atomic_load_explicit(&n->facts, memory_order_relaxed);
}

/*
 * HOT, with the GIL. Returns all facts about @fn. If the table has no facts about @fn, asks the
 * recorder.
 */
name_facts natives_facts(const struct py_c_function *fn);

#endif
