/* The table of traced tasks: their states, and the number of those that are held. */
#include "tests/unit/lib/unit.h"

#include "cmds/record/proc/tracees.h"

TEST(tasks_by_number)
{
	struct tracees all = { 0 };
	struct tracee *one = tracees_get(&all, 11);
	struct tracee *other = tracees_get(&all, 12);

	assert_non_null(one);
	assert_ptr_not_equal(one, other);
	assert_int_equal(one->tid, 11);
	assert_int_equal(other->tid, 12);
	assert_ptr_equal(tracees_get(&all, 11), one);
	/* A task without a state is not found. */
	assert_null(tracees_find(&all, 11));
	assert_null(tracees_find(&all, 13));
	tracees_set(&all, one, TRACEE_LIVE);
	assert_ptr_equal(tracees_find(&all, 11), one);
	assert_null(tracees_find(&all, 12));
	tracees_set(&all, one, TRACEE_NONE);
	assert_null(tracees_find(&all, 11));
	assert_ptr_equal(tracees_get(&all, 11), one);
	tracees_deinit(&all);
	assert_null(tracees_find(&all, 12));
	assert_int_equal(all.by_tid.nr_slots, 0);
}

TEST(held_tasks_are_counted)
{
	static const struct {
		enum tracee_state state;
		size_t nr_held;
	} rows[] = {
		{ TRACEE_LIVE, 0 }, { TRACEE_HELD, 1 }, { TRACEE_HELD, 1 },
		{ TRACEE_LIVE, 0 }, { TRACEE_HELD, 1 }, { TRACEE_ENDED, 0 },
		{ TRACEE_HELD, 1 }, { TRACEE_NONE, 0 }, { TRACEE_NONE, 0 },
	};
	struct tracees all = { 0 };
	struct tracee *one = tracees_get(&all, 11);
	struct tracee *other = tracees_get(&all, 12);

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		tracees_set(&all, one, rows[i].state);
		assert_int_equal(one->state, rows[i].state);
		assert_int_equal(all.nr_held, rows[i].nr_held);
		tracees_set(&all, other, TRACEE_HELD);
		assert_int_equal(all.nr_held, rows[i].nr_held + 1);
		tracees_set(&all, other, TRACEE_NONE);
	}
	tracees_deinit(&all);
	assert_int_equal(all.nr_held, 0);
}

/* Only a task that is forgotten loses its call and its place. */
TEST(forgotten_tasks)
{
	struct tracees all = { 0 };
	struct tracee *one = tracees_get(&all, 11);
	static const struct tracer_cpu_place nowhere;

	one->call.id = SYSCALL_OPENAT;
	strbuf_addstr(&one->call.path, "/a");
	memset(&one->place, 1, sizeof(one->place));
	for (int i = 0; i < 3; i++)
		tracees_set(&all, one,
			    (enum tracee_state[]){ TRACEE_LIVE, TRACEE_HELD, TRACEE_ENDED }[i]);
	assert_int_equal(one->call.id, SYSCALL_OPENAT);
	assert_string_equal(strbuf_str(&one->call.path), "/a");
	assert_memory_not_equal(&one->place, &nowhere, sizeof(nowhere));
	tracees_set(&all, one, TRACEE_NONE);
	assert_int_equal(one->call.id, SYSCALL_NONE);
	assert_string_equal(strbuf_str(&one->call.path), "");
	assert_memory_equal(&one->place, &nowhere, sizeof(nowhere));
	tracees_deinit(&all);
}
