/*
 * A probe that leaves: its changes are undone, its memory is returned, and no thread runs in its
 * code.
 */
#include <dirent.h>
#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>

#include "libmcount/system/undo.h"
#include "libmcount/hot/frames.h"
#include "libmcount/hot/probe.h"
#include "tests/unit/lib/own_name.h"
#include "tests/unit/lib/unit.h"
#include "utils/base/compiler.h"
#include "utils/base/unix_name.h"
#include "utils/format/probe/attach.h"

#define PAGE 4096
#define OURS 9

int64_t utrail_leave(uint64_t step, uint64_t *ranges, uint64_t nr_ranges);

static int setup(void **state)
{
	probe = (struct probe){ .is_attached = true };
	return 0;
}

static int teardown(void **state)
{
	assert_int_equal(utrail_leave(ATTACH_GIVE_BACK, NULL, 0), 0);
	probe = (struct probe){ 0 };
	return 0;
}

static void *map(size_t bytes)
{
	void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	assert_ptr_not_equal(p, MAP_FAILED);
	return p;
}

static bool is_mapped(void *at, size_t bytes)
{
	return msync(at, bytes, MS_ASYNC) == 0;
}

/* True when the kernel can write to @at, as the program could. */
static bool is_writable(void *at)
{
	int fds[2];
	char byte = *(char *)at;
	bool is;

	assert_int_equal(pipe(fds), 0);
	assert_int_equal(write(fds[1], &byte, 1), 1);
	is = read(fds[0], at, 1) == 1;
	close(fds[0]);
	close(fds[1]);
	return is;
}

/* If other code has written to a slot since, its value stays. */
TEST_WITH(slots_hold_what_they_held, setup, teardown)
{
	uint64_t slot = OURS, changed = 11, moved = OURS;
	const uint64_t now = 7;
	uint64_t *closed = map(PAGE);

	undo_note_slot(&slot, 5, NULL, OURS, false);
	undo_note_slot(&changed, 5, NULL, OURS, false);
	undo_note_slot(&moved, 5, &now, OURS, false);
	undo_note_slot(closed, 5, NULL, OURS, true);
	*closed = OURS;
	assert_int_equal(mprotect(closed, PAGE, PROT_READ), 0);
	assert_int_equal(utrail_leave(ATTACH_WITHDRAW, NULL, 0), 0);
	assert_int_equal(slot, 5);
	assert_int_equal(changed, 11);
	assert_int_equal(moved, now);
	assert_int_equal(*closed, 5);
	assert_false(is_writable(closed));
	munmap(closed, PAGE);
}

/*
 * Slots that were changed twice get their first value back, since the newest change is undone
 * first.
 */
TEST_WITH(many_slots, setup, teardown)
{
	static uint64_t slots[1000];

	for (unsigned i = 0; i < ARRAY_SIZE(slots); i++) {
		undo_note_slot(&slots[i], i + 1, NULL, 5000 + i, false);
		undo_note_slot(&slots[i], 5000 + i, NULL, 9000 + i, false);
		slots[i] = 9000 + i;
	}
	assert_int_equal(utrail_leave(ATTACH_WITHDRAW, NULL, 0), 0);
	for (unsigned i = 0; i < ARRAY_SIZE(slots); i++)
		assert_int_equal(slots[i], i + 1);
}

/*
 * The recorder moves threads out of code only if it is told of that code. Pieces of code for which
 * @ranges has no room are counted, too.
 */
TEST_WITH(code_is_told_and_unmapped, setup, teardown)
{
	char *code[3] = { map(PAGE), map(PAGE), map(PAGE) };
	char *memory = map(PAGE);
	uint64_t ranges[5] = { 0 };

	ranges[4] = 77;
	for (int i = 0; i < 3; i++)
		undo_note_code(code[i], PAGE);
	undo_note_memory(memory, PAGE);
	/* The newest ranges come first. */
	assert_int_equal(utrail_leave(ATTACH_WITHDRAW, ranges, 2), 3);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(ranges[2 * i], (uint64_t)code[2 - i]);
		assert_int_equal(ranges[2 * i + 1], (uint64_t)code[2 - i] + PAGE);
	}
	assert_int_equal(ranges[4], 77);
	assert_true(is_mapped(code[0], PAGE) && is_mapped(memory, PAGE));
	assert_int_equal(utrail_leave(ATTACH_GIVE_BACK, NULL, 0), 0);
	for (int i = 0; i < 3; i++)
		assert_false(is_mapped(code[i], PAGE));
	assert_false(is_mapped(memory, PAGE));
	/* The probe has forgotten all changes: another recording begins anew. */
	assert_int_equal(utrail_leave(ATTACH_WITHDRAW, ranges, 2), 0);
}

TEST_WITH(a_probe_that_was_preloaded_stays, setup, teardown)
{
	uint64_t slot = OURS;
	char *code = map(PAGE);

	probe.is_attached = false;
	undo_note_slot(&slot, 5, NULL, OURS, false);
	undo_note_code(code, PAGE);
	assert_int_equal(utrail_leave(ATTACH_WITHDRAW, NULL, 0), 0);
	assert_int_equal(slot, OURS);
	assert_int_equal(utrail_leave(ATTACH_GIVE_BACK, NULL, 0), 0);
	assert_true(is_mapped(code, PAGE));
	munmap(code, PAGE);
}

/* No thread may be in the probe's code, or return to it, when the code is unmapped. */
TEST_WITH(who_is_within_is_counted, setup, teardown)
{
	uint64_t func = 0x400000;

	assert_int_equal(utrail_leave(ATTACH_COUNT, NULL, 0), 0);
	probe.ready = true;
	undo_enter();
	undo_enter();
	assert_int_equal(utrail_leave(ATTACH_COUNT, NULL, 0), 2);
	assert_int_equal(utrail_leave(ATTACH_OPEN_ANNOUNCED, &func, 1), -EAGAIN);
	undo_exit();
	assert_int_equal(utrail_leave(ATTACH_COUNT, NULL, 0), 1);
	undo_exit();
	assert_int_equal(utrail_leave(ATTACH_COUNT, NULL, 0), 0);
	assert_int_equal(utrail_leave(ATTACH_OPEN_ANNOUNCED, &func, 1), 0);
	assert_int_equal(func, 0x400000);
}

/* A thread in a hook counts until it has left the hook. A state that no thread uses does not. */
TEST_WITH(threads_in_hooks_are_counted, setup, teardown)
{
	struct thread *t = thread_make_state();
	uint64_t func = 0x400000;

	assert_non_null(t);
	probe.ready = true;
	for (int is_used = 0; is_used < 2; is_used++) {
		for (int is_busy = 0; is_busy < 2; is_busy++) {
			bool is_inside = is_used && is_busy;

			atomic_store(&t->in_use, is_used);
			t->busy = is_busy;
			assert_int_equal(utrail_leave(ATTACH_COUNT, NULL, 0), is_inside);
			assert_int_equal(utrail_leave(ATTACH_OPEN_ANNOUNCED, &func, 1),
					 is_inside ? -EAGAIN : 0);
		}
	}
	atomic_store(&t->in_use, false);
	t->busy = 0;
}

static unsigned count_fds(void)
{
	DIR *dir = opendir("/proc/self/fd");
	unsigned nr = 0;

	assert_non_null(dir);
	while (readdir(dir))
		nr++;
	closedir(dir);
	return nr;
}

/*
 * Fill the stack with @value: words that earlier calls have left there must not be taken for a
 * descriptor.
 */
static __attribute__((noinline)) void use_the_stack(int value)
{
	volatile int used[1024];

	for (unsigned i = 0; i < ARRAY_SIZE(used); i++)
		used[i] = value;
}

/*
 * The state tells whether there is a recording to leave or to take over. Asking for it changes
 * nothing in the program.
 */
TEST_WITH(who_records_it, setup, teardown)
{
	int listener = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	char name[64];
	struct sockaddr_un addr;
	int own = dup(listener);
	unsigned fds = count_fds();

	assert_int_equal(utrail_leave(ATTACH_STATE, NULL, 0), ATTACH_STATE_NONE);
	own_name(name, sizeof(name));
	snprintf(probe.address, sizeof(probe.address), "%s:secret", name);
	use_the_stack(own);
	assert_int_equal(utrail_leave(ATTACH_STATE, NULL, 0), ATTACH_STATE_LEFT);
	probe.is_attached = false;
	use_the_stack(own);
	assert_int_equal(utrail_leave(ATTACH_STATE, NULL, 0), ATTACH_STATE_PRELOADED);

	socklen_t len = unix_name_address(&addr, name, strlen(name));

	assert_int_equal(bind(listener, (struct sockaddr *)&addr, len), 0);
	assert_int_equal(listen(listener, 4), 0);
	use_the_stack(own);
	assert_int_equal(utrail_leave(ATTACH_STATE, NULL, 0), ATTACH_STATE_RECORDED);
	assert_int_equal(count_fds(), fds);
	close(own);
	close(listener);
}

static struct thread *make_thread(void)
{
	struct thread *t;

	probe.plan.max_stack = 20;
	t = thread_make_state();
	assert_non_null(t);
	return t;
}

static void end_thread(struct thread *t)
{
	t->top = t->frames;
	atomic_store(&t->in_use, 0);
}

/* Each slot that still leads to the probe gets the program's address back, and counts once. */
TEST_WITH(return_addresses_are_put_back, setup, teardown)
{
	const uint64_t ours = (uint64_t)arch_return_trampoline;
	uint64_t slots[] = { ours, ours, ours, ours, ours, 77, ours, ours };
	const uint64_t expected[] = { 0x1000, ours, ours, ours, ours, 77, 0x1006, ours };
	struct thread *t = make_thread();

	for (unsigned i = 0; i < ARRAY_SIZE(slots); i++)
		t->frames[1 + i] = (struct frame){
			.slot = (uint64_t)&slots[i],
			.ret = 0x1000 + i,
			.data = record_data(RECORD_ENTRY, i, 0x400000),
		};
	t->frames[2].ret = ours;
	t->frames[3].slot |= FRAME_EXPLICIT;
	t->frames[4].data |= FRAME_UNSEEN;
	t->frames[5].ret |= FRAME_KEPT;
	/*
	 * The frame of the last slot is above the top, so its call is over. The frame at the top
	 * has a slot that cannot be read.
	 */
	t->frames[8] = (struct frame){ .slot = 8, .ret = 0x1008 };
	t->frames[9] = (struct frame){ .slot = (uint64_t)&slots[7], .ret = 0x1007 };
	t->top = &t->frames[8];
	assert_int_equal(utrail_leave(ATTACH_COUNT, NULL, 0), 2);
	assert_memory_equal(slots, expected, sizeof(slots));
	assert_int_equal(utrail_leave(ATTACH_COUNT, NULL, 0), 0);
	slots[0] = ours;
	probe.plan.flags |= PLAN_ESTIMATE;
	assert_int_equal(utrail_leave(ATTACH_COUNT, NULL, 0), 0);
	assert_int_equal(slots[0], ours);
	probe.plan.flags = 0;
	assert_int_equal(utrail_leave(ATTACH_WITHDRAW, NULL, 0), 0);
	assert_int_equal(slots[0], 0x1000);
	end_thread(t);
}

/*
 * Only functions whose hooks are called at both ends are looked for. The calls of these functions
 * have explicit frames.
 */
TEST_WITH(functions_with_open_calls, setup, teardown)
{
	static const uint64_t all[] = {
		0x400000, 0x3ffff1, 0x3ffff0, 0x400001, 0x500000, 0x600000
	};
	static const uint64_t left[] = { 0, 0, 0x3ffff0, 0x400001, 0x500000, 0 };
	struct thread *t = make_thread();
	struct thread *aside = make_thread();
	uint64_t funcs[ARRAY_SIZE(all)];

	probe.ready = true;
	atomic_store(&aside->in_use, 0);
	t->aside = aside;
	t->frames[1].slot = 0x1000 | FRAME_EXPLICIT;
	t->frames[1].data = record_data(RECORD_ENTRY, 0, 0x400000);
	t->frames[2].slot = 0x800;
	t->frames[2].data = record_data(RECORD_ENTRY, 1, 0x500000);
	t->top = &t->frames[2];
	aside->frames[1].slot = 0x700 | FRAME_EXPLICIT;
	aside->frames[1].data = record_data(RECORD_ENTRY, 0, 0x600005);
	aside->top = &aside->frames[1];
	memcpy(funcs, all, sizeof(funcs));
	assert_int_equal(utrail_leave(ATTACH_OPEN_ANNOUNCED, funcs, ARRAY_SIZE(funcs)), 0);
	assert_memory_equal(funcs, left, sizeof(funcs));
	/* The list has one function less. */
	memcpy(funcs, all, sizeof(funcs));
	assert_int_equal(utrail_leave(ATTACH_OPEN_ANNOUNCED, funcs, ARRAY_SIZE(funcs) - 1), 0);
	assert_int_equal(funcs[5], 0x600000);
	/* A state that no thread uses has no calls. */
	memcpy(funcs, all, sizeof(funcs));
	atomic_store(&t->in_use, 0);
	assert_int_equal(utrail_leave(ATTACH_OPEN_ANNOUNCED, funcs, ARRAY_SIZE(funcs)), 0);
	assert_memory_equal(funcs, all, sizeof(funcs));
	probe.plan.flags |= PLAN_STACKS;
	assert_int_equal(utrail_leave(ATTACH_OPEN_ANNOUNCED, funcs, 1), -EINVAL);
	probe.plan.flags = 0;
	probe.ready = false;
	assert_int_equal(utrail_leave(ATTACH_OPEN_ANNOUNCED, funcs, 1), -EINVAL);
	t->aside = NULL;
	end_thread(aside);
	end_thread(t);
}

/* Steps that come before a recording has begun, and steps that only a later version may know. */
TEST_WITH(steps_out_of_turn, setup, teardown)
{
	static const uint64_t steps[] = { ATTACH_OPEN_CALLS, ATTACH_BEGIN,	    ATTACH_ADOPT,
					  ATTACH_CHOOSE,     ATTACH_OPEN_ANNOUNCED, 16,
					  UINT64_MAX };
	uint64_t buffer[8] = { 0 };

	for (size_t i = 0; i < ARRAY_SIZE(steps); i++)
		assert_int_equal(utrail_leave(steps[i], buffer, 1), -EINVAL);
}

int64_t utrail_attach(const char *address, uint64_t handle);

/* A program that is recorded, or was, stays as it is. */
TEST_WITH(only_one_recorder_attaches, setup, teardown)
{
	probe.is_attached = false;
	strcpy(probe.address, "name:secret");
	errno = 4711;
	assert_int_equal(utrail_attach("other:secret", 77), ATTACH_BUSY);
	assert_int_equal(errno, 4711);
	assert_false(probe.is_attached);
	assert_string_equal(probe.address, "name:secret");
	assert_int_equal(utrail_leave(ATTACH_HANDLE, NULL, 0), 0);
	assert_int_equal(undo_inside(), 0);
}
