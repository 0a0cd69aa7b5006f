/*
 * The user's cache directory: owners that are trusted, files that are removed when it is full, and
 * failures.
 */
#include "tests/unit/lib/unit.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/fsuid.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cmds/record/store/user_cache.h"
#include "utils/base/fd.h"

static char place[64];

static int begin(void **state)
{
	strcpy(place, "/tmp/utrail-unit-XXXXXX");
	assert_non_null(mkdtemp(place));
	assert_int_equal(setenv("XDG_CACHE_HOME", place, 1), 0);
	assert_int_equal(unsetenv("HOME"), 0);
	return 0;
}

static int end(void **state)
{
	char command[128];

	snprintf(command, sizeof(command), "rm -rf %s", place);
	return system(command);
}

static const char *own_file(const char *name)
{
	static char path[256];

	snprintf(path, sizeof(path), "%s/%s", place, name);
	return path;
}

static bool has(int dir, const char *name)
{
	struct strbuf text cleanup_strbuf = { 0 };

	return user_cache_read(dir, name, &text) && text.len == 4 &&
	       memcmp(text.data, "text", 4) == 0;
}

TEST_WITH(what_is_kept_is_found, begin, end)
{
	int dir cleanup_fd = user_cache_open();
	struct stat st;

	assert_true(dir >= 0);
	assert_int_equal(fstat(dir, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0700);
	assert_false(has(dir, "a.functions"));
	user_cache_write(dir, "a.functions", "tex", 3);
	user_cache_write(dir, "a.functions", "text", 4);
	assert_true(has(dir, "a.functions"));
	assert_int_equal(fstatat(dir, "a.functions", &st, 0), 0);
	assert_int_equal(st.st_mode & 0777, 0600);
	/* Empty content is not written. */
	user_cache_write(dir, "b.functions", "", 0);
	assert_false(has(dir, "b.functions"));
}

/*
 * Without XDG_CACHE_HOME the directory is ~/.cache, and it is made if the home is the user's own.
 */
TEST_WITH(at_home, begin, end)
{
	assert_int_equal(unsetenv("XDG_CACHE_HOME"), 0);
	assert_true(user_cache_open() < 0);
	assert_int_equal(setenv("HOME", "", 1), 0);
	assert_true(user_cache_open() < 0);
	assert_int_equal(setenv("HOME", "tmp", 1), 0);
	assert_true(user_cache_open() < 0);
	assert_int_equal(setenv("HOME", own_file("nowhere"), 1), 0);
	assert_true(user_cache_open() < 0);
	assert_int_equal(setenv("HOME", place, 1), 0);

	int dir cleanup_fd = user_cache_open();

	assert_true(dir >= 0);
	assert_int_equal(access(own_file(".cache/utrail"), F_OK), 0);
	/* If XDG_CACHE_HOME is set, only its directory counts. */
	assert_int_equal(setenv("XDG_CACHE_HOME", "tmp", 1), 0);
	assert_true(user_cache_open() < 0);
}

/* A directory that is a symbolic link, or that others may write to, is not used. */
TEST_WITH(a_directory_of_others, begin, end)
{
	assert_int_equal(mkdir(own_file("elsewhere"), 0700), 0);
	assert_int_equal(symlink("elsewhere", own_file("utrail")), 0);
	assert_true(user_cache_open() < 0);
	assert_int_equal(unlink(own_file("utrail")), 0);
	assert_int_equal(mkdir(own_file("utrail"), 0700), 0);
	assert_int_equal(chmod(own_file("utrail"), 0770), 0);
	assert_true(user_cache_open() < 0);
	assert_int_equal(chmod(own_file("utrail"), 0702), 0);
	assert_true(user_cache_open() < 0);
	assert_int_equal(chmod(own_file("utrail"), 0755), 0);

	int dir cleanup_fd = user_cache_open();

	assert_true(dir >= 0);
	if (geteuid() != 0)
		return;
	/* sudo keeps the user's HOME: root trusts nothing in it, and makes nothing in it. */
	assert_int_equal(chown(own_file("utrail"), 65534, 65534), 0);
	assert_true(user_cache_open() < 0);
	assert_int_equal(rmdir(own_file("utrail")), 0);
	assert_int_equal(chown(place, 65534, 65534), 0);
	assert_true(user_cache_open() < 0);
	assert_int_equal(access(own_file("utrail"), F_OK), -1);
	assert_int_equal(chown(place, 0, 0), 0);
	/* Files are accessed with another user's rights at this moment. */
	setfsuid(65534);
	assert_true(user_cache_open() < 0);
	setfsuid(0);
	/* The program is setuid. */
	assert_int_equal(setreuid(65534, 0), 0);
	assert_true(user_cache_open() < 0);
	assert_int_equal(setreuid(0, 0), 0);
}

TEST_WITH(a_file_of_others, begin, end)
{
	int dir cleanup_fd = user_cache_open();

	assert_true(dir >= 0);
	user_cache_write(dir, "a.functions", "text", 4);
	assert_true(has(dir, "a.functions"));
	assert_int_equal(symlinkat("a.functions", dir, "link.functions"), 0);
	assert_false(has(dir, "link.functions"));
	assert_int_equal(mkfifoat(dir, "fifo.functions", 0600), 0);
	assert_false(has(dir, "fifo.functions"));
	assert_int_equal(mkdirat(dir, "dir.functions", 0700), 0);
	assert_false(has(dir, "dir.functions"));
	assert_int_equal(fchmodat(dir, "a.functions", 0620, 0), 0);
	assert_false(has(dir, "a.functions"));
	assert_int_equal(fchmodat(dir, "a.functions", 0600, 0), 0);
	if (geteuid() == 0) {
		assert_int_equal(fchownat(dir, "a.functions", 65534, 65534, 0), 0);
		assert_false(has(dir, "a.functions"));
	}
	/* A link of another user is replaced, not followed. */
	user_cache_write(dir, "link.functions", "text", 4);
	assert_true(has(dir, "link.functions"));
}

/* The file whose last use is the oldest is removed; files of other kinds stay. */
TEST_WITH(when_it_is_full, begin, end)
{
	static const char *const names[] = { "a.functions", "b.functions", "c.functions" };
	int dir cleanup_fd = user_cache_open();

	assert_true(dir >= 0);
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		const struct timespec then[2] = { { 1000 + (long)i, 0 }, { 1000 + (long)i, 0 } };

		user_cache_write(dir, names[i], "text", 4);
		assert_int_equal(utimensat(dir, names[i], then, 0), 0);
	}
	/* Reading counts as use. */
	assert_true(has(dir, "a.functions"));

	int other = openat(dir, "mine", O_WRONLY | O_CREAT | O_EXCL, 0600);
	int undone = openat(dir, "a.functions.1.new", O_WRONLY | O_CREAT | O_EXCL, 0600);
	const struct timespec then[2] = { { 1000, 0 }, { 1000, 0 } };

	assert_true(other >= 0 && undone >= 0);
	assert_int_equal(futimens(undone, then), 0);
	close(other);
	close(undone);
	user_cache_shrink(dir, 12);
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		assert_int_equal(faccessat(dir, names[i], F_OK, 0), 0);
	assert_int_equal(faccessat(dir, "a.functions.1.new", F_OK, 0), -1);
	user_cache_shrink(dir, 8);
	assert_int_equal(faccessat(dir, "b.functions", F_OK, 0), -1);
	assert_true(has(dir, "a.functions"));
	assert_true(has(dir, "c.functions"));
	user_cache_shrink(dir, 0);
	assert_false(has(dir, "a.functions"));
	assert_int_equal(faccessat(dir, "mine", F_OK, 0), 0);
}

/* The disk is full: no incomplete file is left. */
TEST_WITH(when_the_disk_is_full, begin, end)
{
	static char much[8192];
	struct rlimit before, none = { 4096, 4096 };
	int dir cleanup_fd = user_cache_open();

	assert_true(dir >= 0);
	signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
	none.rlim_max = before.rlim_max;
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &none), 0);
	user_cache_write(dir, "a.functions", much, sizeof(much));
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
	assert_int_equal(unlinkat(dir, ".", AT_REMOVEDIR), -1);
	assert_int_equal(rmdir(own_file("utrail")), 0);
}
