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

	unsigned *uids cleanup_free = proc_status_numbers(&status, "Uid", &nr);

	assert_int_equal(nr, 4);
	assert_int_equal(uids[0], 1);
	assert_int_equal(uids[2], 3);
	assert_int_equal(uids[3], UINT_MAX);

	unsigned *lasts cleanup_free = proc_status_numbers(&status, "Last", &nr);

	assert_int_equal(nr, 1);
	assert_int_equal(lasts[0], 12);

	unsigned *none cleanup_free = proc_status_numbers(&status, "Empty", &nr);

	assert_non_null(none);
	assert_int_equal(nr, 0);
}

/* Digits are those from 0 to 9; other characters end the list. */
TEST(other_characters_are_no_numbers)
{
	static const struct {
		const char *text;
		unsigned nr, last;
	} cases[] = {
		{ "F:0 9", 2, 9 },     { "F:\t9/8", 1, 9 }, { "F:9:8", 1, 9 },	   { "F:-1", 0, 0 },
		{ "F: +1", 0, 0 },     { "F:1 x 2", 1, 1 }, { "F:1\t \t2", 2, 2 }, { "F:", 0, 0 },
		{ "F:7 kB\n8", 1, 7 }, { "\n\nF:5", 1, 5 }, { "F F:5", 0, 0 },	   { "", 0, 0 },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct strbuf status cleanup_strbuf = { 0 };
		unsigned last = 0;

		strbuf_addstr(&status, cases[i].text);
		assert_int_equal(proc_status_last(&status, "F", &last), cases[i].nr);
		assert_int_equal(last, cases[i].last);
	}
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
