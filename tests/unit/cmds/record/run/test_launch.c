/* Unit tests of cmds/record/run/launch.c: the file of the requested program. */
#include "tests/unit/lib/unit.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cmds/record/run/launch.h"
#include "utils/base/containers/strbuf.h"

static char dir[64];

static void make(const char *name, mode_t mode)
{
	int fd = open(name, O_CREAT | O_WRONLY | O_CLOEXEC, mode);

	assert_true(fd >= 0);
	close(fd);
}

/* Makes directories "one" and "two"; the test runs in "here". */
static int setup(void **state)
{
	strcpy(dir, "/tmp/utrail-launch.XXXXXX");
	assert_non_null(mkdtemp(dir));
	assert_int_equal(chdir(dir), 0);
	assert_int_equal(mkdir("one", 0755) | mkdir("two", 0755) | mkdir("here", 0755), 0);
	make("one/plain", 0644);
	make("two/plain", 0755);
	make("two/tool", 0755);
	make("two/both", 0755);
	make("one/source", 0644);
	make("here/both", 0755);
	make("here/mine", 0755);
	assert_int_equal(mkdir("one/tool", 0755), 0);
	assert_int_equal(chdir("here"), 0);
	return 0;
}

static int teardown(void **state)
{
	static const char *const names[] = { "one/plain",  "two/plain", "two/tool", "two/both",
					     "one/source", "here/both", "here/mine" };

	assert_int_equal(chdir(dir), 0);
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		unlink(names[i]);
	rmdir("one/tool");
	rmdir("one");
	rmdir("two");
	rmdir("here");
	assert_int_equal(chdir("/"), 0);
	return rmdir(dir);
}

/* Sets PATH. @path: has "1" and "2" for the two directories */
static void set_path(const char *path)
{
	struct strbuf text cleanup_strbuf = { 0 };

	for (const char *p = path; *p; p++) {
		if (*p == '1' || *p == '2')
			strbuf_addf(&text, "%s/%s", dir, *p == '1' ? "one" : "two");
		else
			strbuf_addch(&text, *p);
	}
	setenv("PATH", strbuf_str(&text), 1);
}

/* Returns the path of @name below the top directory, or the error. */
static const char *found(const char *name)
{
	static char path[PATH_MAX];
	int ret = launch_find_program(name, path, NULL);

	if (ret < 0)
		return strerror(-ret);
	return strncmp(path, dir, strlen(dir)) == 0 ? path + strlen(dir) + 1 : path;
}

/* Directories are searched in order. A name that is no file, or cannot be executed, is skipped. */
TEST(directories_of_path)
{
	set_path("1:2");
	assert_string_equal(found("tool"), "two/tool");
	assert_string_equal(found("plain"), "two/plain");
	assert_string_equal(found("source"), "Permission denied");
	assert_string_equal(found("nothing"), "No such file or directory");
	assert_string_equal(found(""), "No such file or directory");
	set_path("1");
	assert_string_equal(found("plain"), "Permission denied");
	unsetenv("PATH");
	assert_string_equal(found("tool"), "No such file or directory");
}

/* A file in the current directory comes first, although a shell would not find it. */
TEST(this_directory)
{
	set_path("2");
	assert_string_equal(found("both"), "./both");
	assert_string_equal(found("mine"), "./mine");
	assert_false(launch_is_command("mine"));
	assert_true(launch_is_command("both"));
	assert_true(launch_is_command("./mine"));
	assert_false(launch_is_command("./tool"));
}

/* An empty element is the current directory, wherever it stands. */
TEST(empty_elements)
{
	static const char *const paths[] = { ":2", "2::1", "1:.", "." };

	for (size_t i = 0; i < ARRAY_SIZE(paths); i++) {
		set_path(paths[i]);
		assert_true(launch_is_command("mine"));
	}
	set_path("2:1");
	assert_false(launch_is_command("mine"));
}

/* A name with a slash means that file alone, even if PATH has the name, too. */
TEST(paths)
{
	struct uft_err err = { 0 };
	char path[PATH_MAX];

	set_path("2");
	assert_string_equal(found("../two/tool"), "../two/tool");
	assert_string_equal(found("./tool"), "No such file or directory");
	assert_string_equal(found("../one/tool"), "Is a directory");
	assert_int_equal(launch_find_program("../one/source", path, &err), -EACCES);
	assert_non_null(strstr(err.text, "chmod +x"));
	err_clear(&err);
	assert_int_equal(launch_find_program("nothing", path, &err), -ENOENT);
	assert_non_null(strstr(err.text, "$PATH"));
}

/* Names that are too long for a path, and messages for files that cannot be run. */
TEST(messages)
{
	static char longest[PATH_MAX + 8];
	struct uft_err err = { 0 };
	char path[PATH_MAX];

	set_path("2");
	memset(longest, 'x', sizeof(longest) - 1);
	assert_string_equal(found(longest), "File name too long");
	longest[0] = '/';
	longest[PATH_MAX] = '\0';
	assert_string_equal(found(longest), "File name too long");
	/* The longest name that fits into PATH_MAX. Its one component is too long. */
	longest[PATH_MAX - 1] = '\0';
	assert_string_equal(found(longest), "File name too long");
	for (size_t i = 0; i < PATH_MAX - 1; i += 2)
		memcpy(longest + i, "./", 2);
	longest[PATH_MAX - 1] = '\0';
	assert_string_equal(found(longest), "Is a directory");

	assert_int_equal(launch_find_program("nothing", path, &err), -ENOENT);
	assert_string_equal(err.text,
			    "cannot trace 'nothing': there is no such program here or in $PATH");
	err_clear(&err);
	assert_int_equal(launch_find_program("../nothing", path, &err), -ENOENT);
	assert_string_equal(err.text, "cannot trace '../nothing': No such file or directory");
	err_clear(&err);
	assert_int_equal(launch_find_program("../one", path, &err), -EISDIR);
	assert_string_equal(err.text, "cannot trace '../one': Is a directory");
	err_clear(&err);
	assert_int_equal(launch_find_program("../one/source", path, &err), -EACCES);
	assert_string_equal(
		err.text,
		"cannot trace '../one/source': it is not executable: a source is to be compiled "
		"first, a program needs 'chmod +x'");
}

/*
 * A file here that is not executable does not hide a program in $PATH. If there is no such program,
 * the error is about the file.
 */
TEST(not_executable_here)
{
	struct uft_err err = { 0 };
	char path[PATH_MAX];

	make("tool", 0644);
	make("alone", 0644);
	set_path("2");
	assert_string_equal(found("tool"), "two/tool");
	assert_string_equal(found("alone"), "Permission denied");
	assert_int_equal(launch_find_program("alone", path, &err), -EACCES);
	assert_string_equal(
		err.text, "cannot trace 'alone': it is not executable: a source is to be compiled "
			  "first, a program needs 'chmod +x'");
	/* A directory is no program, and the error is not about the directory. */
	assert_int_equal(mkdir("folder", 0755), 0);
	assert_string_equal(found("folder"), "No such file or directory");
	rmdir("folder");
	unlink("tool");
	unlink("alone");
}

/* The library lies in the directory of the option, or in libmcount in it, in that order. */
TEST(libraries)
{
	struct uft_err err = { 0 };
	char path[PATH_MAX];

	assert_int_equal(launch_find_library("../two", "lib.so", path, &err), -ENOENT);
	assert_string_equal(err.text, "cannot find 'lib.so' in '../two' (--libmcount-path)");
	assert_int_equal(mkdir("../two/libmcount", 0755), 0);
	make("../two/libmcount/lib.so", 0644);
	assert_int_equal(launch_find_library("../two", "lib.so", path, NULL), 0);
	assert_string_equal(path, "../two/libmcount/lib.so");
	make("../two/lib.so", 0644);
	assert_int_equal(launch_find_library("../two", "lib.so", path, NULL), 0);
	assert_string_equal(path, "../two/lib.so");
	unlink("../two/lib.so");
	unlink("../two/libmcount/lib.so");
	rmdir("../two/libmcount");

	err_clear(&err);
	assert_int_equal(launch_find_library(NULL, "no-such-lib.so", path, &err), -ENOENT);
	assert_string_equal(err.text, "cannot find 'no-such-lib.so': say where it is with "
				      "--libmcount-path");
}

/* Beside this program, libraries are found in its directory libmcount. */
TEST(libraries_beside_the_program)
{
	char self[PATH_MAX];
	char place[PATH_MAX + 64];
	char path[PATH_MAX];
	int fd;

	assert_non_null(realpath("/proc/self/exe", self));
	*strrchr(self, '/') = '\0';
	/* Another run of this test may remove the directory while it is empty. */
	do {
		snprintf(place, sizeof(place), "%s/libmcount", self);
		if (mkdir(place, 0755) < 0 && errno != EEXIST)
			skip_because("the directory of this program cannot be written to");
		snprintf(place, sizeof(place), "%s/libmcount/launch-test-%d.so", self, getpid());
		fd = open(place, O_CREAT | O_WRONLY | O_CLOEXEC, 0644);
	} while (fd < 0 && errno == ENOENT);
	if (fd < 0)
		skip_because("the directory of libraries cannot be written to");
	close(fd);
	assert_int_equal(launch_find_library(NULL, strrchr(place, '/') + 1, path, NULL), 0);
	assert_string_equal(path, place);
	unlink(place);
	*strrchr(place, '/') = '\0';
	rmdir(place);
}

TEST_GROUP(setup, teardown)
