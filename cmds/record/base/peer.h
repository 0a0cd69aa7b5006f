/* Identifies the process at the other end of a socket, as the kernel says. */
#ifndef UTRAIL_CMDS_RECORD_BASE_PEER_H
#define UTRAIL_CMDS_RECORD_BASE_PEER_H

#include <stdbool.h>
#include <sys/types.h>

/*
 * The process that has connected (SO_PEERCRED, unix(7)). He may have ended since, or may have
 * changed his user.
 *
 * @pid: 0 for a process that we cannot see: it is in a pid namespace that is not below ours
 */
struct peer {
	pid_t pid;
	uid_t uid;
	gid_t gid;
};

/* False when nobody can say. */
bool peer_get(int fd, struct peer *peer);

/*
 * A descriptor of the process that has connected (pidfd_open(2)), which its successor under the
 * same pid cannot be mistaken for where the kernel can tell (SO_PEERPIDFD, Linux 6.5). -ESRCH when
 * it has ended and been waited for, or another negative errno.
 */
int peer_pidfd(int fd, const struct peer *peer);

/*
 * True when process @os_pid knows itself as @pid: they differ in a pid namespace of its own. When
 * that cannot be looked up (no /proc, or the process is gone) they must be the same.
 */
bool peer_is_pid(pid_t os_pid, pid_t pid);

/* True when process @os_pid is in a pid namespace below ours, where it has another number. */
bool peer_is_elsewhere(pid_t os_pid);

/* The number of filters of system calls (seccomp) on us, and so on processes that we start. */
#define PEER_FILTERS_MAX 9999UL
unsigned peer_own_filters(void);

/* The knowledge about a thread that process @os_pid calls one of its own, by our number. */
enum peer_task {
	PEER_TASK_OWN,	  /* it is */
	PEER_TASK_GONE,	  /* there is no such thread any more, or nobody can say */
	PEER_TASK_OTHERS, /* it is another process' */
};
enum peer_task peer_task(pid_t os_pid, pid_t tid);

/* A process that ends has no memory for a moment before its end can be seen. */
#define PEER_END_MS 200

/*
 * True when the process of a pidfd has ended, or does so within @wait_ms; also when there is no
 * descriptor of it (below 0).
 */
bool peer_has_ended(int pidfd, int wait_ms);

#endif
