/*
 * Offsets of members of PyFrameObject, _PyInterpreterFrame, PyCodeObject and PyInterpreterState
 * (see layout.h). The offsets are the same in all releases of a version 3.N, and on all machines of
 * 64 bits.
 */
#include "libmcount/python/layout.h"

#include "utils/base/compiler.h"
#include "utils/format/callables.h"

static const struct py_layout layouts[] = {
	{ 9, 0, 4, 45, 18, 0, 1 },  { 10, 0, 4, 44, 18, 0, 1 }, { 11, 3, 4, 9, 22, 13, 2 },
	{ 12, 3, 0, 9, 23, 13, 0 }, { 13, 3, 0, 9, 24, 13, 0 },
};
_Static_assert(ARRAY_SIZE(layouts) == PYTHON_MINOR_LAST - PYTHON_MINOR_FIRST + 1,
	       "one for each version");

static unsigned parse_minor(const char *version)
{
	unsigned nr = 0;

	if (version[0] != '3' || version[1] != '.')
		return 0;
	for (const char *c = version + 2; *c >= '0' && *c <= '9' && nr < 1000; c++)
		nr = nr * 10 + (*c - '0');
	return nr;
}

struct py_layout layout_find(void)
{
	unsigned minor = parse_minor(py.version());

	if (minor < PYTHON_MINOR_FIRST || minor > PYTHON_MINOR_LAST)
		return (struct py_layout){ 0 };
	return layouts[minor - PYTHON_MINOR_FIRST];
}
