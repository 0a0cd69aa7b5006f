/*
 * The status line of a command: the part that fits into a terminal.
 * tests/e2e/running/test_progress.py tests it on a terminal.
 */
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

/* Each byte of a character outside of ASCII counts as a column. No character is cut in two. */
TEST(other_characters)
{
	assert_int_equal(statusline_cut("\xc3\xa4x", 1), 0);
	assert_int_equal(statusline_cut("\xc3\xa4x", 2), 2);
	assert_int_equal(statusline_cut("\xc3\xa4x", 3), 3);
	assert_int_equal(statusline_cut("x\xe6\x97\xa5\xe6\x9c\xac", 4), 4);
	assert_int_equal(statusline_cut("x\xe6\x97\xa5\xe6\x9c\xac", 5), 7);
	assert_int_equal(statusline_cut("\xf0\x9f\x98\x80", 2), 4);
}
