/* Looks up numbers of tasks in pid namespaces (see numbers.h). */
#include "cmds/record/base/numbers.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "utils/base/cleanup.h"

/*
 * @parent: the parent's number in the recorder's namespace
 * @self: the task's number in its own namespace, which is the last number of "NSpid:". 0: unknown
 */
struct numbers {
	pid_t parent;
	pid_t self;
};

static pid_t last_number(char *line)
{
	char *last = NULL;

	for (char *word = strtok(line, " \t\n"); word; word = strtok(NULL, " \t\n"))
		last = word;
	return last ? atoi(last) : 0;
}

/* Reads a file in the form of proc_pid_status(5). */
static struct numbers read_numbers(const char *path)
{
	struct numbers numbers = { 0 };
	FILE *status cleanup_file = fopen(path, "re");
	char *line cleanup_free = NULL;
	size_t size = 0;

	while (status && getline(&line, &size, status) > 0) {
		if (strncmp(line, "PPid:", 5) == 0)
			numbers.parent = atoi(line + 5);
		if (strncmp(line, "NSpid:", 6) == 0)
			numbers.self = last_number(line + 6);
	}
	return numbers;
}

/*
 * Find the first task in a directory of processes, or of threads, whose own number is @self. With
 * @parent, only children of that process count. Returns 0 when there is none.
 */
static pid_t find_task_number(const char *directory, pid_t self, pid_t parent)
{
	DIR *dir cleanup_dir = opendir(directory);
	struct dirent *entry;

	while (dir && (entry = readdir(dir))) {
		char path[320];

		if (atoi(entry->d_name) <= 0)
			continue;
		snprintf(path, sizeof(path), "%s/%s/status", directory, entry->d_name);

		struct numbers numbers = read_numbers(path);

		if (numbers.self == self && (!parent || numbers.parent == parent))
			return atoi(entry->d_name);
	}
	return 0;
}

pid_t numbers_of_thread(pid_t os_pid, pid_t tid)
{
	char directory[64];

	snprintf(directory, sizeof(directory), "/proc/%d/task", os_pid);
	return find_task_number(directory, tid, 0);
}

pid_t numbers_of_child(pid_t os_pid, pid_t pid)
{
	char path[64];
	struct numbers numbers;

	/* Most often the process is in the recorder's namespace. */
	snprintf(path, sizeof(path), "/proc/%d/status", pid);
	numbers = read_numbers(path);
	if (numbers.self == pid && numbers.parent == os_pid)
		return pid;
	return find_task_number("/proc", pid, os_pid);
}

pid_t numbers_of_parent(pid_t os_pid)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/status", os_pid);
	return read_numbers(path).parent;
}
