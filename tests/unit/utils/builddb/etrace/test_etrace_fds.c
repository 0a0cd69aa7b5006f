/* Open descriptors of processes, and those that children and parents share. */
#include "tests/unit/lib/unit.h"

#include "utils/base/compiler.h"
#include "utils/base/containers/strbuf.h"
#include "utils/builddb/etrace/etrace_fds.h"

static struct etrace_fds fds;

static int setup(void **state)
{
	fds = (struct etrace_fds){ 0 };
	return 0;
}

static int teardown(void **state)
{
	etrace_fds_deinit(&fds);
	assert_null(fds.by_pid.slots);
	return 0;
}

static void open_one(int32_t pid, uint32_t fd)
{
	assert_int_equal(etrace_fds_open(&fds, pid, fd), 0);
}

static void close_one(int32_t pid, uint32_t fd)
{
	assert_int_equal(etrace_fds_close(&fds, pid, fd), 0);
}

static void check(int32_t pid, const char *expected)
{
	struct strbuf out cleanup_strbuf = { 0 };

	for (int64_t fd = 0; (fd = etrace_fds_next(&fds, pid, fd)) >= 0; fd++)
		strbuf_addf(&out, " %d", (int)fd);
	assert_string_equal(strbuf_str(&out), expected);
}

TEST_WITH(what_is_open_is_found_in_order, setup, teardown)
{
	static const uint32_t numbers[] = { 1048575, 0, 31, 32, 1023, 1024, 32767, 32768, 3 };

	check(5, "");
	for (size_t i = 0; i < ARRAY_SIZE(numbers); i++)
		open_one(5, numbers[i]);
	/* A descriptor that is opened twice counts once. */
	open_one(5, 3);
	check(5, " 0 3 31 32 1023 1024 32767 32768 1048575");
	check(6, "");
	assert_int_equal(etrace_fds_next(&fds, 5, 4), 31);
	assert_int_equal(etrace_fds_next(&fds, 5, 33), 1023);
	assert_int_equal(etrace_fds_next(&fds, 5, 32769), 1048575);
	assert_int_equal(etrace_fds_next(&fds, 5, 1048576), -1);
	close_one(5, 31);
	close_one(5, 1048575);
	check(5, " 0 3 32 1023 1024 32767 32768");
	assert_int_equal(etrace_fds_next(&fds, 5, 32769), -1);
	/* These descriptors were never opened. */
	close_one(5, 4);
	close_one(5, 1048577);
	close_one(7, 0);
	open_one(5, 1048576);
	open_one(5, UINT32_MAX);
	check(5, " 0 3 32 1023 1024 32767 32768");
	etrace_fds_forget(&fds, 5);
	etrace_fds_forget(&fds, 8);
	check(5, "");
}

TEST_WITH(a_child_has_what_its_parent_had, setup, teardown)
{
	open_one(5, 3);
	open_one(5, 40);
	open_one(5, 70000);
	assert_int_equal(etrace_fds_fork(&fds, 5, 6), 0);
	assert_int_equal(etrace_fds_fork(&fds, 6, 7), 0);
	/* After a fork each process has its own descriptors. */
	close_one(5, 40);
	open_one(6, 41);
	close_one(7, 70000);
	open_one(7, 1000000);
	check(5, " 3 70000");
	check(6, " 3 40 41 70000");
	check(7, " 3 40 1000000");
	etrace_fds_forget(&fds, 6);
	check(5, " 3 70000");
	check(6, "");
	check(7, " 3 40 1000000");
	/*
	 * The child's number was used before; the parent has no descriptors; the child is a thread.
	 */
	assert_int_equal(etrace_fds_fork(&fds, 5, 7), 0);
	assert_int_equal(etrace_fds_fork(&fds, 9, 5), 0);
	assert_int_equal(etrace_fds_fork(&fds, 7, 7), 0);
	check(5, "");
	check(7, " 3 70000");
}

/* With a table for each process, 20 GB would be needed. */
TEST_WITH(many_children_share_what_they_have, setup, teardown)
{
	open_one(1, 1048575);
	for (int32_t pid = 1; pid < 20000; pid++)
		assert_int_equal(etrace_fds_fork(&fds, pid, pid + 1), 0);
	check(20000, " 1048575");
	close_one(20000, 1048575);
	check(20000, "");
	check(19999, " 1048575");
}
