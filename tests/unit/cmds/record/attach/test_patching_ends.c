/*
 * Hooks at the ends of functions, which are taken out when no call is open, in a simulated process.
 */
#include "tests/unit/lib/attach/scripted.h"

#include <errno.h>

#define LOOK "maps quiet make-room CODES read stop maps"
#define ASK  " write OPEN_ANNOUNCED read"
#define OVER " drop-room let-go"

static struct attaching *a;
static struct process_patches patches;
static struct text text;
static struct uft_err err;

static void has_end(uint64_t site, uint64_t func)
{
	struct patch_end end = { site, func };

	strbuf_add(&patches.ends, &end, sizeof(end));
}

static int setup(void **state)
{
	scripted_begin();
	scripted.has_probe = true;
	a = scripted_make();
	err_clear(&err);
	patches = (struct process_patches){ 0 };
	scripted.nr_changes = 3;
	for (size_t i = 0; i < 3; i++)
		scripted.changes[i].site = 0xa + i;
	scripted.in = 7;
	text = (struct text){ exact_copy(scripted.changes, 3 * sizeof(scripted.changes[0])), 3 };
	has_end(0xa, 0x100);
	has_end(0xb, 0x200);
	has_end(0xc, 0x300);
	return 0;
}

static int teardown(void **state)
{
	attaching_done(&a);
	text_deinit(&text);
	process_patches_deinit(&patches);
	return 0;
}

static int take(void)
{
	return attaching_take_ends_out(a, &patches, &text, &err);
}

/* The probe is asked about the functions, and names those without open calls. */
TEST_WITH(none_is_open, setup, teardown)
{
	const uint64_t funcs[] = { 0x100, 0x200, 0x300 };

	assert_int_equal(take(), 0);
	assert_string_equal(scripted_log(), LOOK ASK " take-out(a,b,c)" OVER);
	assert_memory_equal(scripted.room, funcs, sizeof(funcs));
	assert_int_equal(scripted.in, 0);
	assert_int_equal(text.nr, 0);
	assert_int_equal(scripted.waits, 0);
}

TEST_WITH(nothing_to_take, setup, teardown)
{
	text.nr = 0;
	assert_int_equal(take(), 0);
	assert_string_equal(scripted_log(), "");
}

/*
 * Hooks that are not at ends of functions stay, and so do hooks that could not be taken out. There
 * are twelve attempts, with longer and longer pauses.
 */
TEST_WITH(some_stay, setup, teardown)
{
	patches.ends.len -= sizeof(struct patch_end);
	scripted_answer("take-out(a,b)", 0, 0, 1);
	assert_int_equal(take(), 0);
	assert_string_equal(scripted_log(), LOOK ASK
			    " take-out(a,b)" OVER " sleep-2000 " LOOK ASK " take-out(a,b)" OVER
			    " sleep-3000 " LOOK ASK " take-out()" OVER " sleep-4000 " LOOK ASK
			    " take-out()" OVER " sleep-5000 " LOOK ASK " take-out()" OVER
			    " sleep-6000 " LOOK ASK " take-out()" OVER " sleep-7000 " LOOK ASK
			    " take-out()" OVER " sleep-8000 " LOOK ASK " take-out()" OVER
			    " sleep-9000 " LOOK ASK " take-out()" OVER " sleep-10000 " LOOK ASK
			    " take-out()" OVER " sleep-11000 " LOOK ASK " take-out()" OVER
			    " sleep-12000 " LOOK ASK " take-out()" OVER);
	assert_int_equal(text.nr, 1);
	assert_int_equal(text.changes[0].site, 0xc);
	scripted_check_over();
}

/*
 * A thread inside of a hook leaves it as soon as it has a CPU. Waiting for that does not count as
 * an attempt, but is limited, too.
 */
TEST_WITH(somebody_is_within, setup, teardown)
{
	scripted_answer("OPEN_ANNOUNCED", 0, 0, -EAGAIN);
	assert_int_equal(take(), 0);
	assert_string_equal(scripted_log(), LOOK " write OPEN_ANNOUNCED" OVER
						 " sleep-1000 " LOOK ASK " take-out(a,b,c)" OVER);
	scripted_check_over();
}

TEST_WITH(somebody_stays_within, setup, teardown)
{
	arch_remote_set_pc(&scripted.threads[1].regs, SCRIPTED_PROBE_CODE);
	assert_int_equal(take(), 0);
	assert_int_equal(scripted.waits, 49);
	assert_int_equal(text.nr, 3);
	assert_int_equal(scripted.in, 7);
	assert_null(strstr(scripted_log(), "OPEN_ANNOUNCED"));
}

/* The hooks stay if the probe does not know the functions, or has code in too many places. */
TEST_WITH(it_does_not_know, setup, teardown)
{
	scripted_answer("OPEN_ANNOUNCED", 0, 0, -EINVAL);
	assert_int_equal(take(), 0);
	assert_string_equal(scripted_log(), LOOK " write OPEN_ANNOUNCED" OVER);
	assert_int_equal(text.nr, 3);
	scripted_answer("CODES", 0, 0, CODES_MAX + 1);
	assert_int_equal(take(), 0);
	assert_string_equal(scripted_log(), "maps quiet make-room CODES" OVER);
	assert_int_equal(text.nr, 3);
}

TEST_WITH(failures, setup, teardown)
{
	scripted_answer("OPEN_ANNOUNCED", 0, 0, -ENOSPC);
	assert_int_equal(take(), -ENOSPC);
	assert_string_equal(err.text, "cannot patch process 4711: No space left on device");
	err_clear(&err);
	scripted_log();
	scripted_answer("write", 0, -EIO, 0);
	assert_int_equal(take(), -EIO);
	assert_string_equal(err.text, "cannot patch process 4711: Input/output error");
	assert_string_equal(scripted_log(), LOOK " write" OVER);
	err_clear(&err);
	scripted_answer("read", 1, -EIO, 0);
	assert_int_equal(take(), -EIO);
	assert_string_equal(scripted_log(), LOOK ASK OVER);
	/* A thread that did not come back from the probe makes no further calls. */
	err_clear(&err);
	scripted_answer("OPEN_ANNOUNCED", 0, -ETIMEDOUT, 0);
	assert_int_equal(take(), -ETIMEDOUT);
	assert_string_equal(err.text, "'OPEN_ANNOUNCED' failed");
	assert_string_equal(scripted_log(), LOOK " write OPEN_ANNOUNCED let-go");
	scripted_answer("maps", 1, -ESRCH, 0);
	assert_int_equal(take(), -ESRCH);
	assert_string_equal(scripted_log(), LOOK OVER);
	assert_int_equal(text.nr, 3);
	assert_int_equal(scripted.in, 7);
}
