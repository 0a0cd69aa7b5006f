/*
 * Numbers of tasks. A task has a number in its own pid namespace (pid_namespaces(7)), and a number
 * in the recorder's namespace. The numbers differ if the task's namespace is a descendant of
 * the recorder's.
 */
#ifndef UTRAIL_CMDS_RECORD_BASE_NUMBERS_H
#define UTRAIL_CMDS_RECORD_BASE_NUMBERS_H

#include <dirent.h>
#include <sys/types.h>

#include "cmds/record/base/peer.h"

/*
 * A recording contains only the numbers that tasks have in the recorder's pid namespace. The
 * numbers that tasks have in their own namespaces are not unique. All functions of this header read
 * /proc, so they find only living processes.
 */

/*
 * Find the thread of process @os_pid that has the number @tid in the thread's own namespace.
 * Returns the thread's number in the recorder's namespace, or 0 when there is no such thread.
 */
pid_t numbers_of_thread(pid_t os_pid, pid_t tid);

/*
 * Search the children of process @os_pid for the child whose number in the child's own namespace is
 * @pid. The child may be in another namespace than its parent. Returns the child's number in the
 * recorder's namespace, or 0 when there is no such child.
 */
pid_t numbers_of_child(pid_t os_pid, pid_t pid);

/*
 * numbers_list() lists the threads of process @os_pid, or all processes if @os_pid is 0. The caller
 * closes the list. On failure, numbers_list() sets errno and returns NULL. numbers_next() returns
 * the next number of the list, or 0 at its end.
 */
DIR *numbers_list(pid_t os_pid);
pid_t numbers_next(DIR *list);

/*
 * Returns the number that the parent of process @os_pid has in the recorder's namespace, or 0 when
 * the number is unknown.
 */
pid_t numbers_of_parent(pid_t os_pid);

#endif
