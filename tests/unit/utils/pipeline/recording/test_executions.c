/* Executions: parents, numbers that are used again, threads, strangers, and a file that is cut. */
#include "tests/unit/lib/unit.h"

#include <errno.h>
#include <signal.h>
#include <unistd.h>

#include "utils/base/fd.h"
#include "utils/base/outfile.h"
#include "utils/format/datadir.h"
#include "utils/format/proc_dat.h"
#include "utils/pipeline/recording/executions.h"

#define WORDS(str) text_of(str, sizeof(str))

static const bool is_big = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__;

/* The content of proc.dat. */
struct file {
	struct strbuf bytes;
	struct strbuf payload;
	uint64_t now;
};

static void put(struct file *file, int32_t tid, int32_t pid, enum proc_kind kind)
{
	const struct proc_record rec = { .time_ns = file->now += 10,
					 .tid = tid,
					 .pid = pid,
					 .kind = kind,
					 .data = (const uint8_t *)strbuf_str(&file->payload),
					 .len = file->payload.len };

	proc_record_encode(&rec, &file->bytes);
	strbuf_reset(&file->payload);
}

static void put_fork(struct file *file, int32_t pid, int32_t child, int32_t child_pid)
{
	proc_fork_encode(&(struct proc_fork){ child, child_pid, PROC_BY_VFORK }, &file->payload);
	put(file, pid, pid, PROC_FORK);
}

static void put_exec(struct file *file, int32_t pid, const char *program, struct text args)
{
	struct text path = text_of(program, strlen(program));

	proc_exec_encode(
		&(struct proc_exec){ pid, text_of("/bin/sh", 7), path, text_of("/src", 4), args },
		&file->payload);
	put(file, pid, pid, PROC_EXEC);
}

static void put_cpu(struct file *file, int32_t tid, int32_t pid, int cpu)
{
	proc_cpu_encode(cpu, &file->payload);
	put(file, tid, pid, PROC_CPU);
}

static void put_exit(struct file *file, int32_t tid, int32_t pid, int status)
{
	proc_exit_encode(status, &file->payload);
	put(file, tid, pid, PROC_EXIT);
}

static void load(struct file *file, size_t cut, struct executions *out, struct uft_err *broken)
{
	char dir[] = "/tmp/utrail-unit-XXXXXX";
	char path[64];

	assert_non_null(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/" DATADIR_PROCESSES, dir);
	assert_int_equal(outfile_put(path, strbuf_str(&file->bytes), file->bytes.len - cut, NULL),
			 0);
	assert_int_equal(executions_load(out, dir, is_big, broken, NULL), 0);
	unlink(path);
	assert_int_equal(executions_load(&(struct executions){ 0 }, dir, is_big, broken, NULL),
			 -ENOENT);
	rmdir(dir);
	strbuf_deinit(&file->bytes);
	strbuf_deinit(&file->payload);
}

TEST(a_tree)
{
	struct executions got cleanup_executions = { 0 };
	struct uft_err broken = { 0 };
	struct file file = { 0 };

	put_exec(&file, 100, "/bin/make", WORDS("make\0"));
	put_fork(&file, 100, 101, 101);
	put_fork(&file, 101, 102, 101); /* 102 is a thread of 101 */
	put_exec(&file, 101, "/bin/gcc", WORDS("gcc\0-c\0a.c"));
	put_exec(&file, 101, "/bin/cc1", WORDS("cc1"));
	put_fork(&file, 100, 103, 103);
	put_exit(&file, 102, 101, 0);
	put_exit(&file, 101, 101, 3 << 8);
	put_exit(&file, 103, 103, SIGKILL);
	put_fork(&file, 100, 101, 101); /* 101 is used again */
	put_exit(&file, 100, 100, 0);
	load(&file, 0, &got, &broken);

	assert_int_equal(got.nr, 6);
	assert_int_equal(got.nr_processes, 4);

	const struct execution *make = &got.all[0], *before = &got.all[1], *gcc = &got.all[2],
			       *cc1 = &got.all[3], *killed = &got.all[4], *again = &got.all[5];

	/*
	 * The first task is the one that executed the first program. The thread 102 counts as a
	 * task, too.
	 */
	assert_int_equal(make->task, 2);
	assert_int_equal(before->task, 3);
	assert_int_equal(cc1->task, 3);
	assert_int_equal(killed->task, 5);
	assert_int_equal(again->task, 6);
	assert_int_equal(make->index, 1);
	assert_int_equal(make->parent, EXECUTION_NONE);
	assert_int_equal(make->first_child, 1);
	assert_int_equal(before->next_child, 4);
	assert_int_equal(killed->next_child, 5);
	assert_int_equal(again->next_child, EXECUTION_NONE);
	assert_int_equal(before->index, 0);
	assert_string_equal(before->program, "/bin/make");
	assert_int_equal(before->end_ns, gcc->start_ns);
	assert_int_equal(before->how, PROC_BY_VFORK);
	assert_int_equal(gcc->index, 1);
	assert_int_equal(gcc->previous, 1);
	assert_int_equal(gcc->parent, 0);
	assert_false(gcc->is_over);
	assert_string_equal(gcc->interpreter, "/bin/sh");
	assert_string_equal(gcc->cwd, "/src");
	assert_int_equal(cc1->index, 2);
	assert_int_equal(cc1->process, gcc->process);
	assert_true(cc1->is_over);
	assert_int_equal(cc1->status, 3 << 8);
	assert_int_equal(killed->status, SIGKILL);
	assert_int_equal(again->pid, 101);
	assert_int_not_equal(again->process, gcc->process);
	assert_int_equal(again->end_ns, make->end_ns);

	const char *arg = execution_next_arg(gcc, NULL);

	assert_string_equal(arg, "gcc");
	arg = execution_next_arg(gcc, arg);
	arg = execution_next_arg(gcc, arg);
	assert_string_equal(arg, "a.c");
	assert_null(execution_next_arg(gcc, arg));
	/* An empty argument at the end counts, too. */
	arg = execution_next_arg(make, execution_next_arg(make, NULL));
	assert_string_equal(arg, "");
	assert_null(execution_next_arg(make, arg));
}

TEST(strangers_are_processes_without_a_parent)
{
	struct executions got cleanup_executions = { 0 };
	struct uft_err broken = { 0 };
	struct file file = { 0 };

	put_fork(&file, 7, 8, 8);
	put_exec(&file, 9, "/bin/true", text_of("no end", 6));
	put_exit(&file, 10, 10, 0);
	load(&file, 0, &got, &broken);
	assert_int_equal(got.nr, 3);
	assert_int_equal(got.all[0].pid, 7);
	assert_int_equal(got.all[1].parent, 0);
	assert_int_equal(got.all[2].parent, EXECUTION_NONE);
	assert_int_equal(got.all[2].index, 1);
	assert_string_equal(execution_next_arg(&got.all[2], NULL), "no end");
	assert_null(execution_next_arg(&got.all[2], execution_next_arg(&got.all[2], NULL)));
	assert_null(execution_next_arg(&got.all[0], NULL));
	assert_false(broken.code);
}

TEST(what_is_in_front_of_damage_counts)
{
	struct executions got cleanup_executions = { 0 };
	struct uft_err broken = { 0 };
	struct file file = { 0 };

	put_exec(&file, 1, "/bin/a", WORDS("a"));
	strbuf_addchars(&file.bytes, '\xff', 64);
	load(&file, 0, &got, &broken);
	assert_int_equal(got.nr, 1);
	assert_int_equal(broken.code, -EBADMSG);
	assert_non_null(strstr(broken.text, DATADIR_PROCESSES));
}

TEST(a_record_that_is_cut_is_left_out)
{
	struct executions got cleanup_executions = { 0 };
	struct uft_err broken = { 0 };
	struct file file = { 0 };

	put_exec(&file, 1, "/bin/a", WORDS("a"));
	put_exit(&file, 1, 1, 0);
	load(&file, 1, &got, &broken);
	assert_int_equal(got.nr, 1);
	assert_false(got.all[0].is_over);
	assert_false(broken.code);
}

static void assert_places(const struct executions *got, size_t at, const char *expected)
{
	struct strbuf text cleanup_strbuf = { 0 };

	for (size_t i = got->all[at].first_place; i != EXECUTION_NONE; i = got->places[i].next) {
		strbuf_addf(&text, "%d:%llu ", got->places[i].cpu,
			    (unsigned long long)got->places[i].time_ns);
		if (got->places[i].next == EXECUTION_NONE)
			assert_int_equal(got->all[at].last_place, i);
	}
	assert_string_equal(strbuf_str(&text), expected);
}

TEST(where_they_are_is_told_when_it_changes)
{
	struct executions got cleanup_executions = { 0 };
	struct uft_err broken = { 0 };
	struct file file = { 0 };

	put_cpu(&file, 100, 100, 1);
	put_exec(&file, 100, "/bin/make", WORDS("make")); /* at 20 */
	put_fork(&file, 100, 101, 101);
	put_cpu(&file, 101, 101, 0);
	put_exec(&file, 101, "/bin/sh", WORDS("sh")); /* at 50 */
	put_cpu(&file, 100, 100, 1);
	put_fork(&file, 100, 102, 100); /* a thread whose CPU is not known at first */
	proc_fork_encode(&(struct proc_fork){ 103, 103, PROC_BY_FORK }, &file.payload);
	put(&file, 102, 100, PROC_FORK);
	put_cpu(&file, 102, 100, 3);
	put_exit(&file, 102, 100, 0); /* at 100 */
	put_cpu(&file, 100, 100, 2);
	put_exec(&file, 100, "/bin/ls", WORDS("ls")); /* at 120 */
	put_exit(&file, 101, 101, 0);
	put_fork(&file, 100, 101,
		 101); /* 101 is used again; the CPU of the first 101 does not count */
	put_exit(&file, 101, 101, 0);
	load(&file, 0, &got, &broken);

	assert_int_equal(got.nr, 6);
	assert_places(&got, 0, "1:20 3:100 ");
	assert_places(&got, 1, "");
	assert_places(&got, 2, "0:50 ");
	assert_places(&got, 3, "");
	assert_places(&got, 4, "2:120 ");
	assert_places(&got, 5, "");
	assert_int_equal(got.nr_places, 4);
}

TEST(flags_of_clone_are_kept)
{
	struct executions got cleanup_executions = { 0 };
	struct uft_err broken = { 0 };
	struct file file = { 0 };

	put_exec(&file, 1, "/bin/a", WORDS("a"));
	proc_fork_encode(&(struct proc_fork){ 2, 2, PROC_BY_CLONE, 0x4111 }, &file.payload);
	put(&file, 1, 1, PROC_FORK);
	put_exec(&file, 2, "/bin/b", WORDS("b"));
	proc_fork_encode(&(struct proc_fork){ 3, 3, PROC_BY_FORK, 0 }, &file.payload);
	put(&file, 2, 2, PROC_FORK);
	load(&file, 0, &got, &broken);
	assert_int_equal(got.nr, 4);
	assert_int_equal(got.all[0].flags, 0);
	assert_int_equal(got.all[1].flags, 0x4111);
	assert_int_equal(got.all[2].flags, 0x4111);
	assert_int_equal(got.all[3].flags, 0);
}

/* The records that a listener got: "KIND:EXECUTION/NUMBER OF EXECUTIONS". */
struct hearing {
	struct executions_listener listener;
	struct strbuf text;
	uint32_t fails_at; /* the kind of record at which the listener fails; 0: none */
};

static int hear(struct executions_listener *listener, const struct executions *executions,
		const struct proc_record *rec, size_t at)
{
	struct hearing *hearing = (struct hearing *)listener;

	strbuf_addf(&hearing->text, "%u:%d/%zu ", rec->kind, (int)at, executions->nr);
	return rec->kind == hearing->fails_at ? -EIO : 0;
}

static void put_all_kinds(struct file *file)
{
	put_cpu(file, 100, 100, 1);
	put_exec(file, 100, "/bin/make", WORDS("make"));
	put_fork(file, 100, 101, 101);
	put_fork(file, 100, 102, 100); /* a thread */
	put_exec(file, 101, "/bin/sh", WORDS("sh"));
	put_exit(file, 102, 100, 0);
	put_exit(file, 101, 101, 0);
	put_exit(file, 101, 101, 0);
	put_exit(file, 100, 100, 0);
}

static int load_heard(struct file *file, struct hearing *hearing, struct executions *out,
		      struct uft_err *err)
{
	char dir[] = "/tmp/utrail-unit-XXXXXX";
	char path[64];
	int ret;

	hearing->listener.see = hear;
	assert_non_null(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/" DATADIR_PROCESSES, dir);
	assert_int_equal(outfile_put(path, strbuf_str(&file->bytes), file->bytes.len, NULL), 0);
	ret = executions_load_heard(out, dir, is_big, &hearing->listener, NULL, err);
	unlink(path);
	rmdir(dir);
	strbuf_deinit(&file->bytes);
	strbuf_deinit(&file->payload);
	return ret;
}

/*
 * A listener gets each record with its execution: after an exec the new one, after an exit the ended
 * one.
 */
TEST(listeners)
{
	struct executions got cleanup_executions = { 0 };
	struct hearing hearing = { 0 };
	struct file file = { 0 };
	struct strbuf expected cleanup_strbuf = { 0 };

	put_all_kinds(&file);
	assert_int_equal(load_heard(&file, &hearing, &got, NULL), 0);
	strbuf_addf(&expected, "%u:-1/0 %u:0/1 %u:0/2 %u:0/2 %u:2/3 ", PROC_CPU, PROC_EXEC,
		    PROC_FORK, PROC_FORK, PROC_EXEC);
	strbuf_addf(&expected, "%u:0/3 %u:2/3 %u:-1/3 %u:0/3 ", PROC_EXIT, PROC_EXIT, PROC_EXIT,
		    PROC_EXIT);
	assert_string_equal(strbuf_str(&hearing.text), strbuf_str(&expected));
	strbuf_deinit(&hearing.text);
}

/* The error of a listener ends the loading. The executions until then are complete. */
TEST(listeners_that_fail)
{
	struct executions got cleanup_executions = { 0 };
	struct hearing hearing = { .fails_at = PROC_FORK };
	struct uft_err err = { 0 };
	struct file file = { 0 };

	put_all_kinds(&file);
	assert_int_equal(load_heard(&file, &hearing, &got, &err), -EIO);
	assert_int_equal(err.code, -EIO);
	assert_non_null(strstr(err.text, DATADIR_PROCESSES));
	assert_int_equal(got.nr, 2);
	assert_int_equal(got.all[0].end_ns, 30);
	assert_int_equal(got.all[1].start_ns, 30);
	assert_int_equal(got.all[1].end_ns, 30);
	strbuf_deinit(&hearing.text);
}

/* Times of executions, and numbers that begin at 1. Damaged payloads change nothing. */
TEST(times_of_executions)
{
	struct executions got cleanup_executions = { 0 };
	struct uft_err broken = { 0 };
	struct file file = { 0 };

	put_exec(&file, 5, "/bin/a", WORDS("a")); /* at 10 */
	put_fork(&file, 5, 6, 6);
	put(&file, 5, 5, PROC_FORK); /* without a payload */
	put(&file, 5, 5, PROC_EXEC);
	put(&file, 5, 5, PROC_EXIT);
	put_exec(&file, 5, "/bin/b", WORDS("b")); /* at 60 */
	put_exit(&file, 7, 5, 1);
	put_exit(&file, 5, 5, 2); /* at 80 */
	put_exec(&file, 5, "/bin/c", WORDS("c"));
	put_exit(&file, 6, 6, 3); /* at 100 */
	put(&file, 6, 6, PROC_NAME);
	load(&file, 0, &got, &broken);
	assert_int_equal(got.nr, 4);
	assert_int_equal(got.nr_processes, 3);
	assert_int_equal(got.all[0].start_ns, 10);
	assert_int_equal(got.all[0].end_ns, 60);
	assert_false(got.all[0].is_over);
	assert_int_equal(got.all[0].process, 1);
	assert_int_equal(got.all[1].start_ns, 20);
	assert_int_equal(got.all[1].end_ns, 100);
	assert_int_equal(got.all[1].status, 3);
	assert_int_equal(got.all[1].process, 2);
	assert_int_equal(got.all[2].start_ns, 60);
	assert_int_equal(got.all[2].end_ns, 80);
	assert_true(got.all[2].is_over);
	assert_int_equal(got.all[2].status, 2);
	assert_int_equal(got.all[2].previous, 0);
	/* The process has ended, so its number now belongs to another process. */
	assert_int_equal(got.all[3].previous, EXECUTION_NONE);
	assert_int_equal(got.all[3].process, 3);
	assert_int_equal(got.all[3].index, 1);
	assert_int_equal(got.all[3].end_ns, 110);
	assert_false(got.all[3].is_over);
	assert_false(broken.code);
}
