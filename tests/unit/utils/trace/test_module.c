/* Functions and what they are called. */
#include "tests/unit/lib/unit.h"

#include "utils/trace/module.h"

/* Each of its names finds it, be it the last one; parts of a name do not. */
static void any_of_its_names(void **state)
{
	static char others[] = "Box::put(int)\0_ZN3Box3putEi\0";
	const struct func func = { .name = "Box::put", .others = others };
	const struct func plain = { .name = "main" };

	assert_true(func_is_called(&func, "Box::put"));
	assert_true(func_is_called(&func, "Box::put(int)"));
	assert_true(func_is_called(&func, "_ZN3Box3putEi"));
	assert_false(func_is_called(&func, "Box::pu"));
	assert_false(func_is_called(&func, "put(int)"));
	assert_false(func_is_called(&func, ""));
	assert_true(func_is_called(&plain, "main"));
	assert_false(func_is_called(&plain, "Box::put"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(any_of_its_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
