/*
 * definition_find() takes none of the dynamic linker's locks, and finds the definitions that the
 * linker binds calls to.
 */
#include "libmcount/program/definition.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/unit/lib/unit.h"
#include "utils/base/compiler.h"

#define FUNCTION(name)                \
	{                             \
#name, (uint64_t)name \
	}

/*
 * The C library has several memcpy() and strlen(), and chooses one for the CPU. memcpy() also has
 * an older version.
 */
TEST(test_functions)
{
	const struct {
		const char *name;
		uint64_t address;
	} functions[] = {
		FUNCTION(isatty),	  FUNCTION(qsort),  FUNCTION(calloc), FUNCTION(getenv),
		FUNCTION(pthread_create), FUNCTION(memcpy), FUNCTION(strlen), FUNCTION(abort),
	};

	for (size_t i = 0; i < sizeof(functions) / sizeof(*functions); i++)
		assert_int_equal(definition_find(functions[i].name), functions[i].address);
}

/* The C library has this function, too. This test plays the probe, which replaces it. */
EXPORTED int getdtablesize(void)
{
	return -1;
}

TEST(own_functions_count_when_asked_for)
{
	uint64_t next = (uint64_t)dlsym(RTLD_NEXT, "getdtablesize");

	assert_int_equal(definition_find("getdtablesize"), next);
	assert_int_equal(definition_find_or_own("getdtablesize"), getdtablesize);
	assert_int_equal(definition_find_or_own("qsort"), qsort);
	assert_int_equal(definition_find_or_own("no_such_function"), 0);
}

/*
 * Data is not a function. Definitions in the probe are left out; in this test the program plays the
 * probe.
 */
TEST(test_none)
{
	static const char *const names[] = { "", "no_such_function", "environ", "main",
					     "clock_gettim" };

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		assert_int_equal(definition_find(names[i]), 0);
}
