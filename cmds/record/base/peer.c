/* Identifies the process at the other end of a socket (see peer.h). */
#include "cmds/record/base/peer.h"

#include <errno.h>
#include <grp.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/fsuid.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "utils/base/fd.h"

#ifndef SO_PEERPIDFD
#define SO_PEERPIDFD 77
#endif

#define STATUS_MAX (1U << 20)

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

/* proc_pid_status(5). False when there is none to be had. */
static bool read_status(const char *path, struct strbuf *out)
{
	return file_read_all(path, STATUS_MAX, out, NULL) == 0 && !strbuf_oom(out);
}

/*
 * The text after "@field:" in a status, up to the end of the line, or NULL. The name of the program
 * comes escaped.
 */
static const char *find_field(const struct strbuf *status, const char *field)
{
	size_t len = strlen(field);

	for (const char *line = strbuf_str(status); line; line = strchr(line, '\n')) {
		line += *line == '\n';
		if (strncmp(line, field, len) == 0 && line[len] == ':')
			return line + len + 1;
	}
	return NULL;
}

/*
 * The last of the numbers in a line: in "NSpid:", what the process itself sees. 0 when there is
 * none. @nr: how many there are
 */
static pid_t last_of(const char *line, unsigned *nr)
{
	pid_t last = 0;

	*nr = 0;
	while (line && *line && *line != '\n') {
		char *end;
		long value = strtol(line, &end, 10);

		if (end == line)
			break;
		last = value;
		line = end;
		(*nr)++;
	}
	return last;
}

static pid_t last_number(const char *line)
{
	unsigned nr;

	return last_of(line, &nr);
}

unsigned peer_own_filters(void)
{
	struct strbuf status cleanup_strbuf = { 0 };
	const char *number;

	if (!read_status("/proc/self/status", &status))
		return 0;
	number = find_field(&status, "Seccomp_filters");
	if (number)
		return MIN(strtoul(number, NULL, 10), PEER_FILTERS_MAX);
	/* Before Linux 5.9 it is known only whether there are any. */
	number = find_field(&status, "Seccomp");
	return number && strtoul(number, NULL, 10);
}

bool peer_is_elsewhere(pid_t os_pid)
{
	struct strbuf status cleanup_strbuf = { 0 };
	char path[64];
	unsigned nr = 0;

	snprintf(path, sizeof(path), "/proc/%d/status", os_pid);
	if (read_status(path, &status))
		last_of(find_field(&status, "NSpid"), &nr);
	return nr > 1;
}

bool peer_is_pid(pid_t os_pid, pid_t pid)
{
	struct strbuf status cleanup_strbuf = { 0 };
	char path[64];
	pid_t own = 0;

	snprintf(path, sizeof(path), "/proc/%d/status", os_pid);
	if (read_status(path, &status))
		own = last_number(find_field(&status, "NSpid"));
	return pid == (own > 0 ? own : os_pid);
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
	/* Threads have a place there, too, though it is not listed. */
	snprintf(path, sizeof(path), "/proc/%d", tid);
	return is_there(path) ? PEER_TASK_OTHERS : PEER_TASK_GONE;
}

/* As many numbers as stand in the line; free() them. NULL without memory. */
static gid_t *parse_groups(const char *line, int *nr)
{
	gid_t *groups = malloc(sizeof(*groups));
	size_t cap = 1;

	*nr = 0;
	while (groups && line && *line && *line != '\n') {
		char *end;
		unsigned long value = strtoul(line, &end, 10);

		if (end == line)
			break;
		line = end + strspn(end, " \t");
		if ((size_t)*nr == cap) {
			gid_t *more = reallocarray(groups, cap * 2, sizeof(*groups));

			if (!more) {
				free(groups);
				return NULL;
			}
			groups = more;
			cap *= 2;
		}
		groups[(*nr)++] = value;
	}
	return groups;
}

/* libc's functions of these names change all threads. These change the calling one. */
static int set_groups(int nr, const gid_t *groups)
{
	return syscall(SYS_setgroups, (size_t)nr, groups);
}

static uid_t file_uid(void)
{
	return syscall(SYS_setfsuid, -1);
}

static gid_t file_gid(void)
{
	return syscall(SYS_setfsgid, -1);
}

static void be(uid_t uid, gid_t gid)
{
	syscall(SYS_setfsgid, gid);
	syscall(SYS_setfsuid, uid);
}

static gid_t *own_groups(int *nr)
{
	*nr = getgroups(0, NULL);

	gid_t *groups = *nr < 0 ? NULL : malloc((*nr + 1) * sizeof(*groups));

	if (groups && getgroups(*nr, groups) == *nr)
		return groups;
	free(groups);
	return NULL;
}

bool rights_enter(const struct peer *peer, struct rights *before)
{
	struct strbuf status cleanup_strbuf = { 0 };
	char path[64];
	int nr_groups = 0;

	*before = (struct rights){ 0 };
	if (geteuid() != 0)
		return true;
	snprintf(path, sizeof(path), "/proc/%d/status", peer->pid);
	read_status(path, &status);

	/*
	 * "Uid: real effective saved of files". A peer that cannot be looked up has the user that
	 * it had when it connected.
	 */
	const char *uids = find_field(&status, "Uid");
	const char *gids = find_field(&status, "Gid");
	uid_t uid = uids ? (uid_t)last_number(uids) : peer->uid;
	gid_t gid = gids ? (gid_t)last_number(gids) : peer->gid;

	if (uid == 0)
		return true;

	gid_t *groups cleanup_free = parse_groups(find_field(&status, "Groups"), &nr_groups);

	before->groups = own_groups(&before->nr_groups);
	bool good = groups && before->groups;

	/*
	 * If a user namespace forbids it (user_namespaces(7)), nobody could change his: the peer
	 * has ours.
	 */
	before->has_groups = good && set_groups(nr_groups, groups) == 0;
	if (!before->has_groups && (!good || errno != EPERM)) {
		free(before->groups);
		before->groups = NULL;
		return false;
	}
	before->uid = file_uid();
	before->gid = file_gid();
	before->is_changed = true;
	be(uid, gid);
	if (file_uid() == uid && file_gid() == gid)
		return true;
	rights_leave(before);
	return false;
}

void rights_leave(struct rights *before)
{
	if (before->is_changed) {
		be(before->uid, before->gid);
		if (before->has_groups)
			set_groups(before->nr_groups, before->groups);
	}
	free(before->groups);
	*before = (struct rights){ 0 };
}

struct rights rights_pause(void)
{
	struct rights paused = { .uid = file_uid(), .gid = file_gid() };

	paused.is_changed = paused.uid != geteuid();
	if (paused.is_changed)
		be(geteuid(), getegid());
	return paused;
}

void rights_resume(struct rights *paused)
{
	if (paused->is_changed)
		be(paused->uid, paused->gid);
}

bool peer_has_ended(int pidfd, int wait_ms)
{
	struct pollfd end = { .fd = pidfd, .events = POLLIN };

	return pidfd < 0 || poll(&end, 1, wait_ms) != 0;
}
