/* All unit tests include this: cmocka with its prerequisites, and a few shared checks. */
#ifndef UTRAIL_TRACE_TESTS_UNIT_H
#define UTRAIL_TRACE_TESTS_UNIT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/*
 * TEST(name) { ... } is a test. A file's tests run in their order in the file. TEST_WITH() names
 * functions that run before and after the test (NULL: none); both return 0 for success. The test
 * gets "void **state".
 */
#define TEST(name) TEST_WITH(name, NULL, NULL)
#define TEST_WITH(name, setup, teardown)                                                 \
	static void name(void **state);                                                  \
	__attribute__((constructor)) static void unit_add_##name(void)                   \
	{                                                                                \
		unit_add((struct CMUnitTest)cmocka_unit_test_setup_teardown(name, setup, \
									    teardown));  \
	}                                                                                \
	static void name(void **state)

/* TEST_GROUP() names functions that run once, before the first test and after the last one. */
#define TEST_GROUP(setup, teardown)                                   \
	__attribute__((constructor)) static void unit_add_group(void) \
	{                                                             \
		unit_group(setup, teardown);                          \
	}

void unit_add(struct CMUnitTest test);
void unit_group(CMFixtureFunction setup, CMFixtureFunction teardown);
/*
 * Run all tests that were added, and return the number of failed ones. The main() of a file without
 * its own only calls this.
 */
int unit_run(void);

/* Skip a test that cannot run here. The arguments tell the reason, as for printf(3). */
#define skip_because(...)                               \
	do {                                            \
		print_message("skipped: " __VA_ARGS__); \
		print_message("\n");                    \
		skip();                                 \
	} while (0)

/*
 * Returns a heap block of exactly @len bytes with the first bytes of @data, so that a sanitizer or
 * valgrind sees a read of one byte too many. The caller frees it.
 */
static inline void *exact_copy(const void *data, size_t len)
{
	char *copy = malloc(len ? len : 1);

	assert_non_null(copy);
	memcpy(copy, data, len);
	return copy;
}

#endif
