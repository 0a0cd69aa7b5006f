/* The line that says how far a command is: what fits into a terminal. What it does on one is in tests/e2e/running/test_progress.py. */
#include "tests/unit/lib/unit.h"

#include "cmds/terminal/statusline.h"

TEST(ascii)
{
	assert_int_equal(statusline_cut("", 5), 0);
	assert_int_equal(statusline_cut("abcde", 0), 0);
	assert_int_equal(statusline_cut("abcde", 4), 4);
	assert_int_equal(statusline_cut("abcde", 5), 5);
	assert_int_equal(statusline_cut("abcde", 6), 5);
}

/* Nobody asks how wide they are; and none of them is cut in two. */
TEST(other_characters)
{
	assert_int_equal(statusline_cut("\xc3\xa4x", 1), 0);
	assert_int_equal(statusline_cut("\xc3\xa4x", 2), 2);
	assert_int_equal(statusline_cut("\xc3\xa4x", 3), 3);
	assert_int_equal(statusline_cut("x\xe6\x97\xa5\xe6\x9c\xac", 4), 4);
	assert_int_equal(statusline_cut("x\xe6\x97\xa5\xe6\x9c\xac", 5), 7);
	assert_int_equal(statusline_cut("\xf0\x9f\x98\x80", 2), 4);
}
