/* Taking the probe out of a simulated process: the order of the actions, and threads in the way. */
#include "tests/unit/lib/attach/scripted.h"

#include <errno.h>
#include <sys/syscall.h>

#define EMPTY	 "stop maps take-out(a) COUNT let-others-go"
#define NOT_YET	 "stop maps take-out(a) let-others-go sleep-2000"
#define BEGIN	 "open maps gadgets maps quiet make-room DOORS_CLOSE HANDLE"
#define WITHDRAW " WITHDRAW read CHANGES read text-read "
#define END	 " drop-room let-go close"
#define STAYS(why)                                                              \
	"the probe stays in process 4711: " why "; it does nothing there, and " \
	"'utrail record -p 4711' takes it out when that is possible"

static const struct attach_how how = { .wait = scripted_wait, .wait_arg = &scripted };
static struct uft_err err;

static int setup(void **state)
{
	scripted_begin();
	scripted.has_probe = true;
	scripted.nr_changes = 1;
	scripted.changes[0].site = 0xa;
	scripted.in = 1;
	err_clear(&err);
	return 0;
}

static void answer_well(void)
{
	scripted_answer("HANDLE", 0, 0, 0x77);
	scripted_answer("CHANGES", 0, 0, 1);
}

static int leave(void)
{
	return attach_end(SCRIPTED_PID, &how, &err);
}

TEST_WITH(the_whole_way, setup, NULL)
{
	answer_well();
	assert_int_equal(leave(), 0);
	assert_string_equal(scripted_log(), BEGIN WITHDRAW EMPTY " GIVE_BACK dlclose maps" END);
	assert_int_equal(scripted.in, 0);
	assert_false(scripted.has_probe);
	assert_int_equal(scripted.waits, 0);
	scripted_check_over();
}

TEST_WITH(nothing_to_leave, setup, NULL)
{
	scripted.has_probe = false;
	assert_int_equal(leave(), -ESRCH);
	assert_string_equal(err.text, "there is no probe in process 4711 any more");
	assert_string_equal(scripted_log(), "open maps gadgets maps close");
	scripted_answer("open", 0, -ESRCH, 0);
	assert_int_equal(leave(), -ESRCH);
}

/*
 * dlopen(3) has returned a handle of the probe. The recorder was killed before it could pass this
 * handle to the probe. The dynamic linker still knows the handle.
 */
TEST_WITH(a_handle_that_nobody_was_told, setup, NULL)
{
	uint64_t map = 0x99;
	const size_t info_bytes = 4 * sizeof(void *);

	memcpy(scripted.room + info_bytes, &map, sizeof(map));
	scripted_answer("dladdr1", 0, 0, 1);
	scripted_answer("CHANGES", 0, 0, 1);
	assert_int_equal(leave(), 0);
	assert_string_equal(scripted_log(),
			    BEGIN " dladdr1 read" WITHDRAW EMPTY " GIVE_BACK dlclose maps" END);
	scripted_check_over();
}

/* The handle is not known: all changes are undone, and the probe stays. */
TEST_WITH(no_handle, setup, NULL)
{
	scripted_answer("CHANGES", 0, 0, 1);
	assert_int_equal(leave(), -EBUSY);
	assert_string_equal(err.text, STAYS("the C library does not tell its handle"));
	assert_string_equal(scripted_log(), BEGIN " dladdr1" WITHDRAW EMPTY END);
	assert_int_equal(scripted.in, 0);
	err_clear(&err);
	scripted_answer("dladdr1", 0, 0, 1);
	assert_int_equal(leave(), -EBUSY);
	err_clear(&err);
	scripted.missing = "dladdr1";
	assert_int_equal(leave(), -EBUSY);
	scripted.missing = NULL;
	scripted_answer("dladdr1", 0, -ETIMEDOUT, 0);
	scripted_log();
	assert_int_equal(leave(), -ETIMEDOUT);
	assert_string_equal(scripted_log(), BEGIN " dladdr1 let-go close");
}

/*
 * A thread is inside of the probe. The recorder lets all threads run for a while, and looks again.
 * After four looks another thread makes the recorder's calls, since the first one may be inside.
 * When no thread is inside any more, the changes are undone once more: a thread that was inside may
 * have made changes.
 */
TEST_WITH(somebody_is_within, setup, NULL)
{
	answer_well();
	for (int i = 0; i < 5; i++)
		scripted_answer("COUNT", 0, 0, 1);
	assert_int_equal(leave(), 0);
	assert_string_equal(scripted_log(), BEGIN WITHDRAW EMPTY
			    " sleep-2000 " EMPTY " sleep-2000 " EMPTY " sleep-2000 " EMPTY
			    " sleep-2000 let-go quiet " EMPTY " sleep-2000 let-go quiet " EMPTY
			    " WITHDRAW read sleep-2000 let-go quiet " EMPTY
			    " GIVE_BACK dlclose maps" END);
	assert_int_equal(scripted.waits, 6);
	scripted_check_over();
}

/* A thread stays inside, in a handler that never ends. */
TEST_WITH(somebody_stays_within, setup, NULL)
{
	answer_well();
	scripted_answer_always("COUNT", 0, 1);
	assert_int_equal(leave(), -EBUSY);
	assert_string_equal(err.text, STAYS("a thread is within it (a handler of a signal has "
					    "interrupted it and does not end?)"));
	assert_int_equal(scripted.waits, 2000);
	assert_true(scripted.has_probe);
}

/* A hook that cannot be taken out leads to the probe, so the probe stays. */
TEST_WITH(text_that_stays, setup, NULL)
{
	answer_well();
	scripted_answer("take-out(a)", 0, 0, 1);
	assert_int_equal(leave(), 0);
	assert_string_equal(scripted_log(), BEGIN WITHDRAW EMPTY " sleep-2000 " EMPTY
								 " GIVE_BACK dlclose maps" END);
	scripted_check_over();
}

/* Looking at many changes takes long: the process then runs for longer than it is stopped. */
TEST_WITH(looks_that_take_long, setup, NULL)
{
	answer_well();
	scripted.look_us = 500;
	scripted_answer("take-out(a)", 0, 0, 1);
	assert_int_equal(leave(), 0);
	assert_string_equal(scripted_log(), BEGIN WITHDRAW EMPTY " sleep-4000 " EMPTY
								 " GIVE_BACK dlclose maps" END);
	scripted.look_us = 0;
}

/* A thread does not stop at first, so all are let go, and another thread makes the calls. */
TEST_WITH(not_all_stop, setup, NULL)
{
	answer_well();
	scripted_answer("stop", 0, -EBUSY, 0);
	assert_int_equal(leave(), 0);
	assert_string_equal(scripted_log(),
			    BEGIN WITHDRAW "stop quiet " EMPTY " GIVE_BACK dlclose maps" END);
	assert_false(scripted.has_probe);
	scripted_check_over();
}

TEST_WITH(failures_on_the_way, setup, NULL)
{
	answer_well();
	for (int i = 0; i < 3; i++)
		scripted_answer("stop", 0, -EBUSY, 0);
	assert_int_equal(leave(), -EBUSY);
	assert_string_equal(err.text, STAYS("'stop' failed"));
	assert_string_equal(scripted_log(),
			    BEGIN WITHDRAW "stop quiet stop quiet stop let-go close");

	answer_well();
	scripted_answer("COUNT", 0, -EFAULT, 0);
	assert_int_equal(leave(), -EFAULT);
	assert_string_equal(scripted_log(), BEGIN WITHDRAW "stop maps take-out(a) COUNT" END);

	answer_well();
	scripted_answer("GIVE_BACK", 0, -EFAULT, 0);
	assert_int_equal(leave(), -EFAULT);
	assert_string_equal(scripted_log(), BEGIN WITHDRAW EMPTY " GIVE_BACK" END);

	scripted_answer("DOORS_CLOSE", 0, -EFAULT, 0);
	assert_int_equal(leave(), -EFAULT);
	scripted_log();
	scripted_answer("HANDLE", 0, -EFAULT, 0);
	assert_int_equal(leave(), -EFAULT);
	assert_string_equal(scripted_log(), BEGIN END);

	answer_well();
	scripted_answer("WITHDRAW", 0, 0, CODES_MAX + 1);
	assert_int_equal(leave(), -E2BIG);
	scripted_log();
	scripted_answer("quiet", 0, -EBUSY, 0);
	err_clear(&err);
	assert_int_equal(leave(), -EBUSY);
	assert_string_equal(err.text, STAYS("'quiet' failed"));
	assert_string_equal(scripted_log(), "open maps gadgets maps quiet let-go close");
	/* The memory of the process cannot be opened any more. */
	scripted_answer("open", 0, -EPERM, 0);
	err_clear(&err);
	assert_int_equal(leave(), -EPERM);
	assert_string_equal(err.text, STAYS("explained"));
}

TEST_WITH(it_is_not_unloaded, setup, NULL)
{
	answer_well();
	scripted.keeps_probe = true;
	assert_int_equal(leave(), -EBUSY);
	assert_string_equal(err.text, STAYS("the C library has not unloaded it"));
}

/* --- threads inside of the probe --- */

static struct attaching *look;

static bool is_within_at(uint64_t pc)
{
	arch_remote_set_pc(&scripted.threads[1].regs, pc);
	return attaching_is_anybody_within(look);
}

/*
 * A thread is inside when it runs code of the probe, of the linker, or code that the probe has
 * made: from the first byte to the last.
 */
TEST_WITH(program_counters, setup, NULL)
{
	look = scripted_make();
	look->nr_codes = 2;
	look->codes[0] = 0x70000;
	look->codes[1] = 0x70010;
	look->codes[2] = 0x80000;
	look->codes[3] = 0x80001;
	assert_false(is_within_at(SCRIPTED_NOWHERE));
	assert_true(is_within_at(SCRIPTED_PROBE_CODE));
	assert_true(is_within_at(SCRIPTED_PROBE_END - 1));
	assert_false(is_within_at(SCRIPTED_PROBE_END));
	assert_false(is_within_at(SCRIPTED_PROBE_CODE - 1));
	assert_true(is_within_at(SCRIPTED_LINKER_CODE));
	assert_true(is_within_at(SCRIPTED_LINKER_END - 1));
	assert_false(is_within_at(SCRIPTED_LINKER_CODE - 1));
	assert_false(is_within_at(0x70000 - 1));
	assert_true(is_within_at(0x70000));
	assert_true(is_within_at(0x7000f));
	assert_false(is_within_at(0x70010));
	assert_true(is_within_at(0x80000));
	assert_false(is_within_at(0x80001));
	/* A thread that has ended is not inside of the probe. */
	assert_true(is_within_at(SCRIPTED_PROBE_CODE));
	scripted.threads[1].is_gone = true;
	assert_false(is_within_at(SCRIPTED_PROBE_CODE));
	attaching_done(&look);
}

/* A thread is also inside of the probe when a signal has interrupted it there. */
TEST_WITH(interrupted, setup, NULL)
{
	static const struct {
		uint64_t pc;
		bool is_within;
	} places[] = {
		{ SCRIPTED_PROBE_CODE, true },
		{ SCRIPTED_PROBE_END - 1, true },
		{ SCRIPTED_LINKER_CODE, true },
		{ SCRIPTED_LINKER_CODE - 1, false },
		{ 0x70000, true },
		{ 0x70010, false },
		{ 0x80000, true },
		{ SCRIPTED_NOWHERE, false },
	};

	look = scripted_make();
	look->nr_codes = 2;
	look->codes[0] = 0x70000;
	look->codes[1] = 0x70010;
	look->codes[2] = 0x80000;
	look->codes[3] = 0x80001;
	for (size_t i = 0; i < ARRAY_SIZE(places); i++) {
		scripted.pc = places[i].pc;
		assert_int_equal(attaching_is_anybody_within(look), places[i].is_within);
	}
	attaching_done(&look);
}

static uint64_t entered(const struct arch_remote *regs)
{
	return arch_remote_entered_call(regs);
}

/* Set the register whose value @read returns. Before the call no register has @value. */
static void set_register(struct arch_remote *regs, uint64_t (*read)(const struct arch_remote *),
			 uint64_t value)
{
	for (size_t i = 0; i < ARRAY_SIZE(regs->words) && read(regs) != value; i++) {
		uint64_t before = regs->words[i];

		regs->words[i] = value;
		if (read(regs) != value)
			regs->words[i] = before;
	}
	assert_int_equal(read(regs), value);
}

static bool is_about_to_at(uint64_t pc)
{
	arch_remote_set_pc(&scripted.threads[1].regs, pc);
	return attaching_is_anybody_about_to_enter(look);
}

/*
 * The C library has read the address of a function of the probe, and is about to call it: the
 * address is in a register, or fork(3) wakes threads that wait for its lock.
 */
TEST_WITH(about_to_enter, setup, NULL)
{
	const uint64_t in_libc = SCRIPTED_LIBC + 0x1800;
	struct arch_remote *regs = &scripted.threads[1].regs;
	uint64_t *stack = (uint64_t *)scripted.room;

	look = scripted_make();
	look->libc.fork = SCRIPTED_LIBC + 0x1000;
	regs->bytes = sizeof(regs->words);
	memset(regs->words, 0xff, sizeof(regs->words));
	assert_false(is_about_to_at(in_libc));
	regs->words[0] = SCRIPTED_PROBE_END - 1;
	assert_true(is_about_to_at(in_libc));
	assert_false(is_about_to_at(SCRIPTED_NOWHERE));
	regs->words[0] = SCRIPTED_PROBE_CODE - 1;
	assert_false(is_about_to_at(in_libc));
	regs->words[0] = SCRIPTED_PROBE_END;
	assert_false(is_about_to_at(in_libc));

	set_register(regs, arch_remote_sp, SCRIPTED_ROOM);
	memset(stack, 0, 64 * sizeof(*stack));
	stack[31] = look->libc.fork + 100;
	assert_false(is_about_to_at(in_libc));
	set_register(regs, entered, SYS_futex);
	assert_true(is_about_to_at(in_libc));
	assert_false(is_about_to_at(SCRIPTED_NOWHERE));
	stack[31] = look->libc.fork - 1;
	assert_false(is_about_to_at(in_libc));
	stack[32] = look->libc.fork;
	assert_false(is_about_to_at(in_libc));
	/* In another system call the library is not about to call anything. */
	stack[31] = look->libc.fork;
	regs->words[0] = SCRIPTED_PROBE_CODE;
	assert_true(is_about_to_at(in_libc));
	set_register(regs, entered, SYS_clone);
	assert_false(is_about_to_at(in_libc));
	/* A thread that has ended is not about to make a call. */
	set_register(regs, entered, SYS_futex);
	scripted.threads[1].is_gone = true;
	assert_false(is_about_to_at(in_libc));
	attaching_done(&look);
}

TEST_WITH(without_a_linker, setup, NULL)
{
	scripted.has_linker = false;
	look = scripted_make();
	assert_false(is_within_at(SCRIPTED_LINKER_CODE));
	assert_true(is_within_at(SCRIPTED_PROBE_CODE));
	attaching_done(&look);
}

/* The probe does not count a thread that is inside only by its program counter. */
TEST_WITH(within_by_program_counter, setup, NULL)
{
	struct attaching *a = scripted_make();

	assert_int_equal(attaching_begin_calls(a, NULL), 0);
	scripted_log();
	answer_well();
	arch_remote_set_pc(&scripted.threads[1].regs, SCRIPTED_PROBE_CODE);
	scripted_answer("stop", 2, -ESRCH, 0);
	assert_int_equal(attaching_take_out(a, NULL), -ESRCH);
	assert_string_equal(scripted_log(),
			    "DOORS_CLOSE HANDLE" WITHDRAW NOT_YET " " NOT_YET " stop");
	attaching_done(&a);
}

/* A thread that the C library is about to send into the probe is waited for, too. */
TEST_WITH(within_in_a_moment, setup, NULL)
{
	struct arch_remote *regs = &scripted.threads[1].regs;
	struct attaching *a = scripted_make();

	assert_int_equal(attaching_begin_calls(a, NULL), 0);
	scripted_log();
	answer_well();
	regs->bytes = sizeof(regs->words);
	memset(regs->words, 0xff, sizeof(regs->words));
	regs->words[0] = SCRIPTED_PROBE_CODE;
	arch_remote_set_pc(regs, SCRIPTED_LIBC + 0x1800);
	scripted_answer("stop", 2, -ESRCH, 0);
	assert_int_equal(attaching_take_out(a, NULL), -ESRCH);
	assert_string_equal(scripted_log(),
			    "DOORS_CLOSE HANDLE" WITHDRAW NOT_YET " " NOT_YET " stop");
	attaching_done(&a);
}
