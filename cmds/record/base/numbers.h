/*
 * Numbers of tasks: as they know themselves, and as we know them. They differ in a pid namespace
 * (pid_namespaces(7)) below ours.
 */
#ifndef UTRAIL_CMDS_RECORD_BASE_NUMBERS_H
#define UTRAIL_CMDS_RECORD_BASE_NUMBERS_H

#include <sys/types.h>

#include "cmds/record/base/peer.h"

/*
 * Two processes may know themselves by one number; nothing of a recording is named by that. All
 * functions look into /proc, so they find the processes that are there.
 */

/*
 * Our number of the thread of process @os_pid that knows itself as @tid. 0: there is none, or no
 * more.
 */
pid_t numbers_of_thread(pid_t os_pid, pid_t tid);

/* The same of a child of that process, which need not be in the same namespace. */
pid_t numbers_of_child(pid_t os_pid, pid_t pid);

/* Our number of the parent of process @os_pid. 0: nobody knows. */
pid_t numbers_of_parent(pid_t os_pid);

#endif
