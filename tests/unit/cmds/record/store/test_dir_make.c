/* Directories before a new recording: those that are renamed, deleted, or left alone. */
#include "tests/unit/lib/unit.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cmds/record/store/dir.h"
#include "utils/base/compiler.h"
#include "utils/base/err.h"
#include "utils/format/datadir.h"

/* The waits of the code take no time here. */
static unsigned nr_sleeps;

int __wrap_usleep(unsigned us);
int __wrap_usleep(unsigned us)
{
	nr_sleeps++;
	return 0;
}

static char home[] = "/tmp/utrail-dir-make-XXXXXX";

static int begin(void **state)
{
	return mkdtemp(home) && chdir(home) == 0 ? 0 : -1;
}

static int end(void **state)
{
	return chdir("/") == 0 && rmdir(home) == 0 ? 0 : -1;
}

static void make_file(const char *path)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL, 0644);

	assert_true(fd >= 0);
	close(fd);
}

static bool is_there(const char *path)
{
	return access(path, F_OK) == 0;
}

/* Make the directory as a recorder does. It is as if the recorder was killed right afterwards. */
static int make(const char *path)
{
	struct store_dir dir = STORE_DIR_CLOSED;
	struct uft_err err = { 0 };
	int ret;

	/* An errno from before must not matter. */
	errno = 0;
	ret = store_dir_make(&dir, path, &err);
	store_dir_close(&dir);
	return ret;
}

static void remove_recording(const char *path)
{
	char marker[64];

	snprintf(marker, sizeof(marker), "%s/%s", path, DATADIR_TMP("info"));
	assert_int_equal(unlink(marker), 0);
	assert_int_equal(rmdir(path), 0);
}

/* A directory whose files are not those of a recording stays where it is, with all its content. */
TEST(somebody_elses)
{
	assert_int_equal(mkdir("data", 0755), 0);
	make_file("data/letter");
	assert_int_equal(make("data"), -EEXIST);
	assert_true(is_there("data/letter"));
	assert_false(is_there("data.old"));
	assert_int_equal(unlink("data/letter"), 0);
	/* An empty directory is replaced. */
	assert_int_equal(make("data/"), 0);
	assert_true(is_there("data.old"));
	assert_int_equal(rmdir("data.old"), 0);
	remove_recording("data");
}

/* The third recording of a name deletes the first. */
TEST(the_oldest_goes)
{
	assert_int_equal(make("data"), 0);
	for (int i = 1; i < 4; i++) {
		char name[32];

		snprintf(name, sizeof(name), "data/%d.dat", i);
		make_file(name);
	}
	assert_int_equal(make("data"), 0);
	assert_true(is_there("data.old/1.dat"));
	make_file("data/4.dat");
	assert_int_equal(make("data"), 0);
	assert_false(is_there("data.old/1.dat"));
	assert_true(is_there("data.old/4.dat"));
	assert_false(is_there("data/4.dat"));
	assert_int_equal(unlink("data.old/4.dat"), 0);
	remove_recording("data.old");
	remove_recording("data");
}

/* If the oldest directory has another file in it, it is not deleted. */
TEST(the_oldest_has_more)
{
	assert_int_equal(make("data"), 0);
	assert_int_equal(make("data"), 0);
	make_file("data.old/letter");
	assert_int_equal(make("data"), -EEXIST);
	assert_true(is_there("data.old/letter"));
	assert_int_equal(unlink("data.old/letter"), 0);
	remove_recording("data.old");
	remove_recording("data");
}

/* Returns the message for a @path that cannot be made. */
static const char *refused(const char *path, int code)
{
	static struct uft_err err;
	struct store_dir dir = STORE_DIR_CLOSED;

	err_clear(&err);
	errno = 0;
	assert_int_equal(store_dir_make(&dir, path, &err), code);
	assert_int_equal(dir.fd, -1);
	return err.text;
}

/* Only a pipe that has the name of uftrace's channel belongs to a recording. */
TEST(a_channel_goes)
{
	assert_int_equal(make("data"), 0);
	assert_int_equal(make("data"), 0);
	assert_int_equal(mkfifo("data.old/.channel", 0600), 0);
	assert_int_equal(make("data"), 0);
	assert_false(is_there("data.old/.channel"));
	assert_int_equal(mkfifo("data.old/1.dat", 0600), 0);
	assert_string_equal(refused("data", -EEXIST),
			    "cannot replace 'data.old': '1.dat' in it is not a file of a "
			    "recording; remove or rename that directory, or use -d");
	assert_true(is_there("data.old/1.dat"));
	assert_int_equal(unlink("data.old/1.dat"), 0);
	/* A link is no file, wherever it leads to. */
	make_file("letter");
	assert_int_equal(symlink("../letter", "data.old/1.dat"), 0);
	assert_int_equal(make("data"), -EEXIST);
	assert_true(is_there("letter"));
	assert_int_equal(unlink("data.old/1.dat"), 0);
	assert_int_equal(unlink("letter"), 0);
	remove_recording("data.old");
	remove_recording("data");
}

/* The new directory is marked and locked, and its descriptor is not inherited. */
TEST(as_it_is_made)
{
	struct store_dir dir = STORE_DIR_CLOSED;
	struct stat made, there;
	int other;

	assert_int_equal(store_dir_make(&dir, "data", NULL), 0);
	assert_true(is_there("data/" DATADIR_TMP("info")));
	assert_int_equal(fstat(dir.fd, &made), 0);
	assert_int_equal(stat("data", &there), 0);
	assert_int_equal(made.st_ino, there.st_ino);
	assert_true(fcntl(dir.fd, F_GETFD) & FD_CLOEXEC);
	other = open("data", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	assert_int_equal(flock(other, LOCK_EX | LOCK_NB), -1);
	assert_int_equal(errno, EWOULDBLOCK);
	store_dir_close(&dir);
	assert_int_equal(flock(other, LOCK_EX | LOCK_NB), 0);
	close(other);
	remove_recording("data");
}

/* A link to a directory is followed for reading, and the link itself is renamed. */
TEST(a_link_to_a_recording)
{
	assert_int_equal(make("there"), 0);
	assert_int_equal(symlink("there", "data"), 0);
	assert_int_equal(make("data"), 0);
	assert_true(is_there("there"));
	assert_true(is_there("data.old"));
	assert_int_equal(unlink("data.old"), 0);
	remove_recording("data");
	remove_recording("there");
	assert_int_equal(mkdir("there", 0755), 0);
	make_file("there/letter");
	assert_int_equal(symlink("there", "data"), 0);
	nr_sleeps = 0;
	assert_true(make("data") < 0);
	assert_true(is_there("data/letter"));
	assert_int_equal(unlink("there/letter"), 0);
	assert_int_equal(unlink("data"), 0);
	assert_int_equal(rmdir("there"), 0);
}

/* An existing file is named in the error, and stays. */
TEST(in_the_way)
{
	make_file("data");
	assert_string_equal(refused("data", -EEXIST),
			    "cannot record into 'data': it exists and is not a recording; use -d");
	assert_int_equal(unlink("data"), 0);
	assert_int_equal(make("data"), 0);
	make_file("data.old");
	assert_string_equal(refused("data", -EEXIST),
			    "cannot replace 'data.old': it is not a directory but a file or a "
			    "link; remove it or use -d");
	assert_int_equal(unlink("data.old"), 0);
	assert_int_equal(symlink("data", "data.old"), 0);
	assert_string_equal(refused("data", -EEXIST),
			    "cannot replace 'data.old': it is not a directory but a file or a "
			    "link; remove it or use -d");
	assert_int_equal(unlink("data.old"), 0);
	assert_int_equal(mkdir("data.old", 0755), 0);
	make_file("data.old/letter");
	assert_string_equal(
		refused("data", -EEXIST),
		"cannot replace 'data.old': it is not a recording; remove it or use -d");
	assert_true(is_there("data.old/letter"));
	assert_int_equal(unlink("data.old/letter"), 0);
	/*
	 * A recording that also has a file of another kind is left alone. So is one that has a
	 * directory in place of a file.
	 */
	assert_int_equal(make("data.old"), 0);
	remove_recording("data.old");
	assert_int_equal(rmdir("data.old.old"), 0);
	assert_int_equal(make("data.old"), 0);
	assert_int_equal(mkdir("data.old/1.dat", 0755), 0);
	assert_string_equal(refused("data", -EEXIST),
			    "cannot replace 'data.old': '1.dat' in it is not a file of a "
			    "recording; remove or rename that directory, or use -d");
	assert_int_equal(rmdir("data.old/1.dat"), 0);
	remove_recording("data.old");
	remove_recording("data");
}

/*
 * A recording of uftrace may be incomplete. It is identified by the content of task.txt or info. A
 * file with one of these names, but with other content, does not identify a recording.
 */
TEST(recordings_of_others)
{
	static const struct {
		const char *name;
		const char *text;
		size_t len;
		bool is_one;
	} files[] = {
		{ "task.txt", "TASK timestamp=1.000000002 tid=3 pid=3\n", 39, true },
		{ "task.txt", "TASK nonsense\n", 14, false },
		{ "task.txt", "", 0, false },
		{ "info", "not a header at all, though long enough for one......", 53, false },
		{ "info", "", 0, false },
	};

	for (size_t i = 0; i < ARRAY_SIZE(files); i++) {
		char path[64];
		int fd;

		assert_int_equal(mkdir("data", 0755), 0);
		snprintf(path, sizeof(path), "data/%s", files[i].name);
		fd = open(path, O_WRONLY | O_CREAT | O_EXCL, 0644);
		assert_true(fd >= 0);
		assert_int_equal(write(fd, files[i].text, files[i].len), files[i].len);
		close(fd);
		assert_int_equal(make("data"), files[i].is_one ? 0 : -EEXIST);
		if (files[i].is_one) {
			remove_recording("data");
			assert_int_equal(rename("data.old", "data"), 0);
		}
		assert_int_equal(unlink(path), 0);
		assert_int_equal(rmdir("data"), 0);
	}
}

/*
 * Slashes at the end do not belong to the name. A name may be so long that <name>.old is too long.
 */
TEST(names)
{
	char path[PATH_MAX + 8];

	assert_int_equal(make("data///"), 0);
	assert_int_equal(make("data/"), 0);
	assert_true(is_there("data.old"));
	remove_recording("data.old");
	remove_recording("data");
	memset(path, 'x', sizeof(path));
	path[PATH_MAX - 1] = '\0';
	assert_non_null(strstr(refused(path, -ENAMETOOLONG), "cannot record into 'xxx"));
	path[PATH_MAX - 1] = 'x';
	path[PATH_MAX + 3] = '\0';
	assert_non_null(strstr(refused(path, -ENAMETOOLONG), "cannot record into 'xxx"));
	assert_string_equal(refused("no/such/place", -ENOENT),
			    "cannot create directory 'no/such/place': No such file or directory");
}

/*
 * Another recorder still writes into data.old, which the new recorder would remove. The new
 * recorder waits for a moment, and then gives up.
 */
TEST(somebody_records_there)
{
	struct store_dir dir = STORE_DIR_CLOSED;

	assert_int_equal(store_dir_make(&dir, "data", NULL), 0);
	/* The other recorder goes on writing under the new name. */
	assert_int_equal(make("data"), 0);
	nr_sleeps = 0;
	assert_string_equal(refused("data", -EBUSY),
			    "cannot replace 'data.old': a recorder is still writing into it; wait "
			    "for its end or use -d");
	assert_int_equal(nr_sleeps, 100);
	store_dir_close(&dir);
	assert_int_equal(make("data"), 0);
	remove_recording("data.old");
	remove_recording("data");
}

TEST_GROUP(begin, end)
