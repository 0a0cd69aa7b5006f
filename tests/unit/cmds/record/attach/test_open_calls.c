/*
 * Finds those open calls of a thread that the probe would have seen: calls of hooked functions, and
 * library calls.
 */
#include "tests/unit/lib/unit.h"

#include <errno.h>

#include "cmds/record/attach/open_calls.h"
#include "utils/object/code/hooked.h"

#define BIAS 0x100000

/*
 * The module is at [BIAS, BIAS + 0x10000) and has functions of 256 bytes. The function at 0x1000
 * calls mcount(), the one at 0x2000 the hooks of -finstrument-functions; others call no hook.
 * Library calls return to 0x1050 and 0x2050.
 */
static unsigned nr_loaded;
static unsigned nr_freed;
static int load_fails;

int __wrap_hooked_load(const struct elf_file *file, struct hooked *out);
int __wrap_hooked_load(const struct elf_file *file, struct hooked *out)
{
	nr_loaded++;
	return load_fails;
}

void __wrap_hooked_deinit(struct hooked *hooked);
void __wrap_hooked_deinit(struct hooked *hooked)
{
	nr_freed++;
}

enum hooked_by __wrap_hooked_function(const struct hooked *hooked, uint64_t addr, uint64_t *start);
enum hooked_by __wrap_hooked_function(const struct hooked *hooked, uint64_t addr, uint64_t *start)
{
	*start = addr & ~0xffULL;
	return *start == 0x1000 ? HOOKED_AT_ENTRY : *start == 0x2000 ? HOOKED_BY_STACK : HOOKED_NOT;
}

bool __wrap_hooked_library_call(const struct hooked *hooked, uint64_t ret, uint64_t *addr);
bool __wrap_hooked_library_call(const struct hooked *hooked, uint64_t ret, uint64_t *addr)
{
	*addr = ret + 0x5000;
	return ret == 0x1050 || ret == 0x2050;
}

bool __wrap_unwind_module(struct unwinder *u, uint64_t pc, struct unwind_module *module);
bool __wrap_unwind_module(struct unwinder *u, uint64_t pc, struct unwind_module *module)
{
	*module = (struct unwind_module){ .path = "/a", .bias = BIAS };
	return pc >= BIAS && pc < BIAS + 0x10000;
}

static struct unwind_frame frames[8];
static int nr_frames;

int __wrap_unwind_thread(struct unwinder *u, const struct attached_thread *thread,
			 const struct unwind_frame **list, struct uft_err *err);
int __wrap_unwind_thread(struct unwinder *u, const struct attached_thread *thread,
			 const struct unwind_frame **list, struct uft_err *err)
{
	*list = frames;
	return nr_frames < 0 ? err_set(err, nr_frames, "the walk ended") : nr_frames;
}

static struct open_calls calls;
static struct attach_call *list;

static int setup(void **state)
{
	nr_loaded = nr_freed = nr_frames = load_fails = 0;
	calls = (struct open_calls){ 0 };
	list = NULL;
	return 0;
}

static int teardown(void **state)
{
	free(list);
	open_calls_deinit(&calls);
	assert_null(calls.first);
	assert_int_equal(nr_freed, load_fails ? 0 : nr_loaded);
	return 0;
}

/* Adds the frame of the next outer call; its stack pointer is 0x100 higher. */
static void frame(uint64_t pc, bool is_interrupted)
{
	frames[nr_frames] = (struct unwind_frame){ pc + BIAS, 0x9000 + 0x100 * nr_frames,
						   is_interrupted };
	nr_frames++;
}

static int find(void)
{
	free(list);
	return open_calls_find(&calls, NULL, NULL, &list, NULL);
}

static void check(size_t i, uint64_t slot, uint64_t ret, uint64_t addr, uint64_t sp, bool is_call)
{
	assert_int_equal(list[i].slot, slot);
	assert_int_equal(list[i].ret, BIAS + ret);
	assert_int_equal(list[i].addr, BIAS + addr);
	assert_int_equal(list[i].sp, sp);
	assert_int_equal(list[i].is_library_call, is_call);
}

/*
 * The outermost call is first; the return slot is below the caller's stack pointer. The function
 * that began the thread is no call.
 */
TEST_WITH(functions, setup, teardown)
{
	frame(0x1010, true);
	frame(0x3010, false);
	frame(0x1020, false);
	frame(0x1030, false);
	assert_int_equal(find(), 2);
	check(0, 0x9300 - 8, 0x1030, 0x1000, 0, false);
	check(1, 0x9100 - 8, 0x3010, 0x1000, 0, false);
	assert_int_equal(nr_loaded, 1);
	assert_int_equal(find(), 2);
	assert_int_equal(nr_loaded, 1);
}

TEST_WITH(by_stack, setup, teardown)
{
	frame(0x2010, true);
	frame(0x3000, false);
	assert_int_equal(find(), 1);
	check(0, 0x9100 - 8, 0x3000, 0x2000, 0x9000, false);
}

/*
 * A call may be the last instruction of its function: it returns to the beginning of the next one.
 * An interrupted function is at its own address.
 */
TEST_WITH(ends_of_functions, setup, teardown)
{
	frame(0x1000, false);
	frame(0x1100, false);
	frame(0x3000, false);
	assert_int_equal(find(), 1);
	check(0, 0x9200 - 8, 0x3000, 0x1000, 0, false);
	teardown(NULL);
	setup(NULL);
	frame(0x1000, true);
	frame(0x1100, true);
	frame(0x3000, false);
	assert_int_equal(find(), 1);
	check(0, 0x9100 - 8, 0x1100, 0x1000, 0, false);
}

/*
 * The hooked function has called a library function, by the PLT: this call returns to 0x1050. The
 * library function has called another one.
 */
TEST_WITH(library_calls, setup, teardown)
{
	frame(0x3010, true);
	frame(0x1050, false);
	frame(0x3000, false);
	assert_int_equal(find(), 2);
	check(0, 0x9200 - 8, 0x3000, 0x1000, 0, false);
	check(1, 0x9100 - 8, 0x1050, 0x6050, 0, true);
}

/* The innermost frame makes no call, nor does a function that a signal has interrupted. */
TEST_WITH(no_library_calls, setup, teardown)
{
	frame(0x1050, false);
	frame(0x1050, true);
	frame(0x3000, false);
	assert_int_equal(find(), 2);
	check(0, 0x9200 - 8, 0x3000, 0x1000, 0, false);
	check(1, 0x9100 - 8, 0x1050, 0x1000, 0, false);
}

/*
 * A library call is left out if it is the innermost call and the return address of its caller is
 * unknown. It is kept if other calls are open inside of it.
 */
TEST_WITH(library_calls_by_stack, setup, teardown)
{
	frame(0x3010, true);
	frame(0x2050, false);
	frame(0x3000, false);
	assert_int_equal(find(), 1);
	check(0, 0x9200 - 8, 0x3000, 0x2000, 0x9100, false);
	teardown(NULL);
	setup(NULL);
	frame(0x1010, true);
	frame(0x2050, false);
	frame(0x3000, false);
	assert_int_equal(find(), 3);
	check(1, 0x9100 - 8, 0x2050, 0x7050, 0, true);
	check(2, 0x9100 - 8, 0x2050, 0x1000, 0, false);
}

TEST_WITH(elsewhere, setup, teardown)
{
	frame(0x10000, true);
	frame(0x3000, false);
	frame(0x1050, false);
	assert_int_equal(find(), 0);
	assert_int_equal(nr_loaded, 1);
	teardown(NULL);
	setup(NULL);
	frame(0x1050, false);
	assert_int_equal(find(), 0);
}

TEST_WITH(failures, setup, teardown)
{
	struct uft_err err = { 0 };

	nr_frames = -ENOENT;
	assert_int_equal(open_calls_find(&calls, NULL, NULL, &list, &err), -ENOENT);
	assert_string_equal(err.text, "the walk ended");
	assert_null(list);
	/* Without known hooks, a module has no open calls. */
	nr_frames = 0;
	load_fails = -ENOMEM;
	frame(0x1010, true);
	frame(0x3000, false);
	assert_int_equal(find(), 0);
	assert_null(calls.first);
}
