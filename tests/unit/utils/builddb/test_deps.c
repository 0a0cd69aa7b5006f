/* Dependencies between files, derived from the acts of processes on files. */
#include "tests/unit/lib/unit.h"

#include <fcntl.h>
#include <unistd.h>

#include "utils/base/fd.h"
#include "utils/base/outfile.h"
#include "utils/format/datadir.h"
#include "utils/format/proc_dat.h"
#include "utils/builddb/deps.h"
#include "utils/builddb/tree.h"

#define SWAPS 2

static const bool is_big = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__;

/* A recording to which acts are added one by one, and the data that are read from it. */
struct story {
	struct strbuf bytes;
	struct strbuf payload;
	uint64_t now;
	struct executions executions;
	struct files files;
	struct strbuf text;
	struct strbuf shown;
	struct sink sink;
};

static struct text text(const char *str)
{
	return str ? text_of(str, strlen(str)) : text_of("", 0);
}

static void put(struct story *story, int32_t pid, enum proc_kind kind)
{
	const struct proc_record rec = { .time_ns = story->now += 10,
					 .tid = pid,
					 .pid = pid,
					 .kind = kind,
					 .data = (const uint8_t *)strbuf_str(&story->payload),
					 .len = story->payload.len };

	proc_record_encode(&rec, &story->bytes);
	strbuf_reset(&story->payload);
}

static void put_fork(struct story *story, int32_t pid, int32_t child)
{
	proc_fork_encode(&(struct proc_fork){ child, child, PROC_BY_FORK }, &story->payload);
	put(story, pid, PROC_FORK);
}

/* Execute a program without a file, so that no program appears among the dependencies. */
static void put_exec(struct story *story, int32_t pid, const char *args)
{
	proc_exec_encode(&(struct proc_exec){ .old_tid = pid,
					      .cwd = text("/w"),
					      .args = text_of(args, strlen(args) + 1) },
			 &story->payload);
	put(story, pid, PROC_EXEC);
}

static void put_exit(struct story *story, int32_t pid)
{
	proc_exit_encode(0, &story->payload);
	put(story, pid, PROC_EXIT);
}

static void put_act(struct story *story, int32_t pid, enum proc_kind kind, struct proc_act act)
{
	proc_act_encode(&act, &story->payload);
	put(story, pid, kind);
}

static void put_open(struct story *story, int32_t pid, uint32_t fd, uint32_t flags,
		     const char *path)
{
	put_act(story, pid, PROC_OPEN, (struct proc_act){ { fd, flags }, { text(path) } });
}

static void put_close(struct story *story, int32_t pid, uint32_t fd)
{
	put_act(story, pid, PROC_CLOSE, (struct proc_act){ { fd, fd } });
}

static void put_inherit(struct story *story, int32_t pid, uint32_t fd, uint32_t flags,
			const char *path)
{
	put_act(story, pid, PROC_INHERIT, (struct proc_act){ { fd, flags }, { text(path) } });
}

static void put_names(struct story *story, int32_t pid, enum proc_kind kind, uint32_t flags,
		      const char *from, const char *to)
{
	put_act(story, pid, kind, (struct proc_act){ { flags }, { text(from), text(to) } });
}

static void put_reading(struct story *story, int32_t pid, const char *path)
{
	put_open(story, pid, 3, O_RDONLY, path);
	put_close(story, pid, 3);
}

static void put_writing(struct story *story, int32_t pid, const char *path)
{
	put_open(story, pid, 4, O_WRONLY | O_CREAT | O_TRUNC, path);
	put_close(story, pid, 4);
}

/* Fork process @pid from process 1; it executes a program. */
static void begin(struct story *story, int32_t pid, const char *args)
{
	put_fork(story, 1, pid);
	put_exec(story, pid, args);
}

/*
 * Run a program that reads @from and writes @to.
 */
static void put_command(struct story *story, int32_t pid, const char *args, const char *from,
			const char *to)
{
	begin(story, pid, args);
	put_reading(story, pid, from);
	put_writing(story, pid, to);
	put_exit(story, pid);
}

static int set_up(void **state)
{
	struct story *story = calloc(1, sizeof(*story));

	assert_int_equal(sink_init_text(&story->sink, &story->text), 0);
	put_exec(story, 1, "make");
	*state = story;
	return 0;
}

static int tear_down(void **state)
{
	struct story *story = *state;

	strbuf_deinit(&story->bytes);
	strbuf_deinit(&story->payload);
	strbuf_deinit(&story->text);
	strbuf_deinit(&story->shown);
	sink_deinit(&story->sink);
	files_deinit(&story->files);
	executions_deinit(&story->executions);
	free(story);
	return 0;
}

static void load(struct story *story)
{
	char dir[] = "/tmp/utrail-unit-XXXXXX";
	char path[64];

	assert_non_null(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/" DATADIR_PROCESSES, dir);
	assert_int_equal(outfile_put(path, strbuf_str(&story->bytes), story->bytes.len, NULL), 0);
	assert_int_equal(files_load(&story->files, &story->executions, dir, is_big, NULL, NULL), 0);
	unlink(path);
	rmdir(dir);
}

/* Returns the text that was written since the last time; valid until the next call. */
static const char *shown(struct story *story)
{
	struct strbuf earlier = story->shown;

	assert_int_equal(sink_flush(&story->sink), 0);
	story->shown = story->text;
	story->text = earlier;
	strbuf_reset(&story->text);
	return strbuf_str(&story->shown);
}

static const char *rules(struct story *story)
{
	assert_int_equal(deps_rules(&story->executions, &story->files, &story->sink), 0);
	return shown(story);
}

typedef int (*query_fn)(const struct executions *, struct files *, uint32_t, struct sink *);

static const char *ask(struct story *story, query_fn query, const char *path)
{
	uint32_t content = files_find(&story->files, path);

	assert_int_not_equal(content, FILES_NONE);
	assert_int_equal(query(&story->executions, &story->files, content, &story->sink), 0);
	return shown(story);
}

TEST_WITH(through_temporary_files, set_up, tear_down)
{
	struct story *story = *state;

	put_command(story, 2, "cc1", "/w/a.c", "/tmp/x.s");
	put_command(story, 3, "as", "/tmp/x.s", "/w/a.o");
	put_names(story, 1, PROC_UNLINK, 0, "/tmp/x.s", NULL);
	/* Another file with the same name. */
	put_command(story, 4, "cc1", "/w/b.c", "/tmp/x.s");
	put_command(story, 5, "as", "/tmp/x.s", "/w/b.o");
	put_names(story, 1, PROC_UNLINK, 0, "/tmp/x.s", NULL);
	put_command(story, 6, "ld", "/w/a.o", "/w/prog");
	load(story);
	assert_string_equal(rules(story), "a.o: a.c\nb.o: b.c\nprog: a.o\n");
	assert_string_equal(ask(story, deps_needs, "/w/prog"), "a.c\na.o\n");
	assert_string_equal(ask(story, deps_used_by, "/w/a.c"), "a.o\nprog\n");
	assert_string_equal(ask(story, deps_used_by, "/w/b.c"), "b.o\n");
	assert_int_equal(files_find(&story->files, "/tmp/x.s"), FILES_NONE);
	deps_read_again(&story->executions, &story->files, &story->sink);
	assert_string_equal(shown(story), "#   a.o\n");
}

TEST_WITH(renamed, set_up, tear_down)
{
	struct story *story = *state;

	put_command(story, 2, "ar", "/w/a.o", "/w/lib.tmp");
	put_names(story, 1, PROC_RENAME, 0, "/w/lib.tmp", "/w/lib.a");
	/* The rename replaces a file that has this name. */
	put_command(story, 3, "gen", "/w/in", "/w/out.new");
	put_command(story, 4, "old", "/w/older", "/w/out");
	begin(story, 5, "mv");
	put_names(story, 5, PROC_RENAME, 0, "/w/out.new", "/w/out");
	put_exit(story, 5);
	/* A renamed directory takes its content with it. */
	put_command(story, 6, "gen", "/w/in", "/w/tmp/sub/file");
	put_names(story, 1, PROC_RENAME, 0, "/w/tmp", "/w/dir");
	put_command(story, 7, "use", "/w/dir/sub/file", "/w/end");
	put_command(story, 8, "one", "/w/1.in", "/w/1");
	put_command(story, 9, "two", "/w/2.in", "/w/2");
	put_names(story, 1, PROC_RENAME, SWAPS, "/w/1", "/w/2");
	put_command(story, 10, "three", "/w/3.in", "/w/3");
	put_names(story, 1, PROC_LINK, 0, "/w/3", "/w/3.link");
	put_names(story, 1, PROC_UNLINK, 0, "/w/3", NULL);
	load(story);
	assert_string_equal(rules(story), "lib.a: a.o\nout: in\ndir/sub/file: in\n"
					  "end: dir/sub/file\n2: 1.in\n1: 2.in\n3.link: 3.in\n");
	assert_string_equal(ask(story, deps_used_by, "/w/in"), "dir/sub/file\nend\nout\n");
}

TEST_WITH(appended, set_up, tear_down)
{
	struct story *story = *state;

	put_command(story, 2, "one", "/w/1.in", "/w/log");
	begin(story, 3, "two");
	put_reading(story, 3, "/w/2.in");
	put_open(story, 3, 4, O_WRONLY | O_APPEND | O_CREAT, "/w/log");
	put_exit(story, 3);
	/*
	 * A file that is opened for reading and writing keeps its content; a file that is truncated
	 * does not.
	 */
	begin(story, 4, "three");
	put_reading(story, 4, "/w/3.in");
	put_open(story, 4, 4, O_RDWR, "/w/data");
	put_exit(story, 4);
	put_command(story, 5, "four", "/w/4.in", "/w/new");
	put_command(story, 6, "five", "/w/5.in", "/w/new");
	load(story);
	assert_string_equal(rules(story), "log: 1.in 2.in\ndata: 3.in\nnew: 5.in\n");
}

TEST_WITH(in_time, set_up, tear_down)
{
	struct story *story = *state;

	/* A server: its outputs do not depend on files that it reads afterwards. */
	begin(story, 2, "server");
	put_reading(story, 2, "/w/1.in");
	put_writing(story, 2, "/w/1.out");
	put_reading(story, 2, "/w/2.in");
	put_writing(story, 2, "/w/2.out");
	load(story);
	assert_string_equal(ask(story, deps_needs, "/w/1.out"), "1.in\n");
	assert_string_equal(ask(story, deps_needs, "/w/2.out"), "1.in\n2.in\n");
	assert_string_equal(ask(story, deps_used_by, "/w/2.in"), "2.out\n");
	assert_string_equal(rules(story), "1.out 2.out: 1.in 2.in\n");
}

TEST_WITH(gone_and_never_files, set_up, tear_down)
{
	struct story *story = *state;

	begin(story, 2, "cp");
	put_open(story, 2, 5, O_RDONLY | O_DIRECTORY, "/w");
	put_open(story, 2, 6, O_RDWR, "/dev/null");
	put_open(story, 2, 7, O_RDWR, "/dev/shm/x");
	put_open(story, 2, 8, O_RDWR, "/tmp/GMfifo12");
	put_open(story, 2, 9, O_RDWR, "socket:[1]");
	put_open(story, 2, 10, O_PATH, "/w/looked-at");
	put_open(story, 2, 11, O_RDONLY, "/w/dir");
	put_reading(story, 2, "/w/dir/in file$#");
	put_open(story, 2, 13, O_RDWR, "/w/memory (deleted)");
	put_act(story, 2, PROC_SYMLINK,
		(struct proc_act){ { 0 }, { text("dir"), text("/w/link"), text("/w/dir") } });
	put_writing(story, 2, "/w/out");
	put_writing(story, 2, "/w/tmp");
	put_names(story, 2, PROC_UNLINK, 0, "/w/tmp", NULL);
	put_exit(story, 2);
	begin(story, 3, "other");
	put_open(story, 3, 6, O_RDWR, "/dev/null");
	put_open(story, 3, 8, O_RDWR, "/tmp/GMfifo12");
	put_writing(story, 3, "/w/more");
	load(story);
	/* All outputs of one program are in one rule. */
	assert_string_equal(rules(story), "/dev/shm/x out: dir/in\\ file$$\\#\nmore:\n");
}

TEST_WITH(through_a_pipe, set_up, tear_down)
{
	struct story *story = *state;

	/*
	 * sh -c 'cat in | sort > out', with the jobserver pipe of make. Both processes hold both
	 * ends of that pipe.
	 */
	put_act(story, 1, PROC_PIPE, (struct proc_act){ { 8, 9 } });
	put_act(story, 1, PROC_PIPE, (struct proc_act){ { 3, 4 } });
	put_fork(story, 1, 2);
	put_close(story, 2, 3);
	put_act(story, 2, PROC_DUP, (struct proc_act){ { 4, 1 } });
	put_close(story, 2, 4);
	put_exec(story, 2, "cat");
	put_inherit(story, 2, 1, O_WRONLY, "pipe:[7]");
	put_inherit(story, 2, 8, O_RDONLY, "pipe:[6]");
	put_inherit(story, 2, 9, O_WRONLY, "pipe:[6]");
	put_close(story, 1, 4);
	put_fork(story, 1, 3);
	put_act(story, 3, PROC_DUP, (struct proc_act){ { 3, 0 } });
	put_close(story, 3, 3);
	put_open(story, 3, 1, O_WRONLY | O_CREAT | O_TRUNC, "/w/out");
	put_exec(story, 3, "sort");
	put_inherit(story, 3, 0, O_RDONLY, "pipe:[7]");
	put_inherit(story, 3, 1, O_WRONLY, "/w/out");
	put_inherit(story, 3, 8, O_RDONLY, "pipe:[6]");
	put_inherit(story, 3, 9, O_WRONLY, "pipe:[6]");
	put_close(story, 1, 3);
	put_open(story, 2, 3, O_RDONLY, "/w/in");
	put_exit(story, 2);
	put_exit(story, 3);
	begin(story, 4, "beside");
	put_inherit(story, 4, 8, O_RDONLY, "pipe:[6]");
	put_inherit(story, 4, 9, O_WRONLY, "pipe:[6]");
	put_writing(story, 4, "/w/other");
	load(story);
	assert_string_equal(rules(story), "out: in\nother:\n");

	/* Readers of cat's output are the shell, which holds the end of the pipe, and sort. */
	tree_json(&story->executions, &story->files, &story->sink);

	const char *cat = strstr(shown(story), "\"v\":[\"cat\"]");

	assert_non_null(cat);
	cat = strstr(cat, "\"i\":");
	assert_memory_equal(cat,
			    "\"i\":[{\"p\":8388609,\"x\":1},{\"p\":16777219,\"x\":0},"
			    "{\"p\":16777219,\"x\":1}],\"o\":[{\"p\":\"/w/in\",\"b\":",
			    strlen("\"i\":[{\"p\":8388609,\"x\":1},{\"p\":16777219,\"x\":0},"
				   "{\"p\":16777219,\"x\":1}],\"o\":[{\"p\":\"/w/in\",\"b\":"));
}

/* A shell's child depends on the files that the shell has read before the fork. */
TEST_WITH(in_memory, set_up, tear_down)
{
	struct story *story = *state;

	put_reading(story, 1, "/w/before");
	put_fork(story, 1, 2);
	put_reading(story, 1, "/w/behind");
	put_writing(story, 2, "/w/by-fork");
	put_exec(story, 2, "other");
	put_writing(story, 2, "/w/by-other");
	load(story);
	assert_string_equal(rules(story), "by-fork: before\nby-other:\n");
	assert_string_equal(ask(story, deps_used_by, "/w/before"), "by-fork\n");
	assert_string_equal(ask(story, deps_used_by, "/w/behind"), "");
}

TEST_WITH(output_of_the_build, set_up, tear_down)
{
	struct story *story = *state;

	/*
	 * Files that are open for reading and writing at once, as terminals are, connect no
	 * processes.
	 */
	put_inherit(story, 1, 1, O_RDWR, "/w/log");
	put_fork(story, 1, 2);
	put_exec(story, 2, "cp");
	put_inherit(story, 2, 1, O_RDWR, "/w/log");
	put_reading(story, 2, "/w/in");
	put_writing(story, 2, "/w/out");
	put_exit(story, 2);
	load(story);
	assert_string_equal(rules(story), "out: in\n");
}

TEST_WITH(again_with_the_same_inputs, set_up, tear_down)
{
	struct story *story = *state;

	put_command(story, 2, "gcc", "/w/a.c", "/w/a.o");
	put_command(story, 3, "gcc", "/w/a.c", "/w/a.o");
	/* Process 4 has another input. The input of process 7 has changed since process 5. */
	put_command(story, 4, "gcc", "/w/b.c", "/w/b.o");
	put_command(story, 5, "use", "/w/a.o", "/w/x");
	put_command(story, 6, "gcc", "/w/a.c", "/w/a.o");
	put_command(story, 7, "use", "/w/a.o", "/w/x");
	/* All processes of a command count as a part of it, and are not listed themselves. */
	for (int i = 0; i < 2; i++) {
		begin(story, 20 + i, "sh");
		put_fork(story, 20 + i, 30 + i);
		put_exec(story, 30 + i, "inner");
		put_reading(story, 30 + i, "/w/in");
		put_writing(story, 30 + i, "/tmp/between");
		put_reading(story, 20 + i, "/tmp/between");
		put_exit(story, 30 + i);
		put_exit(story, 20 + i);
	}
	/* The command changes its own input. */
	for (int i = 0; i < 2; i++) {
		begin(story, 40 + i, "count");
		put_open(story, 40 + i, 3, O_RDWR, "/w/counter");
		put_exit(story, 40 + i);
	}
	load(story);
	assert_int_equal(deps_run_again(&story->executions, &story->files, &story->sink), 0);
	assert_string_equal(shown(story), "#   3 times, 0.000 ms too many: gcc\n"
					  "#   2 times, 0.000 ms too many: sh\n");
}

/*
 * A program that copies many files, and many programs that read one file: neither takes quadratic
 * time.
 */
TEST_WITH(many, set_up, tear_down)
{
	enum {
		NR = 20000
	};
	struct story *story = *state;
	size_t nr_lines = 0;
	char path[64];

	begin(story, 2, "cp");
	for (int i = 0; i < NR; i++) {
		snprintf(path, sizeof(path), "/w/from/%d", i);
		put_reading(story, 2, path);
		snprintf(path, sizeof(path), "/w/to/%d", i);
		put_writing(story, 2, path);
	}
	put_exit(story, 2);
	for (int i = 0; i < NR; i++) {
		snprintf(path, sizeof(path), "/w/out/%d", i);
		put_command(story, 3 + i, "cc1", "/w/to/1", path);
	}
	load(story);
	for (const char *at = rules(story); (at = strchr(at, '\n')) != NULL; at++)
		nr_lines++;
	assert_int_equal(nr_lines, NR + 1);
	nr_lines = 0;
	for (const char *at = ask(story, deps_used_by, "/w/from/1");
	     (at = strchr(at, '\n')) != NULL; at++)
		nr_lines++;
	assert_int_equal(nr_lines, 2 * NR - 1);
	assert_int_equal(deps_run_again(&story->executions, &story->files, &story->sink), 0);
}

/* Each run is within all runs before it. */
TEST_WITH(runs_within_runs, set_up, tear_down)
{
	struct story *story = *state;

	begin(story, 2, "again");
	for (int i = 0; i < 20000; i++)
		put_exec(story, 2, "again");
	load(story);
	assert_int_equal(deps_run_again(&story->executions, &story->files, &story->sink), 0);
	assert_non_null(strstr(shown(story), "more commands than could be compared"));
}

static const char *undeclared(struct story *story, const char *make)
{
	struct make_rules declared cleanup_make_rules = { 0 };

	assert_int_equal(make_rules_parse(&declared, "/w", make), 0);
	assert_int_equal(
		deps_undeclared(&story->executions, &story->files, &declared, &story->sink), 0);
	return shown(story);
}

TEST_WITH(never_declared, set_up, tear_down)
{
	struct story *story = *state;

	begin(story, 2, "cc1");
	put_reading(story, 2, "/w/a.c");
	put_reading(story, 2, "/w/a b.h");
	put_reading(story, 2, "/usr/include/x.h");
	put_writing(story, 2, "/w/a.o");
	put_exit(story, 2);
	put_command(story, 3, "cc1", "/w/sub/b.c", "/w/sub/b.o");
	begin(story, 4, "gen");
	put_reading(story, 4, "/w/in");
	put_writing(story, 4, "/w/1.out");
	put_writing(story, 4, "/w/2.out");
	load(story);
	assert_string_equal(undeclared(story, ""), "#   a.o: a\\ b.h a.c\n#   sub/b.o: sub/b.c\n"
						   "#   1.out 2.out: in\n");
	/*
	 * Lines that are no rules, rules with several targets, order-only inputs, and makes in
	 * other directories.
	 */
	assert_string_equal(undeclared(story,
				       "# a.o: a.c\n\ta.o: a.c\nV = a.o: a.c\nW := a.o\n"
				       "sub/b.o: X = sub/b.c\n./a.o other: a.h \\\n  a\\ b.h\n"
				       "2.out:: | ./in ; echo\n%.o: %.c\nb.o: b.c"),
			    "#   a.o: a.c\n#   sub/b.o: sub/b.c\n");
	assert_string_equal(undeclared(story, "make[1]: Entering directory '/w/sub'\nb.o: b.c\n"
					      "make[1]: Leaving directory '/w/sub'\n"
					      "make: Leaving directory '/w'\n1.out: in\na.o: a.c"),
			    "#   a.o: a\\ b.h\n");
}

TEST_WITH(without_files, set_up, tear_down)
{
	struct story *story = *state;

	put_exit(story, 1);
	load(story);
	assert_false(story->files.has_events);
	assert_string_equal(rules(story), "");
}
