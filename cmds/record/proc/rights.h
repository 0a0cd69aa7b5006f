/* The rights of a traced process to files, taken by the thread that opens a file for it. */
#ifndef UTRAIL_CMDS_RECORD_PROC_RIGHTS_H
#define UTRAIL_CMDS_RECORD_PROC_RIGHTS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#define RIGHTS_GROUPS_MAX 256

/*
 * The rights that the thread had before.
 *
 * @are_taken: it has those of a process now; else nothing below counts
 */
struct rights {
	bool are_taken;
	uid_t uid;
	gid_t gid;
	gid_t groups[RIGHTS_GROUPS_MAX];
	int nr_groups;
};

/*
 * Let this thread, and no other one, open files as process @pid may. A recorder that is not root
 * keeps its own rights, which are its user's. 0; -ESRCH: there is no such process; another negative
 * errno: it is not possible, and nothing has changed. Ends with rights_give_back().
 */
int rights_take(pid_t pid, struct rights *before);
void rights_give_back(const struct rights *before);

#endif
