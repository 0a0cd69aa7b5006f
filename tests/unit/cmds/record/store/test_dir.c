/*
 * The store that is a directory: the bytes written there, the state after a failure, and the owner.
 */
#include "tests/unit/lib/unit.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cmds/record/store/dir.h"
#include "utils/format/datadir.h"

static char home[] = "/tmp/utrail-unit-XXXXXX";
static struct store_dir dir;
#define STORE (&dir.store)

/*
 * Results of the next calls of write() and writev(): negative errno, the largest number of bytes
 * that is written, or 0 for no limit.
 */
static ssize_t writes[4];
static unsigned nr_writes;
#define WRITES_NOTHING 1000000

ssize_t __real_write(int fd, const void *data, size_t len);
ssize_t __wrap_write(int fd, const void *data, size_t len);

ssize_t __wrap_write(int fd, const void *data, size_t len)
{
	ssize_t what = nr_writes < 4 ? writes[nr_writes] : 0;

	nr_writes++;
	if (what == WRITES_NOTHING)
		return 0;
	if (what < 0) {
		errno = (int)-what;
		return -1;
	}
	return __real_write(fd, data, what && (size_t)what < len ? (size_t)what : len);
}

ssize_t __wrap_writev(int fd, const struct iovec *parts, int nr);

/* Parts are written one after the other, as far as the result allows. */
ssize_t __wrap_writev(int fd, const struct iovec *parts, int nr)
{
	char all[256];
	size_t len = 0;

	for (int i = 0; i < nr; i++) {
		assert_true(len + parts[i].iov_len <= sizeof(all));
		memcpy(all + len, parts[i].iov_base, parts[i].iov_len);
		len += parts[i].iov_len;
	}
	return __wrap_write(fd, all, len);
}

static int begin_all(void **state)
{
	umask(022);
	signal(SIGXFSZ, SIG_IGN);
	return mkdtemp(home) && chdir(home) == 0 ? 0 : -1;
}

static int end_all(void **state)
{
	return chdir("/") == 0 && rmdir(home) == 0 ? 0 : -1;
}

static int begin(void **state)
{
	memset(writes, 0, sizeof(writes));
	nr_writes = 0;
	store_dir_use(&dir, open(home, O_RDONLY | O_DIRECTORY | O_CLOEXEC));
	return dir.fd < 0;
}

static int end(void **state)
{
	unlink("info");
	unlink("task.txt");
	store_dir_close(&dir);
	return dir.fd != -1;
}

static void check_file(const char *name, const char *wanted)
{
	char text[256];
	FILE *f = fopen(name, "r");
	size_t len;

	assert_non_null(f);
	len = fread(text, 1, sizeof(text), f);
	fclose(f);
	assert_int_equal(len, strlen(wanted));
	assert_memory_equal(text, wanted, len);
}

static int next_fd(void)
{
	int fd = dup(STDERR_FILENO);

	close(fd);
	return fd;
}

static bool is_there(const char *name)
{
	return access(name, F_OK) == 0;
}

TEST_WITH(a_stream_goes_on_where_the_file_ends, begin, end)
{
	int free_fd = next_fd();
	int stream = store_open(STORE, "info");
	struct stat st;

	assert_int_equal(stream, free_fd);
	assert_true(fcntl(stream, F_GETFD) & FD_CLOEXEC);
	assert_int_equal(fstat(stream, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0644);
	assert_int_equal(store_append(STORE, stream, "one", 3), 0);
	store_close(STORE, stream);
	assert_int_equal(next_fd(), free_fd);
	stream = store_open(STORE, "info");
	assert_int_equal(store_append(STORE, stream, "two", 3), 0);
	assert_int_equal(store_append(STORE, stream, "", 0), 0);
	store_close(STORE, stream);
	check_file("info", "onetwo");
	assert_int_equal(store_open(STORE, "none/x"), -ENOENT);
}

TEST_WITH(all_is_written_however_little_at_a_time, begin, end)
{
	int stream = store_open(STORE, "info");

	writes[0] = 1;
	writes[1] = -EINTR;
	writes[2] = 2;
	assert_int_equal(store_append(STORE, stream, "abcdef", 6), 0);
	assert_int_equal(nr_writes, 4);
	store_close(STORE, stream);
	check_file("info", "abcdef");
}

TEST_WITH(what_is_written_of_something_is_cut_off, begin, end)
{
	int stream = store_open(STORE, "info");

	assert_int_equal(store_append(STORE, stream, "before", 6), 0);
	nr_writes = 0;
	writes[0] = 4;
	writes[1] = -ENOSPC;
	assert_int_equal(store_append(STORE, stream, "abcdef", 6), -ENOSPC);
	assert_int_equal(nr_writes, 2);
	check_file("info", "before");
	/* A device that writes nothing and sets no errno. */
	nr_writes = 0;
	writes[1] = WRITES_NOTHING;
	errno = 0;
	assert_int_equal(store_append(STORE, stream, "abcdef", 6), -EIO);
	check_file("info", "before");
	nr_writes = 0;
	writes[0] = -EDQUOT;
	assert_int_equal(store_append(STORE, stream, "abcdef", 6), -EDQUOT);
	check_file("info", "before");
	store_close(STORE, stream);
}

TEST_WITH(parts_are_written_as_one_piece, begin, end)
{
	const struct iovec parts[] = { { "ab", 2 }, { "", 0 }, { "cdef", 4 }, { "g", 1 } };
	int stream = store_open(STORE, "info");

	/* The first write ends within the first part, at its end, or within the third part. */
	for (ssize_t first = 1; first <= 4; first++) {
		nr_writes = 0;
		writes[0] = first;
		writes[1] = -EINTR;
		assert_int_equal(ftruncate(stream, 0), 0);
		assert_int_equal(store_append_parts(STORE, stream, parts, 4), 0);
		assert_int_equal(nr_writes, 3);
		check_file("info", "abcdefg");
	}
	nr_writes = 0;
	writes[0] = 5;
	writes[1] = -ENOSPC;
	assert_int_equal(store_append_parts(STORE, stream, parts, 4), -ENOSPC);
	check_file("info", "abcdefg");
	store_close(STORE, stream);
}

TEST_WITH(many_parts_are_written_in_turns, begin, end)
{
	struct iovec parts[200];
	char wanted[201] = "";
	int stream = store_open(STORE, "info");

	for (unsigned i = 0; i < 200; i++) {
		wanted[i] = 'a' + i % 26;
		parts[i] = (struct iovec){ &wanted[i], 1 };
	}
	assert_int_equal(store_append_parts(STORE, stream, parts, 200), 0);
	assert_in_range(nr_writes, 2, 199);
	check_file("info", wanted);
	store_close(STORE, stream);
}

TEST_WITH(half_of_all_descriptors_may_stay_open, begin, end)
{
	struct rlimit before, now;

	getrlimit(RLIMIT_NOFILE, &before);
	now = (struct rlimit){ 100, before.rlim_max };
	setrlimit(RLIMIT_NOFILE, &now);
	assert_true(store_may_stay_open(STORE, 49));
	assert_false(store_may_stay_open(STORE, 50));
	setrlimit(RLIMIT_NOFILE, &before);
}

static int publish(const char *name, const char *one, const char *two, int *stream,
		   struct uft_err *err)
{
	const struct iovec parts[] = { { (char *)one, strlen(one) }, { (char *)two, strlen(two) } };

	return STORE->ops->publish(STORE, name, parts, 2, stream, err);
}

TEST_WITH(a_whole_file_takes_the_place_of_another, begin, end)
{
	struct uft_err err = { 0 };
	int free_fd = next_fd();
	struct stat st;

	assert_int_equal(publish("info", "one", "two", NULL, &err), 0);
	check_file("info", "onetwo");
	assert_int_equal(stat("info", &st), 0);
	assert_int_equal(st.st_mode & 0777, 0644);
	assert_int_equal(publish("info", "x", "", NULL, &err), 0);
	check_file("info", "x");
	assert_false(is_there(DATADIR_TMP("info")));
	assert_int_equal(next_fd(), free_fd);
}

TEST_WITH(a_stream_goes_with_its_file, begin, end)
{
	struct uft_err err = { 0 };
	int free_fd = next_fd();
	int stream = store_open(STORE, "info");

	assert_int_equal(store_append(STORE, stream, "before", 6), 0);
	assert_int_equal(publish("info", "one", "two", &stream, &err), 0);
	assert_int_equal(store_append(STORE, stream, "more", 4), 0);
	assert_true(fcntl(stream, F_GETFD) & FD_CLOEXEC);
	store_close(STORE, stream);
	check_file("info", "onetwomore");
	assert_int_equal(next_fd(), free_fd);
}

TEST_WITH(what_is_no_name_of_a_recording_is_not_made, begin, end)
{
	struct uft_err err = { 0 };

	assert_int_equal(publish("letter", "one", "two", NULL, &err), -EINVAL);
	assert_int_equal(err.code, -EINVAL);
	assert_string_equal(err.text, "cannot create 'letter': Invalid argument");
	assert_false(is_there("letter"));
}

TEST_WITH(where_there_is_no_room_the_former_file_stays, begin, end)
{
	struct uft_err err = { 0 };
	int free_fd = next_fd();

	assert_int_equal(publish("info", "the former", " one", NULL, &err), 0);
	nr_writes = 0;
	writes[1] = -ENOSPC;
	assert_int_equal(publish("info", "one", "two", NULL, &err), -ENOSPC);
	assert_string_equal(err.text, "cannot write 'info': No space left on device");
	check_file("info", "the former one");
	assert_false(is_there(DATADIR_TMP("info")));
	assert_int_equal(next_fd(), free_fd);
	/* The error of the first part is returned. */
	nr_writes = 0;
	writes[0] = -EDQUOT;
	assert_int_equal(publish("info", "one", "two", NULL, &err), -EDQUOT);
	assert_int_equal(nr_writes, 1);
}

TEST_WITH(what_is_in_the_way_is_said, begin, end)
{
	struct uft_err err = { 0 };

	assert_int_equal(mkdir("info", 0700), 0);
	assert_int_equal(publish("info", "one", "two", NULL, &err), -EISDIR);
	assert_string_equal(err.text, "cannot write 'info': Is a directory");
	assert_false(is_there(DATADIR_TMP("info")));
	assert_int_equal(rmdir("info"), 0);
	assert_int_equal(mkdir(DATADIR_TMP("info"), 0700), 0);
	err = (struct uft_err){ 0 };
	assert_int_equal(publish("info", "one", "two", NULL, &err), -EISDIR);
	assert_string_equal(err.text, "cannot create 'info': Is a directory");
	assert_int_equal(rmdir(DATADIR_TMP("info")), 0);
	assert_false(is_there("info"));
}

TEST_WITH(a_file_is_read_behind_what_is_there, begin, end)
{
	struct strbuf out cleanup_strbuf = { 0 };
	int free_fd = next_fd();

	assert_int_equal(store_read(STORE, "info", 100, &out), -ENOENT);
	assert_int_equal(publish("info", "abc", "def", NULL, NULL), 0);
	strbuf_addstr(&out, "x");
	assert_int_equal(store_read(STORE, "info", 100, &out), 0);
	assert_string_equal(strbuf_str(&out), "xabcdef");
	assert_int_equal(out.len, 7);
	assert_int_equal(store_read(STORE, "info", 2, &out), 0);
	assert_string_equal(strbuf_str(&out), "xabcdefab");
	assert_int_equal(out.len, 9);
	assert_int_equal(mkdir("task.txt", 0700), 0);
	assert_int_equal(store_read(STORE, "task.txt", 100, &out), -EISDIR);
	assert_int_equal(out.len, 9);
	assert_int_equal(rmdir("task.txt"), 0);
	assert_int_equal(next_fd(), free_fd);
}

/* The end of a file is overwritten in place. The file keeps its length. */
TEST_WITH(the_end_is_overwritten, begin, end)
{
	int free_fd = next_fd();

	assert_int_equal(store_overwrite_end(STORE, "info", "XY", 2), -ENOENT);
	assert_int_equal(publish("info", "abc", "def", NULL, NULL), 0);
	assert_int_equal(store_overwrite_end(STORE, "info", "XY", 2), 0);
	check_file("info", "abcdXY");
	assert_int_equal(store_overwrite_end(STORE, "info", "123456", 6), 0);
	check_file("info", "123456");
	assert_int_equal(store_overwrite_end(STORE, "info", "1234567", 7), -EINVAL);
	check_file("info", "123456");
	assert_int_equal(next_fd(), free_fd);
}

/* If another user has put a link or a FIFO in the file's place, nothing is written to it. */
TEST_WITH(the_end_of_another_file_is_not_overwritten, begin, end)
{
	int free_fd = next_fd();

	assert_int_equal(publish("info", "abc", "def", NULL, NULL), 0);
	assert_int_equal(link("info", "other"), 0);
	assert_int_equal(store_overwrite_end(STORE, "info", "XY", 2), -EINVAL);
	check_file("other", "abcdef");
	unlink("info");
	assert_int_equal(symlink("other", "info"), 0);
	assert_int_equal(store_overwrite_end(STORE, "info", "XY", 2), -ELOOP);
	check_file("other", "abcdef");
	unlink("info");
	unlink("other");
	assert_int_equal(mkdir("info", 0700), 0);
	assert_int_equal(store_overwrite_end(STORE, "info", "", 0), -EISDIR);
	assert_int_equal(rmdir("info"), 0);
	assert_int_equal(mkfifo("info", 0600), 0);

	int reader = open("info", O_RDONLY | O_NONBLOCK | O_CLOEXEC);

	assert_int_equal(store_overwrite_end(STORE, "info", "", 0), -EINVAL);
	close(reader);
	assert_int_equal(next_fd(), free_fd);
}

/* A temporary file of an earlier attempt is used again, unless it may be the file of others. */
TEST_WITH(a_temporary_file_is_in_the_way, begin, end)
{
	static const char tmp[] = DATADIR_TMP("info");
	int free_fd = next_fd();
	struct stat before, after;
	FILE *f = fopen(tmp, "w");

	assert_true(f && fputs("a longer text of before", f) >= 0 && fclose(f) == 0);
	assert_int_equal(stat(tmp, &before), 0);
	assert_int_equal(publish("info", "one", "two", NULL, NULL), 0);
	check_file("info", "onetwo");
	assert_false(is_there(tmp));
	assert_int_equal(stat("info", &after), 0);
	assert_int_equal(after.st_ino, before.st_ino);

	/* The temporary file has another name, too. */
	assert_int_equal(link("info", tmp), 0);
	assert_int_equal(publish("task.txt", "x", "y", NULL, NULL), 0);
	assert_int_equal(publish("info", "three", "", NULL, NULL), 0);
	check_file("info", "three");
	assert_int_equal(rename("info", "other"), 0);
	assert_int_equal(link("other", tmp), 0);
	assert_int_equal(publish("info", "four", "", NULL, NULL), 0);
	check_file("info", "four");
	check_file("other", "three");

	/* The temporary file is a link, or a pipe. */
	assert_int_equal(symlink("other", tmp), 0);
	assert_int_equal(publish("info", "five", "", NULL, NULL), 0);
	check_file("info", "five");
	check_file("other", "three");
	assert_int_equal(mkfifo(tmp, 0600), 0);

	int reader = open(tmp, O_RDONLY | O_NONBLOCK | O_CLOEXEC);

	assert_int_equal(publish("info", "six", "", NULL, NULL), 0);
	close(reader);
	check_file("info", "six");
	assert_int_equal(stat("info", &after), 0);
	assert_true(S_ISREG(after.st_mode));
	assert_int_equal(after.st_mode & 0777, 0644);
	assert_int_equal(unlink("other"), 0);
	assert_int_equal(next_fd(), free_fd);
}

TEST_WITH(what_is_removed_is_gone, begin, end)
{
	assert_int_equal(publish("info", "abc", "def", NULL, NULL), 0);
	store_remove(STORE, "info");
	assert_false(is_there("info"));
	store_remove(STORE, "info");
}

TEST_WITH(its_place_is_that_of_the_directory, begin, end)
{
	struct stat place, wanted;
	struct store_dir nothing;

	assert_int_equal(store_place(STORE, &place), 0);
	assert_int_equal(stat(home, &wanted), 0);
	assert_int_equal(place.st_ino, wanted.st_ino);
	assert_int_equal(place.st_dev, wanted.st_dev);
	store_dir_use(&nothing, -1);
	assert_int_equal(store_place(&nothing.store, &place), -EBADF);
}

static void check_owner(const char *name, uid_t user, gid_t group)
{
	struct stat st;

	assert_int_equal(lstat(name, &st), 0);
	assert_int_equal(st.st_uid, user);
	assert_int_equal(st.st_gid, group);
}

TEST_WITH(of_sudo_all_is_given_to_the_user, begin, end)
{
	uid_t above;
	struct stat st;

	if (geteuid() != 0)
		skip_because("only root can give files away");
	assert_int_equal(publish("info", "abc", "def", NULL, NULL), 0);
	assert_int_equal(symlink("info", "task.txt"), 0);
	assert_int_equal(stat("..", &st), 0);
	above = st.st_uid;
	unsetenv("SUDO_UID");
	unsetenv("SUDO_GID");
	store_dir_give_to_user(&dir);
	check_owner("info", 0, 0);
	setenv("SUDO_UID", "4711", 1);
	store_dir_give_to_user(&dir);
	check_owner("info", 0, 0);
	unsetenv("SUDO_UID");
	setenv("SUDO_GID", "4712", 1);
	store_dir_give_to_user(&dir);
	check_owner("info", 0, 0);
	setenv("SUDO_UID", "4711", 1);
	store_dir_give_to_user(&dir);
	check_owner("info", 4711, 4712);
	check_owner("task.txt", 4711, 4712);
	check_owner(".", 4711, 4712);
	assert_int_equal(stat("..", &st), 0);
	assert_int_equal(st.st_uid, above);
	/* The directory's descriptor is still open. */
	assert_int_equal(fcntl(dir.fd, F_GETFD), FD_CLOEXEC);
	assert_int_equal(seteuid(4713), 0);
	setenv("SUDO_UID", "4713", 1);
	store_dir_give_to_user(&dir);
	assert_int_equal(seteuid(0), 0);
	check_owner("info", 4711, 4712);
	unsetenv("SUDO_UID");
	unsetenv("SUDO_GID");
	assert_int_equal(chown(".", 0, 0), 0);
}

TEST_GROUP(begin_all, end_all)
