/*
 * Environments that a traced program passes to execve(). They arrive completely, with the variables
 * by which the new program is traced.
 */
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "libmcount/program/exec.h"
#include "libmcount/hot/probe.h"
#include "tests/unit/lib/unit.h"
#include "utils/format/probe/control.h"

/* Any library that can be loaded may play the probe. */
#define US	"libm.so.6"
#define PRELOAD "LD_PRELOAD=" US
#define SOCKET	CONTROL_ENV_SOCKET "=recorder:secret"

static char *const argv[] = { "env", NULL };
static const char env_path[] = "/usr/bin/env";

static void by_execve(char *const envp[])
{
	execve(env_path, argv, envp);
}

static void by_execvpe(char *const envp[])
{
	execvpe("env", argv, envp);
}

static void by_fexecve(char *const envp[])
{
	fexecve(open(env_path, O_RDONLY | O_CLOEXEC), argv, envp);
}

static void end_as(pid_t pid)
{
	int status = 1;

	waitpid(pid, &status, 0);
	_exit(status != 0);
}

static void by_posix_spawn(char *const envp[])
{
	pid_t pid;

	if (posix_spawn(&pid, env_path, NULL, NULL, argv, envp) == 0)
		end_as(pid);
}

static void by_posix_spawnp(char *const envp[])
{
	pid_t pid;

	if (posix_spawnp(&pid, "env", NULL, NULL, argv, envp) == 0)
		end_as(pid);
}

/* Check the environment that env(1) prints. */
static void check(void (*how)(char *const envp[]), char *const envp[], const char *expected)
{
	static char said[65536];
	size_t len = 0;
	ssize_t n;
	int status;
	int out[2];

	assert_int_equal(pipe(out), 0);

	pid_t pid = fork();

	if (pid == 0) {
		dup2(out[1], STDOUT_FILENO);
		close(out[0]);
		close(out[1]);
		how(envp);
		_exit(99);
	}
	close(out[1]);
	while ((n = read(out[0], said + len, sizeof(said) - 1 - len)) > 0)
		len += n;
	close(out[0]);
	said[len] = '\0';
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	assert_string_equal(said, expected);
}

static int setup(void **state)
{
	setenv("LD_PRELOAD", US ":libdl.so.2", 1);
	probe = (struct probe){ .address = "recorder:secret", .ready = true };
	exec_setup();
	unsetenv("LD_PRELOAD");
	return 0;
}

static int teardown(void **state)
{
	probe = (struct probe){ 0 };
	return 0;
}

TEST_WITH(in_each_way, setup, teardown)
{
	static void (*const ways[])(char *const envp[]) = { by_execve, by_execvpe, by_fexecve,
							    by_posix_spawn, by_posix_spawnp };
	char *envp[] = { "A=B", "C=", NULL };

	for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++)
		check(ways[i], envp, "A=B\nC=\n" PRELOAD "\n" SOCKET "\n");
}

/* Libraries that the program preloads stay, after the probe. None is listed twice. */
TEST_WITH(what_it_preloads, setup, teardown)
{
	char *others[] = { "LD_PRELOAD=libdl.so.2", "A=B", NULL };
	char *nothing[] = { "LD_PRELOAD=", "A=B", NULL };
	char *ours[] = { SOCKET, "LD_PRELOAD=libdl.so.2:" US, "A=B", NULL };

	check(by_execve, others, "A=B\n" PRELOAD ":libdl.so.2\n" SOCKET "\n");
	check(by_execve, nothing, "A=B\n" PRELOAD "\n" SOCKET "\n");
	check(by_execve, ours, "A=B\nLD_PRELOAD=libdl.so.2:" US "\n" SOCKET "\n");
}

/* The variables are added on the caller's stack, so there is a limit. */
TEST_WITH(large_environments, setup, teardown)
{
	static char expected[65536];
	static char others[4200];
	char **envp = calloc(4099, sizeof(*envp));
	char *with_others[] = { "A=B", others, NULL };
	char *at = expected;

	assert_non_null(envp);
	for (int i = 0; i < 4096; i++) {
		envp[i] = "A=B";
		at = stpcpy(at, "A=B\n");
	}
	strcpy(at, PRELOAD "\n" SOCKET "\n");
	check(by_execve, envp, expected);
	envp[4096] = "A=B";
	strcpy(at, "A=B\n");
	check(by_execve, envp, expected);
	free(envp);

	/*
	 * The whole variable, with its name, has 4096 bytes, and then one more. It lists empty
	 * names, which stand for no library.
	 */
	strcpy(others, "LD_PRELOAD=libdl.so.2");
	memset(others + strlen(others), ':', 4096 - strlen(others));
	snprintf(expected, sizeof(expected), "A=B\n" PRELOAD ":%s\n" SOCKET "\n", others + 11);
	check(by_execve, with_others, expected);
	strcat(others, ":");
	snprintf(expected, sizeof(expected), "A=B\n%s\n", others);
	check(by_execve, with_others, expected);
}

TEST_WITH(no_environment, setup, teardown)
{
	char *none[] = { NULL };

	check(by_execve, none, PRELOAD "\n" SOCKET "\n");
	check(by_execve, NULL, PRELOAD "\n" SOCKET "\n");
}

/*
 * In LD_PRELOAD, the name of the library ends at a blank or at a colon. UTRAIL_SOCKET tells an
 * executed program the number of system call filters that it begins with.
 */
TEST_WITH(names_of_the_library_and_counts_of_filters, setup, teardown)
{
	static const char *const lists[] = { US " libdl.so.2", US ":libdl.so.2", US };
	char *envp[] = { "A=B", NULL };

	for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++) {
		setenv("LD_PRELOAD", lists[i], 1);
		exec_setup();
		unsetenv("LD_PRELOAD");
		check(by_execve, envp, "A=B\n" PRELOAD "\n" SOCKET "\n");
	}
	setenv("LD_PRELOAD", US, 1);
	strcpy(probe.address, "recorder:secret:00009");
	exec_setup();
	unsetenv("LD_PRELOAD");
	exec_expect_filter();
	check(by_execve, envp, "A=B\n" PRELOAD "\n" SOCKET ":00010\n");
}

/* The probe's functions return the errors of libc's functions. */
TEST_WITH(programs_that_are_not_there, setup, teardown)
{
	char *envp[] = { "A=B", NULL };
	pid_t pid;

	errno = 0;
	assert_int_equal(execve("/no/such/program", argv, envp), -1);
	assert_int_equal(errno, ENOENT);
	errno = 0;
	assert_int_equal(execvpe("no-such-program", argv, envp), -1);
	assert_int_equal(errno, ENOENT);
	errno = 0;
	assert_int_equal(fexecve(-1, argv, envp), -1);
	assert_true(errno == EINVAL || errno == EBADF);
	assert_int_equal(posix_spawn(&pid, "/no/such/program", NULL, NULL, argv, envp), ENOENT);
	assert_int_equal(posix_spawnp(&pid, "no-such-program", NULL, NULL, argv, envp), ENOENT);
}

/* A variable whose name only begins like one of utrail's belongs to the program. */
TEST_WITH(similar_names, setup, teardown)
{
	char *envp[] = { "LD_PRELOADED=x", CONTROL_ENV_SOCKET "S=y", NULL };

	check(by_execve, envp,
	      "LD_PRELOADED=x\n" CONTROL_ENV_SOCKET "S=y\n" PRELOAD "\n" SOCKET "\n");
}

/*
 * The environment does not change when the traced program is a recorder itself, has removed a
 * variable from its own environment, or is not recorded any more.
 */
TEST_WITH(what_is_left_alone, setup, teardown)
{
	char *of_another[] = { "A=B", CONTROL_ENV_SOCKET "=another:secret", NULL };
	char *envp[] = { "A=B", NULL };

	check(by_execve, of_another, "A=B\n" CONTROL_ENV_SOCKET "=another:secret\n");
	clearenv();
	setenv("OWN", "1", 1);
	check(by_execve, environ, "OWN=1\n");
	probe.ready = false;
	check(by_execve, envp, "A=B\n");
}
