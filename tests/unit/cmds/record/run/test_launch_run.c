/*
 * Launched programs: their environment, the time of their start, and the errors when they cannot
 * start.
 */
#include "tests/unit/lib/unit.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cmds/record/run/launch.h"
#include "utils/base/containers/strbuf.h"
#include "utils/format/probe/control.h"

static char dir[64];
static struct launch launch;

static int setup(void **state)
{
	strcpy(dir, "/tmp/utrail-launched.XXXXXX");
	assert_non_null(mkdtemp(dir));
	launch = (struct launch){ .path = "/bin/sh" };
	sigemptyset(&launch.mask);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &launch.file_size), 0);
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &launch.file_number), 0);
	unsetenv("LD_PRELOAD");
	unsetenv(CONTROL_ENV_SOCKET);
	return chdir(dir);
}

static int teardown(void **state)
{
	unlink("out");
	unsetenv("LD_PRELOAD");
	unsetenv(CONTROL_ENV_SOCKET);
	assert_int_equal(chdir("/"), 0);
	return rmdir(dir);
}

static unsigned count_fds(void)
{
	unsigned nr = 0;

	for (int fd = 0; fd < 256; fd++)
		nr += fcntl(fd, F_GETFD) >= 0;
	return nr;
}

/* Returns the output of the shell commands @text. */
static const char *printed(const char *text)
{
	static char out[1024];
	struct strbuf command cleanup_strbuf = { 0 };
	struct launched child;
	unsigned before = count_fds();
	int status, fd;
	ssize_t n;

	strbuf_addf(&command, "exec > out; %s", text);
	launch.argv = (char *[]){ "sh", "-c", (char *)strbuf_str(&command), NULL };
	assert_int_equal(launch_prepare(&launch, &child, NULL), 0);
	/* The program still waits, and has written nothing. */
	assert_int_equal(access("out", F_OK), -1);
	assert_int_equal(waitpid(child.pid, &status, WNOHANG), 0);
	assert_int_equal(launch_go(&launch, &child, NULL), 0);
	assert_int_equal(waitpid(child.pid, &status, 0), child.pid);
	assert_int_equal(status, 0);
	assert_int_equal(count_fds(), before);
	fd = open("out", O_RDONLY);
	assert_true(fd >= 0);
	n = read(fd, out, sizeof(out) - 1);
	assert_true(n >= 0);
	out[n] = '\0';
	close(fd);
	unlink("out");
	return out;
}

#define ENVIRONMENT "echo \"$LD_PRELOAD|$" CONTROL_ENV_SOCKET "|$LD_BIND_NOT|$HOME_OF_TEST\""

/*
 * The probe comes first in LD_PRELOAD; libraries of others follow. The address of another recorder
 * is removed.
 */
TEST_WITH(environment, setup, teardown)
{
	setenv("HOME_OF_TEST", "here", 1);
	assert_string_equal(printed(ENVIRONMENT), "|||here\n");
	launch.address = "@address";
	assert_string_equal(printed(ENVIRONMENT), "|@address:00000||here\n");
	setenv(CONTROL_ENV_SOCKET, "@another", 1);
	launch.no_binding = true;
	assert_string_equal(printed(ENVIRONMENT), "|@address:00000|1|here\n");
	assert_string_equal(printed("env | grep -c " CONTROL_ENV_SOCKET), "1\n");
	launch.no_binding = false;
	launch.preload = "libm.so.6";
	assert_string_equal(printed(ENVIRONMENT), "libm.so.6|@address:00000||here\n");
	setenv("LD_PRELOAD", "", 1);
	assert_string_equal(printed(ENVIRONMENT), "libm.so.6|@address:00000||here\n");
	setenv("LD_PRELOAD", "libdl.so.2", 1);
	assert_string_equal(printed(ENVIRONMENT), "libm.so.6:libdl.so.2|@address:00000||here\n");
	assert_string_equal(printed("env | grep -c LD_PRELOAD"), "1\n");
	/* Without a probe the program keeps its own LD_PRELOAD. */
	launch.preload = NULL;
	launch.address = NULL;
	assert_string_equal(printed(ENVIRONMENT), "libdl.so.2|||here\n");
	unsetenv("HOME_OF_TEST");
}

/* The program gets the limits that it would have had without utrail. */
TEST_WITH(limits, setup, teardown)
{
	launch.file_number.rlim_cur = 77;
	launch.file_size.rlim_cur = 512 * 1000;
	assert_string_equal(printed("ulimit -n; ulimit -f"), "77\n1000\n");
}

/*
 * Returns the value after @key in the /proc/PID/status of a launched cp(1). A shell would change
 * some of these values.
 */
static uint64_t status_of(const char *key)
{
	struct launched child;
	char line[256];
	uint64_t value = 0;
	int status;
	FILE *file;

	launch.path = "/bin/cp";
	launch.argv = (char *[]){ "cp", "/proc/self/status", "out", NULL };
	assert_int_equal(launch_prepare(&launch, &child, NULL), 0);
	assert_int_equal(launch_go(&launch, &child, NULL), 0);
	assert_int_equal(waitpid(child.pid, &status, 0), child.pid);
	assert_int_equal(status, 0);
	file = fopen("out", "re");
	assert_non_null(file);
	while (fgets(line, sizeof(line), file)) {
		if (strncmp(line, key, strlen(key)) == 0)
			value = strtoull(line + strlen(key) + 1, NULL, 16);
	}
	fclose(file);
	unlink("out");
	return value;
}

TEST_WITH(signals, setup, teardown)
{
	sigaddset(&launch.mask, SIGUSR2);
	assert_int_equal(status_of("SigBlk"), 1ULL << (SIGUSR2 - 1));
	sigemptyset(&launch.mask);
	assert_int_equal(status_of("SigBlk"), 0);
}

TEST_WITH(fixed_addresses, setup, teardown)
{
	int had;

	sscanf(printed("cat /proc/self/personality"), "%x", (unsigned *)&had);
	launch.fixed_addresses = true;
	assert_int_equal(strtol(printed("cat /proc/self/personality"), NULL, 16), had | 0x0040000);
}

/* SIGCHLD is ignored in the program if it was ignored when utrail started. */
TEST_WITH(children, setup, teardown)
{
	launch.ignores_children = true;
	assert_int_equal(status_of("SigIgn") >> (SIGCHLD - 1) & 1, 1);
	launch.ignores_children = false;
	assert_int_equal(status_of("SigIgn") >> (SIGCHLD - 1) & 1, 0);
}

/* The process is gone when the error is reported. */
TEST_WITH(cannot_be_executed, setup, teardown)
{
	struct uft_err err = { 0 };
	struct launched child;
	unsigned before = count_fds();

	launch.path = "/tmp/utrail-no-such-program";
	launch.argv = (char *[]){ "no", NULL };
	assert_int_equal(launch_prepare(&launch, &child, NULL), 0);
	assert_int_equal(launch_go(&launch, &child, &err), -ENOENT);
	assert_string_equal(err.text,
			    "cannot run '/tmp/utrail-no-such-program': No such file or directory");
	assert_int_equal(waitpid(child.pid, NULL, WNOHANG), -1);
	assert_int_equal(errno, ECHILD);
	assert_int_equal(count_fds(), before);
}

/* The forked process is no child of the caller, so its wait(2) does not return it. */
TEST_WITH(forked_away, setup, teardown)
{
	int fds[2];
	pid_t parent = 0;

	assert_int_equal(pipe(fds), 0);
	if (launch_fork_away() == 1) {
		parent = getppid();
		_exit(write(fds[1], &parent, sizeof(parent)) != sizeof(parent));
	}
	close(fds[1]);
	assert_int_equal(read(fds[0], &parent, sizeof(parent)), sizeof(parent));
	assert_int_not_equal(parent, getpid());
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
	close(fds[0]);
}

/*
 * --keep-pid: the calling process becomes the program, which keeps its number; the other one
 * becomes the recorder.
 */
TEST_WITH(places_are_changed, setup, teardown)
{
	pid_t pid = fork();
	char expected[64];
	char out[64] = "";
	int status, fd;

	if (pid == 0) {
		struct launched program;

		launch.argv = (char *[]){ "sh", "-c",
					  "echo $$ $" CONTROL_ENV_SOCKET " > out; exit 5", NULL };
		if (launch_change_places(&launch, &program, NULL) < 0)
			_exit(2);
		/* From here on, this process is the recorder. The process of @program waits. */
		if (program.pid != getppid() && program.pid == getpid())
			_exit(3);
		launch.address = "@mine";
		_exit(launch_release(&launch, &program, NULL) == 0 ? 0 : 4);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 5);
	fd = open("out", O_RDONLY);
	assert_true(fd >= 0 && read(fd, out, sizeof(out) - 1) > 0);
	close(fd);
	snprintf(expected, sizeof(expected), "%d @mine:00000\n", pid);
	assert_string_equal(out, expected);
}

/* When the recorder ends before it has released the program, the program does not run. */
TEST_WITH(no_recorder, setup, teardown)
{
	pid_t pid = fork();
	int status;

	if (pid == 0) {
		struct launched program;

		launch.argv = (char *[]){ "sh", "-c", "exit 5", NULL };
		_exit(launch_change_places(&launch, &program, NULL) < 0 ? 2 : 0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 1);
}

/* Another process has killed the program while it waited. */
TEST_WITH(no_program, setup, teardown)
{
	int go[2], report[2];
	struct launched program = { 0 };
	struct uft_err err = { 0 };

	assert_true(pipe(go) == 0 && pipe(report) == 0);
	close(go[0]);
	close(report[1]);
	program.go = go[1];
	program.report = report[0];
	launch.address = "@mine";
	assert_int_equal(launch_release(&launch, &program, &err), -EPIPE);
	assert_string_equal(err.text, "cannot run '/bin/sh': Broken pipe");
	close(report[0]);
}

/* Descriptors are left for no pipe, or for one pipe. */
TEST_WITH(without_descriptors, setup, teardown)
{
	struct rlimit before;

	assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
	launch.argv = (char *[]){ "sh", "-c", "exit 5", NULL };
	for (int room = 0; room <= 2; room++) {
		struct uft_err errs[2] = { 0 };
		struct launched child = { 0 };
		unsigned nr = count_fds();
		int first = dup(0);
		struct rlimit few = { first + room, before.rlim_max };
		int ret[2];

		close(first);
		assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
		ret[0] = launch_prepare(&launch, &child, &errs[0]);
		ret[1] = launch_change_places(&launch, &child, &errs[1]);
		assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
		for (int i = 0; i < 2; i++) {
			assert_int_equal(ret[i], -EMFILE);
			assert_string_equal(errs[i].text,
					    "cannot run '/bin/sh': Too many open files");
		}
		assert_int_equal(count_fds(), nr);
		assert_true(fcntl(0, F_GETFD) >= 0 && fcntl(1, F_GETFD) >= 0);
	}
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
}

/* --- the probe's file --- */

TEST_WITH(libraries, setup, teardown)
{
	struct uft_err err = { 0 };
	char path[PATH_MAX];
	char expected[PATH_MAX];
	int fd;

	assert_int_equal(launch_find_library(dir, "probe.so", path, &err), -ENOENT);
	snprintf(expected, sizeof(expected), "cannot find 'probe.so' in '%s' (--libmcount-path)",
		 dir);
	assert_string_equal(err.text, expected);
	assert_int_equal(mkdir("libmcount", 0755), 0);
	fd = open("libmcount/probe.so", O_CREAT | O_WRONLY, 0644);
	close(fd);
	assert_int_equal(launch_find_library(dir, "probe.so", path, NULL), 0);
	snprintf(expected, sizeof(expected), "%s/libmcount/probe.so", dir);
	assert_string_equal(path, expected);
	fd = open("probe.so", O_CREAT | O_WRONLY, 0644);
	close(fd);
	assert_int_equal(launch_find_library(dir, "probe.so", path, NULL), 0);
	snprintf(expected, sizeof(expected), "%s/probe.so", dir);
	assert_string_equal(path, expected);
	unlink("probe.so");
	unlink("libmcount/probe.so");
	rmdir("libmcount");
	err_clear(&err);
	assert_int_equal(launch_find_library(NULL, "no-such-probe.so", path, &err), -ENOENT);
	assert_string_equal(err.text, "cannot find 'no-such-probe.so': say where it is with "
				      "--libmcount-path");
}
