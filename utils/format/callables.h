/*
 * Functions of a language that has no addresses, Python: in records they have numbers in the place
 * of addresses, and a module of their own in maps, where no program can have anything.
 */
#ifndef UTRAIL_FORMAT_CALLABLES_H
#define UTRAIL_FORMAT_CALLABLES_H

#include <stdbool.h>
#include <string.h>

/* The module's name in maps and of its symbol file, as uftrace has it. */
#define CALLABLES_MODULE "python.fake"

/*
 * Numbers are from 1 on, and below this one: where programs begin that are not position
 * independent. The module lies at 0, so that numbers are addresses, too.
 */
#define CALLABLES_END 0x400000UL

/* So many arguments of one function are recorded at most. */
#define CALLABLE_ARGS_MAX 36U

/* The values that are recorded of a function, in bits: bit N is for argument N, from 1 on. */
#define CALLABLE_RESULT	    (1ULL << 0)
#define CALLABLE_VALUE_BITS (CALLABLE_ARGS_MAX + 1)

/* CPython from 3.9 to 3.13 is known: its files are named python3.9, libpython3.9.so.1.0, ... */
#define PYTHON_MINOR_FIRST 9
#define PYTHON_MINOR_LAST  13

/* True of "python", "/usr/bin/python3.11"; for debugging there are "python3.11d", "python3-dbg". */
static inline bool python_is_name(const char *path)
{
	const char *slash = strrchr(path, '/');
	const char *name = slash ? slash + 1 : path;
	const char *end;

	if (strncmp(name, "python", 6) != 0)
		return false;
	/* Not strspn(3): the probe, which asks this too, calls a short list of libc's functions. */
	end = name + 6;
	while ((*end >= '0' && *end <= '9') || *end == '.')
		end++;
	return !*end || strcmp(end, "d") == 0 || strcmp(end, "-dbg") == 0;
}

#endif
