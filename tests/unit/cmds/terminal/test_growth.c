/* The stamp of a recording changes with its files, and with nothing else. */
#include "tests/unit/lib/unit.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cmds/terminal/growth.h"

/* Write @text at the end of @path, and set its time to @mtime_s, so that no clock is needed. */
static void append_at(const char *path, const char *text, time_t mtime_s)
{
	const struct timespec times[2] = { { .tv_sec = mtime_s }, { .tv_sec = mtime_s } };
	int fd = open(path, O_WRONLY | O_CREAT | O_APPEND, 0600);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	assert_int_equal(futimens(fd, times), 0);
	close(fd);
}

TEST(follows_the_files)
{
	char dir[] = "/tmp/utrail-growth-XXXXXX";
	uint64_t stamp;

	assert_non_null(mkdtemp(dir));
	assert_int_equal(chdir(dir), 0);
	assert_int_equal(growth_stamp(dir), 0);
	append_at("17.dat", "records", 1000);
	stamp = growth_stamp(dir);
	assert_int_not_equal(stamp, 0);
	assert_int_equal(growth_stamp(dir), stamp);

	/* A file that does not belong to a recording does not count. */
	append_at("notes.dat", "mine", 1000);
	assert_int_equal(growth_stamp(dir), stamp);

	/*
	 * First a file grows and keeps its time, then it keeps its length and gets another time;
	 * then there is a new file.
	 */
	append_at("17.dat", "more", 1000);
	assert_int_not_equal(growth_stamp(dir), stamp);
	stamp = growth_stamp(dir);
	append_at("17.dat", "", 1001);
	assert_int_not_equal(growth_stamp(dir), stamp);
	stamp = growth_stamp(dir);
	append_at("task.txt", "TASK", 1000);
	assert_int_not_equal(growth_stamp(dir), stamp);

	assert_int_equal(unlink("17.dat") | unlink("notes.dat") | unlink("task.txt"), 0);
	assert_int_equal(growth_stamp(dir), 0);
	assert_int_equal(chdir("/") | rmdir(dir), 0);
}

TEST(no_directory)
{
	assert_int_equal(growth_stamp("/nonexistent"), 0);
}
