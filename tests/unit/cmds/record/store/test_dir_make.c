/* What is put aside for a new recording, what is deleted, and what is nobody's business. */
#include "tests/unit/lib/unit.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cmds/record/store/dir.h"
#include "utils/base/err.h"
#include "utils/format/datadir.h"

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

/* As a recorder does, which is killed at once if it is left at that. */
static int make(const char *path)
{
	struct store_dir dir = STORE_DIR_CLOSED;
	struct uft_err err = { 0 };
	int ret;

	/* What failed earlier means nothing. */
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

/* Files of which none tells of a recording: the directory stays where it is, with all that is in it. */
static void somebody_elses(void **state)
{
	assert_int_equal(mkdir("data", 0755), 0);
	make_file("data/letter");
	assert_int_equal(make("data"), -EEXIST);
	assert_true(is_there("data/letter"));
	assert_false(is_there("data.old"));
	assert_int_equal(unlink("data/letter"), 0);
	/* An empty one may go. */
	assert_int_equal(make("data/"), 0);
	assert_true(is_there("data.old"));
	assert_int_equal(rmdir("data.old"), 0);
	remove_recording("data");
}

/* The third recording of a name deletes the first. */
static void the_oldest_goes(void **state)
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

/* Unless there is something else in it. */
static void the_oldest_has_more(void **state)
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(somebody_elses),
		cmocka_unit_test(the_oldest_goes),
		cmocka_unit_test(the_oldest_has_more),
	};

	return cmocka_run_group_tests(tests, begin, end);
}
