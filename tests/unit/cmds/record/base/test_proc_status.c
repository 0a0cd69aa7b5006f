/* Fields of /proc/PID/status. */
#include "tests/unit/lib/unit.h"

#include <limits.h>
#include <unistd.h>

#include "cmds/record/base/proc_status.h"
#include "utils/base/cleanup.h"

static const char STATUS[] = "Name:\tGid:\\n 1\nUmask:\t0022\nUid:\t1\t2\t3\t4294967295\n"
			     "Gid:\t5\t6\t7\t8\nGroups:\t9 10 \nNSpid:\t40\t1\nEmpty:\t\nLast:\t12";

TEST(fields_are_found_at_the_beginning_of_lines)
{
	struct strbuf status cleanup_strbuf = { 0 };

	strbuf_add(&status, STATUS, sizeof(STATUS) - 1);
	assert_int_equal(strncmp(proc_status_field(&status, "Name"), "Gid:\\n 1\n", 9), 0);
	assert_int_equal(strncmp(proc_status_field(&status, "Gid"), "5\t6", 3), 0);
	assert_string_equal(proc_status_field(&status, "Last"), "12");
	assert_string_equal(proc_status_field(&status, "mask"), "");
	assert_string_equal(proc_status_field(&status, "NSpi"), "");
}

TEST(numbers_end_with_their_line)
{
	struct strbuf status cleanup_strbuf = { 0 };
	unsigned last = 77;
	int nr;

	strbuf_add(&status, STATUS, sizeof(STATUS) - 1);
	assert_int_equal(proc_status_last(&status, "Empty", &last), 0);
	assert_int_equal(proc_status_last(&status, "Missing", &last), 0);
	assert_int_equal(last, 77);
	assert_int_equal(proc_status_last(&status, "Uid", &last), 4);
	assert_int_equal(last, UINT_MAX);
	assert_int_equal(proc_status_last(&status, "NSpid", &last), 2);
	assert_int_equal(last, 1);
	assert_int_equal(proc_status_last(&status, "Last", &last), 1);
	assert_int_equal(last, 12);

	unsigned *groups cleanup_free = proc_status_numbers(&status, "Groups", &nr);

	assert_int_equal(nr, 2);
	assert_int_equal(groups[0], 9);
	assert_int_equal(groups[1], 10);

	unsigned *none cleanup_free = proc_status_numbers(&status, "Empty", &nr);

	assert_non_null(none);
	assert_int_equal(nr, 0);
}

TEST(our_own_is_read)
{
	struct strbuf status cleanup_strbuf = { 0 };
	struct strbuf none cleanup_strbuf = { 0 };
	unsigned pid = 0;

	assert_int_equal(proc_status_read(getpid(), &status), 0);
	assert_int_equal(proc_status_last(&status, "Pid", &pid), 1);
	assert_int_equal(pid, getpid());
	assert_true(proc_status_read(INT_MAX, &none) < 0);
}
