/*
 * The rights with which this thread opens files. A recorder with more rights than a traced process
 * takes the rights of that process for a while. Other threads keep their rights.
 */
#ifndef UTRAIL_CMDS_RECORD_BASE_RIGHTS_H
#define UTRAIL_CMDS_RECORD_BASE_RIGHTS_H

#include <stdbool.h>
#include <sys/types.h>

#include "cmds/record/base/peer.h"
#include "utils/base/cleanup.h"

/* The credentials (credentials(7)) that the thread had before rights_enter(). */
struct rights {
	bool is_changed;
	bool has_groups; /* rights_enter() has changed the groups of the thread */
	uid_t uid;
	gid_t gid;
	int nr_groups;
	gid_t *groups;
};

/*
 * Give this thread the rights of process @pid for files, until rights_leave(@before). If the
 * recorder is not root, this thread keeps its own rights. Returns 0 or a negative errno: -ESRCH
 * when the process is gone, -EPERM when the process runs a setuid or setgid program and the real
 * user of the process is not root. After an error nothing is changed, and the caller must not open
 * files that the process names.
 */
int rights_enter_as(pid_t pid, struct rights *before);

/*
 * Like rights_enter_as(), for the process @peer at the other end of a socket. The process connected
 * to the socket as the user @peer->uid. If this user is not root, this thread gets the rights of
 * this user, even if the process has executed a setuid program after it connected. If this user is
 * root, this thread gets the rights of the current user of the process. If the current user cannot
 * be looked up, this thread keeps the rights of root.
 */
int rights_enter(const struct peer *peer, struct rights *before);
void rights_leave(struct rights *before);

/*
 * For code between rights_enter() and rights_leave() that opens files of the recorder, for example
 * in the data directory. The thread has the recorder's own rights until rights_resume(). In other
 * code, rights_pause() and rights_resume() change nothing.
 */
struct rights rights_pause(void);
void rights_resume(struct rights *paused);
#define cleanup_rights_pause cleanup(rights_resume) __attribute__((unused))

#endif
