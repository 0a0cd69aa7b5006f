/* Definitions found without the dynamic linker's locks are those that it binds calls to. */
#include "libmcount/program/definition.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/unit/lib/unit.h"

#define FUNCTION(name)                \
	{                             \
#name, (uint64_t)name \
	}

/* memcpy() also has an older version, and is chosen by the machine; so is strlen(). */
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

/*
 * Data is no function. Definitions of the probe are left out: here this program counts as the
 * probe.
 */
TEST(test_none)
{
	static const char *const names[] = { "", "no_such_function", "environ", "main",
					     "clock_gettim" };

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		assert_int_equal(definition_find(names[i]), 0);
}
