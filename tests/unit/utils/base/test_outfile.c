/*
 * Output files: a reader sees either the old file or the new one. Their mode, and paths at which
 * there is no regular file.
 */
#include "tests/unit/lib/unit.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "utils/base/cleanup.h"
#include "utils/base/fd.h"
#include "utils/base/outfile.h"

static char top[] = "/tmp/utrail-test-outfile-XXXXXX";

static int make_dir(void **state)
{
	return mkdtemp(top) && chdir(top) == 0 ? 0 : -1;
}

static int remove_dir(void **state)
{
	char command[64];

	snprintf(command, sizeof(command), "rm -rf %s", top);
	return chdir("/") == 0 && system(command) == 0 ? 0 : -1;
}

static unsigned nr_names(void)
{
	DIR *dir cleanup_dir = opendir(".");
	unsigned nr = 0;

	while (readdir(dir))
		nr++;
	return nr - 2;
}

static void check_text(const char *path, const char *expected)
{
	struct strbuf text cleanup_strbuf = { 0 };

	assert_int_equal(file_read_all(path, 100, &text, NULL), 0);
	assert_string_equal(strbuf_str(&text), expected);
}

static mode_t mode_of(const char *path)
{
	struct stat st;

	assert_int_equal(stat(path, &st), 0);
	return st.st_mode & 07777;
}

TEST(published_whole_or_not_at_all)
{
	struct outfile out;

	assert_int_equal(outfile_put("file", "one", 3, NULL), 0);
	assert_int_equal(outfile_open(&out, "file", 0644, NULL), 0);
	assert_int_equal(fd_write_all(out.fd, "tw", 2), 0);
	check_text("file", "one");
	outfile_deinit(&out);
	check_text("file", "one");
	assert_int_equal(nr_names(), 1);
	assert_int_equal(outfile_put("file", "two", 3, NULL), 0);
	check_text("file", "two");
	assert_int_equal(nr_names(), 1);
	assert_int_equal(unlink("file"), 0);
}

TEST(mode_is_kept)
{
	struct outfile out;

	umask(022);
	assert_int_equal(outfile_put("file", "", 0, NULL), 0);
	assert_int_equal(mode_of("file"), 0644);
	assert_int_equal(chmod("file", 0460), 0);
	assert_int_equal(outfile_put("file", "x", 1, NULL), 0);
	assert_int_equal(mode_of("file"), 0460);
	assert_int_equal(chmod("file", 0664), 0);
	assert_int_equal(outfile_open(&out, "file", 0600, NULL), 0);
	assert_int_equal(outfile_publish(&out, NULL), 0);
	outfile_deinit(&out);
	assert_int_equal(mode_of("file"), 0600);
	assert_int_equal(unlink("file"), 0);
}

TEST(second_names_stay)
{
	assert_int_equal(outfile_put("file", "one", 3, NULL), 0);
	assert_int_equal(link("file", "other"), 0);
	assert_int_equal(outfile_put("file", "two", 3, NULL), 0);
	check_text("other", "one");
	assert_int_equal(unlink("file") | unlink("other"), 0);
}

TEST(what_cannot_be_written)
{
	struct uft_err err = { 0 };

	assert_int_equal(mkfifo("fifo", 0600), 0);
	assert_int_equal(outfile_put("fifo", "x", 1, &err), -ENXIO);
	assert_string_equal(err.text, "cannot write 'fifo': no process reads from this FIFO");
	assert_int_equal(outfile_append("fifo", 0644, NULL), -ENXIO);
	assert_int_equal(unlink("fifo"), 0);
	assert_int_equal(mkdir("dir", 0700), 0);
	assert_int_equal(outfile_check("dir", NULL), -EISDIR);
	assert_int_equal(outfile_append("dir", 0644, NULL), -EISDIR);
	assert_int_equal(rmdir("dir"), 0);
	assert_int_equal(outfile_check("absent/file", NULL), -ENOENT);
	assert_int_equal(outfile_put("/dev/full", "x", 1, NULL), -ENOSPC);
	assert_int_equal(outfile_put("/dev/null", "x", 1, NULL), 0);
	assert_int_equal(nr_names(), 0);
}

TEST(appended)
{
	int fd = outfile_append("log", 0644, NULL);

	assert_int_equal(fd_write_all(fd, "one", 3), 0);
	close(fd);
	fd = outfile_append("log", 0644, NULL);
	assert_int_equal(fd_write_all(fd, "two", 3), 0);
	close(fd);
	check_text("log", "onetwo");
	assert_int_equal(unlink("log"), 0);
}

TEST(second_names_in_public)
{
	assert_int_equal(mkdir("public", 0777), 0);
	assert_int_equal(chmod("public", 01777), 0);
	assert_int_equal(outfile_put("file", "one", 3, NULL), 0);
	assert_int_equal(link("file", "public/log"), 0);
	assert_int_equal(outfile_append("public/log", 0644, NULL), -EACCES);
	check_text("file", "one");
}

TEST_GROUP(make_dir, remove_dir)
