/* Libraries that are loaded on demand: their functions, and the words about what is missing. */
#include "tests/unit/lib/unit.h"

#include <stdlib.h>
#include <string.h>

#include "utils/base/compiler.h"
#include "utils/base/library.h"

struct table {
	void *before;
	size_t (*length)(const char *text);
	int (*number)(const char *text);
};

static const struct library_function rows[] = {
	{ "strlen", offsetof(struct table, length) },
	{ "atoi", offsetof(struct table, number) },
	{ "there_is_no_such_function", offsetof(struct table, before) },
};

TEST(each_function_has_its_place)
{
	struct table table = { .before = &table };

	assert_null(library_load("libc.so.6", rows, 2, &table));
	assert_int_equal(table.length("four"), 4);
	assert_int_equal(table.number("17"), 17);
	assert_ptr_equal(table.before, &table);
}

TEST(only_the_functions_asked_for_are_loaded)
{
	struct table table = { NULL };

	assert_null(library_load("libc.so.6", rows, 1, &table));
	assert_int_equal(table.length("one"), 3);
	assert_null(table.number);
	assert_null(library_load("libc.so.6", rows, 0, NULL));
}

TEST(a_missing_library_is_named)
{
	struct table table = { NULL };
	const char *why = library_load("libthere-is-none.so.3", rows, 2, &table);

	assert_non_null(why);
	assert_non_null(strstr(why, "libthere-is-none.so.3"));
	assert_null(table.length);
}

TEST(a_missing_function_is_named)
{
	struct table table = { NULL };
	const char *why = library_load("libc.so.6", rows, ARRAY_SIZE(rows), &table);

	assert_non_null(why);
	assert_non_null(strstr(why, "there_is_no_such_function"));
}
