/* Finds forked children from which no record has come yet (see orphans.h). */
#include "cmds/record/tasks/orphans.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <time.h>
#include <unistd.h>

#include "cmds/record/base/numbers.h"
#include "cmds/record/base/peer.h"
#include "cmds/record/tasks/process.h"
#include "utils/base/cleanup.h"

struct orphan {
	struct served served;
	pid_t pid;
	int pidfd;
	struct orphan *next;
};

static bool is_memory(const struct process *proc, dev_t dev, ino_t ino)
{
	return proc->memory.dev == dev && proc->memory.ino == ino;
}

/*
 * Search the list procs->notes from @first up to, but not including, @end. Returns a process whose
 * arena (process.memory) is also mapped by @pid. Returns NULL when the list has no such process, or
 * when the maps of @pid cannot be read.
 */
static struct process *find_mapped(pid_t pid, struct process *first, const struct process *end)
{
	char path[64];
	char *line cleanup_free = NULL;
	size_t size = 0;

	snprintf(path, sizeof(path), "/proc/%d/maps", pid);

	FILE *maps cleanup_file = fopen(path, "re");

	/* A line of the maps (proc(5)): address perms offset dev inode pathname. */
	while (maps && getline(&line, &size, maps) > 0) {
		unsigned major, minor;
		unsigned long long inode;

		if (sscanf(line, "%*s %*s %*s %x:%x %llu", &major, &minor, &inode) != 3 || !inode)
			continue;
		for (struct process *p = first; p != end; p = p->next_noting) {
			if (is_memory(p, makedev(major, minor), inode))
				return p;
		}
	}
	return NULL;
}

static void drop_orphan(struct processes *procs, struct orphan *orphan)
{
	struct orphan **link = &procs->orphans.first;

	while (*link != orphan)
		link = &(*link)->next;
	*link = orphan->next;
	loop_close_fd(procs->loop, &orphan->pidfd, &orphan->served);
	free(orphan);
	alive_remove(procs->alive);
}

static void see_the_end(struct served *served, uint32_t epoll_events)
{
	drop_orphan(served->owner, container_of(served, struct orphan, served));
}

static bool is_watched(const struct processes *procs, pid_t pid)
{
	for (const struct orphan *o = procs->orphans.first; o; o = o->next) {
		if (o->pid == pid)
			return true;
	}
	return false;
}

/* Watches the unreported process @pid. Does nothing if @pid is not a descendant of @parent. */
static void add_orphan(struct processes *procs, pid_t pid, struct process *parent)
{
	int pidfd cleanup_fd = syscall(SYS_pidfd_open, pid, 0);

	/*
	 * Another process may get the pid before find_mapped() reads the maps. If the process of
	 * the pidfd is still alive after find_mapped(), no other process had the pid, and the maps
	 * belong to the process of the pidfd.
	 */
	if (pidfd < 0 || !find_mapped(pid, parent, parent->next_noting) || peer_has_ended(pidfd, 0))
		return;

	struct orphan *o = malloc(sizeof(*o));

	if (!o)
		return;
	*o = (struct orphan){ { see_the_end, procs }, pid, pidfd, procs->orphans.first };
	if (loop_add(procs->loop, pidfd, &o->served) < 0) {
		free(o);
		return;
	}
	take_fd(&pidfd);
	procs->orphans.first = o;
	alive_add(procs->alive);
}

/*
 * After a fork, the child stores its own pid in the parent's notes (notes.h). The parent may end
 * before the child stores the pid. So wait for the missing pids of all forks that have begun. The
 * wait is limited, because after a failed fork no child stores a pid.
 */
static void wait_for_newborns(const struct processes *procs)
{
	const struct timespec step = { 0, 1000000 };

	for (int i = 0; i < 100 && notes_has_newborns(procs); i++)
		nanosleep(&step, NULL);
}

static bool is_known(struct processes *procs, const struct process *proc, pid_t pid)
{
	/*
	 * An unknown process that has mapped the page of notes is treated as a descendant of the
	 * program. The recorder has mapped this page, but is no descendant. So the function
	 * returns true for the recorder's pid.
	 */
	return pid == getpid() || (proc && proc->pidfd >= 0) || is_watched(procs, pid);
}

/*
 * Looks at the children that are noted in the arena of @parent (notes.h). Returns false when the
 * note of a child does not tell the child's pid in the recorder's pid namespace.
 */
static bool look_at(struct processes *procs, struct process *parent)
{
	bool is_elsewhere = parent->pid != parent->os_pid;
	bool is_complete = true;
	struct arena_forks *forks = &parent->notes->forks;
	uint32_t nr = MIN(atomic_load(&forks->nr), (uint32_t)ARENA_FORKS);

	for (uint32_t i = 0; i < nr; i++) {
		pid_t pid = atomic_load(&forks->pids[i]);

		is_complete &= pid >= 0 && !(pid && is_elsewhere);
		if (pid > 0 && !is_elsewhere && !is_known(procs, process_find_os(procs, pid), pid))
			add_orphan(procs, pid, parent);
	}
	return is_complete;
}

static void look_elsewhere(struct processes *procs)
{
	DIR *list cleanup_dir = numbers_list(0);

	for (pid_t pid; list && (pid = numbers_next(list));) {
		if (is_known(procs, process_find_os(procs, pid), pid) || !peer_is_elsewhere(pid))
			continue;

		struct process *parent = find_mapped(pid, procs->notes.first, NULL);

		if (parent)
			add_orphan(procs, pid, parent);
	}
}

static uint64_t count_forks(const struct processes *procs)
{
	uint64_t nr = 0;

	for (const struct process *p = procs->notes.first; p; p = p->next_noting)
		nr += atomic_load(&p->notes->forks.nr);
	return nr;
}

#define LOOKS_MAX 16

void orphans_look(struct processes *procs)
{
	/*
	 * A child may fork and end during a round of this loop. So if a fork was noted during a
	 * round, the loop makes another round. The traced program writes these notes, and could
	 * keep the loop running without end. Therefore the number of rounds is limited.
	 */
	for (int i = 0; i < LOOKS_MAX; i++) {
		wait_for_newborns(procs);

		uint64_t nr = count_forks(procs);
		bool is_complete = true;

		for (struct process *p = procs->notes.first; p; p = p->next_noting)
			is_complete &= look_at(procs, p);
		if (!is_complete)
			look_elsewhere(procs);
		if (count_forks(procs) == nr)
			break;
	}
}

void orphans_forget(struct processes *procs)
{
	while (procs->orphans.first)
		drop_orphan(procs, procs->orphans.first);
}
