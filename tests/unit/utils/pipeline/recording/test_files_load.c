/*
 * Facts about files from the records of proc.dat: the processes that read or wrote contents, and
 * the times.
 */
#include "tests/unit/lib/unit.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "tests/unit/lib/read/filestext.h"
#include "utils/base/fd.h"
#include "utils/base/outfile.h"
#include "utils/format/datadir.h"
#include "utils/format/proc_dat.h"

#define OPEN_PATH    010000000U
#define OPEN_TMPFILE 020200000U

static const bool is_big = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__;

static struct strbuf bytes;
static struct strbuf payload;
static uint64_t now_ns;

static int setup(void **state)
{
	bytes = payload = (struct strbuf){ 0 };
	now_ns = 0;
	return 0;
}

static int teardown(void **state)
{
	strbuf_deinit(&bytes);
	strbuf_deinit(&payload);
	return 0;
}

/* Add a record ten nanoseconds after the one before it. */
static void put(int32_t tid, int32_t pid, enum proc_kind kind)
{
	const struct proc_record rec = { .time_ns = now_ns += 10,
					 .tid = tid,
					 .pid = pid,
					 .kind = kind,
					 .data = (const uint8_t *)strbuf_str(&payload),
					 .len = payload.len };

	proc_record_encode(&rec, &bytes);
	strbuf_reset(&payload);
}

static struct text words(const char *text)
{
	return text_of(text ? text : "", text ? strlen(text) : 0);
}

static void put_exec(int32_t pid, const char *program, const char *interpreter)
{
	proc_exec_encode(&(struct proc_exec){ pid, words(interpreter), words(program), words("/"),
					      words("") },
			 &payload);
	put(pid, pid, PROC_EXEC);
}

static void put_fork(int32_t pid, int32_t child, int32_t child_pid)
{
	proc_fork_encode(&(struct proc_fork){ child, child_pid, PROC_BY_FORK }, &payload);
	put(pid, pid, PROC_FORK);
}

static void put_exit(int32_t pid)
{
	proc_exit_encode(0, &payload);
	put(pid, pid, PROC_EXIT);
}

static void put_act(int32_t pid, enum proc_kind kind, uint32_t a, uint32_t b, const char *one,
		    const char *two)
{
	proc_act_encode(&(struct proc_act){ { a, b }, { words(one), words(two) } }, &payload);
	put(pid, pid, kind);
}

static void put_open(int32_t pid, uint32_t fd, uint32_t flags, const char *path)
{
	put_act(pid, PROC_OPEN, fd, flags, path, NULL);
}

static void put_close(int32_t pid, uint32_t fd)
{
	put_act(pid, PROC_CLOSE, fd, fd, NULL, NULL);
}

/* Read all records, and check the result by files_check(). */
static void check(const char *names, const char *contents, const char *uses)
{
	char dir[] = "/tmp/utrail-unit-XXXXXX";
	struct executions executions = { 0 };
	struct files files = { 0 };
	struct uft_err broken = { 0 };
	char path[64];

	assert_non_null(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/" DATADIR_PROCESSES, dir);
	assert_int_equal(outfile_put(path, strbuf_str(&bytes), bytes.len, NULL), 0);
	assert_int_equal(files_load(&files, &executions, dir, is_big, &broken, NULL), 0);
	unlink(path);
	rmdir(dir);
	assert_int_equal(broken.code, 0);
	assert_int_equal(files.by_place.nr, 0);
	files_check(&files, names, contents, uses);
	files_deinit(&files);
	executions_deinit(&executions);
}

/* Begin with an execution without a file, so that no program appears among the files. */
static void begin(void)
{
	put_exec(1, "", "");
}

TEST_WITH(a_program_is_read_by_its_beginning, setup, teardown)
{
	put_exec(1, "/s", "/bin/sh");
	put_exit(1);
	check("/s 0\n/bin/sh 1\n/bin -\n", "#0 f 1 /s outside 0\n#1 f 1 /bin/sh outside 0\n",
	      "0 /s #0 10-20 r10 X\n0 /bin/sh #1 10-20 r10 X\n");
}

TEST_WITH(without_a_recording_of_processes_there_is_nothing, setup, teardown)
{
	struct executions executions = { 0 };
	struct files files = { 0 };

	assert_int_equal(files_load(&files, &executions, "/nonexistent", is_big, NULL, NULL),
			 -ENOENT);
	files_deinit(&files);
	executions_deinit(&executions);
}

/* Acts on files make has_events true. Other acts do not. */
TEST_WITH(whether_the_recording_tells_of_files, setup, teardown)
{
	static const struct {
		enum proc_kind kind;
		bool tells;
	} rows[] = { { PROC_ENV, false },  { PROC_NAME, false }, { PROC_RESPONSE, false },
		     { PROC_MOUNT, true }, { PROC_OPEN, true },	 { PROC_CLOSE, true } };

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		char dir[] = "/tmp/utrail-unit-XXXXXX";
		struct executions executions = { 0 };
		struct files files = { 0 };
		char path[64];

		strbuf_reset(&bytes);
		begin();
		put_act(1, rows[i].kind, 0, 0, "x", NULL);
		assert_non_null(mkdtemp(dir));
		snprintf(path, sizeof(path), "%s/" DATADIR_PROCESSES, dir);
		assert_int_equal(outfile_put(path, strbuf_str(&bytes), bytes.len, NULL), 0);
		assert_int_equal(files_load(&files, &executions, dir, is_big, NULL, NULL), 0);
		unlink(path);
		rmdir(dir);
		assert_int_equal(files.has_events, rows[i].tells);
		files_deinit(&files);
		executions_deinit(&executions);
	}
}

TEST_WITH(an_open_says_how, setup, teardown)
{
	begin();
	put_open(1, 3, O_RDONLY, "/r");
	put_open(1, 4, O_WRONLY, "/w");
	put_open(1, 5, O_RDWR, "/rw");
	put_open(1, 6, OPEN_PATH, "/path");
	put_open(1, 7, OPEN_PATH | O_RDWR, "/path2");
	put_open(1, 8, O_RDONLY, "");
	put_open(1, 9, O_DIRECTORY, "/dir");
	put_close(1, 3);
	put_exit(1);
	check("/r 0\n/w 1\n/rw 2\n/path 3\n/path2 4\n/dir 5\n",
	      "#0 f 1 /r outside 0\n#1 f 1 /w outside 0\n#2 f 1 /rw outside 0\n#3 f 1 /path "
	      "outside 0\n#4 f 1 /path2 outside 0\n#5 o 1 /dir 0\n",
	      "0 /r #0 20-90 r20 SR\n0 /w #1 30-100 w30 o1 SW\n0 /rw #2 40-100 r40 w40 o1 SRW\n0 "
	      "/path #3 50-100 o1 S\n0 /path2 #4 60-100 o1 S\n0 /dir #5 80-100 r80 o1 SR\n");
}

TEST_WITH(the_given_name_is_kept_the_first_time, setup, teardown)
{
	begin();
	put_act(1, PROC_OPEN, 3, O_RDONLY, "/a", "/x/../a");
	put_act(1, PROC_OPEN, 4, O_RDONLY, "/a", "/y/../a");
	put_act(1, PROC_OPEN, 5, O_RDONLY, "/b", NULL);
	put_close(1, 3);
	put_close(1, 4);
	put_close(1, 5);
	check("/a 0\n/b 1\n", "#0 f 1 /a outside 0\n#1 f 1 /b outside 0\n",
	      "0 /a #0 20-60 r20 SR (/x/../a)\n0 /b #1 40-70 r40 SR\n");
}

/* A second opening extends the use, which lasts from the first time to the last one. */
TEST_WITH(a_use_lasts_from_the_first_to_the_last, setup, teardown)
{
	begin();
	put_open(1, 3, O_RDONLY, "/a");
	put_close(1, 3);
	put_open(1, 3, O_WRONLY, "/a");
	put_open(1, 4, O_RDONLY, "/a");
	put_close(1, 3);
	put_close(1, 4);
	put_open(1, 4, O_RDWR, "/b");
	put_exit(1);
	check("/a 0\n/b 1\n", "#0 f 1 /a outside 0\n#1 f 1 /b outside 0\n",
	      "0 /a #0 20-70 r20 w40 SRW\n0 /b #1 80-90 r80 w80 o1 SRW\n");
}

/* With O_TRUNC, O_EXCL or O_TMPFILE, a file gets a new content. */
TEST_WITH(a_file_begins_anew, setup, teardown)
{
	begin();
	put_open(1, 3, O_RDONLY, "/a");
	put_open(1, 4, O_WRONLY | O_TRUNC, "/a");
	put_open(1, 5, O_RDONLY | O_TRUNC, "/a");
	put_open(1, 6, O_WRONLY | O_CREAT, "/a");
	put_open(1, 6, O_WRONLY | O_EXCL, "/a");
	put_open(1, 7, O_WRONLY | O_CREAT | O_EXCL, "/a");
	put_open(1, 8, O_RDONLY, "/dev/null");
	put_open(1, 8, O_WRONLY | O_TRUNC, "/dev/null");
	/* The build makes this file: no process has used it before. */
	put_open(1, 9, O_WRONLY | O_TRUNC, "/b");
	put_open(1, 10, O_RDWR | OPEN_TMPFILE, "/tmp/#1 (deleted)");
	check("/a 2\n/dev/null 3\n/dev -\n/b 4\n/tmp/#1 (deleted) 5\n/tmp -\n",
	      "#0 f 0 /a outside 0\n#1 f 0 /a 0\n#2 f 1 /a 0\n#3 o 1 /dev/null outside 0\n#4 f 1 "
	      "/b 0\n#5 f 1 /tmp/#1 (deleted) 0\n",
	      "0 /a #0 20-110 r20 o1 SR\n0 /a #1 30-110 r40 w30 o3 SRW\n0 /a #2 70-110 w70 o1 "
	      "SW\n0 /dev/null #3 80-110 r80 w90 o1 SRW\n0 /b #4 100-110 w100 o1 SW\n0 /tmp/#1 "
	      "(deleted) #5 110-110 r110 w110 o1 SRW\n");
}

/* A file that is truncated counts as a new file, unless it has a second name. */
TEST_WITH(a_file_with_several_names_stays_the_same, setup, teardown)
{
	begin();
	put_open(1, 3, O_RDONLY, "/a");
	put_act(1, PROC_LINK, 0, 0, "/a", "/b");
	put_open(1, 4, O_WRONLY | O_TRUNC, "/a");
	check("/a 0\n/b 0\n", "#0 f 2 /b 0 0\n",
	      "0 /a #0 20-40 r20 w40 o2 SRW\n0 /b #0 30-30 SW\n");
}

TEST_WITH(links_and_renames, setup, teardown)
{
	begin();
	put_act(1, PROC_RENAME, 0, 0, "/a", "/b");
	put_act(1, PROC_RENAME, 2, 0, "/b", "/c");
	put_act(1, PROC_RENAME, 1, 0, "/b", "/d");
	put_act(1, PROC_LINK, 2, 0, "/c", "/e");
	put_act(1, PROC_RENAME, 0, 0, "", "/f");
	put_act(1, PROC_RENAME, 0, 0, "/e", "");
	check("/a - removed\n/b - removed\n/c 0\n/d 1\n/e 0\n/f -\n",
	      "#0 f 2 /e outside 0 0 0 0\n#1 f 1 /d outside 0 0\n",
	      "0 /a #0 20-20 SR\n0 /b #0 20-30 SRW\n0 /c #0 30-50 SRW\n0 /b #1 40-40 SR\n0 /d #1 "
	      "40-40 SW\n0 /e #0 50-50 SW\n");
}

TEST_WITH(a_directory_that_is_renamed_is_one, setup, teardown)
{
	begin();
	put_open(1, 3, O_RDONLY, "/d/x");
	put_act(1, PROC_RENAME, 0, 0, "/d", "/e");
	check("/d/x - removed\n/d - removed\n/e 1 removed\n/e/x 0\n",
	      "#0 f 1 /e/x outside 0\n#1 o 1 /e 0 0\n",
	      "0 /d/x #0 20-30 r20 o1 SR\n0 /d #1 30-30 SR\n0 /e #1 30-30 SW\n");
}

TEST_WITH(a_symbolic_link_is_no_file, setup, teardown)
{
	begin();
	proc_act_encode(&(struct proc_act){ { 0 }, { words("t"), words("/l"), words("/t") } },
			&payload);
	put(1, 1, PROC_SYMLINK);
	proc_act_encode(&(struct proc_act){ { 0 }, { words("t"), words("/m"), words("") } },
			&payload);
	put(1, 1, PROC_SYMLINK);
	check("/l 0\n/t 1\n/m 2\n", "#0 o 1 /l 0\n#1 f 1 /t outside 0\n#2 o 1 /m 0\n",
	      "0 /l #0 20-20 SW\n0 /t #1 20-20 SR\n0 /m #2 30-30 SW\n");
}

TEST_WITH(what_is_removed, setup, teardown)
{
	begin();
	put_open(1, 3, O_RDONLY, "/a");
	put_open(1, 4, O_DIRECTORY, "/d");
	put_act(1, PROC_UNLINK, 0, 0, "/a", NULL);
	put_act(1, PROC_UNLINK, 0x200, 0, "/d", NULL);
	put_act(1, PROC_UNLINK, 0x100, 0, "/b", NULL);
	put_act(1, PROC_UNLINK, 0, 0, "", NULL);
	put_open(1, 5, O_WRONLY | O_CREAT, "/a");
	check("/a 2 removed\n/d 1\n/b - removed\n",
	      "#0 f 0 /a outside 0\n#1 o 1 /d 0\n#2 f 1 /a 0\n",
	      "0 /a #0 20-80 r20 o1 SR\n0 /d #1 30-80 r30 o1 SR\n0 /a #2 80-80 w80 o1 SW\n");
}

TEST_WITH(copies_and_pipes, setup, teardown)
{
	begin();
	put_open(1, 3, O_RDONLY, "/a");
	put_act(1, PROC_DUP, 3, 5, NULL, NULL);
	put_close(1, 3);
	put_act(1, PROC_PIPE, 3, 4, NULL, NULL);
	put_fork(1, 2, 2);
	put_close(1, 3);
	put_close(2, 4);
	put_act(2, PROC_CLOSE, 3, 9, NULL, NULL);
	put_exit(2);
	put_exit(1);
	check("/a 0\n", "#0 f 1 /a outside 0 1\n#1 p 0 - 0 1\n",
	      "0 /a #0 20-110 r20 o1 SR\n0 - #1 70-110 w70 o1\n1 /a #0 60-90 r60\n1 - #1 80-100 "
	      "r80 o1\n");
}

/* A thread is not a new process. */
TEST_WITH(threads_have_what_their_process_has, setup, teardown)
{
	begin();
	put_open(1, 3, O_RDONLY, "/a");
	put_fork(1, 5, 1);
	proc_act_encode(&(struct proc_act){ { 3, 3 } }, &payload);
	put(5, 1, PROC_CLOSE);
	put_exit(1);
	check("/a 0\n", "#0 f 1 /a outside 0\n", "0 /a #0 20-40 r20 SR\n");
}

TEST_WITH(what_a_program_begins_with, setup, teardown)
{
	put_exec(1, "/p", "/p");
	put_act(1, PROC_INHERIT, 0, O_RDWR, "/in", NULL);
	put_act(1, PROC_INHERIT, 1, O_RDWR, "/out", NULL);
	put_act(1, PROC_INHERIT, 2, O_RDWR, "/err", NULL);
	put_act(1, PROC_INHERIT, 3, O_RDWR, "/three", NULL);
	put_act(1, PROC_INHERIT, 4, O_RDONLY, "/four", NULL);
	put_act(1, PROC_INHERIT, 5, O_WRONLY, "/five", NULL);
	put_act(1, PROC_INHERIT, 6, OPEN_PATH, "/six", NULL);
	put_act(1, PROC_INHERIT, 7, O_RDONLY, "", NULL);
	put_exit(1);
	check("/p 0\n/in 1\n/out 2\n/err 3\n/three 4\n/four 5\n/five 6\n/six 7\n",
	      "#0 f 1 /p outside 0\n#1 f 1 /in outside 0\n#2 o 1 /out 0\n#3 o 1 /err 0\n#4 f 1 "
	      "/three outside 0\n#5 f 1 /four outside 0\n#6 f 1 /five outside 0\n#7 f 1 /six "
	      "outside 0\n",
	      "0 /p #0 10-100 r10 X\n0 /in #1 20-100 r20 o1\n0 /out #2 30-100 w30 o1\n0 /err #3 "
	      "40-100 w40 o1\n0 /three #4 50-100 r50 w50 o1\n0 /four #5 60-100 r60 o1\n0 /five #6 "
	      "70-100 w70 o1\n0 /six #7 80-100 o1\n");
}

/* A descriptor keeps its file across exec, even if the file has no name any more. */
TEST_WITH(descriptors_go_through_exec, setup, teardown)
{
	begin();
	put_act(1, PROC_PIPE, 3, 4, NULL, NULL);
	put_open(1, 5, O_RDONLY, "/a");
	put_act(1, PROC_UNLINK, 0, 0, "/a", NULL);
	put_fork(1, 2, 2);
	put_act(2, PROC_DUP, 4, 1, NULL, NULL);
	put_exec(2, "/p", "/p");
	put_act(2, PROC_INHERIT, 1, O_WRONLY, "pipe:[7]", NULL);
	put_act(2, PROC_INHERIT, 4, O_WRONLY, "pipe:[7]", NULL);
	put_act(2, PROC_INHERIT, 5, O_RDONLY, "/a (deleted)", NULL);
	put_open(2, 6, O_RDONLY, "/x");
	put_close(1, 4);
	put_exit(2);
	put_exit(1);
	check("/a - removed\n/p 2\npipe:[7] 0\n/a (deleted) -\n/x 3\n",
	      "#0 p 0 - 2 0\n#1 f 0 /a outside 0 1 2\n#2 f 1 /p outside 2\n#3 f 1 /x outside 2\n",
	      "0 /a #1 30-140 r30 o1 SR\n0 - #0 120-140 r120 o1\n1 /a #1 50-70 r50 o1\n2 /p #2 "
	      "70-130 r70 X\n2 /a (deleted) #1 100-130 r100 o1\n2 - #0 70-130 w70 o1\n2 /x #3 "
	      "110-130 r110 o1 SR\n");
}

/* The number of an ended process belongs to another process now. */
TEST_WITH(numbers_are_used_again, setup, teardown)
{
	begin();
	put_fork(1, 2, 2);
	put_open(2, 3, O_RDONLY, "/a");
	put_exit(2);
	put_fork(1, 2, 2);
	put_close(2, 3);
	put_open(2, 4, O_RDONLY, "/b");
	put_exit(2);
	put_exit(1);
	check("/a 0\n/b 1\n", "#0 f 1 /a outside 1\n#1 f 1 /b outside 2\n",
	      "1 /a #0 30-40 r30 o1 SR\n2 /b #1 70-80 r70 o1 SR\n");
}

/* A process without a beginning has no known descriptors. */
TEST_WITH(strangers, setup, teardown)
{
	begin();
	put_open(9, 3, O_RDONLY, "/a");
	put_exit(9);
	put_exit(1);
	check("", "", "");
}
