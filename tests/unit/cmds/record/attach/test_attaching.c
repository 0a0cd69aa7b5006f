/* What coming and leaving have in common, with a process that is played. */
#include "tests/unit/lib/played.h"

#include <errno.h>

static int setup(void **state)
{
	played_begin();
	return 0;
}

static struct attaching *make(struct uft_err *err)
{
	const struct attach_how how = { .wait = played_wait, .wait_arg = &played };

	return attaching_make(PLAYED_PID, &how, err);
}

static void opened_and_closed(void **state)
{
	struct attaching *a = make(NULL);

	assert_non_null(a);
	assert_int_equal(a->w.pid, PLAYED_PID);
	attaching_wait(a, 7);
	assert_int_equal(played.waits, 1);
	attaching_done(&a);
	assert_string_equal(played_log(), "open sleep-7 close");
	a = NULL;
	attaching_done(&a);
	assert_string_equal(played_log(), "");
}

/* Why, in the words of target_explain(). */
static void may_not_be_traced(void **state)
{
	struct uft_err err = { 0 };

	played_answer("open", 0, -EPERM, 0);
	assert_null(make(&err));
	assert_int_equal(err.code, -EPERM);
	assert_string_equal(err.text, "explained");
	assert_string_equal(played_log(), "open close");
}

static void the_c_library(void **state)
{
	struct attaching *a = make(NULL);

	assert_int_equal(attaching_find_libc(a, NULL), 0);
	assert_int_equal(a->libc.dlopen, PLAYED_LIBC + 1);
	assert_int_equal(a->libc.dlclose, PLAYED_LIBC + 2);
	assert_int_equal(a->libc.dlerror, PLAYED_LIBC + 3);
	assert_int_equal(a->libc.dladdr1, PLAYED_LIBC + 4);
	assert_int_equal(a->libc.syscall, PLAYED_LIBC + 5);
	assert_string_equal(played_log(), "open maps gadgets");
	played_answer("gadgets", 0, -ENOEXEC, 0);
	assert_int_equal(attaching_find_libc(a, NULL), -ENOEXEC);
	attaching_done(&a);
}

/* dladdr1() may be missing, all others are needed. */
static void c_libraries_that_lack_something(void **state)
{
	static const char *const needed[] = { "dlopen", "dlclose", "dlerror", "syscall" };
	struct attaching *a = make(NULL);
	struct uft_err err = { 0 };

	for (size_t i = 0; i < ARRAY_SIZE(needed); i++) {
		played.missing = needed[i];
		err_clear(&err);
		assert_int_equal(attaching_find_libc(a, &err), -ENOEXEC);
		assert_string_equal(err.text,
				    "cannot attach to process 4711: its C library has no dlopen()");
	}
	played.missing = "dladdr1";
	assert_int_equal(attaching_find_libc(a, NULL), 0);
	assert_int_equal(a->libc.dladdr1, 0);
	attaching_done(&a);
}

static void other_c_libraries(void **state)
{
	struct attaching *a = make(NULL);
	struct uft_err err = { 0 };

	played.has_libc = false;
	assert_int_equal(attaching_find_libc(a, &err), -ENOEXEC);
	assert_non_null(strstr(err.text, "its C library is not glibc (musl?)"));
	played.has_libc = true;
	played.has_musl = true;
	assert_int_equal(attaching_find_libc(a, NULL), -ENOEXEC);
	played.has_musl = false;
	assert_int_equal(attaching_find_libc(a, NULL), 0);
	err_clear(&err);
	played_answer("maps", 0, -ESRCH, 0);
	assert_int_equal(attaching_find_libc(a, &err), -ESRCH);
	assert_string_equal(err.text, "explained");
	attaching_done(&a);
}

/* Both functions, or it is no probe of ours. */
static void the_probe(void **state)
{
	struct attaching *a = played_make();

	assert_false(attaching_find_probe(a));
	assert_false(attaching_has_probe(a));
	played.has_probe = true;
	assert_true(attaching_find_probe(a));
	assert_true(attaching_has_probe(a));
	assert_int_equal(a->attach_fn, PLAYED_ATTACH);
	assert_int_equal(a->leave_fn, PLAYED_LEAVE);
	played.missing = ATTACH_FUNCTION;
	assert_false(attaching_find_probe(a));
	played.missing = LEAVE_FUNCTION;
	assert_false(attaching_find_probe(a));
	assert_true(attaching_has_probe(a));
	played.missing = NULL;
	played_answer("maps", 0, -ESRCH, 0);
	assert_false(attaching_find_probe(a));
	attaching_done(&a);
}

static void calls_have_a_beginning_and_an_end(void **state)
{
	struct attaching *a = played_make();

	assert_int_equal(attaching_begin_calls(a, NULL), 0);
	assert_ptr_equal(a->thread, &played.threads[0]);
	attaching_end_calls(a);
	assert_null(a->thread);
	assert_string_equal(played_log(), "quiet make-room drop-room let-go");

	/* No thread, no room. */
	played_answer("quiet", 0, -EBUSY, 0);
	assert_int_equal(attaching_begin_calls(a, NULL), -EBUSY);
	attaching_end_calls(a);
	assert_string_equal(played_log(), "quiet let-go");
	/* One that has ended drops nothing. */
	assert_int_equal(attaching_begin_calls(a, NULL), 0);
	played.threads[0].is_gone = true;
	attaching_end_calls(a);
	assert_string_equal(played_log(), "quiet make-room let-go");
	attaching_done(&a);
}

/* A thread that does not come back is ours no more; one that fails in another way is. */
static void calls_that_do_not_return(void **state)
{
	struct attaching *a = played_make();
	uint64_t result = 99;

	assert_int_equal(attaching_begin_calls(a, NULL), 0);
	played_answer("dlopen", 0, 0, 5);
	assert_int_equal(attaching_call(a, LOAD_MS, a->libc.dlopen, 1, 2, 3, &result, NULL), 0);
	assert_int_equal(result, 5);
	played_answer("dlopen", 0, -EFAULT, 0);
	assert_int_equal(attaching_call(a, LOAD_MS, a->libc.dlopen, 1, 2, 3, &result, NULL),
			 -EFAULT);
	assert_non_null(a->thread);
	played_answer("dlopen", 0, -ETIMEDOUT, 0);
	assert_int_equal(attaching_call(a, LOAD_MS, a->libc.dlopen, 1, 2, 3, &result, NULL),
			 -ETIMEDOUT);
	assert_null(a->thread);
	attaching_done(&a);
}

/* Another thread makes the calls when one does not stop; after three times that is given up. */
static void all_are_stopped(void **state)
{
	struct attaching *a = played_make();

	assert_int_equal(attaching_begin_calls(a, NULL), 0);
	played_log();
	assert_int_equal(attaching_stop_all(a, NULL), 0);
	assert_string_equal(played_log(), "stop");
	played_answer("stop", 0, -EBUSY, 0);
	assert_int_equal(attaching_stop_all(a, NULL), 0);
	assert_string_equal(played_log(), "stop quiet stop");
	assert_non_null(a->thread);

	for (int i = 0; i < 3; i++)
		played_answer("stop", 0, -EBUSY, 0);
	assert_int_equal(attaching_stop_all(a, NULL), -EBUSY);
	assert_string_equal(played_log(), "stop quiet stop quiet stop");
	assert_null(a->thread);

	/* What is no such thread is no reason to try again. */
	played_answer("stop", 0, -ESRCH, 0);
	assert_int_equal(attaching_stop_all(a, NULL), -ESRCH);
	played_answer("stop", 0, -EBUSY, 0);
	played_answer("quiet", 0, -ESRCH, 0);
	assert_int_equal(attaching_stop_all(a, NULL), -ESRCH);
	assert_string_equal(played_log(), "stop stop quiet");
	attaching_done(&a);
	played_check_over();
}

static struct attaching *make_with_probe(void)
{
	struct attaching *a;

	played.has_probe = true;
	a = played_make();
	assert_int_equal(attaching_begin_calls(a, NULL), 0);
	played_log();
	return a;
}

static void what_the_probe_changes(void **state)
{
	struct attaching *a = make_with_probe();
	struct uft_err err = { 0 };

	/* Nothing to read when there is nothing. */
	assert_int_equal(attaching_read_text(a, NULL), 0);
	assert_string_equal(played_log(), "CHANGES text-read");
	assert_int_equal(a->text.nr, 0);

	played.nr_changes = 2;
	played_answer("CHANGES", 0, 0, 2);
	assert_int_equal(attaching_read_text(a, NULL), 0);
	assert_string_equal(played_log(), "CHANGES read text-read");
	assert_int_equal(a->text.nr, 2);

	played_answer("CHANGES", 0, 0, -ENOMEM);
	assert_int_equal(attaching_read_text(a, &err), -ENOMEM);
	assert_string_equal(err.text, "cannot patch process 4711: Cannot allocate memory");
	err_clear(&err);
	played_answer("CHANGES", 0, 0, 1);
	played_answer("read", 0, -EIO, 0);
	assert_int_equal(attaching_read_text(a, &err), -EIO);
	assert_string_equal(err.text, "cannot read the memory of process 4711: Input/output error");
	played_answer("CHANGES", 0, -EFAULT, 0);
	assert_int_equal(attaching_read_text(a, NULL), -EFAULT);
	attaching_done(&a);
	played_check_over();
}

static void code_that_the_probe_has_made(void **state)
{
	const uint64_t codes[] = { 0x100, 0x200, 0x300, 0x400 };
	struct attaching *a = make_with_probe();
	struct uft_err err = { 0 };

	memcpy(played.room, codes, sizeof(codes));
	played_answer("CODES", 0, 0, 2);
	assert_int_equal(attaching_find_codes(a, ATTACH_CODES, NULL), 0);
	assert_int_equal(a->nr_codes, 2);
	assert_memory_equal(a->codes, codes, sizeof(codes));

	/* As many as there is room for, and one more. */
	played_answer("WITHDRAW", 0, 0, CODES_MAX);
	assert_int_equal(attaching_find_codes(a, ATTACH_WITHDRAW, NULL), 0);
	assert_int_equal(a->nr_codes, CODES_MAX);
	played_answer("CODES", 0, 0, CODES_MAX + 1);
	assert_int_equal(attaching_find_codes(a, ATTACH_CODES, &err), -E2BIG);
	assert_string_equal(err.text, "the probe stays loaded in process 4711");
	assert_int_equal(a->nr_codes, 0);

	played_answer("CODES", 0, -EFAULT, 0);
	assert_int_equal(attaching_find_codes(a, ATTACH_CODES, NULL), -EFAULT);
	played_answer("CODES", 0, 0, 1);
	played_answer("read", 0, -EIO, 0);
	assert_int_equal(attaching_find_codes(a, ATTACH_CODES, NULL), -EIO);
	attaching_done(&a);
	played_check_over();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define each(f) cmocka_unit_test_setup(f, setup)
		each(opened_and_closed),
		each(may_not_be_traced),
		each(the_c_library),
		each(c_libraries_that_lack_something),
		each(other_c_libraries),
		each(the_probe),
		each(calls_have_a_beginning_and_an_end),
		each(calls_that_do_not_return),
		each(all_are_stopped),
		each(what_the_probe_changes),
		each(code_that_the_probe_has_made),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
