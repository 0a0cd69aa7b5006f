/*
 * Facts about functions in C: each function is asked once, as long as its definition does not
 * change.
 */
#include "libmcount/python/natives.h"

#include <stdlib.h>

#include "tests/unit/lib/unit.h"

static unsigned nr_asked;

name_facts names_ask_native(const struct py_c_function *fn)
{
	nr_asked++;
	return (uint64_t)fn->def->flags << NAME_SHIFT | NAME_KNOWN | NAME_ASKED;
}

static struct py_object *one(struct py_object *self, struct py_object *arg)
{
	return self;
}

static struct py_object *two(struct py_object *self, struct py_object *arg)
{
	return arg;
}

static uint64_t addr_of(const struct py_method_def *def)
{
	return name_address(natives_facts(&(struct py_c_function){ .def = def }));
}

TEST(test_a_function_is_asked_about_once)
{
	struct py_method_def def = { "f", one, 7, NULL };

	nr_asked = 0;
	for (int i = 0; i < 3; i++)
		assert_int_equal(addr_of(&def), 7);
	assert_int_equal(nr_asked, 1);
}

/* Cython and others free definitions. Another definition may get the same address. */
TEST(test_another_definition_in_that_place)
{
	struct py_method_def def = { "f", one, 7, NULL };

	addr_of(&def);
	nr_asked = 0;
	def = (struct py_method_def){ "f", two, 8, NULL };
	assert_int_equal(addr_of(&def), 8);
	def = (struct py_method_def){ "g", two, 9, NULL };
	assert_int_equal(addr_of(&def), 9);
	assert_int_equal(addr_of(&def), 9);
	assert_int_equal(nr_asked, 2);
}

#define MANY 20000

TEST(test_the_table_grows)
{
	struct py_method_def *list = calloc(MANY, sizeof(*list));

	assert_non_null(list);
	nr_asked = 0;
	for (int round = 0; round < 2; round++) {
		for (int i = 0; i < MANY; i++) {
			if (round == 0)
				list[i] = (struct py_method_def){ "f", one, i + 1, NULL };
			assert_int_equal(addr_of(&list[i]), i + 1);
		}
	}
	assert_int_equal(nr_asked, MANY);
	free(list);
}
