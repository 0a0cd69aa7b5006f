/* Starts the program to record (see launch.h). */
#include "cmds/record/run/launch.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/personality.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cmds/record/base/peer.h"
#include "cmds/record/proc/filter.h"
#include "config.h"
#include "utils/base/cleanup.h"
#include "utils/base/containers/strbuf.h"
#include "utils/format/probe/control.h"

static int check_executable(const char *path)
{
	struct stat st;

	if (stat(path, &st) < 0)
		return -errno;
	if (S_ISDIR(st.st_mode))
		return -EISDIR;
	return access(path, X_OK) < 0 ? -errno : 0;
}

static int find_in_path(const char *name, char *path)
{
	const char *dirs = getenv("PATH");
	int ret = -ENOENT;

	while (dirs && *dirs) {
		size_t len = strcspn(dirs, ":");
		const char *dir = len ? dirs : ".";
		int n = snprintf(path, PATH_MAX, "%.*s/%s", len ? (int)len : 1, dir, name);

		if (n < PATH_MAX) {
			int found = check_executable(path);

			if (found == 0)
				return 0;
			if (found == -EACCES)
				ret = found;
		}
		dirs += len;
		dirs += *dirs == ':';
	}
	return ret;
}

/* Finds an executable file @name. Searches the working directory before $PATH, as uftrace does. */
static int find_here_or_in_path(const char *name, char *path)
{
	int here = snprintf(path, PATH_MAX, "./%s", name) < PATH_MAX ? check_executable(path)
								     : -ENAMETOOLONG;

	if (here == 0 || here == -ENAMETOOLONG)
		return here;

	int found = find_in_path(name, path);

	return found == -ENOENT && here == -EACCES ? here : found;
}

static bool lacks_mode(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISREG(st.st_mode) && !(st.st_mode & 0111);
}

int launch_find_program(const char *name, char *path, struct uft_err *err)
{
	bool has_slash = strchr(name, '/');
	int ret;

	if (has_slash) {
		ret = strlen(name) < PATH_MAX ? check_executable(name) : -ENAMETOOLONG;
		if (ret == 0)
			strcpy(path, name);
	} else {
		ret = *name ? find_here_or_in_path(name, path) : -ENOENT;
	}
	if (ret == -ENOENT && !has_slash)
		return err_set(err, ret,
			       "cannot trace '%s': there is no such program here or in $PATH",
			       name);
	if (ret == -EACCES && lacks_mode(name))
		return err_set(
			err, ret,
			"cannot trace '%s': it is not executable: a source is to be compiled "
			"first, a program needs 'chmod +x'",
			name);
	if (ret < 0)
		return err_set_errno(err, ret, "cannot trace '%s'", name);
	return 0;
}

bool launch_is_command(const char *name)
{
	char path[PATH_MAX];

	return (strchr(name, '/') ? check_executable(name) : find_in_path(name, path)) == 0;
}

/* Sets @path to "@dir/@below@name". Returns false when this file cannot be read. */
static bool is_library(char *path, const char *dir, const char *below, const char *name)
{
	return snprintf(path, PATH_MAX, "%s/%s%s", dir, below, name) < PATH_MAX &&
	       access(path, R_OK) == 0;
}

int launch_find_library(const char *dir, const char *name, char *path, struct uft_err *err)
{
	char self[PATH_MAX];
	ssize_t len = readlink("/proc/self/exe", self, sizeof(self) - 1);
	char *slash;

	if (dir) {
		if (is_library(path, dir, "", name) || is_library(path, dir, "libmcount/", name))
			return 0;
		return err_set(err, -ENOENT, "cannot find '%s' in '%s' (--libmcount-path)", name,
			       dir);
	}

	self[len < 0 ? 0 : len] = '\0';
	slash = strrchr(self, '/');
	if (slash) {
		*slash = '\0';
		if (is_library(path, self, "libmcount/", name) ||
		    is_library(path, self, "../" UTRAIL_LIBDIR_NAME "/utrail/", name))
			return 0;
	}
	if (is_library(path, UTRAIL_LIBDIR, "utrail/", name))
		return 0;
	return err_set(err, -ENOENT, "cannot find '%s': say where it is with --libmcount-path",
		       name);
}

/* Returns the strings of @environ and the probe's variables, or NULL when memory is short. */
static char **make_environment(const struct launch *launch, struct strbuf *preload,
			       struct strbuf *socket)
{
	const char *others = getenv("LD_PRELOAD");
	size_t nr = 0;

	if (launch->preload)
		strbuf_addf(preload, "LD_PRELOAD=%s", launch->preload);
	if (launch->preload && others && *others)
		strbuf_addf(preload, ":%s", others);
	if (launch->address)
		strbuf_addf(socket, CONTROL_ENV_SOCKET "=%s:%0*u", launch->address,
			    CONTROL_FILTERS_DIGITS, peer_own_filters() + (launch->filter != NULL));
	while (environ[nr])
		nr++;

	char **env = calloc(nr + 4, sizeof(*env));
	size_t used = 0;

	if (!env || strbuf_oom(preload) || strbuf_oom(socket)) {
		free(env);
		return NULL;
	}
	for (size_t i = 0; i < nr; i++) {
		if ((!launch->preload || strncmp(environ[i], "LD_PRELOAD=", 11) != 0) &&
		    strncmp(environ[i], CONTROL_ENV_SOCKET "=", sizeof(CONTROL_ENV_SOCKET)) != 0)
			env[used++] = environ[i];
	}
	if (launch->preload)
		env[used++] = preload->data;
	if (launch->address)
		env[used++] = socket->data;
	if (launch->no_binding)
		env[used++] = "LD_BIND_NOT=1";
	return env;
}

/* Executes the program in this process. Makes only async-signal-safe calls. */
NORETURN static void execute(const struct launch *launch, char **env, int report_fd)
{
	int failure;

	sigprocmask(SIG_SETMASK, &launch->mask, NULL);
	setrlimit(RLIMIT_FSIZE, &launch->file_size);
	if (launch->ignores_children)
		signal(SIGCHLD, SIG_IGN);
	setrlimit(RLIMIT_NOFILE, &launch->file_number);
	if (launch->fixed_addresses)
		personality(personality(0xffffffff) | ADDR_NO_RANDOMIZE);
	/* A negative number reports a failure that has happened before execve(2). */
	failure = launch->filter ? proc_filter_install(launch->filter) : 0;
	if (failure == 0) {
		execve(launch->path, launch->argv, env);
		failure = errno;
	}
	if (write(report_fd, &failure, sizeof(failure)) < 0)
		_exit(126);
	_exit(127);
}

/* The pipes between the recorder and the process that becomes the program (see struct launched). */
struct pipes {
	int go[2];
	int report[2];
};

static int open_pipes(struct pipes *pipes)
{
	*pipes = (struct pipes){ { -1, -1 }, { -1, -1 } };
	return pipe2(pipes->go, O_CLOEXEC) < 0 || pipe2(pipes->report, O_CLOEXEC) < 0 ? -errno : 0;
}

/*
 * Called in the recorder. Keeps the recorder's ends of the pipes, and closes the other ends. If
 * @ret is an error, closes all ends.
 */
static int keep_ends(const struct launch *launch, struct pipes *pipes, int ret,
		     struct launched *child, struct uft_err *err)
{
	cleanup_fd_fn(&pipes->go[0]);
	cleanup_fd_fn(&pipes->report[1]);
	if (ret < 0) {
		cleanup_fd_fn(&pipes->go[1]);
		cleanup_fd_fn(&pipes->report[0]);
		return err_set_errno(err, ret, "cannot run '%s'", launch->path);
	}
	child->go = pipes->go[1];
	child->report = pipes->report[0];
	return 0;
}

/* In the child after fork: waits, and executes the program. All calls are async-signal-safe. */
NORETURN static void become_program(const struct launch *launch, char **env, int go_fd,
				    int report_fd)
{
	char byte;

	/*
	 * The recorder closes its end of this pipe when the program may start. If the recorder
	 * dies, the kernel closes that end, and the program runs unrecorded.
	 */
	while (read(go_fd, &byte, 1) < 0 && errno == EINTR)
		;
	execute(launch, env, report_fd);
}

/* The recorder's message to the process that will become the program. */
struct release {
	char address[CONTROL_ADDRESS_SIZE];
};

NORETURN static void wait_for_release(const struct launch *launch, int go_fd, int report_fd)
{
	struct strbuf preload = { 0 };
	struct strbuf socket = { 0 };
	struct launch with_address = *launch;
	struct release release;
	ssize_t n;

	do {
		n = read(go_fd, &release, sizeof(release));
	} while (n < 0 && errno == EINTR);
	if (n != sizeof(release))
		_exit(1); /* the recorder has printed the error */
	with_address.address = release.address;

	char **env = make_environment(&with_address, &preload, &socket);

	if (!env)
		_exit(1);
	execute(&with_address, env, report_fd);
}

int launch_fork_away(void)
{
	int status = 0;
	pid_t pid = fork();

	if (pid < 0)
		return -errno;
	if (pid == 0) {
		pid = fork();
		if (pid != 0)
			_exit(pid < 0);
		return 1;
	}
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? 0 : -EAGAIN;
}

int launch_change_places(const struct launch *launch, struct launched *program, struct uft_err *err)
{
	struct pipes pipes;
	int ret = open_pipes(&pipes);

	program->pid = getpid();
	if (ret == 0)
		ret = launch_fork_away();
	if (ret == 0) {
		close(pipes.go[1]);
		close(pipes.report[0]);
		wait_for_release(launch, pipes.go[0], pipes.report[1]);
	}
	return keep_ends(launch, &pipes, ret, program, err);
}

static int await_program(const struct launch *launch, struct launched *child, struct uft_err *err)
{
	int failure = 0;
	ssize_t n;

	/*
	 * When the program is executed, the kernel closes the pipe. If the program cannot be
	 * executed, the error comes through the pipe.
	 */
	do {
		n = read(child->report, &failure, sizeof(failure));
	} while (n < 0 && errno == EINTR);
	close(child->report);
	if (n == sizeof(failure) && failure < 0)
		return err_set_errno(err, failure, PROC_FILTER_WHY);
	return n == sizeof(failure) ? err_set_errno(err, -failure, "cannot run '%s'", launch->path)
				    : 0;
}

int launch_release(const struct launch *launch, struct launched *program, struct uft_err *err)
{
	struct release release = { 0 };

	snprintf(release.address, sizeof(release.address), "%s", launch->address);

	/* The process that waits for @release may be dead. So SIGPIPE is ignored during write(). */
	struct sigaction ignore = { .sa_handler = SIG_IGN }, before;

	sigaction(SIGPIPE, &ignore, &before);

	ssize_t n = write(program->go, &release, sizeof(release));

	sigaction(SIGPIPE, &before, NULL);
	close(program->go);
	if (n != sizeof(release))
		return err_set_errno(err, -EPIPE, "cannot run '%s'", launch->path);
	return await_program(launch, program, err);
}

int launch_prepare(const struct launch *launch, struct launched *child, struct uft_err *err)
{
	struct strbuf preload cleanup_strbuf = { 0 };
	struct strbuf socket cleanup_strbuf = { 0 };
	char **env cleanup_free = make_environment(launch, &preload, &socket);
	struct pipes pipes;

	if (!env)
		return err_set_errno(err, -ENOMEM, "cannot run '%s'", launch->path);
	int ret = open_pipes(&pipes);

	if (ret == 0) {
		child->pid = fork();
		if (child->pid == 0) {
			close(pipes.go[1]);
			become_program(launch, env, pipes.go[0], pipes.report[1]);
		}
		if (child->pid < 0)
			ret = -errno;
	}
	return keep_ends(launch, &pipes, ret, child, err);
}

int launch_go(const struct launch *launch, struct launched *child, struct uft_err *err)
{
	close(child->go);

	int ret = await_program(launch, child, err);

	if (ret < 0)
		waitpid(child->pid, NULL, 0);
	return ret;
}
