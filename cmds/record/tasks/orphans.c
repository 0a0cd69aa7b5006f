/* Children that have not reported themselves (see orphans.h). */
#include "cmds/record/tasks/orphans.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <time.h>
#include <unistd.h>

#include "cmds/record/tasks/process.h"
#include "utils/base/cleanup.h"

struct orphan {
	struct watcher watcher;
	pid_t pid;
	int pidfd;
	struct orphan *next;
};

/* Whether @pid has @memory mapped. Not so when we may not know. */
static bool has_mapped(pid_t pid, const struct memory_id *memory)
{
	char path[64];
	char *line cleanup_free = NULL;
	size_t size = 0;

	snprintf(path, sizeof(path), "/proc/%d/maps", pid);

	FILE *maps cleanup_file = fopen(path, "re");

	/* proc(5): address perms offset dev inode pathname */
	while (maps && getline(&line, &size, maps) > 0) {
		unsigned major, minor;
		unsigned long long inode;

		if (sscanf(line, "%*s %*s %*s %x:%x %llu", &major, &minor, &inode) == 3 &&
		    inode == memory->ino && makedev(major, minor) == memory->dev)
			return true;
	}
	return false;
}

static void drop(struct processes *procs, struct orphan *orphan)
{
	struct orphan **link = &procs->orphans.first;

	while (*link != orphan)
		link = &(*link)->next;
	*link = orphan->next;
	loop_unwatch(procs->loop, orphan->pidfd, &orphan->watcher);
	close(orphan->pidfd);
	free(orphan);
	alive_remove(procs->alive);
}

static void see_the_end(struct watcher *watcher, uint32_t epoll_events)
{
	drop(watcher->owner, container_of(watcher, struct orphan, watcher));
}

static bool is_watched(const struct processes *procs, pid_t pid)
{
	for (const struct orphan *o = procs->orphans.first; o; o = o->next) {
		if (o->pid == pid)
			return true;
	}
	return false;
}

static bool has_ended(int pidfd)
{
	struct pollfd end = { .fd = pidfd, .events = POLLIN };

	return poll(&end, 1, 0) != 0;
}

static void watch(struct processes *procs, pid_t pid, const struct memory_id *memory)
{
	int pidfd cleanup_fd = syscall(SYS_pidfd_open, pid, 0);

	/* What is alive behind the look at its maps was this process all the time: the number was not given to another one. */
	if (pidfd < 0 || !has_mapped(pid, memory) || has_ended(pidfd))
		return;

	struct orphan *o = malloc(sizeof(*o));

	if (!o)
		return;
	*o = (struct orphan){ { see_the_end, procs }, pid, pidfd, procs->orphans.first };
	if (loop_watch(procs->loop, pidfd, &o->watcher) < 0) {
		free(o);
		return;
	}
	take_fd(&pidfd);
	procs->orphans.first = o;
	alive_add(procs->alive);
}

/*
 * A program may end between its fork and its child's first step (daemon(3) does). The child is due at once;
 * a fork that failed has none, so the wait has an end.
 */
static void wait_for_newborns(const struct processes *procs)
{
	const struct timespec step = { 0, 1000000 };

	for (int i = 0; i < 100 && notes_has_newborns(procs); i++)
		nanosleep(&step, NULL);
}

/* Those that @parent or a child of it has noted. */
static void look_at(struct processes *procs, struct process *parent)
{
	struct arena_forks *forks = &parent->notes->forks;
	uint32_t nr = MIN(atomic_load(&forks->nr), (uint32_t)ARENA_FORKS);

	for (uint32_t i = 0; i < nr; i++) {
		pid_t pid = atomic_load(&forks->pids[i]);
		const struct process *known = pid > 0 ? process_find(procs, pid) : NULL;
		bool is_known = (known && known->pidfd >= 0) || is_watched(procs, pid);

		/* The recorder itself has it mapped, too. */
		if (pid > 0 && pid != getpid() && !is_known)
			watch(procs, pid, &parent->memory);
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
	/* A child may fork and end while we look. The notes are the program's, which could let us count for ever. */
	for (int i = 0; i < LOOKS_MAX; i++) {
		wait_for_newborns(procs);

		uint64_t nr = count_forks(procs);

		for (struct process *p = procs->notes.first; p; p = p->next_noting)
			look_at(procs, p);
		if (count_forks(procs) == nr)
			break;
	}
}

void orphans_forget(struct processes *procs)
{
	while (procs->orphans.first)
		drop(procs, procs->orphans.first);
}
