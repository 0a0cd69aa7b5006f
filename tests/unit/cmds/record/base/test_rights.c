/* The rights with which files of a traced process are opened. */
#include "tests/unit/lib/unit.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <limits.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cmds/record/base/rights.h"
#include "utils/base/compiler.h"

static bool can_open(const char *path)
{
	int fd = open(path, O_RDONLY);

	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

/*
 * The peer is a child of another user. Its files are opened with its rights, and this process' own
 * files with its own rights. rights_leave() restores all.
 */
TEST(files_are_opened_as_the_peer)
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

	assert_int_equal(rights_enter(&peer, &before), 0);
	assert_false(can_open(path));
	assert_true(can_open("/proc/self/stat"));

	struct rights paused = rights_pause();

	assert_true(can_open(path));
	rights_resume(&paused);
	assert_false(can_open(path));
	rights_leave(&before);
	assert_true(can_open(path));

	/* A process may read the files that its groups may read. */
	assert_int_equal(chown(path, 0, 12345), 0);
	assert_int_equal(chmod(path, 0640), 0);
	assert_int_equal(rights_enter(&peer, &before), 0);
	assert_true(can_open(path));
	rights_leave(&before);

	/* Without borrowed rights there is nothing to pause. */
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

/* For a process of the same user, the rights stay the recorder's own. */
TEST(the_own_user_changes_nothing)
{
	const struct peer peer = { getpid(), geteuid(), getegid() };
	struct rights before;

	assert_int_equal(rights_enter(&peer, &before), 0);
	assert_false(before.is_changed);
	rights_leave(&before);
}

/* Starts a child of user @uid with these groups; it ends when @end is closed. */
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

/*
 * The rights include all groups of the peer, however many they are. Afterwards this process has its
 * own groups again.
 */
TEST(all_groups_of_the_peer_count)
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
	assert_int_equal(rights_enter(&peer, &rights), 0);
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
	/* A second rights_leave() does no harm. */
	rights_leave(&rights);
	close(end);
	assert_int_equal(waitpid(peer.pid, NULL, 0), peer.pid);
	paused = rights_pause();
	assert_false(paused.is_changed);
	rights_resume(&paused);
}

/* The user and group of a peer are those from the time when it connected. */
TEST(a_peer_that_has_gone_has_the_rights_that_he_had)
{
	const struct peer peer = { .pid = INT_MAX, .uid = 65533, .gid = 65532 };
	const struct peer root = { .pid = INT_MAX, .uid = 0, .gid = 65532 };
	struct rights rights;
	gid_t group;

	if (geteuid() != 0)
		skip_because("needs root, to look with somebody else's eyes");
	assert_int_equal(rights_enter(&peer, &rights), 0);
	assert_int_equal(file_uid(), 65533);
	assert_int_equal(file_gid(), 65532);
	assert_int_equal(getgroups(1, &group), 0);
	rights_leave(&rights);
	assert_int_equal(file_uid(), 0);
	assert_int_equal(rights_enter(&root, &rights), 0);
	assert_false(rights.is_changed);
	assert_int_equal(file_gid(), getegid());
	rights_leave(&rights);
}

/* A peer that has executed a setuid program still has the rights of the user that connected. */
TEST(a_setuid_program_gives_a_peer_no_rights)
{
	const struct peer peer = { .pid = getpid(), .uid = 65533, .gid = 65532 };
	struct rights rights;
	gid_t group;

	if (geteuid() != 0)
		skip_because("needs root, to look with somebody else's eyes");
	assert_int_equal(rights_enter(&peer, &rights), 0);
	assert_true(rights.is_changed);
	assert_int_equal(file_uid(), 65533);
	assert_int_equal(file_gid(), 65532);
	assert_int_equal(getgroups(1, &group), 0);
	rights_leave(&rights);
	assert_int_equal(file_uid(), 0);
}

/* The real user of a process that runs a setuid program may read less than the process. */
TEST(a_process_of_a_setuid_program_gives_no_rights)
{
	struct rights rights;
	int ready[2], stay[2];
	char byte;
	pid_t pid;

	if (geteuid() != 0)
		skip_because("needs root, to look with somebody else's eyes");
	assert_true(pipe(ready) == 0 && pipe(stay) == 0);
	pid = fork();
	if (pid == 0) {
		close(stay[1]);
		if (setresuid(65533, 0, 0))
			_exit(1);
		_exit(write(ready[1], "", 1) == 1 && read(stay[0], &byte, 1) == 0 ? 0 : 1);
	}
	close(ready[1]);
	close(stay[0]);
	assert_int_equal(read(ready[0], &byte, 1), 1);
	assert_int_equal(rights_enter_as(pid, &rights), -EPERM);
	assert_false(rights.is_changed);
	assert_int_equal(file_uid(), 0);
	rights_leave(&rights);
	close(ready[0]);
	close(stay[1]);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
}

/* Without a peer, the rights of an ended process are unknown. */
TEST(a_process_that_has_gone_gives_no_rights)
{
	struct rights rights;

	if (geteuid() != 0)
		skip_because("needs root, to look with somebody else's eyes");
	assert_int_equal(rights_enter_as(INT_MAX, &rights), -ESRCH);
	assert_false(rights.is_changed);
	assert_int_equal(file_uid(), 0);
	rights_leave(&rights);
}
