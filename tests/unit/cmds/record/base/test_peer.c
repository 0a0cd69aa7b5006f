/* The process at the other end of a socket. */
#include "tests/unit/lib/unit.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cmds/record/base/peer.h"
#include "utils/base/compiler.h"

TEST(pids_are_looked_up)
{
	assert_false(peer_is_elsewhere(getpid()));
	assert_false(peer_is_elsewhere(INT_MAX));
	assert_true(peer_is_pid(getpid(), getpid()));
	assert_false(peer_is_pid(getpid(), getppid()));
	assert_false(peer_is_pid(getpid(), 0));
}

TEST(who_connects_is_known)
{
	int fds[2];
	struct peer peer;

	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, fds), 0);
	assert_true(peer_get(fds[0], &peer));
	assert_int_equal(peer.pid, getpid());
	assert_int_equal(peer.uid, geteuid());
	assert_int_equal(peer.gid, getegid());

	int pidfd = peer_pidfd(fds[0], &peer);

	assert_true(pidfd >= 0);
	close(pidfd);
	close(fds[0]);
	close(fds[1]);
	assert_false(peer_get(-1, &peer));
}

TEST(of_a_task_it_is_known_whose_it_is)
{
	pid_t pid = getpid();

	assert_int_equal(peer_task(pid, pid), PEER_TASK_OWN);
	assert_int_equal(peer_task(pid, getppid()), PEER_TASK_OTHERS);
	assert_int_equal(peer_task(pid, INT_MAX), PEER_TASK_GONE);
	assert_int_equal(peer_task(INT_MAX, pid), PEER_TASK_OTHERS);
}

TEST(an_end_is_seen_by_the_descriptor)
{
	int pipes[2];
	pid_t pid;
	int pidfd;
	char byte;

	assert_int_equal(pipe(pipes), 0);
	pid = fork();
	if (pid == 0) {
		close(pipes[1]);
		_exit(read(pipes[0], &byte, 1) == 0 ? 0 : 1);
	}
	pidfd = syscall(SYS_pidfd_open, pid, 0);
	assert_true(pidfd >= 0);
	assert_false(peer_has_ended(pidfd, 0));
	assert_false(peer_has_ended(pidfd, 1));
	close(pipes[1]);
	assert_true(peer_has_ended(pidfd, 60000));
	assert_true(peer_has_ended(pidfd, 0));
	assert_true(peer_has_ended(-1, 0));
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	close(pidfd);
	close(pipes[0]);
}

/* The peer has ended, and its number may soon be that of another process. */
TEST(a_peer_that_is_gone_is_not_found)
{
	struct sockaddr_un name = { .sun_family = AF_UNIX };
	int listening = socket(AF_UNIX, SOCK_SEQPACKET, 0);
	struct peer peer;
	int fd, pidfd;
	pid_t pid;

	/* The kernel chooses a name. */
	assert_int_equal(bind(listening, (void *)&name, sizeof(name.sun_family)), 0);
	assert_int_equal(listen(listening, 1), 0);
	pid = fork();
	if (pid == 0) {
		socklen_t len = sizeof(name);

		fd = socket(AF_UNIX, SOCK_SEQPACKET, 0);
		if (getsockname(listening, (void *)&name, &len) < 0)
			_exit(1);
		_exit(connect(fd, (void *)&name, len) == 0 ? 0 : 1);
	}
	fd = accept(listening, NULL, NULL);
	assert_true(fd >= 0);
	assert_true(peer_get(fd, &peer));
	assert_int_equal(peer.pid, pid);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	pidfd = peer_pidfd(fd, &peer);
	/* Newer kernels give a descriptor of the ended process. */
	if (pidfd >= 0) {
		assert_true(peer_has_ended(pidfd, 0));
		close(pidfd);
	} else {
		assert_int_equal(pidfd, -ESRCH);
	}
	close(fd);
	close(listening);
	/* The descriptor is not a socket, so the peer's pid is used. */
	peer.pid = getpid();
	fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
	pidfd = peer_pidfd(fd, &peer);
	assert_true(pidfd >= 0);
	assert_false(peer_has_ended(pidfd, 0));
	close(pidfd);
	peer.pid = INT_MAX;
	assert_int_equal(peer_pidfd(fd, &peer), -ESRCH);
	close(fd);
}

/* A filter that allows all system calls. */
static bool add_filter(void)
{
	struct sock_filter allow = BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	struct sock_fprog program = { 1, &allow };

	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
	       prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0) == 0;
}

/*
 * Check that the kernel states the number @filters of filters. Returns false on a kernel that
 * states no such number.
 */
static bool is_stated(unsigned filters)
{
	FILE *file = fopen("/proc/self/status", "re");
	char line[256];
	unsigned stated;
	bool is_there = false;

	while (file && !is_there && fgets(line, sizeof(line), file))
		is_there = sscanf(line, "Seccomp_filters: %u", &stated) == 1;
	if (file)
		fclose(file);
	if (is_there)
		assert_int_equal(filters, stated);
	return is_there;
}

TEST(own_filters_are_counted)
{
	pid_t pid;
	int status;

	if (!is_stated(peer_own_filters()))
		skip_because("this kernel does not state the number of filters");
	pid = fork();
	if (pid == 0) {
		unsigned before = peer_own_filters();

		if (!add_filter())
			_exit(77);
		if (peer_own_filters() != before + 1)
			_exit(1);
		if (!add_filter() || peer_own_filters() != before + 2)
			_exit(2);
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	if (status == 77 << 8)
		skip_because("this kernel has no filters of system calls");
	assert_int_equal(status, 0);
}

/* A process in a pid namespace of its own has the number 1 in it. */
TEST(a_peer_in_another_namespace_has_another_number)
{
	int ready[2];
	int stay[2];
	pid_t middle, inner = 0;
	char byte;

	assert_true(pipe(ready) == 0 && pipe(stay) == 0);
	middle = fork();
	if (middle == 0) {
		close(stay[1]);
		if (unshare(CLONE_NEWPID) == 0)
			inner = fork();
		if (inner == 0) {
			if (getpid() != 1)
				_exit(write(ready[1], &inner, sizeof(inner)) == sizeof(inner) ? 0
											      : 1);
			_exit(read(stay[0], &byte, 1) == 0 ? 0 : 1);
		}
		if (write(ready[1], &inner, sizeof(inner)) != sizeof(inner))
			_exit(1);
		_exit(waitpid(inner, NULL, 0) == inner ? 0 : 1);
	}
	close(stay[0]);
	assert_int_equal(read(ready[0], &inner, sizeof(inner)), sizeof(inner));
	if (inner > 0) {
		assert_true(peer_is_elsewhere(inner));
		assert_true(peer_is_pid(inner, 1));
		assert_false(peer_is_pid(inner, inner));
	}
	close(stay[1]);
	close(ready[0]);
	close(ready[1]);
	assert_int_equal(waitpid(middle, NULL, 0), middle);
	if (inner <= 0)
		skip_because("needs the right to make pid namespaces");
}
