/* Identifies the process at the other end of a socket, from the kernel's information. */
#ifndef UTRAIL_CMDS_RECORD_BASE_PEER_H
#define UTRAIL_CMDS_RECORD_BASE_PEER_H

#include <stdbool.h>
#include <sys/types.h>

/*
 * The process that has connected (SO_PEERCRED, unix(7)). It may have ended since, or changed its
 * user.
 *
 * @pid: 0 for a process that we cannot see: it is in a pid namespace that is not below ours
 */
struct peer {
	pid_t pid;
	uid_t uid;
	gid_t gid;
};

/* False when that cannot be found out. */
bool peer_get(int fd, struct peer *peer);

/*
 * A descriptor of the connected process (pidfd_open(2)). From Linux 6.5 on (SO_PEERPIDFD) it cannot
 * be that of a later process with the same pid. -ESRCH when it has ended and been waited for, or
 * another negative errno.
 */
int peer_pidfd(int fd, const struct peer *peer);

/*
 * True when the own number of process @os_pid is @pid: they differ in a pid namespace of its own.
 * When that cannot be looked up (no /proc, or the process is gone) they must be equal.
 */
bool peer_is_pid(pid_t os_pid, pid_t pid);

/* True when process @os_pid is in a pid namespace below ours, where it has another number. */
bool peer_is_elsewhere(pid_t os_pid);

/* The number of filters of system calls (seccomp) on us, and so on processes that we start. */
#define PEER_FILTERS_MAX 9999UL
unsigned peer_own_filters(void);

/* Facts about a thread, by our number, that process @os_pid calls one of its own. */
enum peer_task {
	PEER_TASK_OWN,	  /* it is */
	PEER_TASK_GONE,	  /* there is no such thread any more, or its number cannot be found out */
	PEER_TASK_OTHERS, /* it belongs to another process */
};
enum peer_task peer_task(pid_t os_pid, pid_t tid);

/* An ending process has no memory for a moment before its end can be seen. */
#define PEER_END_MS 200

/*
 * True when the process of a pidfd has ended, or does so within @wait_ms; also without a descriptor
 * (below 0).
 */
bool peer_has_ended(int pidfd, int wait_ms);

#endif
