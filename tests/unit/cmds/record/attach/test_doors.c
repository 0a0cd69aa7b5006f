/* Opening and closing the doors of copies of libutrail-trace, in a simulated process. */
#include "tests/unit/lib/attach/scripted.h"

#include <errno.h>

static char printed[1024];

static int setup(void **state)
{
	struct attaching *a;

	scripted_begin();
	scripted.has_probe = true;
	a = scripted_make();
	assert_int_equal(attaching_begin_calls(a, NULL), 0);
	scripted_log();
	*state = a;
	return 0;
}

static int teardown(void **state)
{
	struct attaching *a = *state;

	attaching_done(&a);
	return 0;
}

static const char *open_doors(struct attaching *a)
{
	struct msg msg = { .file = fmemopen(printed, sizeof(printed), "w") };
	const struct attach_how how = { .msg = &msg };

	printed[0] = '\0';
	attaching_open_doors(a, &how);
	fclose(msg.file);
	return printed;
}

TEST_WITH(at_once, setup, teardown)
{
	assert_string_equal(open_doors(*state), "");
	assert_string_equal(scripted_log(), "DOORS_OPEN");
	scripted_answer("DOORS_OPEN", 0, 0, 3);
	assert_string_equal(open_doors(*state), "");
	assert_int_equal(attaching_close_doors(*state, NULL), 0);
	assert_string_equal(scripted_log(), "DOORS_OPEN DOORS_CLOSE");
}

/*
 * The thread that makes the call may itself be within an event: it runs for a moment before the
 * next attempt.
 */
TEST_WITH(later, setup, teardown)
{
	scripted_answer("DOORS_CLOSE", 0, 0, -EAGAIN);
	assert_int_equal(attaching_close_doors(*state, NULL), 0);
	assert_string_equal(scripted_log(), "DOORS_CLOSE drop-room let-go sleep-1000 maps quiet "
					    "make-room DOORS_CLOSE");
	assert_int_equal(scripted.waits, 1);
	scripted_check_over();
}

/*
 * After two hundred attempts the recorder gives up. When it closes doors, it does not report this as
 * a failure, so leaving goes on.
 */
TEST_WITH(never, setup, teardown)
{
	scripted_answer_always("DOORS_OPEN", 0, -EAGAIN);
	assert_non_null(strstr(open_doors(*state), "it is busy with them"));
	assert_int_equal(scripted.waits, 200);
	scripted_answer_always("DOORS_CLOSE", 0, -EAGAIN);
	assert_int_equal(attaching_close_doors(*state, NULL), 0);
	assert_int_equal(scripted.waits, 400);
}

/* The error tells why doors could not be opened. */
TEST_WITH(failures, setup, teardown)
{
	scripted_answer("DOORS_OPEN", 0, 0, -EINVAL);
	assert_string_equal(open_doors(*state),
			    "WARN: process 4711: events that it has declared are not recorded: it "
			    "is busy with them\n");
	scripted_answer("DOORS_OPEN", 0, -EFAULT, 0);
	assert_string_equal(open_doors(*state),
			    "WARN: process 4711: events that it has declared are not recorded: "
			    "'DOORS_OPEN' failed\n");
	scripted_log();
	scripted_answer("DOORS_CLOSE", 0, 0, -EAGAIN);
	scripted_answer("maps", 0, -ESRCH, 0);
	assert_int_equal(attaching_close_doors(*state, NULL), -ESRCH);
	assert_string_equal(scripted_log(), "DOORS_CLOSE drop-room let-go sleep-1000 maps");
	scripted_check_over();
}
