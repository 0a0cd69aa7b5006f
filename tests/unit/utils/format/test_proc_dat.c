/*
 * The records of proc.dat: round trip of each kind, both byte orders, cut at every byte, and wrong
 * ones.
 */
#include "tests/unit/lib/unit.h"

#include <errno.h>

#include "utils/format/bytes.h"
#include "utils/format/proc_dat.h"

static const bool is_big = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__;

static struct text text(const char *str)
{
	return text_of(str, strlen(str));
}

static void encode(enum proc_kind kind, const struct strbuf *payload, struct strbuf *out)
{
	proc_record_encode(
		&(struct proc_record){
			.time_ns = 123456789,
			.tid = 101,
			.pid = 100,
			.kind = kind,
			.data = (const uint8_t *)strbuf_str(payload),
			.len = payload->len,
		},
		out);
}

static void assert_text(struct text left, const char *right)
{
	assert_int_equal(text_left(&left), strlen(right));
	assert_memory_equal(left.at, right, strlen(right));
}

TEST(there_and_back)
{
	static const char args[] = "sh\0-c\0\0a\nb";
	struct strbuf payload cleanup_strbuf = { 0 };
	struct strbuf out cleanup_strbuf = { 0 };
	struct proc_exec exec = { 102, text("/bin/dash"), text("/x/run"), text("/x"),
				  text_of(args, sizeof(args)) };
	struct proc_record rec;
	struct text arg;
	size_t wanted;

	proc_exec_encode(&exec, &payload);
	encode(PROC_EXEC, &payload, &out);
	assert_int_equal(out.len % 8, 0);
	for (size_t len = 0; len < out.len; len++) {
		char *copy = malloc(len + 1);

		assert_non_null(copy);
		memcpy(copy, out.data, len);
		assert_int_equal(
			proc_record_decode((uint8_t *)copy, len, is_big, &rec, &wanted, NULL), 0);
		assert_int_equal(wanted, len < PROC_HEAD_BYTES ? PROC_HEAD_BYTES : out.len);
		free(copy);
	}
	assert_int_equal(
		proc_record_decode((uint8_t *)out.data, out.len, is_big, &rec, &wanted, NULL),
		out.len);
	assert_int_equal(rec.time_ns, 123456789);
	assert_int_equal(rec.tid, 101);
	assert_int_equal(rec.pid, 100);
	assert_int_equal(rec.kind, PROC_EXEC);
	assert_true(proc_exec_decode(rec.data, rec.len, is_big, &exec));
	assert_int_equal(exec.old_tid, 102);
	assert_text(exec.interpreter, "/bin/dash");
	assert_text(exec.program, "/x/run");
	assert_text(exec.cwd, "/x");

	static const char *const want[] = { "sh", "-c", "", "a\nb" };

	for (size_t i = 0; i < ARRAY_SIZE(want); i++) {
		assert_true(proc_next_arg(&exec.args, &arg));
		assert_text(arg, want[i]);
	}
	assert_false(proc_next_arg(&exec.args, &arg));
}

/* A cut payload is read up to the cut. */
TEST(cut_payloads)
{
	struct strbuf payload cleanup_strbuf = { 0 };
	struct proc_exec exec = { 1, text("/bin/sh"), text("/bin/sh"), text("/"), text("sh") };

	proc_exec_encode(&exec, &payload);
	for (size_t len = 0; len <= payload.len; len++) {
		uint8_t *copy = malloc(len + 1);
		size_t had = 0;

		assert_non_null(copy);
		memcpy(copy, payload.data, len);
		assert_int_equal(proc_exec_decode(copy, len, is_big, &exec),
				 len >= PROC_EXEC_BYTES);
		if (len >= PROC_EXEC_BYTES) {
			had = text_left(&exec.interpreter) + text_left(&exec.program) +
			      text_left(&exec.cwd) + text_left(&exec.args);
			assert_int_equal(had, len - PROC_EXEC_BYTES);
		}
		free(copy);
	}
}

/* A cut act keeps its numbers, and its texts up to the cut. */
TEST(cut_acts)
{
	struct strbuf payload cleanup_strbuf = { 0 };
	struct proc_act act = { { 3, 0xffffffff, 0644 }, { text("/a\nb"), text(""), text("/c") } };

	proc_act_encode(&act, &payload);
	assert_int_equal(payload.len, PROC_ACT_BYTES + 6);
	for (size_t len = 0; len <= payload.len; len++) {
		uint8_t *copy = malloc(len + 1);

		assert_non_null(copy);
		memcpy(copy, payload.data, len);
		assert_int_equal(proc_act_decode(copy, len, is_big, &act), len >= PROC_ACT_BYTES);
		if (len >= PROC_ACT_BYTES)
			assert_int_equal(text_left(&act.texts[0]) + text_left(&act.texts[1]) +
						 text_left(&act.texts[2]),
					 len - PROC_ACT_BYTES);
		if (len == payload.len) {
			assert_int_equal(act.numbers[1], 0xffffffff);
			assert_int_equal(act.numbers[2], 0644);
			assert_text(act.texts[0], "/a\nb");
			assert_text(act.texts[2], "/c");
		}
		free(copy);
	}
}

/* Records of earlier versions lack the flags. */
TEST(flags_of_forks)
{
	struct strbuf payload cleanup_strbuf = { 0 };
	struct proc_fork made = { 6, 6, PROC_BY_CLONE, 0x100000f00 };

	proc_fork_encode(&made, &payload);
	made.flags = 1;
	assert_true(proc_fork_decode((uint8_t *)payload.data, payload.len, is_big, &made));
	assert_int_equal(made.flags, 0x100000f00);
	assert_true(proc_fork_decode((uint8_t *)payload.data, payload.len - 1, is_big, &made));
	assert_int_equal(made.flags, 0);
}

TEST(other_byte_order)
{
	uint8_t bytes[PROC_HEAD_BYTES + 16] = { 0 };
	struct proc_record rec;
	struct proc_fork made;
	size_t wanted;
	int status;

	put_u64(bytes, 77, true);
	put_u32(bytes + 8, 5, true);
	put_u32(bytes + 12, 4, true);
	put_u32(bytes + 16, PROC_FORK, true);
	put_u32(bytes + 20, PROC_FORK_BYTES, true);
	put_u32(bytes + 24, 6, true);
	put_u32(bytes + 28, 6, true);
	put_u32(bytes + 32, PROC_BY_VFORK, true);
	assert_int_equal(proc_record_decode(bytes, sizeof(bytes), true, &rec, &wanted, NULL),
			 sizeof(bytes));
	assert_true(proc_fork_decode(rec.data, rec.len, true, &made));
	assert_int_equal(made.child, 6);
	assert_int_equal(made.how, PROC_BY_VFORK);
	assert_true(proc_exit_decode(rec.data, rec.len, true, &status));
	assert_int_equal(status, 6);
	assert_false(proc_fork_decode(rec.data, PROC_FORK_BYTES - 1, true, &made));
	assert_false(proc_exit_decode(rec.data, PROC_EXIT_BYTES - 1, true, &status));
	put_u32(bytes + 24, 0, true);
	assert_false(proc_fork_decode(rec.data, rec.len, true, &made));
}

TEST(a_cpu_is_a_number_from_0_on)
{
	struct strbuf payload cleanup_strbuf = { 0 };
	const uint8_t *bytes;
	int cpu;

	proc_cpu_encode(0x10200, &payload);
	assert_int_equal(payload.len, PROC_CPU_BYTES);
	bytes = (const uint8_t *)payload.data;
	assert_true(proc_cpu_decode(bytes, payload.len, is_big, &cpu));
	assert_int_equal(cpu, 0x10200);
	assert_true(proc_cpu_decode(bytes, payload.len, !is_big, &cpu));
	assert_int_equal(cpu, 0x20100);
	assert_false(proc_cpu_decode(bytes, payload.len - 1, is_big, &cpu));
	strbuf_reset(&payload);
	proc_cpu_encode(-1, &payload);
	assert_false(proc_cpu_decode((const uint8_t *)payload.data, payload.len, is_big, &cpu));
	strbuf_reset(&payload);
	proc_cpu_encode(PROC_CPU_MAX, &payload);
	assert_true(proc_cpu_decode((const uint8_t *)payload.data, payload.len, is_big, &cpu));
	assert_int_equal(cpu, PROC_CPU_MAX);
	strbuf_reset(&payload);
	proc_cpu_encode(PROC_CPU_MAX + 1, &payload);
	assert_false(proc_cpu_decode((const uint8_t *)payload.data, payload.len, is_big, &cpu));
}

TEST(wrong_ones)
{
	uint8_t bytes[PROC_HEAD_BYTES] = { 0 };
	struct uft_err err = { 0 };
	struct proc_record rec;
	size_t wanted;

	assert_int_equal(proc_record_decode(bytes, sizeof(bytes), false, &rec, &wanted, &err),
			 -EBADMSG);
	assert_string_equal(err.text, "a record of kind 0 is of task 0 of process 0");
	err_clear(&err);
	put_u32(bytes + 20, PROC_PAYLOAD_MAX + 1, false);
	assert_int_equal(proc_record_decode(bytes, sizeof(bytes), false, &rec, &wanted, &err),
			 -EBADMSG);
	assert_string_equal(err.text, "a record of kind 0 has 33554433 bytes");
}

/* The ids of a record, and the length of its payload, at their limits. */
TEST(heads_at_their_borders)
{
	static const struct {
		int32_t tid;
		int32_t pid;
		uint32_t len;
		ssize_t ret; /* the result for a head and 16 bytes after it */
		size_t wanted;
	} rows[] = {
		{ 1, 1, 0, 24, 24 },
		{ 1, 1, 1, 32, 32 },
		{ 1, 1, 8, 32, 32 },
		{ 1, 1, 9, 40, 40 },
		{ 1, 1, 16, 40, 40 },
		{ 1, 1, 17, 0, 48 },
		{ 1, 1, PROC_PAYLOAD_MAX, 0, 24 + PROC_PAYLOAD_MAX },
		{ 1, 1, PROC_PAYLOAD_MAX + 1, -EBADMSG, 24 },
		{ 1, 1, UINT32_MAX, -EBADMSG, 24 },
		{ 0, 1, 0, -EBADMSG, 24 },
		{ 1, 0, 0, -EBADMSG, 24 },
		{ -1, 1, 0, -EBADMSG, 24 },
		{ 1, -1, 0, -EBADMSG, 24 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		uint8_t bytes[PROC_HEAD_BYTES + 16] = { 0 };
		struct proc_record rec;
		size_t wanted = 0;

		put_u32(bytes + 8, rows[i].tid, false);
		put_u32(bytes + 12, rows[i].pid, false);
		put_u32(bytes + 20, rows[i].len, false);
		assert_int_equal(
			proc_record_decode(bytes, sizeof(bytes), false, &rec, &wanted, NULL),
			rows[i].ret);
		assert_int_equal(wanted, rows[i].wanted);
		if (rows[i].ret > 0)
			assert_ptr_equal(rec.data, bytes + 24);
	}
}

/* The payload is padded with zeros to a multiple of 8 bytes. */
TEST(payloads_are_padded)
{
	for (size_t len = 0; len <= 17; len++) {
		struct strbuf payload cleanup_strbuf = { 0 };
		struct strbuf out cleanup_strbuf = { 0 };

		strbuf_addchars(&payload, 'x', len);
		encode(PROC_NAME, &payload, &out);
		assert_int_equal(out.len, len == 0 ? 24 : len <= 8 ? 32 : len <= 16 ? 40 : 48);
		for (size_t i = 24; i < out.len; i++)
			assert_int_equal(out.data[i], i < 24 + len ? 'x' : 0);
	}
}

TEST(children_have_numbers)
{
	static const struct {
		int32_t child;
		int32_t child_pid;
		bool is_good;
	} rows[] = {
		{ 1, 1, true }, { 0, 1, false }, { 1, 0, false }, { -1, 1, false }, { 1, -1, false }
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct strbuf payload cleanup_strbuf = { 0 };
		struct proc_fork made = { rows[i].child, rows[i].child_pid, PROC_BY_VFORK, 5 };

		proc_fork_encode(&made, &payload);
		assert_int_equal(payload.len, PROC_FORK_BYTES + 8);
		assert_int_equal(
			proc_fork_decode((uint8_t *)payload.data, payload.len, is_big, &made),
			rows[i].is_good);
	}
}

/* A text of an exec or an act has 8 MiB at most. */
TEST(long_texts)
{
	struct strbuf texts cleanup_strbuf = { 0 };
	const struct text none = text("");

	strbuf_addchars(&texts, 'x', PROC_TEXT_MAX + 1);
	for (size_t more = 0; more < 2; more++) {
		struct strbuf payload cleanup_strbuf = { 0 };
		struct proc_exec exec = { 1, none, text_of(texts.data, PROC_TEXT_MAX + more), none,
					  text("ab") };

		proc_exec_encode(&exec, &payload);
		assert_int_equal(payload.len, PROC_EXEC_BYTES + PROC_TEXT_MAX + 2);
		assert_true(proc_exec_decode((uint8_t *)payload.data, payload.len, is_big, &exec));
		assert_int_equal(text_left(&exec.interpreter), 0);
		assert_int_equal(text_left(&exec.program), PROC_TEXT_MAX);
		assert_int_equal(text_left(&exec.cwd), 0);
		assert_text(exec.args, "ab");
	}
}

/* An argument ends at a NUL, or at the end of the text. */
TEST(arguments)
{
	static const struct {
		const char *args;
		size_t len;
		unsigned nr;
	} rows[] = { { "", 0, 0 },  { "", 1, 1 },     { "\0\0", 2, 2 }, { "a", 1, 1 },
		     { "a", 2, 1 }, { "a\0b", 3, 2 }, { "a\0b", 4, 2 }, { "a\0\0b", 4, 3 } };

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct text args = text_of(rows[i].args, rows[i].len);
		struct text arg;
		unsigned nr = 0;

		while (proc_next_arg(&args, &arg)) {
			nr++;
			assert_true(text_left(&arg) <= 1);
		}
		assert_int_equal(nr, rows[i].nr);
		assert_int_equal(text_left(&args), 0);
	}
}
