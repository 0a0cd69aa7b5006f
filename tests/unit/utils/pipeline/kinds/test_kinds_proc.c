/* Acts of processes: they are made, execute programs, and end. */
#include "tests/unit/lib/read/kinds.h"

#include "utils/format/bytes.h"
#include "utils/format/proc_dat.h"

#define TEXT(str) text_of(str, sizeof(str) - 1)

static const bool is_big = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__;

static void check_fork(struct proc_fork made, const char *text, const char *fields)
{
	struct strbuf payload cleanup_strbuf = { 0 };

	proc_fork_encode(&made, &payload);
	kind_check_data(EVENT_ID_PROC_FORK, payload.data, payload.len, is_big, text, fields);
}

TEST(how_children_are_made)
{
	check_fork((struct proc_fork){ 12, 13, PROC_BY_FORK, 0 }, "child=12 process=13 by=\"fork\"",
		   "child:i=12 process:i=13 by:t=fork");
	check_fork((struct proc_fork){ 12, 13, PROC_BY_VFORK, 0x11 },
		   "child=12 process=13 by=\"vfork\" flags=0x11",
		   "child:i=12 process:i=13 by:t=vfork flags:x=0x11");
	check_fork((struct proc_fork){ -1, 13, PROC_BY_CLONE, 0x123456789a }, "child=-1 process=13",
		   "child:i=-1 process:i=13");
	check_fork((struct proc_fork){ 12, 13, 0, 1 }, "child=12 process=13 flags=0x1",
		   "child:i=12 process:i=13 flags:x=0x1");
	check_fork((struct proc_fork){ 12, 13, PROC_BY_CLONE + 1, 1 },
		   "child=12 process=13 flags=0x1", "child:i=12 process:i=13 flags:x=0x1");
	kind_check_data(EVENT_ID_PROC_FORK, NULL, 20, is_big, "", "");
}

static void check_exec(const struct proc_exec *exec, int32_t tid, const char *text,
		       const char *fields)
{
	const struct trace_data data = { .is_big_endian = is_big };
	struct strbuf payload cleanup_strbuf = { 0 };
	struct task task = { .tid = tid };

	proc_exec_encode(exec, &payload);

	const struct event event = { .id = EVENT_ID_PROC_EXEC,
				     .data = (const uint8_t *)payload.data,
				     .data_len = payload.len };
	const struct event_context context = { &data, tid ? &task : NULL, &event, false };

	kind_check(&context, text, fields);
}

TEST(programs)
{
	struct proc_exec exec = { 5, TEXT("/bin/ls"), TEXT("/bin/ls"), TEXT("/src"),
				  TEXT("ls\0-l\0a b\0") };

	check_exec(&exec, 5, "/bin/ls: ls -l \"a b\" cwd=/src",
		   "program:t=/bin/ls cwd:t=/src args:t=ls");
	/* A script; an execution by another thread; arguments that are cut. */
	exec.program = TEXT("/x/my script");
	exec.args = TEXT("a\0b");
	check_exec(&exec, 6, "\"/x/my script\": a b cwd=/src interpreter=/bin/ls",
		   "program:t=/x/my script interpreter:t=/bin/ls cwd:t=/src args:t=a thread:i=5");
	check_exec(&exec, 0, "\"/x/my script\": a b cwd=/src interpreter=/bin/ls",
		   "program:t=/x/my script interpreter:t=/bin/ls cwd:t=/src args:t=a thread:i=5");
	exec.old_tid = 0;
	check_exec(&exec, 6, "\"/x/my script\": a b cwd=/src interpreter=/bin/ls",
		   "program:t=/x/my script interpreter:t=/bin/ls cwd:t=/src args:t=a");
	exec.old_tid = -5;
	exec.interpreter = exec.program = exec.cwd = exec.args = TEXT("");
	check_exec(&exec, 6, "\"\": cwd=\"\"", "");
	/* The names of program and interpreter have the same length, then different ones. */
	exec.program = TEXT("/bin/a");
	exec.interpreter = TEXT("/bin/b");
	check_exec(&exec, 6, "/bin/a: cwd=\"\" interpreter=/bin/b",
		   "program:t=/bin/a interpreter:t=/bin/b");
	exec.interpreter = TEXT("/bin/ab");
	check_exec(&exec, 6, "/bin/a: cwd=\"\" interpreter=/bin/ab",
		   "program:t=/bin/a interpreter:t=/bin/ab");
	kind_check_data(EVENT_ID_PROC_EXEC, NULL, 100, is_big, "", "");
}

/* The field has all arguments, without the last NUL. */
TEST(arguments_have_a_nul_between_them)
{
	const struct {
		struct text args;
		size_t len;
	} rows[] = {
		{ TEXT("a\0b\0"), 3 }, { TEXT("a\0b"), 3 }, { TEXT("\0"), 0 }, { TEXT("a"), 1 }
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		const struct trace_data data = { .is_big_endian = is_big };
		struct strbuf payload cleanup_strbuf = { 0 };
		struct proc_exec exec = { .args = rows[i].args };
		struct event_value value;

		proc_exec_encode(&exec, &payload);

		const struct event event = { .id = EVENT_ID_PROC_EXEC,
					     .data = (const uint8_t *)payload.data,
					     .data_len = payload.len };
		const struct event_context context = { &data, NULL, &event, false };

		assert_true(event_kind_get(event_kind_fixed(event.id), &context, 3, &value));
		assert_int_equal(text_left(&value.text), rows[i].len);
	}
}

static void check_exit(int status, const char *text, const char *fields)
{
	uint8_t bytes[4];

	put_u32(bytes, status, is_big);
	kind_check_data(EVENT_ID_PROC_EXIT, bytes, 4, is_big, text, fields);
	kind_check_data(EVENT_ID_PROC_EXIT, bytes, 3, is_big, "", "");
}

TEST(how_tasks_end)
{
	check_exit(0, "status=0", "status:i=0");
	check_exit(3 << 8, "status=3", "status:i=3");
	check_exit(9, "signal=9", "signal:i=9");
	check_exit(0x80 | 11, "signal=11", "signal:i=11");
	kind_check_data(EVENT_ID_PROC_EXIT, NULL, 4, is_big, "", "");
}
