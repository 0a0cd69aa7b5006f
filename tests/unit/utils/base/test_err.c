/*
 * Error texts: the first failure wins, outer layers put their context before it, and nothing
 * overflows.
 */
#include "tests/unit/lib/unit.h"

#include <errno.h>

#include "utils/base/err.h"

TEST(first_failure_wins)
{
	struct uft_err err = { 0 };

	assert_int_equal(err_set(&err, -EINVAL, "bad %s", "thing"), -EINVAL);
	assert_int_equal(err_set_errno(&err, -EIO, "later"), -EIO);
	assert_int_equal(err.code, -EINVAL);
	assert_string_equal(err.text, "bad thing");
	err_clear(&err);
	assert_int_equal(err.code, 0);
	err_set(&err, -ERR_USAGE, "again");
	assert_string_equal(err.text, "again");
}

TEST(errno_text_and_prefix)
{
	struct uft_err err = { 0 };

	err_prefix(&err, "nothing has failed");
	assert_string_equal(err.text, "");
	err_set_errno(&err, -ENOENT, "cannot open '%s'", "x");
	err_prefix(&err, "in %d", 3);
	assert_string_equal(err.text, "in 3: cannot open 'x': No such file or directory");
}

TEST(long_text_is_cut)
{
	struct uft_err err = { 0 };
	char big[3 * ERR_TEXT_MAX];

	memset(big, 'x', sizeof(big) - 1);
	big[sizeof(big) - 1] = '\0';
	err_set_errno(&err, -ENOENT, "%s", big);
	assert_int_equal(strlen(err.text), ERR_TEXT_MAX - 1);
	err_prefix(&err, "%s", big);
	assert_int_equal(strlen(err.text), ERR_TEXT_MAX - 1);
}

TEST(one_line)
{
	struct uft_err err = { 0 };
	char text[2 * ERR_TEXT_MAX];

	err_set(&err, -EINVAL, "bad '%s'", "a\n\x1b[5m\x7f\\");
	assert_string_equal(err.text, "bad 'a\\x0a\\x1b[5m\\x7f\\'");
	/* The text ends anywhere around the end of its room. */
	for (size_t len = ERR_TEXT_MAX - 8; len < ERR_TEXT_MAX + 4; len++) {
		memset(text, 'x', len);
		strcpy(text + len, "\n\n\n");
		err_clear(&err);
		err_set(&err, -EINVAL, "%s", text);
		assert_true(strlen(err.text) < ERR_TEXT_MAX &&
			    strlen(err.text) >= ERR_TEXT_MAX - 4);
	}
}

TEST(nobody_may_be_interested)
{
	assert_int_equal(err_set(NULL, -EPERM, "x"), -EPERM);
	assert_int_equal(err_set_errno(NULL, -EPERM, "x"), -EPERM);
	err_prefix(NULL, "x");
	err_clear(NULL);
}
