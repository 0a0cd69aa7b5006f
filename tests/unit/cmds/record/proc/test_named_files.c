/*
 * The meaning of a name: from a directory, within a root, through links; and the result when a
 * directory on the way is gone.
 */
#include "tests/unit/lib/unit.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cmds/record/proc/named_files.h"

static char top[PATH_MAX];

static const char *own_file(const char *name)
{
	static char paths[4][PATH_MAX + 64];
	static unsigned next;
	char *path = paths[next++ % 4];

	snprintf(path, sizeof(paths[0]), "%s%s", top, name);
	return path;
}

static int begin(void **state)
{
	char template[] = "/tmp/places.XXXXXX";

	assert_non_null(mkdtemp(template));
	assert_non_null(realpath(template, top));
	assert_int_equal(mkdir(own_file("/a"), 0700), 0);
	assert_int_equal(mkdir(own_file("/a/b"), 0700), 0);
	assert_int_equal(symlink("a", own_file("/link")), 0);
	assert_int_equal(symlink("/b", own_file("/a/inside")), 0);
	return 0;
}

static int end(void **state)
{
	unlink(own_file("/a/inside"));
	unlink(own_file("/link"));
	rmdir(own_file("/a/b"));
	rmdir(own_file("/a"));
	return rmdir(top);
}

static void check_place(const struct view *view, const char *name, const char *expected)
{
	struct strbuf out cleanup_strbuf = { 0 };

	named_files_of(view, name, &out);
	assert_string_equal(strbuf_str(&out), expected);
}

TEST(test_places)
{
	struct view view = { getpid(), AT_FDCWD, top, "/", false };

	check_place(&view, "x", own_file("/x"));
	check_place(&view, "link/b/x", own_file("/a/b/x"));
	check_place(&view, "link", own_file("/link"));
	check_place(&view, "link/b/", own_file("/a/b"));
	check_place(&view, "link/b/..", own_file("/a"));
	check_place(&view, "./a/../link/./x", own_file("/a/x"));
	check_place(&view, own_file("/link/x"), own_file("/a/x"));
	check_place(&view, "/x", "/x");
	/* A link before a missing directory stays as it is. */
	check_place(&view, "link/none/x", own_file("/link/none/x"));
}

/* The target of a name replaces the earlier text; it is empty if the name leads nowhere. */
TEST(test_targets)
{
	struct view view = { getpid(), AT_FDCWD, top, "/", false };
	struct strbuf out cleanup_strbuf = { 0 };

	named_files_target(&view, "link/b", &out);
	assert_string_equal(strbuf_str(&out), own_file("/a/b"));
	named_files_target(&view, "none", &out);
	assert_string_equal(strbuf_str(&out), "");
	strbuf_addstr(&out, "before");
	named_files_target(&view, "link", &out);
	assert_string_equal(strbuf_str(&out), own_file("/a"));
}

TEST(test_a_root_of_its_own)
{
	char root[PATH_MAX];
	char base[PATH_MAX];
	struct view view = { getpid(), AT_FDCWD, base, root, false };

	snprintf(root, sizeof(root), "%s", own_file("/a"));
	snprintf(base, sizeof(base), "%s", own_file("/a/b"));
	check_place(&view, "/inside/x", own_file("/a/b/x"));
	check_place(&view, "../../../inside/x", own_file("/a/b/x"));
}

/* If the base is outside of the task's root, the base is found by the task's descriptor of it. */
TEST(test_a_base_outside_of_the_root)
{
	char root[PATH_MAX];
	char base[PATH_MAX];
	int dir = open(own_file(""), O_PATH | O_DIRECTORY | O_CLOEXEC);
	int before = open(".", O_PATH | O_DIRECTORY | O_CLOEXEC);
	struct view view = { getpid(), dir, base, root, false };

	assert_true(dir >= 0 && before >= 0);
	snprintf(root, sizeof(root), "%s", own_file("/a"));
	snprintf(base, sizeof(base), "%s", top);
	check_place(&view, "link/x", own_file("/a/x"));
	assert_true(named_files_has(&view, "link"));
	assert_true(named_files_has(&view, ""));
	assert_false(named_files_has(&view, "none"));
	/* An absolute name begins at the root, although the base does not. */
	assert_true(named_files_has(&view, "/b"));
	assert_false(named_files_has(&view, "/a"));
	view.is_late = true;
	assert_false(named_files_has(&view, "link"));
	view.is_late = false;
	view.dirfd = AT_FDCWD;
	assert_int_equal(chdir(own_file("/a")), 0);
	assert_true(named_files_has(&view, "b"));
	assert_false(named_files_has(&view, "link"));
	assert_int_equal(fchdir(before), 0);
	close(before);
	close(dir);
	view.dirfd = dir;
	assert_false(named_files_has(&view, "link"));
}

static void check_target(const struct view *view, const char *name, const char *expected)
{
	struct strbuf out cleanup_strbuf = { 0 };

	named_files_target(view, name, &out);
	assert_string_equal(strbuf_str(&out), expected);
}

/* Starts a child whose directory is @top/a, and whose descriptor 77 is the directory @top/a/b. */
static pid_t start_task(void)
{
	int pipes[2];
	char byte = 0;
	pid_t pid;

	assert_int_equal(pipe(pipes), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (chdir(own_file("/a")) == 0 && dup2(open("b", O_RDONLY), 77) == 77 &&
		    write(pipes[1], &byte, 1) == 1)
			pause();
		_exit(1);
	}
	close(pipes[1]);
	assert_int_equal(read(pipes[0], &byte, 1), 1);
	close(pipes[0]);
	return pid;
}

/* /proc/self is the task, not the process that resolves the name. */
TEST(test_the_task_itself)
{
	char expected[64];
	struct view view = { start_task(), AT_FDCWD, top, "/", false };

	assert_int_equal(symlink("/proc/self/cwd/b", own_file("/me")), 0);
	assert_int_equal(symlink("/proc/self/status", own_file("/status")), 0);
	assert_int_equal(symlink("loop", own_file("/loop")), 0);
	check_target(&view, "me", own_file("/a/b"));
	check_target(&view, "./me/../", own_file("/a"));
	check_target(&view, own_file("/me"), own_file("/a/b"));
	check_target(&view, "/proc/self/fd/77", own_file("/a/b"));
	check_target(&view, "/dev/fd/77", own_file("/a/b"));
	check_target(&view, "/proc/thread-self/root/../proc/self/cwd", own_file("/a"));
	check_target(&view, "loop", "");
	check_target(&view, "/proc/self/none", "");
	snprintf(expected, sizeof(expected), "/proc/%d/status", view.tid);
	check_target(&view, "status", expected);
	check_place(&view, "/proc/self/status", expected);
	check_target(&view, expected, expected);
	snprintf(expected, sizeof(expected), "/proc/%d/task/%d/status", view.tid, view.tid);
	check_target(&view, "/proc/thread-self/status", expected);
	check_place(&view, "/proc/self", "/proc/self");
	assert_true(named_files_has(&view, "/proc/self/fd/77"));
	assert_false(named_files_has(&view, "/proc/self/fd/78"));
	/* If the view has no root, the root is read from the task. */
	view.root = NULL;
	check_target(&view, "me", own_file("/a/b"));
	kill(view.tid, SIGKILL);
	waitpid(view.tid, NULL, 0);
	view.root = "/";
	check_target(&view, "me", "");
	unlink(own_file("/me"));
	unlink(own_file("/status"));
	unlink(own_file("/loop"));
}

/*
 * As in the kernel, a name may lead through 40 links. This is also true of names in procfs, whose
 * links named_files follows itself, one after the other.
 */
TEST(test_many_links)
{
	struct view view = { getpid(), AT_FDCWD, top, "/", false };
	char name[64];
	char target[64];
	char through[PATH_MAX + 128];

	for (int i = 0; i <= 40; i++) {
		snprintf(name, sizeof(name), "/link%d", i);
		snprintf(target, sizeof(target), i ? "link%d" : "a", i - 1);
		assert_int_equal(symlink(target, own_file(name)), 0);
	}
	for (int i = 38; i <= 40; i++) {
		snprintf(name, sizeof(name), "link%d", i);
		check_target(&view, name, i < 40 ? own_file("/a") : "");
		assert_true(named_files_has(&view, name));
		/* The links in "/proc/self/root" do not count. */
		snprintf(through, sizeof(through), "/proc/self/root%s/link%d", top, i);
		check_target(&view, through, i < 40 ? own_file("/a") : "");
		assert_true(named_files_has(&view, through));
		snprintf(name, sizeof(name), "link%d/b", i);
		assert_int_equal(named_files_has(&view, name), i < 40);
	}
	for (int i = 0; i <= 40; i++) {
		snprintf(name, sizeof(name), "/link%d", i);
		unlink(own_file(name));
	}
}

/* Each component of a path has at most 255 bytes. */
TEST(test_long_names)
{
	struct view view = { getpid(), AT_FDCWD, top, "/", false };
	char name[512] = "/";
	char through[PATH_MAX + 1024];
	int fd;

	memset(name + 1, 'x', 255);
	fd = open(own_file(name), O_CREAT | O_RDWR | O_CLOEXEC, 0600);
	assert_true(fd >= 0);
	close(fd);
	snprintf(through, sizeof(through), "/proc/self/root%s%s", top, name);
	check_target(&view, through, own_file(name));
	snprintf(through, sizeof(through), "/proc/self/root%s//%s", top, name);
	check_target(&view, through, own_file(name));
	unlink(own_file(name));
	assert_false(named_files_has(&view, through));
	snprintf(through, sizeof(through), "/proc/self/root%s%sx", top, name);
	errno = 0;
	assert_int_equal(named_files_open(&view, through), -1);
	assert_int_equal(errno, ENAMETOOLONG);
}

/* Steps up do not lead out of the root. A link at the end of a name is not always followed. */
TEST(test_steps)
{
	char root[PATH_MAX + 64];
	struct view view = { getpid(), AT_FDCWD, top, "/", false };
	char through[PATH_MAX + 128];

	check_target(&view, "/proc/self/root/../..", "/");
	snprintf(through, sizeof(through), "/proc/self/root/..%s/link/b/../inside", top);
	/* The link "inside" leads to "/b". The root has no such directory. */
	check_target(&view, through, "");
	assert_true(named_files_has(&view, through));
	snprintf(through, sizeof(through), "/proc/self/root%s/link", top);
	check_target(&view, through, own_file("/a"));
	snprintf(through, sizeof(through), "/proc/self/root%s/link/", top);
	check_target(&view, through, own_file("/a"));
	snprintf(through, sizeof(through), "/proc/self/root%s/link/none", top);
	check_target(&view, through, "");
	assert_false(named_files_has(&view, through));
	/* A name that only looks like the task's own directory. */
	snprintf(root, sizeof(root), "%s/self", top);
	assert_int_equal(mkdir(root, 0700), 0);
	check_target(&view, "self", root);
	check_target(&view, root, root);
	check_target(&view, "thread-self", "");
	rmdir(root);
	/* The name of a task that does not exist. */
	view.tid = 0x7fffffff;
	check_target(&view, "/proc/self/cwd", "");
}

/* /a is not the root of a file below /ab, although "/ab" begins with "/a". */
TEST(test_alike_roots)
{
	char root[PATH_MAX];
	struct view view = { getpid(), AT_FDCWD, own_file("/ab"), root, true };

	snprintf(root, sizeof(root), "%s", own_file("/a"));
	assert_false(named_files_has(&view, "x"));
	assert_false(named_files_has(&view, ""));
	view.base = root;
	assert_true(named_files_has(&view, ""));
	assert_true(named_files_has(&view, "b"));
	/* A link at the end of a name is not followed. In this root its target exists, too. */
	assert_true(named_files_has(&view, "inside"));
	view.root = NULL;
	assert_true(named_files_has(&view, "b"));
	assert_true(named_files_has(&view, "inside"));
}

/* A file whose name looks like that of a removed file keeps its name. */
TEST(test_removed_files)
{
	struct strbuf out cleanup_strbuf = { 0 };
	struct view view = { getpid(), AT_FDCWD, top, "/", true };
	int fd = open(own_file("/a (deleted)"), O_CREAT | O_RDWR | O_CLOEXEC, 0600);

	named_files_target(&view, "a (deleted)", &out);
	assert_string_equal(strbuf_str(&out), own_file("/a (deleted)"));
	unlink(own_file("/a (deleted)"));
	close(fd);
}

TEST(test_names_as_given)
{
	static const struct {
		const char *base;
		const char *name;
		const char *given;
	} rows[] = {
		{ "/base", "x", "/base/x" },
		{ "/base", "", "/base" },
		{ "/", "x", "/x" },
		{ "/base/", "x", "/base/x" },
		{ "/base", "/x", "/x" },
		{ "", "x", "x" },
		{ "", "", "" },
		{ "/base", "../x", "/base/../x" },
	};
	struct strbuf out cleanup_strbuf = { 0 };

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct view view = { getpid(), AT_FDCWD, rows[i].base, "/", false };

		named_files_given(&view, rows[i].name, &out);
		assert_string_equal(strbuf_str(&out), rows[i].given);
	}
}

TEST(test_too_late)
{
	struct view view = { getpid(), AT_FDCWD, top, "/", true };
	char gone[PATH_MAX + 64];

	check_place(&view, "link/none/x", own_file("/a/none/x"));
	check_place(&view, "link/none//deep/x", own_file("/a/none/deep/x"));
	check_place(&view, "none/x", own_file("/none/x"));
	check_place(&view, "./none/././deep/./x", own_file("/none/deep/x"));
	check_place(&view, own_file("/link/none/x"), own_file("/a/none/x"));
	check_place(&view, "/none/x", "/none/x");
	check_place(&view, "../x", "/tmp/x");
	check_place(&view, ".././..//../x", "/x");
	check_place(&view, "./x", own_file("/x"));
	snprintf(gone, sizeof(gone), "%s/none", top);
	view.base = gone;
	check_place(&view, "../none/x", own_file("/none/x"));
	check_place(&view, ".././none/x", own_file("/none/x"));
	check_place(&view, "./../none/x", own_file("/none/x"));
	check_place(&view, ".none/x", own_file("/none/.none/x"));
	check_place(&view, "..none/x", own_file("/none/..none/x"));
	check_place(&view, "..", own_file("/none/.."));
	view.root = view.base;
	check_place(&view, "../x", own_file("/none/x"));
	view.root = "/";
	view.base = top;
	/* The place of the name is unknown, so no part of it is resolved. */
	check_place(&view, "link/none/../x", own_file("/link/none/../x"));
	view.base = "";
	check_place(&view, "none/x", "none/x");
}

TEST_GROUP(begin, end)
