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

/* Ends the test, which cannot be done here; the reason as for printf(3). */
#define skip_because(...)                               \
	do {                                            \
		print_message("skipped: " __VA_ARGS__); \
		print_message("\n");                    \
		skip();                                 \
	} while (0)

/*
 * The first @len bytes of @data in a heap block of exactly that size, so that a sanitizer or
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
