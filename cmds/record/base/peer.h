/* Identifies the process at the other end of a socket, from the kernel's information. */
#ifndef UTRAIL_CMDS_RECORD_BASE_PEER_H
#define UTRAIL_CMDS_RECORD_BASE_PEER_H

#include <stdbool.h>
#include <sys/types.h>

/*
 * The process that has connected (SO_PEERCRED, unix(7)). It may have ended since, or changed its
 * user.
 *
 * @pid: 0: the process is in a pid namespace that the recorder cannot see
 */
struct peer {
	pid_t pid;
	uid_t uid;
	gid_t gid;
};

/* Find the peer of the socket @fd. Returns false when the kernel does not tell. */
bool peer_get(int fd, struct peer *peer);

/*
 * Returns a pidfd of the connected process, or negative errno. -ESRCH: the process has ended and
 * been waited for. Before Linux 6.5 (SO_PEERPIDFD), the pid may already be that of another process.
 */
int peer_pidfd(int fd, const struct peer *peer);

/*
 * True when process @os_pid has the number @pid in its own pid namespace. If that number is
 * unknown, true when @os_pid equals @pid.
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
