/* Finds the numbers that tasks have in pid namespaces (see numbers.h). */
#include "cmds/record/base/numbers.h"

#include <stdio.h>
#include <stdlib.h>

#include "cmds/record/base/proc_status.h"

/*
 * A member is 0 when the number is unknown.
 *
 * @parent: the number of the task's parent in the recorder's namespace
 * @self: the task's number in the task's own namespace: the last number in the line "NSpid:"
 */
struct numbers {
	pid_t parent;
	pid_t self;
};

static struct numbers read_numbers(pid_t os_pid)
{
	struct strbuf status cleanup_strbuf = { 0 };
	unsigned parent = 0;
	unsigned self = 0;

	if (proc_status_read(os_pid, &status) == 0) {
		proc_status_last(&status, "PPid", &parent);
		proc_status_last(&status, "NSpid", &self);
	}
	return (struct numbers){ parent, self };
}

DIR *numbers_list(pid_t os_pid)
{
	char path[64] = "/proc";

	if (os_pid)
		snprintf(path, sizeof(path), "/proc/%d/task", os_pid);
	return opendir(path);
}

pid_t numbers_next(DIR *list)
{
	struct dirent *entry;
	pid_t number = 0;

	while (number <= 0 && (entry = readdir(list)))
		number = atoi(entry->d_name);
	return number;
}

/*
 * Search the tasks in numbers_list(@process) for the first task whose number in the task's own pid
 * namespace is @self. If @parent is not 0, only children of process @parent count. Returns the
 * task's number in the recorder's namespace, or 0 when there is no such task.
 */
static pid_t find_task_number(pid_t process, pid_t self, pid_t parent)
{
	DIR *list cleanup_dir = numbers_list(process);

	for (pid_t task; list && (task = numbers_next(list));) {
		const struct numbers numbers = read_numbers(task);

		if (numbers.self == self && (!parent || numbers.parent == parent))
			return task;
	}
	return 0;
}

pid_t numbers_of_thread(pid_t os_pid, pid_t tid)
{
	return find_task_number(os_pid, tid, 0);
}

pid_t numbers_of_child(pid_t os_pid, pid_t pid)
{
	const struct numbers numbers = read_numbers(pid);

	/* Most processes are in the recorder's namespace. Their numbers need no search. */
	if (numbers.self == pid && numbers.parent == os_pid)
		return pid;
	return find_task_number(0, pid, os_pid);
}

pid_t numbers_of_parent(pid_t os_pid)
{
	return read_numbers(os_pid).parent;
}
