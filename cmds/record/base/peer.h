/* Identifies the process at the other end of a socket, from the kernel's information. */
#ifndef UTRAIL_CMDS_RECORD_BASE_PEER_H
#define UTRAIL_CMDS_RECORD_BASE_PEER_H

#include <stdbool.h>
#include <sys/types.h>

/*
 * The process that has connected (SO_PEERCRED, unix(7)). Since then it may have ended, or changed
 * its user.
 *
 * @pid: 0: the process is in a pid namespace that the recorder cannot see
 */
struct peer {
	pid_t pid;
	uid_t uid;
	gid_t gid;
};

/* Find the peer of the socket @fd. Returns false when the kernel does not report it. */
bool peer_get(int fd, struct peer *peer);

/*
 * Returns a pidfd of the connected process, or a negative errno. The error -ESRCH means that the
 * process has ended and its parent has waited for it. Before Linux 6.5 (SO_PEERPIDFD), the
 * descriptor may be of another process, which got the pid after the connected process had ended.
 */
int peer_pidfd(int fd, const struct peer *peer);

/*
 * True when process @os_pid has the number @pid in its own pid namespace. If the kernel does not
 * report that number, true when @os_pid equals @pid.
 */
bool peer_is_pid(pid_t os_pid, pid_t pid);

/* True when process @os_pid is in a pid namespace below the recorder's. */
bool peer_is_elsewhere(pid_t os_pid);

/* The largest number that peer_own_filters() returns. */
#define PEER_FILTERS_MAX 9999UL

/*
 * Returns the number of system call filters (seccomp) of the recorder. Processes that the recorder
 * starts inherit these filters.
 */
unsigned peer_own_filters(void);

/*
 * The relation of thread @tid to process @os_pid, which has reported the thread as its own. @tid is
 * a number in the recorder's namespace.
 */
enum peer_task {
	PEER_TASK_OWN,	  /* the thread belongs to @os_pid */
	PEER_TASK_GONE,	  /* no thread has this number any more, or the number was not found */
	PEER_TASK_OTHERS, /* the thread belongs to another process */
};
enum peer_task peer_task(pid_t os_pid, pid_t tid);

/*
 * The longest wait for the end of a process, in milliseconds. The recorder waits when an operation
 * on a process has failed. The process may be ending: an ending process loses its memory some time
 * before the recorder can see the end.
 */
#define PEER_END_MS 200

/*
 * True when the process of @pidfd has ended or ends within @wait_ms. Also true when @pidfd is
 * negative.
 */
bool peer_has_ended(int pidfd, int wait_ms);

#endif
