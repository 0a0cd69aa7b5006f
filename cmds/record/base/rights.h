/*
 * The rights with which this thread opens files: those of a traced process, for a recorder that may
 * do more than others, that is as root. Other threads are not changed.
 */
#ifndef UTRAIL_CMDS_RECORD_BASE_RIGHTS_H
#define UTRAIL_CMDS_RECORD_BASE_RIGHTS_H

#include <stdbool.h>
#include <sys/types.h>

#include "cmds/record/base/peer.h"
#include "utils/base/cleanup.h"

/* The credentials that the thread had before (credentials(7)). */
struct rights {
	bool is_changed;
	bool has_groups; /* these, too */
	uid_t uid;
	gid_t gid;
	int nr_groups;
	gid_t *groups;
};

/*
 * Open files as process @pid may, until rights_leave(), which @before is for. 0; -ESRCH: there is
 * no such process any more; another negative errno: it cannot be made so. After an error nothing
 * is changed, and no file that the process names is to be opened. A recorder that is not root
 * keeps its own rights, which are its user's.
 */
int rights_enter_as(pid_t pid, struct rights *before);

/* The same for a peer, which has the user that it connected with if it cannot be looked up. */
int rights_enter(const struct peer *peer, struct rights *before);
void rights_leave(struct rights *before);

/*
 * Within rights_enter(): what is ours (the data directory) is opened as us. Ends with
 * rights_resume(). Outside of it nothing happens.
 */
struct rights rights_pause(void);
void rights_resume(struct rights *paused);
#define cleanup_rights_pause cleanup(rights_resume) __attribute__((unused))

#endif
