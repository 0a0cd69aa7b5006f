/* The rights with which this thread opens files (see rights.h). */
#include "cmds/record/base/rights.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "cmds/record/base/proc_status.h"

/* libc's setgroups() changes all threads; the system call changes only the calling thread. */
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

/*
 * The number of ids in each of the lines "Uid:" and "Gid:" of /proc/PID/status: the real, the
 * effective and the saved id, and the id with which files are opened.
 */
#define NR_IDS 4

static int take_rights(uid_t uid, gid_t gid, const gid_t *groups, int nr_groups,
		       struct rights *before)
{
	before->groups = own_groups(&before->nr_groups);
	if (!before->groups)
		return -ENOMEM;
	/*
	 * A user namespace may forbid setgroups(2) (user_namespaces(7)). In this case, all
	 * processes in the namespace have the groups of the recorder.
	 */
	before->has_groups = set_groups(nr_groups, groups) == 0;
	before->uid = file_uid();
	before->gid = file_gid();
	before->is_changed = before->has_groups || errno == EPERM;
	if (before->is_changed) {
		be(uid, gid);
		if (file_uid() == uid && file_gid() == gid)
			return 0;
	}
	rights_leave(before);
	return -EPERM;
}

/* The ids with which a process opens files, and its real ids (credentials(7)). */
struct ids {
	unsigned uid;
	unsigned gid;
	unsigned real_uid;
	unsigned real_gid;
};

static unsigned first_number(const struct strbuf *status, const char *field)
{
	return strtoul(proc_status_field(status, field), NULL, 10);
}

static bool read_ids(pid_t pid, struct strbuf *status, struct ids *ids)
{
	if (proc_status_read(pid, status) < 0 ||
	    proc_status_last(status, "Uid", &ids->uid) != NR_IDS ||
	    proc_status_last(status, "Gid", &ids->gid) != NR_IDS)
		return false;
	ids->real_uid = first_number(status, "Uid");
	ids->real_gid = first_number(status, "Gid");
	return true;
}

/*
 * True when the process runs a setuid or setgid program. Such a program may read files that the
 * real user of the process may not read.
 */
static bool has_more_than_its_user(const struct ids *ids)
{
	return ids->real_uid != 0 && (ids->real_uid != ids->uid || ids->real_gid != ids->gid);
}

/*
 * A process may name a file, and then execute a setuid program before the recorder opens the file.
 * The recorder must not use the new rights of the process for this file. So if @known is set, this
 * thread takes the rights of the user @known->uid. This was the user of the process when the
 * process connected to the recorder. If this user was root, the process cannot have gained rights.
 * In this case, this thread takes the rights of the current user of the process.
 */
static int enter_rights(pid_t pid, const struct peer *known, struct rights *before)
{
	struct strbuf status cleanup_strbuf = { 0 };
	struct ids ids = { 0 };
	gid_t *groups cleanup_free = NULL;
	int nr_groups = 0;
	bool is_read;

	*before = (struct rights){ 0 };
	if (geteuid() != 0)
		return 0;
	is_read = read_ids(pid, &status, &ids);
	if (!is_read && !known)
		return -ESRCH;
	if (!known && has_more_than_its_user(&ids))
		return -EPERM;
	if (known && (!is_read || known->uid != 0)) {
		/*
		 * If the process has changed its user after it connected, use no supplementary
		 * groups.
		 */
		if (ids.uid != known->uid)
			strbuf_reset(&status);
		ids.uid = known->uid;
		ids.gid = known->gid;
	}
	if (ids.uid == 0)
		return 0;
	groups = proc_status_numbers(&status, "Groups", &nr_groups);
	return groups ? take_rights(ids.uid, ids.gid, groups, nr_groups, before) : -ENOMEM;
}

int rights_enter_as(pid_t pid, struct rights *before)
{
	return enter_rights(pid, NULL, before);
}

int rights_enter(const struct peer *peer, struct rights *before)
{
	return enter_rights(peer->pid, peer, before);
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
