/*
 * Numbers of tasks: in their own pid namespace, and in ours. They differ in a namespace
 * (pid_namespaces(7)) below ours.
 */
#ifndef UTRAIL_CMDS_RECORD_BASE_NUMBERS_H
#define UTRAIL_CMDS_RECORD_BASE_NUMBERS_H

#include <sys/types.h>

#include "cmds/record/base/peer.h"

/*
 * Two processes may have the same number in their own namespaces, so recordings do not use these.
 * All functions look into /proc, so they only find living processes.
 */

/*
 * Our number of the thread of process @os_pid whose own number is @tid. 0: there is none, or no
 * more.
 */
pid_t numbers_of_thread(pid_t os_pid, pid_t tid);

/* The same for a child of that process, which may be in another namespace. */
pid_t numbers_of_child(pid_t os_pid, pid_t pid);

/* Our number of the parent of process @os_pid. 0: it is not known. */
pid_t numbers_of_parent(pid_t os_pid);

#endif
