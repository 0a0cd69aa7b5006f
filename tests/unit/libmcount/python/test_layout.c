/* The places of members in the interpreter's objects depend on its version. */
#include "libmcount/python/layout.h"

#include "tests/unit/lib/unit.h"
#include "utils/format/callables.h"

struct py_api py;

static const char *version;

static const char *tell_version(void)
{
	return version;
}

static struct py_layout layout_of(const char *text)
{
	version = text;
	py.version = tell_version;
	return layout_find();
}

TEST(test_versions)
{
	assert_int_equal(layout_of("3.11.2 (main, Apr 28 2025) [GCC 12.2.0]").minor, 11);
	assert_int_equal(layout_of("3.9.18").minor, PYTHON_MINOR_FIRST);
	assert_int_equal(layout_of("3.13.0rc1").minor, PYTHON_MINOR_LAST);
}

TEST(test_unknown_versions)
{
	static const char *const unknown[] = { "",	 "3",	   "3.",     "3.x",  "2.7.18",
					       "4.11.0", "3.8.20", "3.14.0", "3.99", "3.4294967307",
					       "03.11" };

	for (size_t i = 0; i < sizeof(unknown) / sizeof(*unknown); i++)
		assert_int_equal(layout_of(unknown[i]).minor, 0);
}

/*
 * Before 3.11 a frame object contains all facts. Later it points to the part that the interpreter
 * runs.
 */
TEST(test_inner_part)
{
	void *inner[4] = { NULL };
	void *words[4] = { NULL, NULL, NULL, inner };
	struct py_layout old = layout_of("3.10.1");
	struct py_layout new = layout_of("3.12.1");

	assert_ptr_equal(layout_inner(&old, (struct py_frame *)words), words);
	assert_ptr_equal(layout_inner(&new, (struct py_frame *)words), inner);
}
