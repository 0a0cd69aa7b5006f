/*
 * Numbers of tasks: in their own pid namespace (pid_namespaces(7)), and in the recorder's. Both
 * differ in a namespace below the recorder's.
 */
#ifndef UTRAIL_CMDS_RECORD_BASE_NUMBERS_H
#define UTRAIL_CMDS_RECORD_BASE_NUMBERS_H

#include <dirent.h>
#include <sys/types.h>

#include "cmds/record/base/peer.h"

/*
 * Recordings do not use numbers of other namespaces: two processes in different namespaces may have
 * the same number. All functions look into /proc, so they only find living processes.
 */

/*
 * Find the thread of process @os_pid whose own number is @tid. Returns its number in the recorder's
 * namespace, or 0 when there is no such thread, or no longer.
 */
pid_t numbers_of_thread(pid_t os_pid, pid_t tid);

/* Like numbers_of_thread(), for a child of that process, which may be in another namespace. */
pid_t numbers_of_child(pid_t os_pid, pid_t pid);

/*
 * Returns the number, in the recorder's namespace, of the thread of process @os_pid whose own
 * number is @tid; 0: there is none.
 */
DIR *numbers_list(pid_t os_pid);
pid_t numbers_next(DIR *list);

/* Returns the number of the parent of process @os_pid, or 0 when it is unknown. */
pid_t numbers_of_parent(pid_t os_pid);

#endif
