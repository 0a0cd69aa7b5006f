/* Decides whether a process may be attached to (see target.h). */
#include "cmds/record/attach/target.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "arch/arch.h"
#include "arch/remote.h"
#include "cmds/record/base/numbers.h"
#include "cmds/record/base/proc_status.h"
#include "utils/base/cleanup.h"
#include "utils/base/fd.h"
#include "utils/base/path.h"
#include "utils/base/containers/strbuf.h"
#include "utils/base/containers/vec.h"
#include "utils/object/program.h"

#define FILE_MAX  (64UL << 10)
#define NAMED_MAX 12 /* the maximum number of processes that a message lists */

/*
 * A child has the name of its parent until it executes another program. The recorder waits at most
 * a second for such children (find_by_name()).
 */
#define CHILD_LOOKS   100
#define CHILD_WAIT_US 10000

static int read_proc(pid_t pid, const char *name, struct strbuf *out)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/%s", pid, name);

	int ret = file_read_all(path, FILE_MAX, out, NULL);

	return ret == 0 && strbuf_oom(out) ? -ENOMEM : ret;
}

static bool read_comm(pid_t pid, struct strbuf *out)
{
	if (read_proc(pid, "comm", out) < 0 || !out->len)
		return false;
	out->data[strcspn(out->data, "\n")] = '\0';
	return true;
}

/* --- by name --- */

/*
 * True when @name is the process' own name, the first word of its command line, or the last path
 * component of this word.
 */
static bool has_name(pid_t pid, const char *name)
{
	struct strbuf comm cleanup_strbuf = { 0 };
	struct strbuf words cleanup_strbuf = { 0 };

	if (read_comm(pid, &comm) && strcmp(comm.data, name) == 0)
		return true;
	return read_proc(pid, "cmdline", &words) == 0 && words.len &&
	       (strcmp(words.data, name) == 0 || strcmp(path_base(words.data), name) == 0);
}

static bool is_called(pid_t pid, const char *name)
{
	struct strbuf status cleanup_strbuf = { 0 };

	return has_name(pid, name) && proc_status_read(pid, &status) == 0 &&
	       !strchr("ZX", *proc_status_field(&status, "State"));
}

struct named {
	pid_t *pids;
	size_t nr;
};

static int list_named(struct named *named, const char *name)
{
	DIR *list cleanup_dir = numbers_list(0);

	for (pid_t pid; list && (pid = numbers_next(list));) {
		if (pid == getpid() || !is_called(pid, name))
			continue;

		pid_t *pids = vec_grow(named->pids, named->nr, sizeof(*pids));

		if (!pids)
			return -ENOMEM;
		named->pids = pids;
		pids[named->nr++] = pid;
	}
	return 0;
}

/* Removes processes from @named if they have ended, or no longer have the name @name. */
static void keep_named(struct named *named, const char *name)
{
	size_t kept = 0;

	for (size_t i = 0; i < named->nr; i++) {
		if (is_called(named->pids[i], name))
			named->pids[kept++] = named->pids[i];
	}
	named->nr = kept;
}

static bool has_child_of_another(const struct named *named)
{
	for (size_t i = 0; i < named->nr; i++) {
		struct strbuf status cleanup_strbuf = { 0 };

		if (proc_status_read(named->pids[i], &status) < 0)
			return true; /* the process has just ended */

		pid_t parent = atoi(proc_status_field(&status, "PPid"));

		for (size_t k = 0; k < named->nr; k++) {
			if (named->pids[k] == parent)
				return true;
		}
	}
	return false;
}

static int refuse_named(const struct named *named, const char *name, struct uft_err *err)
{
	struct strbuf list cleanup_strbuf = { 0 };

	for (size_t i = 0; i < named->nr && i < NAMED_MAX; i++)
		strbuf_addf(&list, "%s%d", i ? ", " : "", named->pids[i]);
	return err_set(err, -EINVAL,
		       "%zu processes are called '%s': choose one by its number: %s%s", named->nr,
		       name, strbuf_str(&list), named->nr > NAMED_MAX ? ", ..." : "");
}

/*
 * Find the only process with this name. If a child still has its parent's name, the search waits
 * until the child executes another program or ends.
 */
static pid_t find_by_name(const char *name, struct uft_err *err)
{
	struct named named = { 0 };
	pid_t found = list_named(&named, name);

	for (int i = 0; found == 0 && i < CHILD_LOOKS && named.nr > 1; i++) {
		if (!has_child_of_another(&named))
			break;
		usleep(CHILD_WAIT_US);
		keep_named(&named, name);
	}
	if (found < 0)
		err_set_errno(err, found, "cannot look for processes '%s'", name);
	else if (named.nr == 0)
		found = err_set(err, -ESRCH, "there is no process '%s'", name);
	else if (named.nr > 1)
		found = refuse_named(&named, name, err);
	else
		found = named.pids[0];
	free(named.pids);
	return found;
}

pid_t target_find(const char *text, struct uft_err *err)
{
	char *end;
	long pid;

	errno = 0;
	pid = strtol(text, &end, 10);
	if (!*text || *end || end == text)
		return find_by_name(text, err);
	if (errno || pid <= 0 || pid > INT32_MAX)
		return err_set(err, -ESRCH, "there is no process %s", text);
	return pid;
}

/* --- checks of a process --- */

static bool is_in_namespace(pid_t pid, const char *kind)
{
	char path[64];
	struct stat theirs, ours;

	snprintf(path, sizeof(path), "/proc/%d/ns/%s", pid, kind);
	if (stat(path, &theirs) < 0)
		return true;
	snprintf(path, sizeof(path), "/proc/self/ns/%s", kind);
	return stat(path, &ours) < 0 ||
	       (theirs.st_dev == ours.st_dev && theirs.st_ino == ours.st_ino);
}

/* The flag PF_KTHREAD in the flags of a task in /proc/PID/stat (proc(5)). */
#define IS_OF_KERNEL 0x200000

static bool is_kernel_thread(pid_t pid)
{
	struct strbuf stat cleanup_strbuf = { 0 };
	unsigned flags = 0;

	if (read_proc(pid, "stat", &stat) < 0)
		return false;

	/* In this text the process' name ends at the last ')', since the name may contain a ')'. */
	const char *rest = strrchr(strbuf_str(&stat), ')');

	return rest && sscanf(rest, ") %*c %*d %*d %*d %*d %*d %u", &flags) == 1 &&
	       flags & IS_OF_KERNEL;
}

static int check_program(pid_t pid, struct uft_err *err)
{
	char path[64];
	struct object_program program;

	snprintf(path, sizeof(path), "/proc/%d/exe", pid);

	int ret = object_check_program(path, &program, NULL);

	if (ret == -ENOENT && is_kernel_thread(pid))
		return err_set(err, ret,
			       "cannot attach to process %d: it is a thread of the kernel", pid);
	if (ret < 0)
		return target_explain(pid, ret, err);
	if (program.kind != OBJECT_ELF || program.machine != arch_elf_machine ||
	    program.elf_class != arch_elf_class)
		return err_set(err, -ENOEXEC,
			       "cannot attach to process %d: its program is for another machine "
			       "(with %u-bit words)",
			       pid, 32 * program.elf_class);
	if (program.is_static)
		return err_set(err, -ENOEXEC,
			       "cannot attach to process %d: its program is statically linked, so "
			       "that no library can be loaded into it",
			       pid);
	return 0;
}

static int check_seccomp(pid_t pid, const struct strbuf *status, bool force, struct uft_err *err)
{
	int mode = atoi(proc_status_field(status, "Seccomp"));

	if (mode == 1)
		return err_set(err, -EPERM,
			       "cannot attach to process %d: it is confined by strict seccomp, and "
			       "would be ended for what the probe does",
			       pid);
	if (mode == 2 && !force)
		return err_set(err, -EPERM,
			       "cannot attach to process %d: it is confined by seccomp, and its "
			       "filters may end it for what the probe does; --force attaches all "
			       "the same",
			       pid);
	return 0;
}

static int check_state(pid_t pid, const struct strbuf *status, struct uft_err *err)
{
	pid_t tracer = atoi(proc_status_field(status, "TracerPid"));
	pid_t process = atoi(proc_status_field(status, "Tgid"));
	struct strbuf comm cleanup_strbuf = { 0 };

	if (process && process != pid)
		return err_set(err, -EINVAL,
			       "cannot attach to %d: it is a thread of process %d, which can be "
			       "attached to",
			       pid, process);
	switch (*proc_status_field(status, "State")) {
	case 'Z':
	case 'X':
		return err_set(err, -ESRCH, "cannot attach to process %d: it has ended (a zombie)",
			       pid);
	case 'T':
		return err_set(err, -EAGAIN,
			       "cannot attach to process %d: it is stopped; 'kill -CONT %d' lets "
			       "it go on",
			       pid, pid);
	}
	if (!tracer)
		return 0;
	read_comm(tracer, &comm);
	return err_set(err, -EBUSY,
		       "cannot attach to process %d: process %d (%s) traces it, and there can be "
		       "one tracer only",
		       pid, tracer, strbuf_str(&comm));
}

static int check_user(pid_t pid, const struct strbuf *status, struct uft_err *err)
{
	/* The field "Uid" has four user ids. The first one is the real user id. */
	uid_t uid = strtoul(proc_status_field(status, "Uid"), NULL, 10);

	if (geteuid() == 0 || uid == geteuid())
		return 0;
	return err_set(err, -EPERM,
		       "cannot attach to process %d: it is another user's (%u); root may attach to "
		       "it",
		       pid, uid);
}

int target_check(pid_t pid, bool force, struct uft_err *err)
{
	struct strbuf status cleanup_strbuf = { 0 };
	int ret = proc_status_read(pid, &status);

	if (!arch_has_remote)
		return err_set(err, -ENOSYS, "cannot attach to processes on this machine yet");
	if (ret < 0)
		return err_set(err, -ESRCH, "there is no process %d", pid);
	if (pid == getpid() || pid == getppid())
		return err_set(err, -EINVAL,
			       "cannot attach to process %d: it is utrail itself, or its parent",
			       pid);
	ret = check_state(pid, &status, err);
	if (ret == 0)
		ret = check_user(pid, &status, err);
	if (ret == 0)
		ret = check_program(pid, err);
	if (ret == 0)
		ret = check_seccomp(pid, &status, force, err);
	if (ret < 0)
		return ret;

	const char *features = proc_status_field(&status, "x86_Thread_features");

	if (memmem(features, strcspn(features, "\n"), "shstk", strlen("shstk")))
		return err_set(err, -EPERM,
			       "cannot attach to process %d: its return addresses are protected by "
			       "a shadow stack",
			       pid);
	if (!is_in_namespace(pid, "net"))
		return err_set(err, -ENETUNREACH,
			       "cannot attach to process %d: it is in a network namespace of its "
			       "own, where it does not reach the recorder; 'nsenter -t %d -n' runs "
			       "utrail there",
			       pid, pid);
	return 0;
}

int target_explain(pid_t pid, int ret, struct uft_err *err)
{
	struct strbuf scope cleanup_strbuf = { 0 };

	if (ret == -ESRCH || ret == -ENOENT)
		return err_set(err, -ESRCH, "cannot attach to process %d: it has ended", pid);
	if (ret != -EPERM && ret != -EACCES)
		return err_set_errno(err, ret, "cannot attach to process %d", pid);
	file_read_all("/proc/sys/kernel/yama/ptrace_scope", 16, &scope, NULL);

	int level = scope.len ? atoi(scope.data) : 0;

	if (level >= 3)
		return err_set(err, -EPERM,
			       "cannot attach to process %d: this machine forbids it to everybody "
			       "until it is restarted (kernel.yama.ptrace_scope is 3)",
			       pid);
	if (level && geteuid() != 0)
		return err_set(err, -EPERM,
			       "cannot attach to process %d: kernel.yama.ptrace_scope is %d, so "
			       "that only root may, or 'sysctl kernel.yama.ptrace_scope=0' before",
			       pid, level);
	return err_set(err, -EPERM,
		       "cannot attach to process %d: the kernel does not allow it (a program with "
		       "more rights than its user, one that forbids to be looked at, or a "
		       "container's confinement)%s",
		       pid, geteuid() ? "; root may attach to it" : "");
}
