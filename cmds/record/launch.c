/* Starting the program that is to be recorded (see launch.h). */
#include "cmds/record/launch.h"

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

#include "config.h"
#include "utils/base/cleanup.h"
#include "utils/base/strbuf.h"
#include "utils/format/control.h"

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

int launch_find_program(const char *name, char *path, struct uft_err *err)
{
	int ret;

	if (strchr(name, '/')) {
		ret = strlen(name) < PATH_MAX ? check_executable(name) : -ENAMETOOLONG;
		if (ret == 0)
			strcpy(path, name);
	} else {
		ret = find_in_path(name, path);
	}
	if (ret == -ENOENT && !strchr(name, '/'))
		return err_set(err, ret, "cannot trace '%s': no such program in $PATH", name);
	if (ret < 0)
		return err_set_errno(err, ret, "cannot trace '%s'", name);
	return 0;
}

int launch_find_library(const char *dir, const char *name, char *path, struct uft_err *err)
{
	char self[PATH_MAX];
	ssize_t len = readlink("/proc/self/exe", self, sizeof(self) - 1);
	char *slash;

	if (dir) {
		if (snprintf(path, PATH_MAX, "%s/%s", dir, name) < PATH_MAX &&
		    access(path, R_OK) == 0)
			return 0;
		if (snprintf(path, PATH_MAX, "%s/libmcount/%s", dir, name) < PATH_MAX &&
		    access(path, R_OK) == 0)
			return 0;
		return err_set(err, -ENOENT, "cannot find '%s' in '%s' (--libmcount-path)", name,
			       dir);
	}

	self[len < 0 ? 0 : len] = '\0';
	slash = strrchr(self, '/');
	if (slash) {
		static const char *const places[] = { "libmcount",
						      "../" UTRAIL_LIBDIR_NAME "/utrail" };

		*slash = '\0';
		for (size_t i = 0; i < ARRAY_SIZE(places); i++) {
			if (snprintf(path, PATH_MAX, "%s/%s/%s", self, places[i], name) <
				    PATH_MAX &&
			    access(path, R_OK) == 0)
				return 0;
		}
	}
	snprintf(path, PATH_MAX, "%s/%s", UTRAIL_LIBDIR "/utrail", name);
	if (access(path, R_OK) == 0)
		return 0;
	return err_set(err, -ENOENT, "cannot find '%s': say where it is with --libmcount-path",
		       name);
}

/* @environ with our variables on top; the strings of the old one are shared. NULL without memory. */
static char **make_environment(const struct launch *launch, struct strbuf *preload,
			       struct strbuf *socket)
{
	const char *others = getenv("LD_PRELOAD");
	size_t nr = 0;

	strbuf_addf(preload, "LD_PRELOAD=%s", launch->preload);
	if (others && *others)
		strbuf_addf(preload, ":%s", others);
	if (launch->socket_name)
		strbuf_addf(socket, CONTROL_ENV_SOCKET "=%s", launch->socket_name);
	while (environ[nr])
		nr++;

	char **env = calloc(nr + 4, sizeof(*env));
	size_t used = 0;

	if (!env || strbuf_oom(preload) || strbuf_oom(socket)) {
		free(env);
		return NULL;
	}
	for (size_t i = 0; i < nr; i++) {
		if (strncmp(environ[i], "LD_PRELOAD=", 11) != 0 &&
		    strncmp(environ[i], CONTROL_ENV_SOCKET "=", sizeof(CONTROL_ENV_SOCKET)) != 0)
			env[used++] = environ[i];
	}
	env[used++] = preload->data;
	if (launch->socket_name)
		env[used++] = socket->data;
	if (launch->no_binding)
		env[used++] = "LD_BIND_NOT=1";
	return env;
}

/* In the child, between fork and exec: only what is async-signal-safe. */
NORETURN static void become_program(const struct launch *launch, char **env, int go_fd,
				    int report_fd)
{
	char byte;
	int failure;

	/* End of file means go; so does a recorder that has died, and then the program runs alone. */
	while (read(go_fd, &byte, 1) < 0 && errno == EINTR)
		;
	sigprocmask(SIG_SETMASK, &launch->mask, NULL);
	if (launch->fixed_addresses)
		personality(personality(0xffffffff) | ADDR_NO_RANDOMIZE);
	execve(launch->path, launch->argv, env);
	failure = errno;
	if (write(report_fd, &failure, sizeof(failure)) < 0)
		_exit(126);
	_exit(127);
}

int launch_prepare(const struct launch *launch, struct launched *child, struct uft_err *err)
{
	struct strbuf preload cleanup_strbuf = { 0 };
	struct strbuf socket cleanup_strbuf = { 0 };
	char **env cleanup_free = make_environment(launch, &preload, &socket);
	int go[2] = { -1, -1 };
	int report[2] = { -1, -1 };
	int ret = 0;

	if (!env)
		return err_set_errno(err, -ENOMEM, "cannot run '%s'", launch->path);
	if (pipe2(go, O_CLOEXEC) < 0 || pipe2(report, O_CLOEXEC) < 0)
		ret = -errno;
	if (ret == 0) {
		child->pid = fork();
		if (child->pid == 0) {
			close(go[1]);
			become_program(launch, env, go[0], report[1]);
		}
		if (child->pid < 0)
			ret = -errno;
	}
	if (ret < 0) {
		int all[] = { go[0], go[1], report[0], report[1] };

		for (size_t i = 0; i < ARRAY_SIZE(all); i++) {
			if (all[i] >= 0)
				close(all[i]);
		}
		return err_set_errno(err, ret, "cannot run '%s'", launch->path);
	}
	close(go[0]);
	close(report[1]);
	child->go = go[1];
	child->report = report[0];
	return 0;
}

int launch_go(const struct launch *launch, struct launched *child, struct uft_err *err)
{
	int failure = 0;
	ssize_t n;

	close(child->go);
	/* The pipe closes by the exec, or brings the reason why there was none. */
	do {
		n = read(child->report, &failure, sizeof(failure));
	} while (n < 0 && errno == EINTR);
	close(child->report);
	if (n != sizeof(failure))
		return 0;
	waitpid(child->pid, NULL, 0);
	return err_set_errno(err, -failure, "cannot run '%s'", launch->path);
}
