/* The rights of a traced process to files (see rights.h). */
#include "cmds/record/proc/rights.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/fsuid.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "cmds/record/proc/paths.h"
#include "utils/base/fd.h"

#define STATUS_MAX 8192U

/* Read the numbers after "@name:" in @status. Returns their number; more than @max do not count. */
static int numbers_of(const char *status, const char *name, unsigned *numbers, int max)
{
	const char *at = strstr(status, name);
	int nr = 0;

	for (at = at ? at + strlen(name) : NULL; at && nr < max;) {
		char *end;

		at += strspn(at, " \t");
		if (*at == '\n')
			break;
		numbers[nr] = strtoul(at, &end, 10);
		if (end == at)
			break;
		nr++;
		at = end;
	}
	return nr;
}

/* setgroups(3) would be for all threads of the recorder. */
static int set_groups(const gid_t *groups, int nr)
{
	return syscall(SYS_setgroups, nr, groups) < 0 ? -errno : 0;
}

/* No number changes nothing, and the call says what is. */
static uid_t fsuid_now(void)
{
	return setfsuid(-1);
}

static int become(const unsigned *uids, const unsigned *gids, const gid_t *groups, int nr_groups,
		  struct rights *before)
{
	int ret;

	before->uid = fsuid_now();
	before->gid = setfsgid(-1);
	before->nr_groups = getgroups(RIGHTS_GROUPS_MAX, before->groups);
	if (before->nr_groups < 0)
		return -errno;
	ret = set_groups(groups, nr_groups);
	if (ret < 0)
		return ret;
	before->are_taken = true;
	setfsgid(gids[3]);
	setfsuid(uids[3]);
	if (fsuid_now() == uids[3] && (gid_t)setfsgid(-1) == gids[3])
		return 0;
	rights_give_back(before);
	before->are_taken = false;
	return -EPERM;
}

int rights_take(pid_t pid, struct rights *before)
{
	unsigned groups[RIGHTS_GROUPS_MAX];
	unsigned uids[4], gids[4];
	char status[STATUS_MAX];
	int fd cleanup_fd = paths_open_of(pid, "status", O_RDONLY);
	ssize_t len = fd < 0 ? -1 : fd_read_full(fd, status, sizeof(status) - 1);
	int nr_groups;

	before->are_taken = false;
	if (len <= 0)
		return -ESRCH;
	status[len] = '\0';
	/* Each has four numbers, and the last one is for files. */
	if (numbers_of(status, "\nUid:", uids, 4) < 4 || numbers_of(status, "\nGid:", gids, 4) < 4)
		return -ESRCH;
	if (geteuid() != 0 || uids[3] == 0)
		return 0;
	nr_groups = numbers_of(status, "\nGroups:", groups, RIGHTS_GROUPS_MAX);
	return become(uids, gids, groups, nr_groups, before);
}

void rights_give_back(const struct rights *before)
{
	if (!before->are_taken)
		return;
	/* In this order: with the user the thread has its capabilities again. */
	setfsuid(before->uid);
	setfsgid(before->gid);
	set_groups(before->groups, before->nr_groups);
}
