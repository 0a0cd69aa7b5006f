/* Telling a simulated process which of its events go to the recording. */
#include "tests/unit/lib/attach/scripted.h"

#include <errno.h>

#define CHOSEN_MAX (ATTACHED_ARGS_BYTES / sizeof(struct attach_choice))

#define BEGIN "open maps gadgets maps maps quiet make-room "
#define END   " drop-room let-go close"

static const struct attach_how how = { .wait = scripted_wait, .wait_arg = &scripted };
static struct attach_choice choices[2 * CHOSEN_MAX];
static struct uft_err err;

static int setup(void **state)
{
	scripted_begin();
	scripted.has_probe = true;
	for (size_t i = 0; i < ARRAY_SIZE(choices); i++)
		choices[i] = (struct attach_choice){ i + 1, i % 2 ? 1 : -1 };
	err_clear(&err);
	return 0;
}

static int choose(size_t nr)
{
	return attach_choose(SCRIPTED_PID, &how, choices, nr, &err);
}

TEST_WITH(told_and_then_in_force, setup, NULL)
{
	assert_int_equal(choose(3), 0);
	assert_string_equal(scripted_log(), BEGIN "write CHOOSE CHOSEN" END);
	assert_memory_equal(scripted.room, choices, 3 * sizeof(choices[0]));
	assert_int_equal(scripted.room[3 * sizeof(choices[0])], 0);
	assert_int_equal(scripted.waits, 0);
	assert_int_equal(choose(0), 0);
	assert_string_equal(scripted_log(), BEGIN "CHOSEN" END);
}

/* If the memory has no room for all choices, they are sent in parts. Each but the last fills it. */
TEST_WITH(many, setup, NULL)
{
	assert_int_equal(choose(CHOSEN_MAX), 0);
	assert_string_equal(scripted_log(), BEGIN "write CHOOSE CHOSEN" END);
	assert_int_equal(choose(CHOSEN_MAX + 1), 0);
	assert_string_equal(scripted_log(), BEGIN "write CHOOSE write CHOOSE CHOSEN" END);
	assert_memory_equal(scripted.room, &choices[CHOSEN_MAX], sizeof(choices[0]));
	assert_memory_equal(scripted.room + sizeof(choices[0]), &choices[1], sizeof(choices[0]));
}

/* If the chosen thread is busy, another thread makes the call, or the same one does later. */
TEST_WITH(busy, setup, NULL)
{
	scripted_answer("CHOSEN", 0, 0, -EAGAIN);
	assert_int_equal(choose(1), 0);
	assert_string_equal(scripted_log(), BEGIN "write CHOOSE CHOSEN drop-room let-go sleep-1000 "
						  "maps quiet make-room write CHOOSE CHOSEN" END);
	assert_int_equal(scripted.waits, 1);
	scripted_check_over();
}

/* The thread is tried fifty times; then the recorder gives up. */
TEST_WITH(busy_for_ever, setup, NULL)
{
	scripted_answer_always("CHOSEN", 0, -EAGAIN);
	assert_int_equal(choose(1), -EAGAIN);
	assert_string_equal(err.text, "process 4711 is busy with its events");
	assert_int_equal(scripted.waits, 49);
}

TEST_WITH(it_says_no, setup, NULL)
{
	scripted_answer("CHOOSE", 0, 0, -ENOMEM);
	assert_int_equal(choose(1), -ENOMEM);
	assert_string_equal(scripted_log(), BEGIN "write CHOOSE" END);
	assert_string_equal(err.text, "cannot choose events of process 4711: Cannot allocate "
				      "memory");
	err_clear(&err);
	scripted_answer("write", 0, -EIO, 0);
	assert_int_equal(choose(1), -EIO);
	assert_string_equal(scripted_log(), BEGIN "write" END);
	/* If a thread does not come back from the probe, it makes no further calls. */
	scripted_answer("CHOSEN", 0, -ETIMEDOUT, 0);
	assert_int_equal(choose(1), -ETIMEDOUT);
	assert_string_equal(scripted_log(), BEGIN "write CHOOSE CHOSEN let-go close");
}

TEST_WITH(there_is_no_probe, setup, NULL)
{
	scripted.has_probe = false;
	assert_int_equal(choose(1), -ESRCH);
	assert_string_equal(err.text, "there is no probe in process 4711 any more");
	assert_string_equal(scripted_log(), "open maps gadgets maps close");
	err_clear(&err);
	scripted_answer("open", 0, -EACCES, 0);
	assert_int_equal(choose(1), -EACCES);
	/* A program with another C library was executed, or the probe is in such a program. */
	err_clear(&err);
	scripted.has_libc = false;
	assert_int_equal(choose(1), -ESRCH);
	scripted.has_probe = true;
	err_clear(&err);
	assert_int_equal(choose(1), -ENOEXEC);
}
