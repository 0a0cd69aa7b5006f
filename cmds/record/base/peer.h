/* Identifies the process at the other end of a socket, from the kernel's information. */
#ifndef UTRAIL_CMDS_RECORD_BASE_PEER_H
#define UTRAIL_CMDS_RECORD_BASE_PEER_H

#include <stdbool.h>
#include <sys/types.h>

/*
 * The process that has connected (SO_PEERCRED, unix(7)). It may have ended since, or changed its
 * user.
 *
 * @pid: 0 for a process that the recorder cannot see: it is in a pid namespace that is not below
 *       the recorder's
 */
struct peer {
	pid_t pid;
	uid_t uid;
	gid_t gid;
};

/* Find the peer of the socket @fd. Returns false when the kernel does not tell. */
bool peer_get(int fd, struct peer *peer);

/*
 * Returns a descriptor of the connected process (pidfd_open(2)). From Linux 6.5 on (SO_PEERPIDFD)
 * it cannot be that of a later process with the same pid. Returns -ESRCH when the process has ended
 * and been waited for, or another negative errno.
 */
int peer_pidfd(int fd, const struct peer *peer);

/*
 * True when process @os_pid has the number @pid in its own pid namespace. When that number cannot
 * be looked up (no /proc, or the process is gone), @os_pid and @pid must be equal.
 */
bool peer_is_pid(pid_t os_pid, pid_t pid);

/* True when process @os_pid is in a pid namespace below the recorder's. */
bool peer_is_elsewhere(pid_t os_pid);

/*
 * Returns the number of filters of system calls (seccomp) on the recorder. Processes that the
 * recorder starts have these filters, too.
 */
#define PEER_FILTERS_MAX 9999UL
unsigned peer_own_filters(void);

/*
 * The relation of the thread @tid to process @os_pid, which reports the thread as its own. @tid is
 * a number in the recorder's namespace.
 */
enum peer_task {
	PEER_TASK_OWN,	  /* it is a thread of that process */
	PEER_TASK_GONE,	  /* no thread has the number any more, or its number was not found */
	PEER_TASK_OTHERS, /* it is a thread of another process */
};
enum peer_task peer_task(pid_t os_pid, pid_t tid);

/*
 * The time in which an ending process may already have no memory, while its end cannot be seen yet.
 */
#define PEER_END_MS 200

/* True when the process of @pidfd has ended, or ends within @wait_ms, or @pidfd is negative. */
bool peer_has_ended(int pidfd, int wait_ms);

#endif
