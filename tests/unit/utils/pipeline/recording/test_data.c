/* Opening a data directory: required files, optional ones, and the text of each error. */
#include "tests/unit/lib/unit.h"

#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/unit/lib/read/recording.h"
#include "utils/base/fd.h"
#include "utils/format/datadir.h"
#include "utils/format/event_data.h"
#include "utils/pipeline/recording/data.h"
#include "utils/pipeline/recording/data_tasks.h"

static struct recording rec;
static struct trace_data data;

static int setup(void **state)
{
	data = (struct trace_data){ 0 };
	recording_init(&rec);
	recording_add_task(&rec, 100, "a{}", 1000);
	return 0;
}

static int teardown(void **state)
{
	data_close(&data);
	assert_null(data.dir);
	assert_null(data.tasks);
	recording_deinit(&rec);
	return 0;
}

static void in_dir(char *path, size_t size, const char *name)
{
	snprintf(path, size, "%s/%s", rec.dir, name);
}

static void remove_file(const char *name)
{
	char path[128];

	in_dir(path, sizeof(path), name);
	unlink(path);
}

/* Check that opening the directory fails with the code @code and the text @text. */
static void check_failure(const char *dir, int code, const char *text)
{
	struct uft_err err = { 0 };

	assert_int_equal(data_open(&data, dir, DEMANGLE_SIMPLE, &err), code);
	assert_int_equal(err.code, code);
	if (!strstr(err.text, text))
		assert_string_equal(err.text, text);
	assert_null(data.dir);
	assert_null(data.tasks);
}

TEST_WITH(a_recording_is_opened, setup, teardown)
{
	recording_finish(&rec);
	assert_int_equal(data_open(&data, rec.dir, DEMANGLE_NO, NULL), 0);
	assert_string_equal(data.dir, rec.dir);
	assert_ptr_equal(data.modules.dir, data.dir);
	assert_int_equal(data.modules.demangle, DEMANGLE_NO);
	assert_int_equal(data.nr_tasks, 1);
	assert_int_equal(data.tasks[0].data_bytes, 32);
	assert_int_equal(data.nr_sessions, 1);
	assert_int_equal(data.sessions[0]->map.nr, 1);
	assert_false(data.is_big_endian);
	assert_false(data.has_declared);
	assert_true(data_has_records(&data));
	assert_null(data.growth);
	assert_non_null(data_task(&data, 100));
	assert_null(data_task(&data, 99));
}

TEST_WITH(byte_order_is_that_of_the_header, setup, teardown)
{
	rec.big = true;
	recording_finish(&rec);
	assert_int_equal(data_open(&data, rec.dir, DEMANGLE_SIMPLE, NULL), 0);
	assert_true(data.is_big_endian);
}

TEST_WITH(what_is_no_directory, setup, teardown)
{
	char path[128];
	char text[200];

	recording_finish(&rec);
	in_dir(path, sizeof(path), "none");
	snprintf(text, sizeof(text), "cannot open '%s': No such file or directory", path);
	check_failure(path, -ENOENT, text);
	in_dir(path, sizeof(path), "info");
	snprintf(text, sizeof(text), "cannot open '%s': Not a directory", path);
	check_failure(path, -ENOTDIR, text);
}

TEST_WITH(a_path_that_is_too_long, setup, teardown)
{
	struct strbuf dir cleanup_strbuf = { 0 };
	struct uft_err err = { 0 };

	recording_finish(&rec);
	/* The path of the directory still fits. The path of a file in it is too long. */
	strbuf_addstr(&dir, rec.dir);
	while (dir.len < 4090)
		strbuf_addstr(&dir, dir.len % 2 ? "/" : "/.");
	dir.len = 4090;
	assert_int_equal(data_open(&data, strbuf_str(&dir), DEMANGLE_SIMPLE, &err), -ENAMETOOLONG);
}

TEST_WITH(without_info_it_is_no_recording, setup, teardown)
{
	recording_finish(&rec);
	remove_file("info");
	check_failure(rec.dir, -ENOENT, "/info'");
	recording_add_file(&rec, "info", "nonsense", 8);
	check_failure(rec.dir, -EINVAL, "cannot read '");
	check_failure(rec.dir, -EINVAL, "/info': ");
}

TEST_WITH(without_task_txt_it_cannot_be_read, setup, teardown)
{
	recording_finish(&rec);
	remove_file("task.txt");
	check_failure(rec.dir, -ENOENT, "task.txt");
}

TEST_WITH(a_map_that_cannot_be_read, setup, teardown)
{
	recording_finish(&rec);
	recording_add_file(&rec, "sid-0123456789abcdef.map", "nonsense\n", 9);
	check_failure(rec.dir, -EINVAL, "sid-0123456789abcdef.map");
}

TEST_WITH(a_recording_without_records, setup, teardown)
{
	recording_finish(&rec);
	remove_file("100.dat");
	assert_int_equal(data_open(&data, rec.dir, DEMANGLE_SIMPLE, NULL), 0);
	assert_int_equal(data.nr_tasks, 1);
	assert_int_equal(data.tasks[0].data_bytes, 0);
	assert_false(data_has_records(&data));
}

TEST_WITH(one_task_with_records_is_enough, setup, teardown)
{
	recording_add_task(&rec, 101, "a{}", 1000);
	recording_add_task(&rec, 102, "", 1000);
	recording_finish(&rec);
	remove_file("100.dat");
	assert_int_equal(data_open(&data, rec.dir, DEMANGLE_SIMPLE, NULL), 0);
	assert_true(data_has_records(&data));
	assert_int_equal(data.tasks[1].data_bytes, 32);
	assert_int_equal(data.tasks[2].data_bytes, 0);
}

/* An empty or damaged file is reported only when its records are read. */
TEST_WITH(compact_files_are_looked_for, setup, teardown)
{
	recording_finish(&rec);
	remove_file("100.dat");
	recording_add_file(&rec, "100" DATADIR_COMPACT_SUFFIX, "", 0);
	assert_int_equal(data_open(&data, rec.dir, DEMANGLE_SIMPLE, NULL), 0);
	assert_null(data.tasks[0].compact);
	data_close(&data);
	recording_add_file(&rec, "100" DATADIR_COMPACT_SUFFIX, "nonsense", 8);
	assert_int_equal(data_open(&data, rec.dir, DEMANGLE_SIMPLE, NULL), 0);
	assert_non_null(data.tasks[0].compact);
}

/*
 * A recording that was cut off may have events.txt and the file of definitions, although its header
 * does not mention them.
 */
TEST_WITH(definitions_of_declared_events, setup, teardown)
{
	for (unsigned i = 0; i < 4; i++) {
		bool has_names = i & 1;
		bool has_definitions = i & 2;

		recording_finish(&rec);
		remove_file("events.txt");
		remove_file(EVENT_DEFS_FILE);
		if (has_names)
			recording_add_file(&rec, "events.txt", "", 0);
		if (has_definitions)
			recording_add_file(&rec, EVENT_DEFS_FILE, "", 0);
		assert_int_equal(data_open(&data, rec.dir, DEMANGLE_SIMPLE, NULL), 0);
		assert_int_equal(data.has_declared, i == 3);
		assert_int_equal((data.header.feat_mask & FEAT_EVENT) != 0, i == 3);
		data_close(&data);
	}
}

/* Tasks are in the order of their start, and at the same time in that of their numbers. */
TEST(order_of_tasks)
{
	static const struct task tasks[] = {
		{ .start_ns = 5, .tid = 9 },
		{ .start_ns = 5, .tid = 10 },
		{ .start_ns = 6, .tid = 1 },
		{ .start_ns = UINT64_MAX, .tid = 1 },
		{ .start_ns = UINT64_MAX, .tid = INT32_MAX },
	};

	for (size_t i = 0; i < ARRAY_SIZE(tasks); i++) {
		for (size_t k = 0; k < ARRAY_SIZE(tasks); k++) {
			int order = task_order(&tasks[i], &tasks[k]);

			assert_int_equal(order < 0, i < k);
			assert_int_equal(order > 0, i > k);
		}
	}
}

/* The longest path of a file that can be opened, and one that is longer. */
TEST(paths_of_files)
{
	for (size_t more = 0; more < 2; more++) {
		struct strbuf dir cleanup_strbuf = { 0 };
		struct strbuf content cleanup_strbuf = { 0 };
		struct uft_err err = { 0 };

		/* With "/name" and the NUL, the path has PATH_MAX bytes. */
		strbuf_addchars(&dir, '/', 4096 - 6 + more);
		data.dir = (char *)strbuf_str(&dir);
		assert_int_equal(data_read_file(&data, "name", 100, &content, &err),
				 more ? -ENAMETOOLONG : -ENOENT);
		data.dir = NULL;
	}
}

/* A file may have the largest size that the caller allows. A longer file is refused. */
TEST_WITH(sizes_of_files, setup, teardown)
{
	struct strbuf content cleanup_strbuf = { 0 };
	struct uft_err err = { 0 };

	recording_finish(&rec);
	recording_add_file(&rec, "words", "12345678", 8);
	assert_int_equal(data_open(&data, rec.dir, DEMANGLE_SIMPLE, NULL), 0);
	assert_int_equal(data_read_file(&data, "words", 8, &content, &err), 0);
	assert_string_equal(strbuf_str(&content), "12345678");
	strbuf_reset(&content);
	assert_true(data_read_file(&data, "words", 7, &content, &err) < 0);
	assert_non_null(strstr(err.text, "words"));
}

/* Symbols of programs are read if a recorder was killed, but not while it is recording. */
TEST_WITH(whether_programs_are_read, setup, teardown)
{
	recording_finish(&rec);
	assert_int_equal(data_open(&data, rec.dir, DEMANGLE_SIMPLE, NULL), 0);
	assert_int_equal(data.modules.reads_programs, data.info.state == INFO_STATE_RUNNING);
	data_close(&data);
	assert_int_equal(data_open_growing(&data, rec.dir, DEMANGLE_NO, NULL), 0);
	assert_false(data.modules.reads_programs);
	assert_non_null(data.growth);
	assert_int_equal(data.nr_tasks, 0);
	assert_false(data_has_records(&data));
	assert_int_equal(data.modules.demangle, DEMANGLE_NO);
}

/* Blocks that come later are found when the files are measured again. */
TEST_WITH(compact_files_grow, setup, teardown)
{
	struct strbuf packed cleanup_strbuf = { 0 };
	char path[128];
	uint64_t half;

	recording_add_task(&rec, 101, "a{b{}c{}}", 1000);
	recording_pack(&rec, 101, 48);
	recording_finish(&rec);
	in_dir(path, sizeof(path), "101.cdat");
	assert_int_equal(file_read_all(path, 1 << 20, &packed, NULL), 0);
	recording_add_file(&rec, "101.cdat", packed.data, packed.len - 1);
	assert_int_equal(data_open(&data, rec.dir, DEMANGLE_SIMPLE, NULL), 0);
	half = data_task(&data, 101)->data_bytes;
	assert_int_equal(half, 48);
	recording_add_file(&rec, "101.cdat", packed.data, packed.len);
	assert_int_equal(data_measure_files(&data, NULL), 0);
	assert_int_equal(data_task(&data, 101)->data_bytes, 96);
	assert_int_equal(data_task(&data, 100)->data_bytes, 32);
	assert_null(data_task(&data, 100)->compact);
	/* If a task has a file of blocks, its .dat file is not looked at. */
	recording_add_file(&rec, "101.dat", "", 0);
	assert_int_equal(data_measure_files(&data, NULL), 0);
	assert_int_equal(data_task(&data, 101)->data_bytes, 96);
}

/* A task's file that cannot be read is an error. The task is not shown without its records. */
TEST_WITH(files_of_tasks_that_cannot_be_read, setup, teardown)
{
	static const char *const names[] = { "101.dat", "101.cdat" };
	char path[128], text[192];

	recording_add_task(&rec, 101, "a{}", 1000);
	recording_finish(&rec);
	remove_file("101.dat");
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		in_dir(path, sizeof(path), names[i]);
		snprintf(text, sizeof(text), "cannot open '%s': Is a directory", path);
		assert_int_equal(mkdir(path, 0700), 0);
		check_failure(rec.dir, -EISDIR, text);
		assert_int_equal(rmdir(path), 0);
		snprintf(text, sizeof(text), "cannot open '%s': it is no regular file", path);
		assert_int_equal(mkfifo(path, 0600), 0);
		check_failure(rec.dir, -EINVAL, text);
		assert_int_equal(unlink(path), 0);
		snprintf(text, sizeof(text), "cannot open '%s': Too many levels", path);
		assert_int_equal(symlink(names[i], path), 0);
		check_failure(rec.dir, -ELOOP, text);
		assert_int_equal(unlink(path), 0);
	}
	/* A task without a file has no records. */
	assert_int_equal(data_open(&data, rec.dir, DEMANGLE_SIMPLE, NULL), 0);
	assert_int_equal(data_task(&data, 101)->data_bytes, 0);
}
