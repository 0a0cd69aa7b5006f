/* Who a process is, and what it may read. */
#include "tests/unit/lib/unit.h"

#include <fcntl.h>
#include <grp.h>
#include <limits.h>
#include <sched.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cmds/record/base/peer.h"
#include "utils/base/compiler.h"

static void pids_are_looked_up(void **state)
{
	assert_false(peer_is_elsewhere(getpid()));
	assert_false(peer_is_elsewhere(INT_MAX));
	assert_true(peer_is_pid(getpid(), getpid()));
	assert_false(peer_is_pid(getpid(), getppid()));
	assert_false(peer_is_pid(getpid(), 0));
}

static void who_connects_is_known(void **state)
{
	int fds[2];
	struct peer peer;

	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, fds), 0);
	assert_true(peer_get(fds[0], &peer));
	assert_int_equal(peer.pid, getpid());
	assert_int_equal(peer.uid, geteuid());

	int pidfd = peer_pidfd(fds[0], &peer);

	assert_true(pidfd >= 0);
	close(pidfd);
	close(fds[0]);
	close(fds[1]);
	assert_false(peer_get(-1, &peer));
}

static bool can_open(const char *path)
{
	int fd = open(path, O_RDONLY);

	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

/* A child of another user: files are opened as it, and what is ours as us; then all is as it was. */
static void files_are_opened_as_the_peer(void **state)
{
	char path[] = "/tmp/utrail-unit-XXXXXX";
	struct rights before;
	struct peer peer;
	int ready[2];
	int end[2];
	char byte;

	if (geteuid() != 0)
		skip_because("needs root, to look with somebody else's eyes");
	close(mkstemp(path));
	assert_true(pipe(ready) == 0 && pipe(end) == 0);
	peer = (struct peer){ .pid = fork() };
	if (peer.pid == 0) {
		const gid_t groups[] = { 12345 };

		close(end[1]);
		if (setgroups(1, groups) || setgid(65534) || setuid(65534))
			_exit(1);
		_exit(write(ready[1], "", 1) == 1 && read(end[0], &byte, 1) == 0 ? 0 : 1);
	}
	assert_int_equal(read(ready[0], &byte, 1), 1);

	assert_true(rights_enter(&peer, &before));
	assert_false(can_open(path));
	assert_true(can_open("/proc/self/stat"));

	struct rights paused = rights_pause();

	assert_true(can_open(path));
	rights_resume(&paused);
	assert_false(can_open(path));
	rights_leave(&before);
	assert_true(can_open(path));

	/* What his groups may read, he may. */
	assert_int_equal(chown(path, 0, 12345), 0);
	assert_int_equal(chmod(path, 0640), 0);
	assert_true(rights_enter(&peer, &before));
	assert_true(can_open(path));
	rights_leave(&before);

	/* Outside of it there is nothing to pause. */
	paused = rights_pause();
	rights_resume(&paused);
	assert_int_equal(chmod(path, 0), 0);
	assert_true(can_open(path));

	close(end[1]);
	assert_int_equal(waitpid(peer.pid, NULL, 0), peer.pid);
	unlink(path);
	for (int i = 0; i < 2; i++)
		close(ready[i]);
	close(end[0]);
}

/* One of our own kind is looked at as we are. */
static void the_own_user_changes_nothing(void **state)
{
	const struct peer peer = { getpid(), geteuid(), getegid() };
	struct rights before;

	assert_true(rights_enter(&peer, &before));
	assert_false(before.is_changed);
	rights_leave(&before);
}

static void of_a_task_it_is_known_whose_it_is(void **state)
{
	pid_t pid = getpid();

	assert_int_equal(peer_task(pid, pid), PEER_TASK_OWN);
	assert_int_equal(peer_task(pid, getppid()), PEER_TASK_OTHERS);
	assert_int_equal(peer_task(pid, INT_MAX), PEER_TASK_GONE);
	assert_int_equal(peer_task(INT_MAX, pid), PEER_TASK_OTHERS);
}

static void an_end_is_seen_by_the_descriptor(void **state)
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

/* A child of that user, whose groups are given to it; it ends when @end is closed. */
static pid_t start_as(uid_t uid, gid_t gid, const gid_t *groups, int nr, int *end)
{
	int ready[2];
	int stay[2];
	char byte;
	pid_t pid;

	assert_true(pipe(ready) == 0 && pipe(stay) == 0);
	pid = fork();
	if (pid == 0) {
		close(stay[1]);
		if (setgroups(nr, groups) || setgid(gid) || setuid(uid))
			_exit(1);
		_exit(write(ready[1], "", 1) == 1 && read(stay[0], &byte, 1) == 0 ? 0 : 1);
	}
	close(ready[1]);
	close(stay[0]);
	assert_int_equal(read(ready[0], &byte, 1), 1);
	close(ready[0]);
	*end = stay[1];
	return pid;
}

static uid_t file_uid(void)
{
	return syscall(SYS_setfsuid, -1);
}

static gid_t file_gid(void)
{
	return syscall(SYS_setfsgid, -1);
}

/* However many there are; and ours are ours again. */
static void all_groups_of_the_peer_count(void **state)
{
	const gid_t groups[] = { 1001, 1002, 1003, 1004, 1005, 1006, 1007 };
	gid_t before[256], now[256];
	int nr_before;
	struct peer peer = { 0 };
	struct rights rights;
	int end;

	if (geteuid() != 0)
		skip_because("needs root, to look with somebody else's eyes");
	nr_before = getgroups(ARRAY_SIZE(before), before);
	assert_true(nr_before >= 0);
	peer.pid = start_as(65533, 65532, groups, ARRAY_SIZE(groups), &end);
	assert_true(rights_enter(&peer, &rights));
	assert_true(rights.is_changed);
	assert_int_equal(file_uid(), 65533);
	assert_int_equal(file_gid(), 65532);
	assert_int_equal(getgroups(ARRAY_SIZE(now), now), ARRAY_SIZE(groups));
	assert_memory_equal(now, groups, sizeof(groups));

	struct rights paused = rights_pause();

	assert_true(paused.is_changed);
	assert_int_equal(file_uid(), geteuid());
	assert_int_equal(file_gid(), getegid());
	rights_resume(&paused);
	assert_int_equal(file_uid(), 65533);
	assert_int_equal(file_gid(), 65532);
	rights_leave(&rights);
	assert_int_equal(file_uid(), geteuid());
	assert_int_equal(file_gid(), getegid());
	assert_int_equal(getgroups(ARRAY_SIZE(now), now), nr_before);
	assert_memory_equal(now, before, nr_before * sizeof(before[0]));
	assert_false(rights.is_changed);
	assert_null(rights.groups);
	/* Twice does no harm. */
	rights_leave(&rights);
	close(end);
	assert_int_equal(waitpid(peer.pid, NULL, 0), peer.pid);
	paused = rights_pause();
	assert_false(paused.is_changed);
	rights_resume(&paused);
}

/* He is who he was when he connected. */
static void a_peer_that_has_gone_has_the_rights_that_he_had(void **state)
{
	const struct peer peer = { .pid = INT_MAX, .uid = 65533, .gid = 65532 };
	const struct peer root = { .pid = INT_MAX, .uid = 0, .gid = 65532 };
	struct rights rights;
	gid_t group;

	if (geteuid() != 0)
		skip_because("needs root, to look with somebody else's eyes");
	assert_true(rights_enter(&peer, &rights));
	assert_int_equal(file_uid(), 65533);
	assert_int_equal(file_gid(), 65532);
	assert_int_equal(getgroups(1, &group), 0);
	rights_leave(&rights);
	assert_int_equal(file_uid(), 0);
	assert_true(rights_enter(&root, &rights));
	assert_false(rights.is_changed);
	assert_int_equal(file_gid(), getegid());
	rights_leave(&rights);
}

/* In a pid namespace of its own a process has the number 1. */
static void a_peer_in_another_namespace_has_another_number(void **state)
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(pids_are_looked_up),
		cmocka_unit_test(who_connects_is_known),
		cmocka_unit_test(files_are_opened_as_the_peer),
		cmocka_unit_test(the_own_user_changes_nothing),
		cmocka_unit_test(of_a_task_it_is_known_whose_it_is),
		cmocka_unit_test(an_end_is_seen_by_the_descriptor),
		cmocka_unit_test(all_groups_of_the_peer_count),
		cmocka_unit_test(a_peer_that_has_gone_has_the_rights_that_he_had),
		cmocka_unit_test(a_peer_in_another_namespace_has_another_number),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
