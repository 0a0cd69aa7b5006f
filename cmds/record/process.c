/* Traced processes: their arenas, from the first report to the last record. */
#include "cmds/record/recorder.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

/*
 * An arena is address space, not memory: up to ARENA_BYTES_MAX of it, for at most this many threads at
 * a time. A thread touches only the segments it fills.
 */
#define ARENA_RINGS_MAX 16384
#define RING_SEGMENTS	8

/* Flight: up to one segment of these is always about to be overwritten, so there are more of them. */
#define FLIGHT_SEGMENTS 32

static void choose_ring(const struct record_settings *settings, struct process *proc)
{
	proc->nr_segments = RING_SEGMENTS;
	proc->segment_bytes = settings->segment_bytes;
	if (settings->flight_bytes) {
		proc->nr_segments = FLIGHT_SEGMENTS;
		proc->segment_bytes = ALIGN_UP(settings->flight_bytes / FLIGHT_SEGMENTS,
					       (uint64_t)RING_PAGE);
	}
}

/* Make the arena of a new process; its memfd goes to @fd. False with errno. */
static bool make_arena(struct recorder *rec, struct process *proc, int *fd)
{
	choose_ring(rec->settings, proc);

	uint64_t stride = ring_stride(proc->nr_segments, proc->segment_bytes);

	proc->nr_rings = MAX(MIN(ARENA_BYTES_MAX / stride, (uint64_t)ARENA_RINGS_MAX), 1UL);
	proc->arena_bytes = arena_bytes(proc->nr_rings, stride);
	*fd = memfd_create("utrail-arena", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	/* Sealed: what the program could cut off would be a SIGBUS for us. */
	if (*fd < 0 || ftruncate(*fd, proc->arena_bytes) < 0 ||
	    fcntl(*fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) < 0)
		return false;

	struct arena *a = mmap(NULL, proc->arena_bytes, PROT_READ | PROT_WRITE,
			       MAP_SHARED | MAP_NORESERVE, *fd, 0);

	if (a == MAP_FAILED)
		return false;
	a->nr_rings = proc->nr_rings;
	a->nr_segments = proc->nr_segments;
	a->segment_bytes = proc->segment_bytes;
	a->ring_stride = stride;
	a->magic = ARENA_MAGIC;
	proc->arena = a;
	return true;
}

static void watch_pid(struct recorder *rec, struct process *proc)
{
	struct epoll_event ev = { .events = EPOLLIN, .data.ptr = proc };

	proc->pidfd = syscall(SYS_pidfd_open, proc->os_pid, 0);
	if (proc->pidfd >= 0 && epoll_ctl(rec->epoll_fd, EPOLL_CTL_ADD, proc->pidfd, &ev) == 0)
		rec->nr_alive++;
}

static struct process **pid_place(struct recorder *rec, pid_t os_pid)
{
	return &rec->by_pid[(unsigned)os_pid % RECORDER_PID_PLACES];
}

struct process *process_find_os(struct recorder *rec, pid_t os_pid)
{
	for (struct process *p = *pid_place(rec, os_pid); p; p = p->next_pid) {
		if (p->os_pid == os_pid)
			return p;
	}
	return NULL;
}

struct process *process_find(struct recorder *rec, pid_t pid)
{
	struct process *p = process_find_os(rec, pid);

	/* Both views are the same but in a pid namespace of its own. */
	if (p && p->pid == pid)
		return p;
	for (p = rec->processes; p; p = p->next) {
		if (p->pid == pid)
			return p;
	}
	return NULL;
}

struct process *process_create(struct recorder *rec, const struct control_hello *hello, pid_t pid,
			       int *arena_fd)
{
	struct process *proc = calloc(1, sizeof(*proc));

	if (!proc)
		return NULL;
	proc->watch = WATCH_PROCESS;
	proc->os_pid = pid;
	proc->pid = hello->pid;
	proc->ppid = hello->ppid;
	proc->is_fork = hello->kind == CONTROL_FORK;
	proc->time_ns = hello->time_ns;
	proc->pidfd = -1;

	if (make_arena(rec, proc, arena_fd))
		proc->sinks = calloc(proc->nr_rings, sizeof(*proc->sinks));
	if (!proc->sinks) {
		process_destroy(proc);
		return NULL;
	}
	return proc;
}

void process_destroy(struct process *proc)
{
	if (!proc)
		return;
	if (proc->arena)
		munmap(proc->arena, proc->arena_bytes);
	if (proc->header)
		munmap(proc->header, RING_PAGE);
	if (proc->pidfd >= 0)
		close(proc->pidfd);
	free(proc->sinks);
	free(proc);
}

void process_publish(struct recorder *rec, struct process *proc)
{
	struct process **place = pid_place(rec, proc->os_pid);

	watch_pid(rec, proc);
	proc->next = rec->processes;
	rec->processes = proc;
	proc->next_pid = *place;
	*place = proc;
	pthread_rwlock_wrlock(&rec->live_lock);
	proc->next_live = rec->live;
	rec->live = proc;
	pthread_rwlock_unlock(&rec->live_lock);
}

static void take_from_writers(struct recorder *rec, struct process *proc)
{
	pthread_rwlock_wrlock(&rec->live_lock);
	for (struct process **p = &rec->live; *p; p = &(*p)->next_live) {
		if (*p == proc) {
			*p = proc->next_live;
			break;
		}
	}
	pthread_rwlock_unlock(&rec->live_lock);
}

/* A forked child that cannot report itself says so in its parent's header, which may have ended by then. */
#define HEADERS_MAX 1024

static void add_untraced(struct recorder *rec, const struct arena *a)
{
	rec->threads_caged += atomic_load(&a->threads_caged);
	rec->threads_shared += atomic_load(&a->threads_shared);
	rec->children_cut_off += atomic_load(&a->children_cut_off);
}

void process_count_untraced(struct recorder *rec)
{
	for (struct process *p = rec->processes; p; p = p->next) {
		const struct arena *a = p->arena ? p->arena : p->header;

		if (a)
			add_untraced(rec, a);
	}
}

void process_retire(struct recorder *rec, struct process *proc)
{
	if (proc->pidfd >= 0) {
		close(proc->pidfd); /* which takes it out of the epoll set */
		proc->pidfd = -1;
		rec->nr_alive--;
	}
	if (!proc->arena)
		return;
	/* From here on this thread is the only one that looks at it. */
	take_from_writers(rec, proc);
	writer_drain_all(rec, proc);
	munmap((char *)proc->arena + RING_PAGE, proc->arena_bytes - RING_PAGE);
	if (rec->nr_headers < HEADERS_MAX) {
		proc->header = proc->arena;
		rec->nr_headers++;
	} else {
		add_untraced(rec, proc->arena);
		munmap(proc->arena, RING_PAGE);
	}
	proc->arena = NULL;
	free(proc->sinks);
	proc->sinks = NULL;
}
