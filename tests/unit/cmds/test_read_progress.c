/* The remaining time of reading, from the time that it took so far. */
#include "tests/unit/lib/unit.h"

#include "cmds/read_progress.h"

#define SECOND 1000000000ULL

static const char *left(uint64_t done, uint64_t all, uint64_t took_ns)
{
	static char out[64];
	struct strbuf text cleanup_strbuf = { 0 };

	read_progress_add_left(&text, done, all, took_ns);
	snprintf(out, sizeof(out), "%s", strbuf_str(&text));
	return out;
}

TEST(known)
{
	assert_string_equal(left(25, 100, 4 * SECOND), ", about 12 s left");
	assert_string_equal(left(99, 100, 3 * SECOND), ", about 0 s left");
	assert_string_equal(left(50, 100, 99 * SECOND), ", about 99 s left");
	assert_string_equal(left(50, 100, 100 * SECOND), ", about 2 min left");
	assert_string_equal(left(50, 100, 5999 * SECOND), ", about 100 min left");
	assert_string_equal(left(50, 100, 6000 * SECOND), ", about 2 h left");
	assert_string_equal(left(1, 100, SECOND), ", about 99 s left");
}

/* No time is shown when nothing or hardly anything was read, or all, or more than all. */
TEST(unknown)
{
	assert_string_equal(left(0, 100, SECOND), "");
	assert_string_equal(left(0, 50, SECOND), "");
	assert_string_equal(left(9, 1000, SECOND), "");
	assert_string_equal(left(100, 100, SECOND), "");
	assert_string_equal(left(120, 100, SECOND), "");
	assert_string_equal(left(0, 0, SECOND), "");
}
