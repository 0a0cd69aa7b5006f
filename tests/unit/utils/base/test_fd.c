/* Whole files: reading, the size limit, publishing by rename. */
#include "tests/unit/lib/unit.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "utils/base/cleanup.h"
#include "utils/base/fd.h"
#include "utils/base/outfile.h"

static int make_dir(void **state)
{
	static char dir[] = "/tmp/utrail-test-fd-XXXXXX";

	*state = mkdtemp(dir);
	return *state ? chdir(dir) : -1;
}

static int remove_dir(void **state)
{
	unlink("file");
	return chdir("/") == 0 ? rmdir(*state) : -1;
}

TEST(publish_and_read)
{
	struct strbuf text cleanup_strbuf = { 0 };

	assert_int_equal(outfile_put("file", "one", 3, NULL), 0);
	assert_int_equal(outfile_put("file", "two\0x", 5, NULL), 0);
	assert_int_equal(file_read_all("file", 100, &text, NULL), 0);
	assert_int_equal(text.len, 5);
	assert_memory_equal(text.data, "two\0x", 5);
}

TEST(limits_and_errors)
{
	struct strbuf text cleanup_strbuf = { 0 };
	struct uft_err err = { 0 };

	assert_int_equal(outfile_put("file", "12345", 5, NULL), 0);
	assert_int_equal(file_read_all("file", 5, &text, NULL), 0);
	strbuf_reset(&text);
	assert_int_equal(file_read_all("file", 4, &text, &err), -EFBIG);
	assert_non_null(strstr(err.text, "file"));
	assert_int_equal(file_read_all("absent", 4, &text, NULL), -ENOENT);
	assert_int_equal(outfile_put("absent/file", "x", 1, NULL), -ENOENT);
}

/* A reader must not wait for any of these files. */
TEST(only_regular_files)
{
	struct strbuf text cleanup_strbuf = { 0 };
	struct uft_err err = { 0 };

	assert_int_equal(mkfifo("fifo", 0600), 0);
	assert_int_equal(file_open_regular("fifo", &err), -EINVAL);
	assert_non_null(strstr(err.text, "no regular file"));
	assert_int_equal(file_read_all("fifo", 100, &text, NULL), -EINVAL);
	unlink("fifo");
	assert_int_equal(file_open_regular(".", NULL), -EISDIR);
	assert_int_equal(file_open_regular("/dev/zero", NULL), -EINVAL);
	assert_int_equal(symlink("link", "link"), 0);
	assert_int_equal(file_open_regular("link", NULL), -ELOOP);
	unlink("link");
}

TEST(parts)
{
	char buf[8] = "";

	assert_int_equal(outfile_put("file", "abcdef", 6, NULL), 0);

	int fd cleanup_fd = open("file", O_RDONLY | O_CLOEXEC);

	assert_int_equal(fd_pread_full(fd, buf, 3, 2), 3);
	assert_memory_equal(buf, "cde", 3);
	assert_int_equal(fd_pread_full(fd, buf, 8, 4), 2);
	assert_int_equal(fd_pread_full(fd, buf, 8, 100), 0);
	assert_int_equal(fd_read_full(fd, buf, 8), 6);
	assert_int_equal(fd_read_full(fd, buf, 8), 0);
	assert_int_equal(fd_write_all(fd, "x", 1), -EBADF);
}

TEST(close_from)
{
	int low cleanup_fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
	int high cleanup_fd = fcntl(low, F_DUPFD_CLOEXEC, low + 5);
	int status;
	pid_t pid = fork();

	if (pid == 0) {
		fd_close_from(low + 1);
		_exit(fcntl(low, F_GETFD) < 0 || fcntl(high, F_GETFD) >= 0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	assert_true(fcntl(high, F_GETFD) >= 0);
}

TEST_GROUP(make_dir, remove_dir)

/*
 * A name that a stranger has chosen opens no directory, no device, no file of the kernel, and no
 * empty file. Links that /proc has for a process are not followed.
 */
TEST(names_of_strangers)
{
	int fd;

	assert_int_equal(outfile_put("file", "text", 4, NULL), 0);
	fd = file_open_strange("file");
	assert_true(fd >= 0);
	assert_int_equal(fcntl(fd, F_GETFL) & (O_ACCMODE | O_PATH), O_RDONLY);
	close(fd);
	assert_int_equal(file_open_strange("absent"), -ENOENT);
	assert_int_equal(file_open_strange("."), -EINVAL);
	assert_int_equal(file_open_strange("/dev/null"), -EINVAL);
	assert_int_equal(file_open_strange("/proc/version"), -EINVAL);
	if (access("/sys/kernel/profiling", R_OK) == 0)
		assert_int_equal(file_open_strange("/sys/kernel/profiling"), -EINVAL);
	fd = file_open_strange("/proc/self/cwd/file");
	if (fd >= 0)
		skip_because("the kernel does not know RESOLVE_NO_MAGICLINKS");
	assert_int_equal(fd, -ELOOP);
	assert_int_equal(outfile_put("file", "", 0, NULL), 0);
	assert_int_equal(file_open_strange("file"), -EINVAL);
}
