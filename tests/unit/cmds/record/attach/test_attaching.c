/* Actions that attaching and leaving share, with a simulated process. */
#include "tests/unit/lib/attach/scripted.h"

#include <errno.h>

static int setup(void **state)
{
	scripted_begin();
	return 0;
}

static struct attaching *make(struct uft_err *err)
{
	const struct attach_how how = { .wait = scripted_wait, .wait_arg = &scripted };

	return attaching_make(SCRIPTED_PID, &how, err);
}

TEST_WITH(opened_and_closed, setup, NULL)
{
	struct attaching *a = make(NULL);

	assert_non_null(a);
	assert_int_equal(a->w.pid, SCRIPTED_PID);
	attaching_wait(a, 7);
	assert_int_equal(scripted.waits, 1);
	attaching_done(&a);
	assert_string_equal(scripted_log(), "open sleep-7 close");
	a = NULL;
	attaching_done(&a);
	assert_string_equal(scripted_log(), "");
}

/* The error explains a refusal in the words of target_explain(). */
TEST_WITH(may_not_be_traced, setup, NULL)
{
	struct uft_err err = { 0 };

	scripted_answer("open", 0, -EPERM, 0);
	assert_null(make(&err));
	assert_int_equal(err.code, -EPERM);
	assert_string_equal(err.text, "explained");
	assert_string_equal(scripted_log(), "open close");
}

TEST_WITH(the_c_library, setup, NULL)
{
	struct attaching *a = make(NULL);

	assert_int_equal(attaching_find_libc(a, NULL), 0);
	assert_int_equal(a->libc.dlopen, SCRIPTED_LIBC + 1);
	assert_int_equal(a->libc.dlclose, SCRIPTED_LIBC + 2);
	assert_int_equal(a->libc.dlerror, SCRIPTED_LIBC + 3);
	assert_int_equal(a->libc.dladdr1, SCRIPTED_LIBC + 4);
	assert_int_equal(a->libc.syscall, SCRIPTED_LIBC + 5);
	assert_string_equal(scripted_log(), "open maps gadgets");
	scripted_answer("gadgets", 0, -ENOEXEC, 0);
	assert_int_equal(attaching_find_libc(a, NULL), -ENOEXEC);
	attaching_done(&a);
}

/* dladdr1() may be missing, all others are needed. */
TEST_WITH(c_libraries_that_lack_something, setup, NULL)
{
	static const char *const needed[] = { "dlopen", "dlclose", "dlerror", "syscall" };
	struct attaching *a = make(NULL);
	struct uft_err err = { 0 };

	for (size_t i = 0; i < ARRAY_SIZE(needed); i++) {
		scripted.missing = needed[i];
		err_clear(&err);
		assert_int_equal(attaching_find_libc(a, &err), -ENOEXEC);
		assert_string_equal(err.text,
				    "cannot attach to process 4711: its C library has no dlopen()");
	}
	scripted.missing = "dladdr1";
	assert_int_equal(attaching_find_libc(a, NULL), 0);
	assert_int_equal(a->libc.dladdr1, 0);
	attaching_done(&a);
}

TEST_WITH(other_c_libraries, setup, NULL)
{
	struct attaching *a = make(NULL);
	struct uft_err err = { 0 };

	scripted.has_libc = false;
	assert_int_equal(attaching_find_libc(a, &err), -ENOEXEC);
	assert_non_null(strstr(err.text, "its C library is not glibc (musl?)"));
	scripted.has_libc = true;
	scripted.has_musl = true;
	assert_int_equal(attaching_find_libc(a, NULL), -ENOEXEC);
	scripted.has_musl = false;
	assert_int_equal(attaching_find_libc(a, NULL), 0);
	err_clear(&err);
	scripted_answer("maps", 0, -ESRCH, 0);
	assert_int_equal(attaching_find_libc(a, &err), -ESRCH);
	assert_string_equal(err.text, "explained");
	attaching_done(&a);
}

/*
 * utrail's probe has utrail_attach() and utrail_leave(). A library that lacks one of them is no
 * probe.
 */
TEST_WITH(the_probe, setup, NULL)
{
	struct attaching *a = scripted_make();

	assert_false(attaching_find_probe(a));
	assert_false(attaching_has_probe(a));
	scripted.has_probe = true;
	assert_true(attaching_find_probe(a));
	assert_true(attaching_has_probe(a));
	assert_int_equal(a->attach_fn, SCRIPTED_ATTACH);
	assert_int_equal(a->leave_fn, SCRIPTED_LEAVE);
	scripted.missing = ATTACH_FUNCTION;
	assert_false(attaching_find_probe(a));
	scripted.missing = LEAVE_FUNCTION;
	assert_false(attaching_find_probe(a));
	assert_true(attaching_has_probe(a));
	scripted.missing = NULL;
	scripted_answer("maps", 0, -ESRCH, 0);
	assert_false(attaching_find_probe(a));
	attaching_done(&a);
}

TEST_WITH(calls_have_a_beginning_and_an_end, setup, NULL)
{
	struct attaching *a = scripted_make();

	assert_int_equal(attaching_begin_calls(a, NULL), 0);
	assert_ptr_equal(a->thread, &scripted.threads[0]);
	attaching_end_calls(a);
	assert_null(a->thread);
	assert_string_equal(scripted_log(), "quiet make-room drop-room let-go");

	/* Without a thread for calls, no room is made and none is dropped. */
	scripted_answer("quiet", 0, -EBUSY, 0);
	assert_int_equal(attaching_begin_calls(a, NULL), -EBUSY);
	attaching_end_calls(a);
	assert_string_equal(scripted_log(), "quiet let-go");
	/* A process that has ended has no room to drop. */
	assert_int_equal(attaching_begin_calls(a, NULL), 0);
	scripted.threads[0].is_gone = true;
	attaching_end_calls(a);
	assert_string_equal(scripted_log(), "quiet make-room let-go");
	attaching_done(&a);
}

/*
 * A thread that does not return from a call is not used again; one whose call fails in another way
 * is.
 */
TEST_WITH(calls_that_do_not_return, setup, NULL)
{
	struct attaching *a = scripted_make();
	uint64_t result = 99;

	assert_int_equal(attaching_begin_calls(a, NULL), 0);
	scripted_answer("dlopen", 0, 0, 5);
	assert_int_equal(attaching_call(a, LOAD_MS, a->libc.dlopen, 1, 2, 3, &result, NULL), 0);
	assert_int_equal(result, 5);
	scripted_answer("dlopen", 0, -EFAULT, 0);
	assert_int_equal(attaching_call(a, LOAD_MS, a->libc.dlopen, 1, 2, 3, &result, NULL),
			 -EFAULT);
	assert_non_null(a->thread);
	scripted_answer("dlopen", 0, -ETIMEDOUT, 0);
	assert_int_equal(attaching_call(a, LOAD_MS, a->libc.dlopen, 1, 2, 3, &result, NULL),
			 -ETIMEDOUT);
	assert_null(a->thread);
	attaching_done(&a);
}

/*
 * Another thread makes the calls when one does not stop. After three threads the recorder gives up.
 */
TEST_WITH(all_are_stopped, setup, NULL)
{
	struct attaching *a = scripted_make();

	assert_int_equal(attaching_begin_calls(a, NULL), 0);
	scripted_log();
	assert_int_equal(attaching_stop_all(a, NULL), 0);
	assert_string_equal(scripted_log(), "stop");
	scripted_answer("stop", 0, -EBUSY, 0);
	assert_int_equal(attaching_stop_all(a, NULL), 0);
	assert_string_equal(scripted_log(), "stop quiet stop");
	assert_non_null(a->thread);

	for (int i = 0; i < 3; i++)
		scripted_answer("stop", 0, -EBUSY, 0);
	assert_int_equal(attaching_stop_all(a, NULL), -EBUSY);
	assert_string_equal(scripted_log(), "stop quiet stop quiet stop");
	assert_null(a->thread);

	/* A missing thread is no reason to try again. */
	scripted_answer("stop", 0, -ESRCH, 0);
	assert_int_equal(attaching_stop_all(a, NULL), -ESRCH);
	scripted_answer("stop", 0, -EBUSY, 0);
	scripted_answer("quiet", 0, -ESRCH, 0);
	assert_int_equal(attaching_stop_all(a, NULL), -ESRCH);
	assert_string_equal(scripted_log(), "stop stop quiet");
	attaching_done(&a);
	scripted_check_over();
}

static struct attaching *make_with_probe(void)
{
	struct attaching *a;

	scripted.has_probe = true;
	a = scripted_make();
	assert_int_equal(attaching_begin_calls(a, NULL), 0);
	scripted_log();
	return a;
}

TEST_WITH(what_the_probe_changes, setup, NULL)
{
	struct attaching *a = make_with_probe();
	struct uft_err err = { 0 };

	/* A probe that has changed nothing gives no text to read. */
	assert_int_equal(attaching_read_text(a, NULL), 0);
	assert_string_equal(scripted_log(), "CHANGES text-read");
	assert_int_equal(a->text.nr, 0);

	scripted.nr_changes = 2;
	scripted_answer("CHANGES", 0, 0, 2);
	assert_int_equal(attaching_read_text(a, NULL), 0);
	assert_string_equal(scripted_log(), "CHANGES read text-read");
	assert_int_equal(a->text.nr, 2);

	scripted_answer("CHANGES", 0, 0, -ENOMEM);
	assert_int_equal(attaching_read_text(a, &err), -ENOMEM);
	assert_string_equal(err.text, "cannot patch process 4711: Cannot allocate memory");
	err_clear(&err);
	scripted_answer("CHANGES", 0, 0, 1);
	scripted_answer("read", 0, -EIO, 0);
	assert_int_equal(attaching_read_text(a, &err), -EIO);
	assert_string_equal(err.text, "cannot read the memory of process 4711: Input/output error");
	scripted_answer("CHANGES", 0, -EFAULT, 0);
	assert_int_equal(attaching_read_text(a, NULL), -EFAULT);
	attaching_done(&a);
	scripted_check_over();
}

TEST_WITH(code_that_the_probe_has_made, setup, NULL)
{
	const uint64_t codes[] = { 0x100, 0x200, 0x300, 0x400 };
	struct attaching *a = make_with_probe();
	struct uft_err err = { 0 };

	memcpy(scripted.room, codes, sizeof(codes));
	scripted_answer("CODES", 0, 0, 2);
	assert_int_equal(attaching_find_codes(a, ATTACH_CODES, NULL), 0);
	assert_int_equal(a->nr_codes, 2);
	assert_memory_equal(a->codes, codes, sizeof(codes));

	/* The probe may report as many codes as there is room for; one code more is an error. */
	scripted_answer("WITHDRAW", 0, 0, CODES_MAX);
	assert_int_equal(attaching_find_codes(a, ATTACH_WITHDRAW, NULL), 0);
	assert_int_equal(a->nr_codes, CODES_MAX);
	scripted_answer("CODES", 0, 0, CODES_MAX + 1);
	assert_int_equal(attaching_find_codes(a, ATTACH_CODES, &err), -E2BIG);
	assert_string_equal(err.text, "the probe has made more code in process 4711 than "
				      "utrail can watch");
	assert_int_equal(a->nr_codes, 0);

	scripted_answer("CODES", 0, -EFAULT, 0);
	assert_int_equal(attaching_find_codes(a, ATTACH_CODES, NULL), -EFAULT);
	scripted_answer("CODES", 0, 0, 1);
	scripted_answer("read", 0, -EIO, 0);
	assert_int_equal(attaching_find_codes(a, ATTACH_CODES, NULL), -EIO);
	attaching_done(&a);
	scripted_check_over();
}
