/* Unit tests of utils/spec/watch.c. */
#include "tests/unit/lib/unit.h"

#include "utils/base/compiler.h"
#include "utils/spec/watch.h"

TEST(test_good)
{
	struct watch_spec spec = { 0 };

	assert_int_equal(watch_spec_parse("cpu;var:foo;;var:bar", &spec, NULL), 0);
	assert_true(spec.cpu);
	assert_int_equal(spec.nr_vars, 2);
	assert_string_equal(spec.vars[0], "foo");
	assert_string_equal(spec.vars[1], "bar");
	watch_spec_deinit(&spec);
}

TEST(test_wrong)
{
	static const char *const bad[] = { "cup", "var:", "foo", "cpu;var" };
	static const char *const columns[] = { "column 1:", "column 1:", "column 1:", "column 5:" };

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		struct watch_spec spec = { 0 };
		struct uft_err err = { 0 };

		assert_int_equal(watch_spec_parse(bad[i], &spec, &err), -ERR_USAGE);
		if (!strstr(err.text, columns[i]))
			fail_msg("'%s': %s", bad[i], err.text);
	}
}
