/* Who a process is, and what it may read. */
#include "tests/unit/lib/unit.h"

#include <fcntl.h>
#include <grp.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cmds/record/base/peer.h"

static void pids_are_looked_up(void **state)
{
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

	if (geteuid() != 0) {
		print_message("needs root, to look with somebody else's eyes\n");
		skip();
	}
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(pids_are_looked_up),
		cmocka_unit_test(who_connects_is_known),
		cmocka_unit_test(files_are_opened_as_the_peer),
		cmocka_unit_test(the_own_user_changes_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
