/* Telling a probe which calls are open, in a simulated process. */
#include "tests/unit/lib/attach/scripted.h"

#include <errno.h>

#include "cmds/record/attach/hand_over.h"
#include "cmds/record/attach/open_calls.h"

#define AT_ONCE \
	((ATTACH_THREAD_BYTES_MAX - sizeof(struct attach_thread)) / sizeof(struct attach_call))

static struct attaching *a;
static struct uft_err err;
static char printed[2048];

/* By thread: the number of its open calls, or the error of finding these. */
static int nr_calls[2];

int __wrap_open_calls_find(struct open_calls *calls, struct unwinder *u,
			   const struct attached_thread *thread, struct attach_call **list,
			   struct uft_err *why);
int __wrap_open_calls_find(struct open_calls *calls, struct unwinder *u,
			   const struct attached_thread *thread, struct attach_call **list,
			   struct uft_err *why)
{
	int nr = nr_calls[thread->tid - SCRIPTED_PID];

	*list = NULL;
	if (nr < 0)
		return err_set(why, nr, "nobody knows");
	*list = calloc(nr + 1, sizeof(**list));
	assert_non_null(*list);
	for (int i = 0; i < nr; i++)
		(*list)[i].addr = 1000 + i;
	return nr;
}

static int setup(void **state)
{
	scripted_begin();
	scripted.has_probe = true;
	a = scripted_make();
	assert_int_equal(attaching_begin_calls(a, NULL), 0);
	scripted_log();
	err_clear(&err);
	nr_calls[0] = nr_calls[1] = 0;
	return 0;
}

static int teardown(void **state)
{
	attaching_done(&a);
	return 0;
}

static int hand_over(int level)
{
	struct msg msg = { .file = fmemopen(printed, sizeof(printed), "w"), .level = level };
	int ret;

	printed[0] = '\0';
	ret = hand_over_calls(&a->w, NULL, a->thread, a->leave_fn, &msg, &err);
	fclose(msg.file);
	return ret;
}

static const struct attach_thread *room(void)
{
	return (const struct attach_thread *)scripted.room;
}

/*
 * The probe gets the open calls of one thread after the other. Threads without open calls, and
 * threads that have ended, are left out.
 */
TEST_WITH(each_thread, setup, teardown)
{
	nr_calls[0] = 2;
	assert_int_equal(hand_over(2), 0);
	assert_string_equal(scripted_log(), "write OPEN_CALLS");
	assert_int_equal(room()->tid, SCRIPTED_PID);
	assert_int_equal(room()->nr, 2);
	assert_int_equal(room()->calls[0].addr, 1000);
	assert_int_equal(room()->calls[1].addr, 1001);
	assert_int_equal(room()->calls[2].addr, 0);
	assert_non_null(strstr(printed, "thread 4711: calls that are open in it: 2\n"));
	assert_non_null(strstr(printed, "thread 4712: calls that are open in it: 0\n"));

	nr_calls[1] = 1;
	assert_int_equal(hand_over(0), 0);
	assert_string_equal(scripted_log(), "write OPEN_CALLS write OPEN_CALLS");
	assert_int_equal(room()->tid, SCRIPTED_PID + 1);
	assert_string_equal(printed, "");
	scripted.threads[0].is_gone = true;
	assert_int_equal(hand_over(0), 0);
	assert_string_equal(scripted_log(), "write OPEN_CALLS");
}

/* Calls that do not fit into the room for one message are told in several messages. */
TEST_WITH(great_depth, setup, teardown)
{
	nr_calls[0] = AT_ONCE;
	assert_int_equal(hand_over(0), 0);
	assert_string_equal(scripted_log(), "write OPEN_CALLS");
	assert_int_equal(room()->nr, AT_ONCE);
	nr_calls[0]++;
	assert_int_equal(hand_over(0), 0);
	assert_string_equal(scripted_log(), "write OPEN_CALLS write OPEN_CALLS");
	assert_int_equal(room()->tid, SCRIPTED_PID);
	assert_int_equal(room()->nr, 1);
	assert_int_equal(room()->calls[0].addr, 1000 + AT_ONCE);
}

/* A thread whose open calls are not known begins at depth 0; the calls of the others are told. */
TEST_WITH(not_known, setup, teardown)
{
	nr_calls[0] = -EINVAL;
	nr_calls[1] = 1;
	assert_int_equal(hand_over(1), 0);
	assert_string_equal(scripted_log(), "write OPEN_CALLS");
	assert_non_null(strstr(printed, "thread 4711: its open calls are not known, so it begins "
					"at depth 0: nobody knows\n"));
	assert_null(strstr(printed, "4712"));

	nr_calls[0] = 1;
	scripted_answer("OPEN_CALLS", 0, 0, -ENOMEM);
	assert_int_equal(hand_over(1), 0);
	assert_string_equal(scripted_log(), "write OPEN_CALLS write OPEN_CALLS");
	assert_non_null(strstr(printed, "thread 4711: its open calls are not known, so it begins "
					"at depth 0: the probe has no room for them"));
	scripted_check_over();
}

TEST_WITH(failures, setup, teardown)
{
	nr_calls[0] = nr_calls[1] = 1;
	scripted_answer("OPEN_CALLS", 0, -ETIMEDOUT, 0);
	assert_int_equal(hand_over(0), -ETIMEDOUT);
	assert_string_equal(err.text, "'OPEN_CALLS' failed");
	assert_string_equal(scripted_log(), "write OPEN_CALLS");
	err_clear(&err);
	scripted_answer("write", 0, -EIO, 0);
	assert_int_equal(hand_over(0), -EIO);
	assert_string_equal(err.text,
			    "cannot write to the memory of process 4711: Input/output error");
	assert_string_equal(scripted_log(), "write");
}
