/* Reading the etrace text: the records that are made, and the reports about wrong lines. */
#include "tests/unit/lib/unit.h"

#include "utils/builddb/etrace/etrace_lines.h"
#include "utils/builddb/etrace/etrace_read.h"

#define MANY 2000

struct told {
	struct strbuf all;
};

static void note(void *self, uint64_t line, size_t at, const char *wrong)
{
	struct told *told = self;

	strbuf_addf(&told->all, "%s%llu:%zu", told->all.len ? " " : "", (unsigned long long)line,
		    at);
	assert_true(*wrong);
}

static void read_all(struct etrace_reader *reader, struct told *told, const char *data, size_t len)
{
	struct text left = text_of(data, len);
	struct text line;
	bool is_whole;

	*reader = (struct etrace_reader){ .note = note, .self = told };
	while (text_line(&left, &line, &is_whole)) {
		char *exact = exact_copy(line.at, text_left(&line));

		etrace_reader_take(reader, exact, text_left(&line));
		free(exact);
	}
	assert_int_equal(etrace_reader_end(reader), 0);
}

static const bool is_big = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__;

/* Write "tid/pid kind" with the main members, and "tid/pid@cpu" for CPUs other than the first. */
static void describe(struct etrace_reader *reader, struct strbuf *out)
{
	struct strbuf payload cleanup_strbuf = { 0 };
	struct proc_record rec;
	struct proc_fork made;
	struct proc_exec exec;
	struct proc_act act;
	uint64_t last_ns = 0;
	uint64_t cpu_ns = 0;
	int status;
	int cpu;

	while (etrace_reader_next(reader, &rec, &payload) > 0) {
		assert_true(rec.time_ns > last_ns);
		if (rec.kind == PROC_CPU) {
			assert_true(proc_cpu_decode(rec.data, rec.len, is_big, &cpu));
			if (cpu)
				strbuf_addf(out, "%s%d/%d@%d", out->len ? " " : "", rec.tid,
					    rec.pid, cpu);
			cpu_ns = rec.time_ns;
			continue;
		}
		/* A CPU record has the time of the record after it. */
		assert_true(!cpu_ns || cpu_ns == rec.time_ns);
		cpu_ns = 0;
		last_ns = rec.time_ns;
		strbuf_addf(out, "%s%d/%d:%u", out->len ? " " : "", rec.tid, rec.pid, rec.kind);
		if (rec.kind == PROC_FORK && proc_fork_decode(rec.data, rec.len, is_big, &made))
			strbuf_addf(out, ">%d/%d", made.child, made.child_pid);
		else if (rec.kind == PROC_EXIT &&
			 proc_exit_decode(rec.data, rec.len, is_big, &status))
			strbuf_addf(out, "=%d", status >> 8);
		else if (rec.kind == PROC_EXEC &&
			 proc_exec_decode(rec.data, rec.len, is_big, &exec))
			strbuf_addf(out, "=%d,%zu", exec.old_tid, text_left(&exec.args));
		else if (proc_act_decode(rec.data, rec.len, is_big, &act))
			strbuf_addf(out, "=%d,%.*s,%.*s", (int)act.numbers[0],
				    (int)text_left(&act.texts[0]), act.texts[0].at,
				    (int)text_left(&act.texts[1]), act.texts[1].at);
	}
}

/* Each row ends with an Exit line, which shows that reading goes on after an error. */
struct row {
	const char *lines;
	const char *records;
	const char *told;
};

static const struct row rows[] = {
	{ "INITCWD=/x\n0: 5,0,1,0!Exit|status=3\n", "5/5:3=3", "" },
	/*
	 * A change of the CPU makes a record. A new task with the number of an ended one has a CPU
	 * of its own.
	 */
	{ "5,7,1,0!Exit|status=3\n", "5/5@7 5/5:3=3", "" },
	{ "5,2,1,0!Close|fd=1\n5,2,1,1!Close|fd=2\n5,3,1,2!Close|fd=3\n5,0,1,3!Exit|status=0\n",
	  "5/5@2 5/5:5=1,, 5/5:5=2,, 5/5@3 5/5:5=3,, 5/5:3=0", "" },
	{ "5,2,1,0!Exit|status=0\n4194309,2,2,0!Exit|status=1\n", "5/5@2 5/5:3=0 5/5@2 5/5:3=1",
	  "" },
	{ "5,1048575,1,0!Exit|status=0\n5,1048576,1,0!Exit|status=1\n5,,1,0!\n",
	  "5/5@1048575 5/5:3=0", "2:9 3:2" },
	/* An event is on the CPU of its first line. An environment is on none. */
	{ "5,1,1,0!Comm|size=1\n5,4,1,1!CN|a\n0,0,2,0!UPID|5\n0,9,2,1!Env|A=1\n",
	  "5/5@1 5/5:15=0,a, 5/5:16=0,A=1,", "" },
	/* Wrong heads of lines. */
	{ "x\n0: ,0,1,0!Exit|status=0\n-1,0,1,0!Exit|status=0\n"
	  "9223372036854775808,0,1,0!Exit|status=0\n5,0,1,1000000000!Exit|status=0\n"
	  "5,0,1,1 Exit|status=0\n5,0,1,1!\n\nINITCWD=/x\n5,0,1,0!Exit|status=1\n",
	  "5/5:3=1", "1:0 2:3 3:0 4:19 5:16 6:7 7:8 8:0 9:0" },
	/* Wrong keys. */
	{ "5,0,1,0!Close|fd=\n5,0,1,0!Close|fd=1,fd=1\n5,0,1,0!Close|\n5,0,1,0!Close|fd=1 \n"
	  "5,0,1,0!Close|fdx=1\n5,0,1,0!Close|fd=7\n",
	  "5/5:5=7,,", "1:17 2:19 3:14 4:18 5:14" },
	/* Keys in another order. */
	{ "5,0,1,0!Open|fd=3,mode=0,flags=0,forigsize=1,fnamesize=1\n5,0,1,1!FO|b\n5,0,1,2!FN|a\n",
	  "5/5:4=3,a,b", "" },
	/*
	 * Wrong sizes; and texts that are missing, that come twice, that belong to another event,
	 * or to none.
	 */
	{ "5,0,1,0!Comm|size=2\n5,0,1,1!CN|a\n5,0,1,2!Exit|status=0\n", "5/5:3=0", "1:0" },
	{ "5,0,1,0!Comm|size=1\n5,0,1,2!Exit|status=0\n", "5/5:3=0", "1:0" },
	{ "5,0,1,0!Comm|size=1\n5,0,1,1!CN|a\n5,0,1,1!CN|a\n5,0,1,2!Exit|status=0\n", "5/5:3=0",
	  "3:8" },
	{ "5,0,1,0!Comm|size=1\n5,0,1,1!FN|a\n5,0,1,1!CN|a\n5,0,1,2!Exit|status=0\n", "5/5:3=0",
	  "2:8" },
	{ "5,0,1,0!CN|a\n5,0,1,2!Exit|status=0\n", "5/5:3=0", "1:8" },
	{ "5,0,1,0!Comm|size=99999999999\n5,0,1,2!Exit|status=0\n", "5/5:3=0", "1:29" },
	/* Texts in parts. */
	{ "5,0,1,0!Comm|size=4\n5,0,1,1!CN[0]a\n5,0,1,2!Cont|b\n5,0,1,2!Cont_end|\n"
	  "5,0,1,3!CN[1]c\n5,0,1,4!CN_end|\n",
	  "5/5:15=0,a\nbc,", "" },
	{ "5,0,1,0!Comm|size=2\n5,0,1,1!CN[1]a\n5,0,1,2!Exit|status=0\n", "5/5:3=0", "2:8" },
	{ "5,0,1,0!Comm|size=2\n5,0,1,1!CN[0]a\n5,0,1,1!CN[0]a\n5,0,1,2!Exit|status=0\n", "5/5:3=0",
	  "3:8" },
	{ "5,0,1,0!Cont|a\n5,0,1,0!Close|fd=1\n5,0,1,0!Cont|\n5,0,1,2!Exit|status=0\n", "5/5:3=0",
	  "1:8 3:8" },
	/* Arguments that are empty in the middle and at the end. */
	{ "5,0,1,0!New_proc|argsize=6,prognameisize=1,prognamepsize=1,cwdsize=1\n5,0,1,1!PI|/\n"
	  "5,0,1,2!PP|/\n5,0,1,3!CW|/\n5,0,1,4!A[0]a\n5,0,1,5!A[2]b\n5,0,1,6!End_of_args|\n",
	  "5/5:2=5,6", "" },
	{ "5,0,1,0!New_proc|argsize=3,prognameisize=0,prognamepsize=0,cwdsize=0\n"
	  "5,0,1,4!A[0]a\n5,0,1,5!A[2]b\n5,0,1,6!End_of_args|\n5,0,1,7!Exit|status=0\n",
	  "5/5:3=0", "1:0" },
	{ "5,0,1,0!New_proc|argsize=4,prognameisize=0,prognamepsize=0,cwdsize=0\n"
	  "5,0,1,4!A[1]a\n5,0,1,5!A[0]b\n5,0,1,6!End_of_args|\n5,0,1,7!Exit|status=0\n",
	  "5/5:3=0", "3:8" },
	/* The published form: no bar after an end, and no head before environments. */
	{ "5,0,1,0!Comm|size=4\n5,0,1,1!CN[0]a\n5,0,1,2!Cont|b\n5,0,1,2!Cont_end\n"
	  "5,0,1,3!CN[1]c\n5,0,1,4!CN_end\n5,0,1,5!Exit|status=0\nUPID|5\nEnv|A=1\nCont|2\n"
	  "Cont_end\nUPID|5\nEnv[0]B=\nEnv[1]3\nEnv_end\n",
	  "5/5:15=0,a\nbc, 5/5:16=0,A=1\n2, 5/5:3=0", "" },
	{ "5,0,1,0!Comm|size=1\n5,0,1,1!CN\n5,0,1,1!CN|a\n5,0,1,2!Exit|status=0\nCont|x\nUPID\n"
	  "Env_end|\n",
	  "5/5:3=0", "2:8 5:0 6:0" },
	/* Events in two halves. */
	{ "5,0,1,0!RenameFrom|fnamesize=1\n5,0,1,1!RF|a\n5,0,1,2!RenameTo|fnamesize=1\n"
	  "5,0,1,3!RT|b\n",
	  "5/5:8=0,a,b", "" },
	{ "5,0,1,0!Rename2From|fnamesize=1,flags=2\n5,0,1,1!RF|a\n5,0,1,2!RenameFailed|\n"
	  "5,0,1,3!RenameTo|fnamesize=1\n5,0,1,3!RT|b\n5,0,1,4!Exit|status=0\n",
	  "5/5:17=2,a, 5/5:3=0", "4:0" },
	/*
	 * Failed calls, with their text or without. A half of another kind belongs to none of them.
	 */
	{ "5,0,1,0!LinkatFrom|fnamesize=1,flags=0\n5,0,1,1!LF|a\n5,0,1,2!LinkFailed|\n"
	  "5,0,1,3!LinkFailed|\n5,0,1,4!RenameFailed|\n5,0,1,5!SymlinkFailed|\n"
	  "5,0,1,6!LinkFrom|fnamesize=1\n5,0,1,7!LF|b\n5,0,1,8!RenameFailed|\n5,0,1,9!LinkFailed|"
	  "\n",
	  "5/5:18=0,a, 5/5:18=0,, 5/5:17=0,, 5/5:19=0,, 5/5:17=0,, 5/5:18=0,,", "" },
	{ "5,0,1,0!Umount|targetnamesize=1,flags=2\n5,0,1,1!MT|m\n5,0,1,2!Close|fd=1\n"
	  "5,0,1,3!UmountFailed|\n",
	  "5/5:13=2,m, 5/5:5=1,, 5/5:21=0,,", "" },
	{ "5,0,1,0!Umount|targetnamesize=1,flags=2\n5,0,1,1!MT|m\n5,0,1,2!UmountFailed|\n"
	  "5,0,1,3!UmountFailed|\n5,0,1,4!MountFailed|\n5,0,1,5!SysClone|flags=17\n"
	  "5,0,1,6!SysCloneFailed|\n5,0,1,7!SysCloneFailed|\n",
	  "5/5:21=2,m, 5/5:21=0,, 5/5:20=0,, 5/5:22=17,, 5/5:22=0,,", "" },
	{ "5,0,1,0!Mount|targetnamesize=1,typenamesize=5,flags=1\n5,0,1,1!MT|m\n"
	  "5,0,1,2!Mount|targetnamesize=1,flags=1\n5,0,1,3!MT|n\n5,0,1,4!MountFailed|\n",
	  "5/5:12=1,,m 5/5:20=1,,n", "" },
	/* A fork is on the CPU of the parent. An execve by a thread is on the CPU of the thread. */
	{ "5,1,1,0!SysClone|flags=65536\n5,2,1,1!SchedFork|pid=6\n"
	  "6,3,1,2!New_proc|argsize=0,prognameisize=0,prognamepsize=0,cwdsize=0\n"
	  "6,3,1,3!End_of_args|\n6,3,1,4!Exit|status=0\n",
	  "5/5@2 5/5:1>6/5 5/5@3 5/5:2=5,0 5/5:3=0", "" },
	/* A thread, a process, and a task that no line announces. */
	{ "5,0,1,0!SysClone|flags=65536\n5,0,1,1!SchedFork|pid=6\n5,0,1,2!SchedFork|pid=7\n"
	  "6,0,1,3!Exit|status=0\n7,0,1,4!Exit|status=1\n8,0,1,5!Exit|status=2\n",
	  "5/5:1>6/5 5/5:1>7/7 6/5:3=0 7/7:3=1 8/8:3=2", "" },
	{ "5,0,1,0!SysClone|flags=65536\n5,0,1,1!SysCloneFailed|\n5,0,1,1!SchedFork|pid=6\n",
	  "5/5:22=65536,, 5/5:1>6/6", "" },
	/*
	 * A child's lines may come before the fork. Its number may be that of an earlier process.
	 */
	{ "4194310,0,1,0!Close|fd=1\n5,0,1,5!SchedFork|pid=4194310\n6,0,2,0!Exit|status=0\n"
	  "4194310,0,3,0!Exit|status=4\n",
	  "5/5:1>6/6 6/6:5=1,, 4194305/4194305:3=0 6/6:3=4", "" },
	{ "6,0,1,0!Exit|status=0\n5,0,1,5!SchedFork|pid=4194310\n", "6/6:3=0 5/5:1>6/6", "" },
	{ "5,0,1,5!SchedFork|pid=5\n5,0,1,5!SchedFork|pid=-1\n", "", "1:0 2:0" },
	/* The lines are not in the order of their times, since they are of different tasks. */
	{ "5,0,2,0!Exit|status=0\n6,0,1,0!Exit|status=1\n", "6/6:3=1 5/5:3=0", "" },
	/* Environments. */
	{ "5,0,1,0!Exit|status=0\n0,0,2,0!UPID|5\n0,0,2,1!Env|A=1\n0,0,2,2!Cont|x\n"
	  "0,0,2,3!Cont_end|\n0,0,2,4!UPID|6\n0,0,2,4!Exit|status=0\n",
	  "5/5:3=0 5/5:16=0,A=1\nx,", "6:8 7:8" },
};

TEST(test_lines)
{
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct etrace_reader reader cleanup_etrace_reader;
		struct strbuf records cleanup_strbuf = { 0 };
		struct told told = { 0 };

		read_all(&reader, &told, rows[i].lines, strlen(rows[i].lines));
		describe(&reader, &records);
		for (size_t k = 0; k < records.len; k++)
			records.data[k] = records.data[k] ? records.data[k] : '~';
		assert_string_equal(strbuf_str(&told.all), rows[i].told);
		assert_string_equal(strbuf_str(&records), rows[i].records);
		strbuf_deinit(&told.all);
	}
}

/*
 * Write names and arguments of @len bytes, with a newline at @at and at the byte after it; read
 * them back.
 */
static void check_edge(size_t len, size_t at)
{
	struct etrace_reader reader cleanup_etrace_reader;
	struct strbuf out cleanup_strbuf = { 0 };
	struct strbuf payload cleanup_strbuf = { 0 };
	struct etrace_lines lines = { .out = &out };
	struct told told = { 0 };
	struct proc_record rec;
	struct proc_exec exec;
	struct text arg;
	char bytes[MANY];

	for (size_t i = 0; i < len; i++)
		bytes[i] = (char)(i % 255 == 9 ? 1 : i % 255 + 1);
	if (at < len)
		bytes[at] = '\n';
	if (at + 1 < len && at % 2)
		bytes[at + 1] = '\n';
	etrace_begin(&lines, 4194309, 0, 5000000000);
	etrace_put(&lines, "New_proc|argsize=%zu,prognameisize=%zu,prognamepsize=%zu,cwdsize=%zu",
		   2 * len + 4, len, len, len);
	etrace_put_text(&lines, "PI", text_of(bytes, len));
	etrace_put_text(&lines, "PP", text_of(bytes, len));
	etrace_put_text(&lines, "CW", text_of(bytes, len));
	etrace_put_arg(&lines, 1, text_of(bytes, len));
	etrace_put_arg(&lines, 2, text_of(bytes, len));
	etrace_put(&lines, "End_of_args|");
	read_all(&reader, &told, out.data, out.len);
	assert_string_equal(strbuf_str(&told.all), "");
	assert_int_equal(etrace_reader_next(&reader, &rec, &payload), 1);
	assert_int_equal(rec.kind, PROC_CPU);
	assert_int_equal(etrace_reader_next(&reader, &rec, &payload), 1);
	assert_int_equal(rec.time_ns, 5000000000);
	assert_true(proc_exec_decode(rec.data, rec.len, is_big, &exec));

	const struct text texts[] = { exec.interpreter, exec.program, exec.cwd };

	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		assert_int_equal(text_left(&texts[i]), len);
		assert_memory_equal(texts[i].at, bytes, len);
	}
	for (size_t i = 0; i < 4; i++) {
		assert_true(proc_next_arg(&exec.args, &arg));
		assert_int_equal(text_left(&arg), i % 3 ? len : 0);
		assert_memory_equal(arg.at, bytes, text_left(&arg));
	}
	assert_false(proc_next_arg(&exec.args, &arg));
}

TEST(test_edges)
{
	static const size_t lengths[] = { 1, 2, 899, 900, 901, 1799, 1800, 1801 };

	for (size_t i = 0; i < ARRAY_SIZE(lengths); i++) {
		for (size_t at = 0; at <= 2; at++)
			check_edge(lengths[i], at);
		for (size_t at = 897; at <= 903; at++)
			check_edge(lengths[i], at);
		for (size_t at = lengths[i] - 1; at <= lengths[i]; at++)
			check_edge(lengths[i], at);
	}
}

TEST(test_first_line)
{
	static const char *const right[] = { "INITCWD=/", "INITCWD=", "0: 5,0,1,2!Exit|status=0",
					     "5,0,1,2!" };
	static const char *const others[] = { "", "2026-11-23 09:30:01.000042 X Y", "5,0,1",
					      "initcwd=/" };

	for (size_t i = 0; i < ARRAY_SIZE(right); i++)
		assert_true(etrace_is_first_line(right[i], strlen(right[i])));
	for (size_t i = 0; i < ARRAY_SIZE(others); i++)
		assert_false(etrace_is_first_line(others[i], strlen(others[i])));
}
