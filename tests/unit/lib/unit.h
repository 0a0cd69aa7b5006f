/* Included by every unit test: cmocka with its prerequisites, and a few shared checks. */
#ifndef UTRAIL_TESTS_UNIT_H
#define UTRAIL_TESTS_UNIT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/*
 * TEST(name) { ... } is a test. A file's tests run in their order in the file. TEST_WITH() has
 * functions that run before and after the test (NULL: none); both return 0 for success. A test can
 * use its parameter "void **state".
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
 * Run all tests that were added. Returns the number of failures. A file without a main() of its own
 * gets one that does only this.
 */
int unit_run(void);

/* splitmix64: returns the next number of the sequence @state, which is the same on all machines. */
uint64_t unit_random(uint64_t *state);

/* End a test that cannot run here; the reason is given as for printf(3). */
#define skip_because(...)                               \
	do {                                            \
		print_message("skipped: " __VA_ARGS__); \
		print_message("\n");                    \
		skip();                                 \
	} while (0)

/*
 * Returns a copy of the first @len bytes of @data in a heap block of exactly that size: a sanitizer
 * or valgrind sees a read beyond it. The caller frees it.
 */
static inline void *exact_copy(const void *data, size_t len)
{
	char *copy = malloc(len ? len : 1);

	assert_non_null(copy);
	memcpy(copy, data, len);
	return copy;
}

#endif
