/* The CPUs of tasks: records that state a CPU, and records after which none is known. */
#include "tests/unit/lib/unit.h"

#include "utils/format/proc_cpus.h"

static const bool is_big = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__;

static void see(struct proc_cpus *cpus, int32_t tid, enum proc_kind kind,
		const struct strbuf *payload)
{
	const struct proc_record rec = { .tid = tid,
					 .pid = 1,
					 .kind = kind,
					 .data = (const uint8_t *)strbuf_str(payload),
					 .len = payload->len };

	assert_int_equal(proc_cpus_see(cpus, &rec, is_big), 0);
}

TEST(what_is_new_has_to_be_told)
{
	struct proc_cpus cpus = { 0 };

	assert_int_equal(proc_cpus_of(&cpus, 7), PROC_CPU_UNKNOWN);
	assert_int_equal(proc_cpus_set(&cpus, 7, 0), 1);
	assert_int_equal(proc_cpus_of(&cpus, 7), 0);
	assert_int_equal(proc_cpus_set(&cpus, 7, 0), 0);
	assert_int_equal(proc_cpus_set(&cpus, 7, PROC_CPU_MAX), 1);
	assert_int_equal(proc_cpus_of(&cpus, 7), PROC_CPU_MAX);
	assert_int_equal(proc_cpus_of(&cpus, 8), PROC_CPU_UNKNOWN);
	proc_cpus_deinit(&cpus);
}

TEST(a_record_tells)
{
	struct proc_cpus cpus = { 0 };
	struct strbuf payload cleanup_strbuf = { 0 };

	proc_cpu_encode(5, &payload);
	see(&cpus, 7, PROC_CPU, &payload);
	assert_int_equal(proc_cpus_of(&cpus, 7), 5);
	/* A record that is too short, or of another kind, states no CPU. */
	payload.len--;
	see(&cpus, 8, PROC_CPU, &payload);
	assert_int_equal(proc_cpus_of(&cpus, 8), PROC_CPU_UNKNOWN);
	see(&cpus, 7, PROC_NAME, &payload);
	assert_int_equal(proc_cpus_of(&cpus, 7), 5);
	proc_cpus_deinit(&cpus);
}

TEST(an_end_ends_it)
{
	struct proc_cpus cpus = { 0 };
	struct strbuf payload cleanup_strbuf = { 0 };

	proc_cpus_set(&cpus, 7, 1);
	proc_cpus_set(&cpus, 8, 1);
	proc_exit_encode(0, &payload);
	see(&cpus, 7, PROC_EXIT, &payload);
	assert_int_equal(proc_cpus_of(&cpus, 7), PROC_CPU_UNKNOWN);
	assert_int_equal(proc_cpus_of(&cpus, 8), 1);
	assert_int_equal(proc_cpus_set(&cpus, 7, 1), 1);
	proc_cpus_deinit(&cpus);
}

TEST(a_new_task_is_nowhere)
{
	struct proc_cpus cpus = { 0 };
	struct strbuf payload cleanup_strbuf = { 0 };

	proc_cpus_set(&cpus, 7, 1);
	proc_cpus_set(&cpus, 8, 1);
	proc_fork_encode(&(struct proc_fork){ .child = 8, .child_pid = 7 }, &payload);
	see(&cpus, 7, PROC_FORK, &payload);
	assert_int_equal(proc_cpus_of(&cpus, 7), 1);
	assert_int_equal(proc_cpus_of(&cpus, 8), PROC_CPU_UNKNOWN);
	proc_cpus_deinit(&cpus);
}

TEST(a_thread_that_becomes_a_program_gives_its_number_up)
{
	struct proc_cpus cpus = { 0 };
	struct strbuf payload cleanup_strbuf = { 0 };
	struct text none = text_of("", 0);

	proc_cpus_set(&cpus, 7, 1);
	proc_cpus_set(&cpus, 8, 2);
	proc_exec_encode(&(struct proc_exec){ 7, none, none, none, none }, &payload);
	see(&cpus, 7, PROC_EXEC, &payload);
	assert_int_equal(proc_cpus_of(&cpus, 7), 1);
	assert_int_equal(proc_cpus_of(&cpus, 8), 2);
	strbuf_reset(&payload);
	proc_exec_encode(&(struct proc_exec){ 8, none, none, none, none }, &payload);
	see(&cpus, 7, PROC_EXEC, &payload);
	assert_int_equal(proc_cpus_of(&cpus, 7), 1);
	assert_int_equal(proc_cpus_of(&cpus, 8), PROC_CPU_UNKNOWN);
	proc_cpus_deinit(&cpus);
}

/* If the record of a fork or an exec is damaged, the CPU of the task stays known. */
TEST(what_is_no_fork_forgets_nothing)
{
	static const struct {
		struct proc_fork made;
		enum proc_kind kind;
		size_t cut;
		bool is_forgotten;
	} rows[] = {
		{ { 8, 1, PROC_BY_CLONE, 0x100 }, PROC_FORK, 0, true },
		{ { 8, 1, PROC_BY_CLONE, 0x100 }, PROC_FORK, 8, true },
		{ { 8, 1, PROC_BY_CLONE, 0x100 }, PROC_FORK, 9, false },
		{ { 8, 0, PROC_BY_CLONE, 0x100 }, PROC_FORK, 0, false },
		{ { 8, -1, PROC_BY_CLONE, 0x100 }, PROC_FORK, 0, false },
		{ { 9, 1, PROC_BY_CLONE, 0x100 }, PROC_FORK, 0, false },
		/* The first number of an exec is the former number of the thread. */
		{ { 8, 0, 0, 0 }, PROC_EXEC, 0, true },
		{ { 8, 0, 0, 0 }, PROC_EXEC, 1, false },
		{ { 8, 0, 0, 0 }, PROC_NAME, 0, false },
		{ { 8, 0, 0, 0 }, PROC_CPU, 0, false },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct proc_cpus cpus = { 0 };
		struct strbuf payload cleanup_strbuf = { 0 };

		proc_cpus_set(&cpus, 8, 1);
		proc_fork_encode(&rows[i].made, &payload);
		payload.len -= rows[i].cut;
		see(&cpus, 7, rows[i].kind, &payload);
		assert_int_equal(proc_cpus_of(&cpus, 8), rows[i].is_forgotten ? -1 : 1);
		assert_int_equal(proc_cpus_of(&cpus, 7), rows[i].kind == PROC_CPU ? 8 : -1);
		proc_cpus_deinit(&cpus);
	}
}

/* After the CPU of a task was forgotten, the next CPU counts as new, even if it is CPU 0. */
TEST(a_forgotten_cpu_is_new)
{
	struct proc_cpus cpus = { 0 };
	struct strbuf payload cleanup_strbuf = { 0 };

	proc_exit_encode(0, &payload);
	see(&cpus, 7, PROC_EXIT, &payload);
	assert_int_equal(cpus.by_tid.nr, 0);
	assert_int_equal(proc_cpus_set(&cpus, 7, 0), 1);
	see(&cpus, 7, PROC_EXIT, &payload);
	assert_int_equal(proc_cpus_of(&cpus, 7), PROC_CPU_UNKNOWN);
	assert_int_equal(proc_cpus_set(&cpus, 7, 0), 1);
	assert_int_equal(proc_cpus_of(&cpus, 7), 0);
	proc_cpus_deinit(&cpus);
}
