/* Identifies the process at the other end of a socket (see peer.h). */
#include "cmds/record/base/peer.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "cmds/record/base/proc_status.h"

#ifndef SO_PEERPIDFD
#define SO_PEERPIDFD 77
#endif

bool peer_get(int fd, struct peer *peer)
{
	struct ucred cred;
	socklen_t len = sizeof(cred);

	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &cred, &len) < 0)
		return false;
	*peer = (struct peer){ cred.pid, cred.uid, cred.gid };
	return true;
}

int peer_pidfd(int fd, const struct peer *peer)
{
	int pidfd = -1;
	socklen_t len = sizeof(pidfd);

	if (getsockopt(fd, SOL_SOCKET, SO_PEERPIDFD, &pidfd, &len) == 0)
		return pidfd;
	if (errno == ESRCH || errno == EINVAL)
		return -ESRCH;
	pidfd = syscall(SYS_pidfd_open, peer->pid, 0);
	return pidfd < 0 ? -errno : pidfd;
}

unsigned peer_own_filters(void)
{
	struct strbuf status cleanup_strbuf = { 0 };
	const char *number;

	if (proc_status_read(getpid(), &status) < 0)
		return 0;
	number = proc_status_field(&status, "Seccomp_filters");
	if (*number)
		return MIN(strtoul(number, NULL, 10), PEER_FILTERS_MAX);
	/*
	 * Linux before 5.9 reports no number of filters, but reports the mode of seccomp. For the
	 * mode 0, this function returns 0. For every other mode, this function returns 1.
	 */
	return strtoul(proc_status_field(&status, "Seccomp"), NULL, 10) != 0;
}

bool peer_is_elsewhere(pid_t os_pid)
{
	struct strbuf status cleanup_strbuf = { 0 };
	unsigned last;

	return proc_status_read(os_pid, &status) == 0 &&
	       proc_status_last(&status, "NSpid", &last) > 1;
}

/*
 * True when the process is in the recorder's pid namespace (namespaces(7)). False when the
 * namespace of the process cannot be seen. The recorder's namespace never changes, so each thread
 * of the recorder looks up the recorder's namespace only once.
 */
static bool is_beside_us(pid_t os_pid)
{
	static _Thread_local struct stat ours;
	char path[64];
	struct stat theirs;

	if (!ours.st_ino && stat("/proc/self/ns/pid", &ours) < 0)
		return false;
	snprintf(path, sizeof(path), "/proc/%d/ns/pid", os_pid);
	return stat(path, &theirs) == 0 && ours.st_dev == theirs.st_dev &&
	       ours.st_ino == theirs.st_ino;
}

bool peer_is_pid(pid_t os_pid, pid_t pid)
{
	struct strbuf status cleanup_strbuf = { 0 };
	unsigned own = 0;

	/*
	 * Try is_beside_us() first, because reading the 60 lines of /proc/PID/status takes three
	 * times as long.
	 */
	if (pid == os_pid && is_beside_us(os_pid))
		return true;
	if (proc_status_read(os_pid, &status) == 0)
		proc_status_last(&status, "NSpid", &own);
	return pid == (own ? (pid_t)own : os_pid);
}

static bool is_there(const char *path)
{
	return access(path, F_OK) == 0;
}

enum peer_task peer_task(pid_t os_pid, pid_t tid)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/task/%d", os_pid, tid);
	if (is_there(path))
		return PEER_TASK_OWN;
	/* /proc/TID exists for every thread, although a list of /proc shows only processes. */
	snprintf(path, sizeof(path), "/proc/%d", tid);
	return is_there(path) ? PEER_TASK_OTHERS : PEER_TASK_GONE;
}

bool peer_has_ended(int pidfd, int wait_ms)
{
	struct pollfd end = { .fd = pidfd, .events = POLLIN };

	return pidfd < 0 || poll(&end, 1, wait_ms) != 0;
}
