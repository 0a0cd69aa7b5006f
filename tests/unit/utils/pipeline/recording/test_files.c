/* Names, contents and uses of files: the state after each step. */
#include "tests/unit/lib/unit.h"

#include <errno.h>

#include "tests/unit/lib/read/filestext.h"

static struct files files;

static int setup(void **state)
{
	files = (struct files){ 0 };
	return 0;
}

static int teardown(void **state)
{
	files_deinit(&files);
	assert_null(files.names);
	assert_int_equal(files.nr_uses, 0);
	return 0;
}

static uint32_t name(const char *path)
{
	uint32_t at = files_name(&files, path);

	assert_int_not_equal(at, FILES_NONE);
	return at;
}

static uint32_t content(const char *path)
{
	return files_content(&files, name(path));
}

TEST_WITH(a_name_has_its_directories, setup, teardown)
{
	uint32_t c = name("/a/b/c");

	assert_int_equal(c, 0);
	files_check(&files, "/a/b/c -\n/a/b -\n/a -\n", "", "");
	assert_int_equal(files.names[c].directory, 1);
	assert_int_equal(files.names[1].first_child, 0);
	assert_int_equal(files.names[1].directory, 2);
	assert_int_equal(files.names[2].first_child, 1);
	assert_int_equal(files.names[2].directory, FILES_NONE);
	assert_int_equal(files.names[0].first_child, FILES_NONE);
	/* Known files are found at any depth. */
	assert_int_equal(name("/a/b/c"), 0);
	assert_int_equal(name("/a/b"), 1);
	assert_int_equal(name("/a"), 2);
	/* A second child of a directory is put before the first one. */
	assert_int_equal(name("/a/b/d"), 3);
	assert_int_equal(files.names[3].directory, 1);
	assert_int_equal(files.names[1].first_child, 3);
	assert_int_equal(files.names[3].next_child, 0);
	assert_int_equal(files.names[0].next_child, FILES_NONE);
	assert_int_equal(name("/a/x/y"), 4);
	assert_int_equal(files.names[5].directory, 2);
	assert_int_equal(files.names[5].next_child, 1);
	assert_int_equal(files.names[4].directory, 5);
	/* The root is in no directory. A relative name is not in one, either. */
	assert_int_equal(name("/z"), 6);
	assert_int_equal(files.names[6].directory, FILES_NONE);
	assert_int_equal(name("x/y"), 7);
	assert_int_equal(files.names[7].directory, FILES_NONE);
	assert_int_equal(files.nr_names, 8);
}

/* In a damaged file a path may consist of slashes. */
TEST_WITH(not_all_directories_are_known, setup, teardown)
{
	char path[300];

	for (size_t i = 0; i < 140; i++)
		memcpy(path + 2 * i, "/a", 3);
	name(path);
	assert_int_equal(files.nr_names, 65);
	assert_int_equal(files.names[64].directory, FILES_NONE);
	assert_int_equal(strlen(files.names[64].path), 2 * (140 - 64));
}

TEST_WITH(what_kind_of_content_a_path_says, setup, teardown)
{
	static const struct {
		const char *path;
		enum content_kind kind;
	} rows[] = {
		{ "/a/b", CONTENT_FILE },	   { "pipe:[4711]", CONTENT_PIPE },
		{ "/pipe:[4711]", CONTENT_FILE },  { "socket:[3]", CONTENT_OTHER },
		{ "a/b", CONTENT_OTHER },	   { "/dev/null", CONTENT_OTHER },
		{ "/dev", CONTENT_FILE },	   { "/developer", CONTENT_FILE },
		{ "/proc/1/maps", CONTENT_OTHER }, { "/sys/x", CONTENT_OTHER },
		{ "/dev/shm/x", CONTENT_FILE },	   { "/tmp/GMfifo123", CONTENT_OTHER },
		{ "/GMfifo/x", CONTENT_FILE },	   { "/dev/shm/GMfifo1", CONTENT_OTHER },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		uint32_t at = content(rows[i].path);

		assert_int_equal(files.contents[at].kind, rows[i].kind);
	}
}

TEST_WITH(a_content_comes_from_outside_unless_its_name_was_removed, setup, teardown)
{
	uint32_t a = name("/a");

	assert_int_equal(files_content(&files, a), 0);
	assert_int_equal(files_content(&files, a), 0);
	files_unlink(&files, a);
	files_check(&files, "/a - removed\n", "#0 f 0 /a outside\n", "");
	assert_int_equal(files_find(&files, "/a"), FILES_NONE);
	assert_int_equal(files_content(&files, a), 1);
	files_check(&files, "/a 1 removed\n", "#0 f 0 /a outside\n#1 f 1 /a\n", "");
	assert_int_equal(files_find(&files, "/a"), 1);
	assert_int_equal(files_find(&files, "/b"), FILES_NONE);
	/* This name has no file that could be removed. */
	files_unlink(&files, name("/b"));
	assert_int_equal(files.nr_contents, 2);
}

TEST_WITH(a_new_content_takes_the_name_away_from_the_old, setup, teardown)
{
	uint32_t a = name("/a");

	assert_int_equal(files_content(&files, a), 0);
	assert_int_equal(files_new_content(&files, a, CONTENT_FILE), 1);
	assert_int_equal(files_new_content(&files, FILES_NONE, CONTENT_PIPE), 2);
	files_check(&files, "/a 1\n", "#0 f 0 /a outside\n#1 f 1 /a\n#2 p 0 -\n", "");
}

TEST_WITH(a_use_is_one_by_name_and_content, setup, teardown)
{
	uint32_t a = name("/a");
	uint32_t b = name("/b");
	uint32_t one = content("/a");
	uint32_t other = content("/b");

	assert_int_equal(files_first_use(&files, 0), FILES_NONE);
	assert_int_equal(files_use(&files, 2, a, one, 10), 0);
	assert_int_equal(files_use(&files, 2, a, one, 20), 0);
	assert_int_equal(files_use(&files, 2, b, one, 30), 1);
	assert_int_equal(files_use(&files, 0, a, one, 40), 2);
	assert_int_equal(files_use(&files, 0, a, other, 50), 3);
	assert_int_equal(files_use(&files, 0, a, other, 55), 3);
	/* Without a name, a use is found by its content. */
	assert_int_equal(files_use(&files, 2, FILES_NONE, one, 60), 4);
	assert_int_equal(files_use(&files, 2, FILES_NONE, other, 60), 5);
	assert_int_equal(files_use(&files, 2, FILES_NONE, one, 70), 4);
	assert_int_equal(files_first_use(&files, 0), 2);
	assert_int_equal(files_first_use(&files, 1), FILES_NONE);
	assert_int_equal(files_first_use(&files, 2), 0);
	assert_int_equal(files_first_use(&files, 3), FILES_NONE);
	files_check(&files, "/a 0\n/b 1\n", "#0 f 1 /a outside 2 2 0 2\n#1 f 1 /b outside 0 2\n",
		    "0 /a #0 40-40\n0 /a #1 50-50\n2 /a #0 10-10\n2 /b #0 30-30\n2 - #0 60-60\n2 - "
		    "#1 60-60\n");
	assert_int_equal(files_use(&files, FILES_NONE, a, one, 1), FILES_NONE);
}

TEST_WITH(a_link_is_another_name, setup, teardown)
{
	uint32_t a = name("/a");
	uint32_t b = name("/b");

	assert_int_equal(files_link(&files, a, b), 0);
	files_check(&files, "/a 0\n/b 0\n", "#0 f 2 /b outside\n", "");
	assert_int_equal(files_link(&files, a, b), 0);
	assert_int_equal(files_link(&files, a, a), 0);
	files_check(&files, "/a 0\n/b 0\n", "#0 f 2 /b outside\n", "");
	files_unlink(&files, a);
	files_check(&files, "/a - removed\n/b 0\n", "#0 f 1 /b outside\n", "");
	/* A link replaces the file that had the new name. */
	assert_int_equal(files_link(&files, name("/c"), b), 0);
	files_check(&files, "/a - removed\n/b 1\n/c 1\n", "#0 f 0 /b outside\n#1 f 2 /b outside\n",
		    "");
}

TEST_WITH(a_file_is_renamed, setup, teardown)
{
	uint32_t a = name("/a");
	uint32_t b = name("/b");

	assert_int_equal(files_content(&files, b), 0);
	assert_int_equal(files_rename(&files, a, b), 0);
	files_check(&files, "/a - removed\n/b 1\n", "#0 f 0 /b outside\n#1 f 1 /b outside\n", "");
	assert_int_equal(files_rename(&files, b, b), 0);
	files_check(&files, "/a - removed\n/b 1\n", "#0 f 0 /b outside\n#1 f 1 /b outside\n", "");
	/* rename(2) of two names of one file does nothing. */
	assert_int_equal(files_link(&files, b, a), 0);
	assert_int_equal(files_rename(&files, a, b), 0);
	files_check(&files, "/a 1 removed\n/b 1\n", "#0 f 0 /b outside\n#1 f 2 /a outside\n", "");
}

TEST_WITH(a_directory_is_renamed_with_all_that_is_in_it, setup, teardown)
{
	content("/d/x");
	name("/d/unused");
	content("/d/e/y");
	content("/d/e/z");
	content("/other");
	content("/d2");
	assert_int_equal(files_rename(&files, name("/d"), name("/new/d")), 0);
	files_check(&files,
		    "/d/x - removed\n/d - removed\n/d/unused -\n/d/e/y - removed\n/d/e -\n/d/e/z - "
		    "removed\n/other 3\n/d2 4\n/new/d - removed\n/new -\n/new/d/e/z 2\n/new/d/e "
		    "-\n/new/d/e/y 1\n/new/d/x 0\n",
		    "#0 f 1 /new/d/x outside\n#1 f 1 /new/d/e/y outside\n#2 f 1 /new/d/e/z "
		    "outside\n#3 f 1 /other outside\n#4 f 1 /d2 outside\n",
		    "");
	assert_int_equal(files_find(&files, "/new/d/x"), 0);
	assert_int_equal(files_find(&files, "/new/d/e/y"), 1);
	assert_int_equal(files_find(&files, "/new/d/e/z"), 2);
	assert_int_equal(files_find(&files, "/d2"), 4);
	/* In a damaged file a directory may be moved into itself. */
	assert_int_equal(files_rename(&files, name("/new"), name("/new/d/in")), 0);
	assert_int_equal(files_find(&files, "/new/d/in/d/x"), 0);
}

/* A directory without content of its own is renamed. Files that had its new name are gone. */
TEST_WITH(a_directory_without_content_hides_what_had_its_name, setup, teardown)
{
	content("/d/x");
	content("/e");
	assert_int_equal(files_rename(&files, name("/d"), name("/e")), 0);
	files_check(&files, "/d/x - removed\n/d - removed\n/e - removed\n/e/x 0\n",
		    "#0 f 1 /e/x outside\n#1 f 0 /e outside\n", "");
}

TEST_WITH(two_names_change_places, setup, teardown)
{
	uint32_t a = name("/a");
	uint32_t b = name("/b");

	assert_int_equal(files_exchange(&files, a, b), 0);
	files_check(&files, "/a 1\n/b 0\n", "#0 f 1 /b outside\n#1 f 1 /a outside\n", "");
	assert_int_equal(files_exchange(&files, a, a), 0);
	assert_int_equal(files_link(&files, a, name("/c")), 0);
	assert_int_equal(files_exchange(&files, a, name("/c")), 0);
	files_check(&files, "/a 1\n/b 0\n/c 1\n", "#0 f 1 /b outside\n#1 f 2 /c outside\n", "");
}

TEST_WITH(what_is_left_at_the_end, setup, teardown)
{
	uint32_t a = content("/a");

	assert_true(files_is_left(&files, a));
	assert_false(files_is_left(&files, content("/dev/null")));
	assert_false(files_is_left(&files, content("(deleted)")));
	assert_false(files_is_left(&files, content("/x (deleted)")));
	assert_true(files_is_left(&files, content("/x (deleted).")));
	assert_true(files_is_left(&files, content("/(deleted)")));
	assert_false(files_is_left(&files, content("/ (deleted)")));
	/* A path below a name makes the name a directory. */
	name("/a/b");
	assert_false(files_is_left(&files, a));
	a = content("/c");
	files_unlink(&files, name("/c"));
	assert_false(files_is_left(&files, a));
}

/*
 * Names, uses and moved names share a limit. When it is reached, no more of them are made.
 * files_is_beyond() tells this from a lack of memory.
 */
TEST_WITH(what_it_may_cost, setup, teardown)
{
	char path[64];
	uint32_t dir;

	name("/a/b");
	assert_int_equal(files_spend(&files, 1 << 30), 0);
	assert_int_equal(files.cost, 0);
	files.cost_max = 85000;
	dir = name("/d");
	for (int i = 0; i < 10; i++) {
		snprintf(path, sizeof(path), "/d/%d", i);
		assert_int_not_equal(content(path), FILES_NONE);
	}
	assert_in_range(files.cost, 11 * 2400, 11 * 3000);
	/* Names that are known cost nothing. */
	name("/d/3");
	assert_in_range(files.cost, 11 * 2400, 11 * 3000);
	assert_int_not_equal(files_use(&files, 0, dir, content("/d/1"), 10), FILES_NONE);
	assert_in_range(files.cost, 11 * 2400 + 3200, 11 * 3000 + 3200);
	assert_int_equal(files_rename(&files, dir, name("/e")), 0);
	assert_false(files_is_beyond(&files));
	assert_int_equal(files_rename(&files, files_name(&files, "/e"), name("/f")), -ENOMEM);
	assert_true(files_is_beyond(&files));
	assert_int_equal(files_name(&files, "/g"), FILES_NONE);
	assert_int_equal(files_use(&files, 1, dir, 0, 10), FILES_NONE);
	assert_int_equal(files_spend(&files, 1), -EDQUOT);
	/* Once the limit is passed, any further cost is refused. */
	assert_int_equal(files_spend(&files, UINT64_MAX), -EDQUOT);
	assert_true(files_is_beyond(&files));
}

/* A use keeps the time of its first read and, independently, that of its first write. */
TEST(reads_and_writes_of_a_use)
{
	static const struct {
		bool reads;
		bool writes;
		uint64_t now_ns;
		uint64_t read_ns;
		uint64_t write_ns;
	} steps[] = {
		{ false, false, 5, UINT64_MAX, UINT64_MAX },
		{ true, false, 50, 50, UINT64_MAX },
		{ true, false, 60, 50, UINT64_MAX },
		{ true, false, 40, 40, UINT64_MAX },
		{ false, true, 70, 40, 70 },
		{ true, true, 30, 30, 30 },
		{ false, true, 31, 30, 30 },
		{ false, false, 1, 30, 30 },
	};
	struct file_use use = { .read_ns = UINT64_MAX, .write_ns = UINT64_MAX };

	for (size_t i = 0; i < ARRAY_SIZE(steps); i++) {
		file_use_note(&use, steps[i].reads, steps[i].writes, steps[i].now_ns);
		assert_true(use.read_ns == steps[i].read_ns);
		assert_true(use.write_ns == steps[i].write_ns);
	}
}

/* A file that exists at the end of the recording is shown, unless its name is hidden. */
TEST_WITH(what_is_shown, setup, teardown)
{
	uint32_t a = content("/a");
	uint32_t null = content("/dev/null");

	assert_true(files_is_shown(&files, a));
	assert_false(files_is_shown(&files, null));
	files.names[name("/a")].is_hidden = true;
	assert_false(files_is_shown(&files, a));
	assert_true(files_is_left(&files, a));
	/* If a file has several names, the newest name decides if the file is shown. */
	assert_int_equal(files_link(&files, name("/a"), name("/b")), 0);
	assert_true(files_is_shown(&files, a));
	files_unlink(&files, name("/a"));
	assert_true(files_is_shown(&files, a));
	files_unlink(&files, name("/b"));
	assert_false(files_is_shown(&files, a));
}

/* The cost may reach its limit, but not pass it. */
TEST_WITH(the_limit_of_costs, setup, teardown)
{
	struct uft_err err = { 0 };

	files.cost_max = 100;
	assert_int_equal(files_spend(&files, 60), 0);
	assert_int_equal(files_spend(&files, 40), 0);
	assert_false(files_is_beyond(&files));
	assert_int_equal(files_spend(&files, 0), 0);
	assert_int_equal(files_spend(&files, 1), -EDQUOT);
	assert_true(files_is_beyond(&files));
	assert_int_equal(files.cost, 101);
	assert_int_equal(files_spend(&files, UINT64_MAX), -EDQUOT);
	assert_int_equal(files.cost, 201);
	assert_int_equal(files_tell_limit(&files, "'x'", &err), -EDQUOT);
	assert_non_null(strstr(err.text, "'x' takes more than 100 steps"));
	/* Without a limit nothing is counted. */
	files.cost_max = 0;
	files.cost = 0;
	assert_int_equal(files_spend(&files, UINT64_MAX), 0);
	assert_int_equal(files.cost, 0);
	assert_false(files_is_beyond(&files));
}
