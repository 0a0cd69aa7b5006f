/*
 * execve(2) and its relatives, interposed, so that the executed program is recorded even if the
 * caller passes an environment of its own making.
 */
#include <alloca.h>
#include <errno.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "libmcount/program/exec.h"
#include "libmcount/program/interpose.h"
#include "libmcount/hot/probe.h"
#include "utils/format/probe/control.h"

/*
 * If the caller has made an environment for the new program, the probe adds its own variables to
 * that environment. The probe adds no variables to @environ. If a program has removed the probe's
 * variables from @environ (clearenv(3)), these variables stay removed. uftrace does the same.
 *
 * The functions in this file may run in the child of a vfork(2), on a small stack, or in a signal
 * handler. Therefore these functions allocate nothing and take no lock. An environment that exceeds
 * VARS_MAX or OTHERS_MAX is passed on unchanged.
 */
#define PRELOAD_NAME "LD_PRELOAD="
#define PRELOAD_LEN  (sizeof(PRELOAD_NAME) - 1)
#define VARS_MAX     4096
#define OTHERS_MAX   4096 /* room for the caller's own LD_PRELOAD, in bytes */

EXPORTED int execve(const char *path, char *const argv[], char *const envp[]);
EXPORTED int execvpe(const char *file, char *const argv[], char *const envp[]);
EXPORTED int fexecve(int fd, char *const argv[], char *const envp[]);
EXPORTED int posix_spawn(pid_t *pid, const char *path, const posix_spawn_file_actions_t *actions,
			 const posix_spawnattr_t *attr, char *const argv[], char *const envp[]);
EXPORTED int posix_spawnp(pid_t *pid, const char *file, const posix_spawn_file_actions_t *actions,
			  const posix_spawnattr_t *attr, char *const argv[], char *const envp[]);

typedef int exec_fn(const char *path, char *const argv[], char *const envp[]);
typedef int fexec_fn(int fd, char *const argv[], char *const envp[]);
typedef int spawn_fn(pid_t *pid, const char *path, const posix_spawn_file_actions_t *actions,
		     const posix_spawnattr_t *attr, char *const argv[], char *const envp[]);

/*
 * The functions that the probe's own execve(), execvpe(), fexecve(), posix_spawn() and
 * posix_spawnp() call. exec_setup() looks these functions up early, with interposed(). In a forked
 * child a look-up could hang, because the dynamic linker's lock may be held for ever.
 */
static struct {
	void *execve, *execvpe, *fexecve, *posix_spawn, *posix_spawnp;
} next;

/*
 * The two variables that the probe adds to an environment: LD_PRELOAD=<the probe> in @preload, and
 * the variable with the recorder's address in @socket_var.
 */
static char preload[PRELOAD_LEN + 4096];
static char socket_var[sizeof(CONTROL_ENV_SOCKET "=") + sizeof(probe.address)];

void exec_setup(void)
{
	const char *value = getenv("LD_PRELOAD");
	size_t len = value ? strcspn(value, ": ") : 0; /* the probe is the first library */

	interposed(&next.execve, "execve");
	interposed(&next.execvpe, "execvpe");
	interposed(&next.fexecve, "fexecve");
	interposed(&next.posix_spawn, "posix_spawn");
	interposed(&next.posix_spawnp, "posix_spawnp");
	if (!len || len >= sizeof(preload) - PRELOAD_LEN)
		return;
	memcpy(preload + PRELOAD_LEN, value, len);
	memcpy(preload, PRELOAD_NAME, PRELOAD_LEN);
	stpcpy(stpcpy(socket_var, CONTROL_ENV_SOCKET "="), probe.address);
}

void exec_expect_filter(void)
{
	control_address_add_filter(socket_var);
}

static bool begins_with(const char *var, const char *name, size_t len)
{
	return strncmp(var, name, len) == 0;
}

/*
 * Returns @var, the caller's LD_PRELOAD, if @var names the probe's library. Otherwise returns an
 * LD_PRELOAD that names the probe's library first, and then the libraries of @var. @room has space
 * for the result.
 */
static char *merge_preload(char *var, char *room)
{
	if (!var || !var[PRELOAD_LEN])
		return preload;
	if (strstr(var, preload + PRELOAD_LEN))
		return var;
	stpcpy(stpcpy(stpcpy(room, preload), ":"), var + PRELOAD_LEN);
	return room;
}

struct environment {
	size_t nr;
	char *preload; /* LD_PRELOAD in the caller's environment, or NULL */
};

/*
 * True when variables have to be added to @envp. An environment that is too large, or belongs to
 * another recorder, stays unchanged.
 */
static bool measure(char *const envp[], struct environment *env)
{
	*env = (struct environment){ 0 };
	if (!*preload || !__atomic_load_n(&probe.ready, __ATOMIC_ACQUIRE) || envp == environ)
		return false;
	for (; envp && envp[env->nr]; env->nr++) {
		const char *var = envp[env->nr];

		if (begins_with(var, PRELOAD_NAME, PRELOAD_LEN))
			env->preload = envp[env->nr];
		/*
		 * If @envp names a socket other than the probe's, the calling process is a
		 * recorder, and @envp is for the program that this recorder starts.
		 */
		if (begins_with(var, CONTROL_ENV_SOCKET "=", sizeof(CONTROL_ENV_SOCKET)) &&
		    strcmp(var, socket_var) != 0)
			return false;
	}
	return env->nr <= VARS_MAX && (!env->preload || strlen(env->preload) <= OTHERS_MAX);
}

/*
 * Writes the new program's environment to @vars: the variables of @envp, but with the LD_PRELOAD of
 * merge_preload(), and with @socket_var.
 *
 * @vars: has space for env->nr + 3 pointers: the variables of @envp, the two added variables, and
 *        the NULL at the end
 * @room: the space for merge_preload()
 */
static void merge_variables(char *const envp[], const struct environment *env, char **vars,
			    char *room)
{
	for (size_t i = 0; i < env->nr; i++) {
		if (envp[i] != env->preload &&
		    !begins_with(envp[i], CONTROL_ENV_SOCKET "=", sizeof(CONTROL_ENV_SOCKET)))
			*vars++ = envp[i];
	}
	*vars++ = merge_preload(env->preload, room);
	*vars++ = socket_var;
	*vars = NULL;
}

/*
 * The environment that is passed on instead of @envp. A macro, because alloca(3) must take the
 * environment's memory from the stack of the function that passes the environment on.
 */
#define MERGED(envp)                                                                            \
	({                                                                                      \
		struct environment env_;                                                        \
		char *const *result_ = (envp);                                                  \
                                                                                                \
		if (measure(result_, &env_)) {                                                  \
			char **vars_ = alloca((env_.nr + 3) * sizeof(*vars_));                  \
			char *room_ = alloca(                                                   \
				env_.preload ? strlen(preload) + strlen(env_.preload) + 2 : 1); \
                                                                                                \
			merge_variables(result_, &env_, vars_, room_);                          \
			result_ = vars_;                                                        \
		}                                                                               \
		result_;                                                                        \
	})

int execve(const char *path, char *const argv[], char *const envp[])
{
	exec_fn *fn = interposed(&next.execve, "execve");

	return fn ? fn(path, argv, MERGED(envp)) : interpose_fail();
}

int execvpe(const char *file, char *const argv[], char *const envp[])
{
	exec_fn *fn = interposed(&next.execvpe, "execvpe");

	return fn ? fn(file, argv, MERGED(envp)) : interpose_fail();
}

int fexecve(int fd, char *const argv[], char *const envp[])
{
	fexec_fn *fn = interposed(&next.fexecve, "fexecve");

	return fn ? fn(fd, argv, MERGED(envp)) : interpose_fail();
}

int posix_spawn(pid_t *pid, const char *path, const posix_spawn_file_actions_t *actions,
		const posix_spawnattr_t *attr, char *const argv[], char *const envp[])
{
	spawn_fn *fn = interposed(&next.posix_spawn, "posix_spawn");

	return fn ? fn(pid, path, actions, attr, argv, MERGED(envp)) : ENOSYS;
}

int posix_spawnp(pid_t *pid, const char *file, const posix_spawn_file_actions_t *actions,
		 const posix_spawnattr_t *attr, char *const argv[], char *const envp[])
{
	spawn_fn *fn = interposed(&next.posix_spawnp, "posix_spawnp");

	return fn ? fn(pid, file, actions, attr, argv, MERGED(envp)) : ENOSYS;
}
